"""Publication metadata of a campaign: what a reader of a release needs to cite and reuse it.

Publication.read({"title": "Health topics", "authors": [{"name": "Ada Lovelace"}]}).find_problems()
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

SPDX_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
LANGUAGE_PATTERN = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
DOI_PATTERN = re.compile(r"10\.\d{4,9}/\S+")
ORCID_PATTERN = re.compile(r"(\d{4}-){3}\d{3}[\dX]")


def has_right_check_digit(orcid: str) -> bool:
    """Return whether the last character of an ORCID is the check digit of the others (ISO 7064,
    MOD 11-2)."""
    digits, check = orcid.replace("-", "")[:-1], orcid[-1]
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    return check == "0123456789X"[(12 - total % 11) % 11]


def _text(help: str) -> Any:
    return field(default="", metadata={"help": help})


@dataclass(frozen=True)
class Author:
    name: str = _text("Family name, comma, given names. Organisations: the name without comma.")
    orcid: str = _text("ORCID, such as 0000-0002-1825-0097.")
    affiliation: str = _text("Affiliation.")


@dataclass(frozen=True)
class Publication:
    """The metadata. Every text can be empty."""

    title: str = _text("Title of the data set.")
    version: str = _text("Version of the data set.")
    doi: str = _text("DOI, such as 10.5281/zenodo.1234567.")
    authors: tuple[Author, ...] = field(
        default=(), metadata={"help": "Authors, in the order of citation."}
    )
    license_judgements: str = _text("Licence of the judgements, an SPDX identifier (CC-BY-4.0).")
    license_topics: str = _text("Licence of the topics, an SPDX identifier.")
    license_documents: str = _text("Licence of the document texts, an SPDX identifier.")
    language: str = _text("Language of the texts, a BCP 47 tag (en).")
    citation: str = _text("Citation of the data set, as text or BibTeX.")
    contact: str = _text("Contact address.")
    funding: str = _text("Funding.")
    ethics: str = _text("Ethics review.")
    annotators: str = _text("Description of the annotators.")
    training: str = _text("Training of the annotators.")
    payment: str = _text("Payment of the annotators.")
    consent: str = _text("Consent of the annotators.")
    intended_use: str = _text("Intended use.")
    limits: str = _text("Known limits.")

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Publication:
        """Read stored values. Missing ones are empty. Raises ValueError if they are not metadata."""
        try:
            authors = tuple(Author(**author) for author in values.get("authors", []))
            publication = cls(**{**values, "authors": authors})
        except (TypeError, AttributeError):
            raise ValueError("The publication metadata has unknown keys.") from None
        texts = [*vars(publication).values(), *(t for a in authors for t in vars(a).values())]
        if not all(isinstance(text, str) for text in texts if text is not authors):
            raise ValueError("Publication metadata must be text.")
        return publication

    def find_problems(self) -> list[tuple[tuple[str | int, ...], str, str]]:
        """Return (path of the value, problem, expected value) of each invalid value."""
        checks: list[tuple[tuple[str | int, ...], str, re.Pattern[str], str]] = [
            (("doi",), self.doi, DOI_PATTERN, "a DOI without address, such as 10.5281/zenodo.1234"),
            (("language",), self.language, LANGUAGE_PATTERN, "a language tag, such as en"),
            *(
                ((f.name,), getattr(self, f.name), SPDX_PATTERN, "an SPDX identifier (CC-BY-4.0)")
                for f in fields(self)
                if f.name.startswith("license_")
            ),
        ]
        problems = [
            (path, f"{path[0]} {value[:60]!r}", expected)
            for path, value, pattern, expected in checks
            if value and not pattern.fullmatch(value)
        ]
        for number, author in enumerate(self.authors):
            path = ("authors", number)
            if not author.name.strip():
                problems.append((path, "an author without a name", "a name"))
            if not author.orcid:
                continue
            if not ORCID_PATTERN.fullmatch(author.orcid):
                expected = "16 characters in groups of four, such as 0000-0002-1825-0097"
                problems.append(((*path, "orcid"), f"orcid {author.orcid[:60]!r}", expected))
            elif not has_right_check_digit(author.orcid):
                problem = f"the check digit of orcid {author.orcid} is wrong"
                problems.append(((*path, "orcid"), problem, "the ORCID as it is on orcid.org"))
        return problems
