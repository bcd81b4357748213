"""What the judging page shows of a document: how much, from where on, and after how long without a
sign of life it is idle."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Mapping

from assay.word_count import find_word_end

# silent reading of English prose: 238 words a minute (Brysbaert 2019, Journal of Memory and
# Language 109)
WORDS_PER_MINUTE = 240
SENTENCE_START = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s++(?=\S)|\n[^\S\n]*\n\s*+(?=\S)")
CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n.*?(?:^ {0,3}\1[`~]*[^\S\n]*$|\Z)|^(?: {4}|\t| {0,3}(?:>>>|\.\.\.) )[^\n]*",
    re.MULTILINE | re.DOTALL,
)
"""Code as Markdown has it, between fences or indented, and lines of an interpreter's session."""


def idle_limit_seconds(base_s: int, n_words: int) -> int:
    """Seconds without any input after which the reader counts as away (ours).

    `base_s` for a text that is read within a minute; a minute more for each further minute of
    reading, at most five times the base."""
    longer = max(0, n_words - WORDS_PER_MINUTE) * 60 / WORDS_PER_MINUTE
    return round(min(base_s + longer, 5 * base_s))


def n_shown_words(n_words: int, truncate_words: int | None) -> int | None:
    """How many words are shown at first; None: all."""
    return truncate_words if truncate_words and n_words > truncate_words else None


def shown_end(text: str, words: int | None) -> int:
    """The code point at which the shown part of a text ends: that of its first `words` words; None:
    all."""
    return find_word_end(text, words) if words else len(text)


def rotation_start(text: str, seed: int, *, words: int | None = None) -> int:
    """The code point at which the shown text begins when a campaign rotates texts (as FiRA does): a
    sentence's start drawn by `seed`, of a sentence outside of code: a stop and a blank end none
    there.

    Of a text cut after its first `words` words only the shown part, text[:e], is rotated: the page
    shows text[k:e] + text[:k]. Stored positions are always those of the unrotated text. 0 for one
    sentence."""
    shown = text[
        : shown_end(text, words)
    ].rstrip()  # else each blank at the end is a place from which a start is looked for in vain
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
    """Whether a place is in one of these spans, which are in order and do not overlap."""
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
    """The language tag (BCP 47) of a document's field `lang` or `language`; empty where there is
    none, or no such tag ("German")."""
    named = next(
        (str(fields[name]).strip() for name in ("lang", "language") if fields.get(name)), ""
    )
    return named if LANGUAGE.fullmatch(named) and len(named.split("-")[0]) <= 3 else ""


def get_direction(fields: Mapping[str, object]) -> str:
    """ltr or rtl: by the field `dir`, else by the language; "auto" (each paragraph by its first
    letter) where neither says."""
    given = str(fields.get("dir", "")).strip().lower()
    if given in ("ltr", "rtl"):
        return given
    return "rtl" if get_language(fields).split("-")[0].lower() in RIGHT_TO_LEFT else "auto"


def merge_spans(spans: list[tuple[int, int]], *, length: int) -> list[list[int]]:
    """The spans sorted, with those that overlap or touch joined. ValueError when one is empty or
    reaches outside the text."""
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if not 0 <= start < end <= length:
            raise ValueError(f"{start}-{end} is not a part of a text of {length} characters")
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
