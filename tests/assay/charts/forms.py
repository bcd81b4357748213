"""The two layouts of a chart, each alone in its figure."""

from __future__ import annotations

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def usual(figure: str) -> ElementTree.Element:
    """Return the layout for wide windows and for print."""
    return _one(figure, narrow=False)


def narrow(figure: str) -> ElementTree.Element:
    return _one(figure, narrow=True)


def _one(figure: str, *, narrow: bool) -> ElementTree.Element:
    root = ElementTree.fromstring(figure)
    frame = root.find("div[@class='picture']")
    assert frame is not None
    forms = frame.findall(f"{SVG}svg")
    assert [form.get("class") for form in forms] == [None, "narrow"]
    frame.remove(forms[0 if narrow else 1])
    return root
