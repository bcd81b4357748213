"""Display of documents on the judging page: length of the shown part, start of rotated texts,
inactivity timeout, language and highlighted spans."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping

from assay.word_count import find_word_end

# Silent reading of English prose: 238 words per minute (Brysbaert 2019, Journal of Memory and
# Language 109).
WORDS_PER_MINUTE = 240
SENTENCE_START = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s++(?=\S)|\n[^\S\n]*\n\s*+(?=\S)")
CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n.*?(?:^ {0,3}\1[`~]*[^\S\n]*$|\Z)|^(?: {4}|\t| {0,3}(?:>>>|\.\.\.) )[^\n]*",
    re.MULTILINE | re.DOTALL,
)
"""Pattern of code: fenced or indented blocks of Markdown, and lines of an interpreter session."""


def idle_limit_seconds(base_s: int, n_words: int) -> int:
    """Return the inactivity timeout of a document in seconds.

    It is `base_s` for a text that takes up to a minute to read, plus one minute per further minute
    of reading, and at most five times `base_s`.
    """
    longer = max(0, n_words - WORDS_PER_MINUTE) * 60 / WORDS_PER_MINUTE
    return round(min(base_s + longer, 5 * base_s))


def n_shown_words(n_words: int, truncate_words: int | None) -> int | None:
    """Return how many words of a document the judging page shows initially, or None for all."""
    return truncate_words if truncate_words and n_words > truncate_words else None


def shown_end(text: str, words: int | None) -> int:
    """Return the offset in code points at which the initially shown part of a text ends, after
    `words` words (None: the whole text)."""
    return find_word_end(text, words) if words else len(text)


def rotation_start(text: str, seed: int, *, words: int | None = None) -> int:
    """Return the offset in code points at which a rotated text begins, 0 if the text has a single
    sentence.

    The start of a sentence is drawn with `seed` (rotation as in FiRA, Hofstätter et al. 2020). Code
    is excluded, because full stops do not end sentences in it. With `words`, only the shown part
    text[:e] is rotated: the page shows text[k:e] + text[:k]. Stored positions always refer to the
    text before rotation.
    """
    shown = text[
        : shown_end(text, words)
    ].rstrip()  # otherwise the pattern is tried in vain at each trailing blank
    code = [match.span() for match in CODE.finditer(shown)]
    starts = [
        0,
        *(
            match.end()
            for match in SENTENCE_START.finditer(shown)
            if not _is_in_spans(code, match.end())
        ),
    ]
    digest = hashlib.blake2b(f"{seed}|rotation".encode(), digest_size=8).digest()
    return starts[int.from_bytes(digest, "big") % len(starts)]


def _is_in_spans(spans: list[tuple[int, int]], place: int) -> bool:
    """Return whether the offset `place` is inside one of the sorted, disjoint spans."""
    before = bisect_right(spans, place, key=lambda span: span[0])
    return before > 0 and place < spans[before - 1][1]


LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
RIGHT_TO_LEFT = {
    "ar",
    "arc",
    "ckb",
    "dv",
    "fa",
    "he",
    "iw",
    "ks",
    "ps",
    "sd",
    "syr",
    "ug",
    "ur",
    "yi",
}


def get_language(fields: Mapping[str, object]) -> str:
    """Return a document's language tag (BCP 47) from its field `lang` or `language`. Empty if it is
    missing or invalid ("German")."""
    named = next(
        (str(fields[name]).strip() for name in ("lang", "language") if fields.get(name)), ""
    )
    return named if LANGUAGE.fullmatch(named) and len(named.split("-")[0]) <= 3 else ""


def get_direction(fields: Mapping[str, object]) -> str:
    """Return the text direction, ltr or rtl, from the field `dir` or else the language. "auto"
    (each paragraph by its first letter) if neither is known."""
    given = str(fields.get("dir", "")).strip().lower()
    if given in ("ltr", "rtl"):
        return given
    return "rtl" if get_language(fields).split("-")[0].lower() in RIGHT_TO_LEFT else "auto"


def merge_spans(spans: list[tuple[int, int]], *, length: int) -> list[list[int]]:
    """Return the spans sorted, with overlapping and adjacent ones merged. Raises ValueError if a
    span is empty or outside the text."""
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if not 0 <= start < end <= length:
            raise ValueError(f"{start}-{end} is not a part of a text of {length} characters")
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
