"""The report as one HTML page: no network, no script from elsewhere, light and dark.

- `page`: `render_page` puts the sections of a report into one page
- `templating`: fills a template, and says how names and figures are written
- `svg`: the elements that all pictures here are made of
- `charts`: the scale, the learning curve
- `heat_map`: how hard every two classes are to tell apart
- ``templates/``: the page, a template for each section, their macros, style sheet and script
"""
