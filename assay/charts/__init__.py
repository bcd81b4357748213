"""Light pictures for live pages: data in, an SVG figure with a text alternative and its table out.
No Django, no style attributes; colours and lines are classes of the style sheet, so they follow
light and dark."""
