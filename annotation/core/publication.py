"""Publication metadata of a campaign: what a reader of a release needs to cite and reuse it.

Publication.read({"title": "Health topics", "authors": [{"name": "Ada Lovelace"}]}).find_problems()
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

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


class ReleaseFinding(NamedTuple):
    """Missing information that readers of a release need. required: whether a release without it
    must be confirmed. problem, fix: sentences."""

    key: str
    required: bool
    problem: str
    fix: str

    @property
    def is_metadata(self) -> bool:
        """Return whether the missing information is a value of the publication metadata."""
        return self.key in {f.name for f in fields(Publication)}


def _text(help: str, *, missing: str = "", required: bool = False) -> Any:
    """Define a text field of the metadata. missing: the problem to report if it is empty."""
    about = {"help": help, "missing": missing, "required": required}
    return field(default="", metadata=about)


@dataclass(frozen=True)
class Author:
    name: str = _text("Family name, comma, given names. Organisations: the name without comma.")
    orcid: str = _text("ORCID, such as 0000-0002-1825-0097.")
    affiliation: str = _text("Institution of the author.")


@dataclass(frozen=True)
class Publication:
    """The publication metadata of a campaign. Every text can be empty."""

    title: str = _text(
        "Title of the data set.",
        missing="The title is missing. Readers see the campaign's name instead.",
    )
    version: str = _text(
        "Version of the data set, such as 1.0.",
        missing="The version is missing. Papers cannot state which release they used.",
    )
    doi: str = _text("DOI, such as 10.5281/zenodo.1234567. Archives assign it.")
    authors: tuple[Author, ...] = field(
        default=(),
        metadata={
            "help": "Authors, in the order of citation.",
            "missing": "There is no author. The release cannot be cited.",
            "required": True,
        },
    )
    license_judgements: str = _text(
        "Licence of the judgements, an SPDX identifier such as CC-BY-4.0.",
        missing="The judgements have no licence. Without one, others must not reuse them.",
        required=True,
    )
    license_topics: str = _text(
        "Licence of the topics, an SPDX identifier.",
        missing="The topics have no licence. Without one, others must not reuse them.",
    )
    license_documents: str = _text(
        "Licence of the document texts, an SPDX identifier.",
        missing="The document texts have no licence. Without one, others must not reuse them.",
    )
    language: str = _text(
        "Language of the texts, a BCP 47 tag such as en.",
        missing="The language is missing. Catalogues list data sets by language.",
    )
    citation: str = _text(
        "Citation of the data set or its paper, as text or BibTeX.",
        missing="The citation is missing. Readers do not know which paper to cite.",
    )
    contact: str = _text(
        "Address for questions and error reports.",
        missing="The contact is missing. Readers cannot report errors.",
    )
    funding: str = _text("Sponsors and grant numbers.")
    ethics: str = _text(
        "Ethics review: the board and its decision, or why none was needed.",
        missing="The statement on ethics review is missing. Conferences ask for it.",
    )
    annotators: str = _text(
        "Number, background and recruitment of the annotators.",
        missing="The description of the annotators is missing.",
    )
    training: str = _text(
        "How the annotators were trained.",
        missing="The description of the annotators' training is missing.",
    )
    payment: str = _text(
        "How the annotators were paid.",
        missing="The statement on payment is missing.",
    )
    consent: str = _text(
        "What the annotators consented to.",
        missing="The statement on consent is missing.",
    )
    intended_use: str = _text(
        "What the data set is for.",
        missing="The intended use is missing.",
    )
    limits: str = _text(
        "Known limits, such as missing languages or depth of the pool.",
        missing="The known limits are missing.",
    )

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

    def as_json(self) -> dict[str, Any]:
        """Return the metadata as the JSON values that a campaign stores."""
        return {**asdict(self), "authors": [asdict(author) for author in self.authors]}

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
            (path, f"invalid value {value[:60]!r}", expected)
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
                problem = f"invalid value {author.orcid[:60]!r}"
                problems.append(((*path, "orcid"), problem, expected))
            elif not has_right_check_digit(author.orcid):
                problem = f"the check digit of orcid {author.orcid} is wrong"
                problems.append(((*path, "orcid"), problem, "the ORCID as it is on orcid.org"))
        return problems

    def find_missing(self, *, documents: bool) -> list[ReleaseFinding]:
        """Return the empty values that readers of a release will miss, required ones first.
        documents: whether the release contains document texts."""
        findings = [
            ReleaseFinding(
                f.name,
                f.metadata["required"],
                f.metadata["missing"],
                f"Enter it on the page Publication, or as {f.name} in the campaign file.",
            )
            for f in fields(self)
            if f.metadata["missing"]
            and not getattr(self, f.name)
            and (documents or f.name != "license_documents")
        ]
        return sorted(findings, key=lambda finding: not finding.required)
