"""The report as one HTML page: no network, no script from elsewhere, light and dark.

`page` fills the templates beside it from the summary; `charts` and `tree` draw its pictures as SVG; `text` shows names
and figures in it.
"""
