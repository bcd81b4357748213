"""Charts for web pages: data in, an SVG figure with its text alternative and data table out.

Nothing here imports Django. Colours and line styles are classes of the style sheet, not style
attributes, so that charts follow the light and dark theme.
"""
