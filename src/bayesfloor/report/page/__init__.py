"""The report as one HTML page: no network, no script from elsewhere, light and dark.

- `page`: `render_page` fills the templates beside it from the summary, and says how names and figures are written
- `charts`: the scale and the learning curve as SVG, and the elements that all SVG here is made of
- `gap`: the reader's own model beside the floor, as SVG
- `tree`: the class tree as SVG
- `noise`: the noise of a number over what is predicted, as SVG
- ``templates/``: the page from top to bottom, its macros, style sheet and script
"""
