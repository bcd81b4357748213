"""Charts for web pages: SVG figures with text alternatives and data tables.

Nothing here imports Django. Colours and line styles are classes of the style sheet, not style
attributes, so that charts follow the light and dark theme.
"""
