"""Files of a release with the campaign's publication metadata: README.md with a Hugging Face
dataset card, CITATION.cff (version 1.2.0), .zenodo.json and LICENSE."""

from __future__ import annotations

import csv
import json
from typing import Any

from analysis.publishing.release.tables import RELEASE_TABLES, ColumnType
from annotation.core.publication import Publication
from annotation.models import Campaign
from assay import markdown

CARD_LICENSES = {
    *("apache-2.0", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-sa-4.0", "cc0-1.0"),
    *("mit", "odbl", "odc-by", "pddl"),
}
"""Licence identifiers that Hugging Face knows. Other licences are written as `other` with their
name."""
SECTIONS = {
    "intended_use": "Intended use",
    "limits": "Limits",
    "annotators": "Annotators",
    "training": "Training of annotators",
    "payment": "Payment of annotators",
    "consent": "Consent",
    "ethics": "Ethics",
    "funding": "Funding",
    "contact": "Contact",
}


def read_publication(campaign: Campaign) -> Publication:
    return Publication.read(campaign.publication)


def has_metadata(campaign: Campaign) -> bool:
    """Return whether the campaign has publication metadata. Without them, its releases have no
    README.md."""
    return bool(campaign.publication) and read_publication(campaign) != Publication()


def has_citation(campaign: Campaign) -> bool:
    """Return whether the title and authors of the campaign are known, which a citation requires."""
    publication = read_publication(campaign)
    return bool(publication.title and publication.authors)


def list_licenses(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the licensed parts of a release as (part, SPDX identifier)."""
    publication = read_publication(campaign)
    licenses = (
        ("Judgements", publication.license_judgements),
        ("Topics", publication.license_topics),
        ("Document texts", publication.license_documents),
    )
    return [(what, name) for what, name in licenses if name]


def make_license_url(name: str) -> str:
    """Return the address of a licence's text. name: SPDX identifier of the licence."""
    return f"https://spdx.org/licenses/{name}.html"


def _format_yaml(lines: dict[str, Any]) -> str:
    """Format a mapping as YAML: values, lists of values, and lists of values by key. Empty ones are
    left out. Values are written as JSON, which is valid YAML."""
    text = ""
    for key, value in lines.items():
        if isinstance(value, list) and value:
            text += f"{key}:\n"
            for item in value:
                cells = item.items() if isinstance(item, dict) else [("", item)]
                fields = [f"{name}{': ' if name else ''}{_quote(cell)}" for name, cell in cells]
                text += "  - " + "\n    ".join(fields) + "\n"
        elif value:
            text += f"{key}: {_quote(value)}\n"
    return text


def _quote(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


CARD_TYPES = {
    ColumnType.TEXT: "string",
    ColumnType.WHOLE: "int64",
    ColumnType.OPTIONAL_WHOLE: "float64",
    ColumnType.TIME: "string",
}
"""Hugging Face's types by type of the column. Its reader of delimited files has no optional
integers."""


def _describe_tables_for_card() -> dict[str, Any]:
    """Return `configs` and `dataset_info` of a dataset card, with which the package datasets loads
    the release's own files. Empty cells are null, and IDs stay text.

    The package reads all tables of a card with one reader, so JSON Lines are left out.
    """
    tables = [table for table in RELEASE_TABLES if table.is_delimited]
    options = {"sep": "\t", "keep_default_na": False, "na_values": [""]}
    return {
        "configs": [
            {
                "config_name": table.name,
                "data_files": table.part,
                "quoting": csv.QUOTE_MINIMAL if table.quoted else csv.QUOTE_NONE,
                **({} if table.has_header else {"column_names": list(table.columns)}),
                **options,
            }
            for table in tables
        ],
        "dataset_info": [
            {
                "config_name": table.name,
                "features": [
                    {"name": column, "dtype": CARD_TYPES[kind]}
                    for column, kind in table.columns.items()
                ],
            }
            for table in tables
        ],
    }


def write_readme(campaign: Campaign) -> str:
    publication, licenses = read_publication(campaign), list_licenses(campaign)
    title = publication.title or campaign.name
    spdx = publication.license_judgements
    is_known = spdx.lower() in CARD_LICENSES
    card = _format_yaml(
        {
            "pretty_name": title,
            "language": [publication.language] if publication.language else [],
            "license": (spdx.lower() if is_known else "other") if spdx else "",
            "license_name": "" if is_known else spdx.lower(),
            "task_categories": ["text-retrieval"],
            "tags": ["information-retrieval", "relevance-judgements"],
            **_describe_tables_for_card(),
        }
    )
    parts = [f"# {markdown.escape_line(title)}", markdown.escape_paragraphs(campaign.description)]
    if publication.authors:
        names = "; ".join(markdown.escape_line(author.name) for author in publication.authors)
        parts.append(f"Authors: {names}.")
    parts.append(
        "[datasheet.md](datasheet.md) describes the files and how the labels were made. "
        "`python prove.py` checks this release."
    )
    parts += [
        f"## {heading}\n\n{markdown.escape_paragraphs(getattr(publication, name))}"
        for name, heading in SECTIONS.items()
        if getattr(publication, name)
    ]
    if licenses:
        rows = "\n".join(f"- {what}: {name}" for what, name in licenses)
        parts.append(f"## Licence\n\n{rows}")
    if publication.citation:
        quoted = "\n".join(f"    {line}" for line in publication.citation.splitlines())
        parts.append(f"## Citation\n\n{quoted}")
    return f"---\n{card}---\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def write_citation(campaign: Campaign) -> str:
    publication = read_publication(campaign)
    authors = []
    for author in publication.authors:
        family, _, given = author.name.partition(", ")
        person = {"family-names": family, "given-names": given, "affiliation": author.affiliation}
        cells = person if given else {"name": author.name}  # organisations have no affiliation
        orcid = f"https://orcid.org/{author.orcid}" if author.orcid else ""
        authors.append({name: cell for name, cell in (cells | {"orcid": orcid}).items() if cell})
    return _format_yaml(
        {
            "cff-version": "1.2.0",
            "message": "If you use this data set, please cite it as below.",
            "type": "dataset",
            "title": publication.title,
            "version": publication.version,
            "doi": publication.doi,
            "license": publication.license_judgements,
            "authors": authors,
        }
    )


def describe_for_zenodo(campaign: Campaign) -> dict[str, Any]:
    """Return the metadata of a Zenodo deposit (.zenodo.json)."""
    publication = read_publication(campaign)
    creators = [
        {name: value for name, value in vars(author).items() if value}
        for author in publication.authors
    ]
    values = {
        "title": publication.title,
        "upload_type": "dataset",
        "description": campaign.description or publication.title,
        "creators": creators,
        "version": publication.version,
        "license": publication.license_judgements.lower(),
        "keywords": ["information retrieval", "relevance judgements"],
        "notes": publication.funding,
    }
    return {name: value for name, value in values.items() if value}


def write_licenses(campaign: Campaign) -> str:
    return "".join(
        f"{what}: {name}, {make_license_url(name)}\n" for what, name in list_licenses(campaign)
    )
