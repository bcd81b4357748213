"""Conversion of error messages from commands and file readers to sentences for pages."""

from __future__ import annotations

ENDINGS = (".", "?", "!", "…")


def as_sentence(message: object) -> str:
    """Return the message with a capital letter and a full stop. A message that ends with
    punctuation is a sentence already and returned unchanged, because it may begin with a name."""
    text = str(message)
    if not text or text.endswith(ENDINGS):
        return text
    return f"{text[:1].upper()}{text[1:]}."
