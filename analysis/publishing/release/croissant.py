"""Writer of a release's croissant.json, which describes files, with digests, and tables in the
format Croissant 1.0 of MLCommons (https://docs.mlcommons.org/croissant/)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from analysis.publishing.release.metadata import list_licenses, make_license_url, read_publication
from analysis.publishing.release.tables import RELEASE_TABLES, ColumnType, ReleaseTable
from annotation.core.publication import Author, Publication
from annotation.models import Campaign

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context that the Croissant specification prescribes."""
MEDIA_TYPES = {
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".cff": "application/yaml",
}
DATA_TYPES = {
    ColumnType.TEXT: "sc:Text",
    ColumnType.WHOLE: "sc:Integer",
    ColumnType.OPTIONAL_WHOLE: "sc:Integer",
    ColumnType.TIME: "sc:DateTime",
}


def describe_for_croissant(
    campaign: Campaign,
    *,
    as_of: str | None,
    descriptions: Mapping[str, str],
    digests: Mapping[str, str],
) -> dict[str, Any]:
    """Return the Croissant description of a release. as_of: time of its newest judgement.
    descriptions: by part. digests: SHA-256 by file."""
    publication = read_publication(campaign)
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": publication.title or campaign.name,
        "description": campaign.description or publication.title or campaign.name,
        "isLiveDataset": False,
        **({"datePublished": as_of[:10]} if as_of else {}),
        **_describe_publication(campaign, publication),
        "rai:annotationsPerItem": str(campaign.judgements_per_pair),
        "keywords": ["information retrieval", "relevance judgements"],
        "distribution": [
            _describe_file(name, digest, _find_description(name, descriptions))
            for name, digest in digests.items()
        ],
        "recordSet": [
            _describe_table(table)
            for table in RELEASE_TABLES
            if table.part in digests and table.has_header
        ],
    }


def _describe_publication(campaign: Campaign, publication: Publication) -> dict[str, Any]:
    """Return the publication metadata that is known, in Croissant's terms."""
    urls = dict.fromkeys(make_license_url(name) for _, name in list_licenses(campaign))
    values = {
        "license": list(urls),
        "url": f"https://doi.org/{publication.doi}" if publication.doi else "",
        "version": publication.version,
        "inLanguage": publication.language,
        "citeAs": publication.citation,
        "creator": [_describe_author(author) for author in publication.authors],
        "rai:annotatorDemographics": publication.annotators,
        "rai:dataAnnotationProtocol": publication.training,
        "rai:dataUseCases": publication.intended_use,
        "rai:dataLimitations": publication.limits,
    }
    return {name: value for name, value in values.items() if value}


def _describe_author(author: Author) -> dict[str, Any]:
    orcid = f"https://orcid.org/{author.orcid}"
    return {
        "@type": "sc:Person",
        "name": author.name,
        **({"@id": orcid, "url": orcid} if author.orcid else {}),
        **(
            {"affiliation": {"@type": "sc:Organization", "name": author.affiliation}}
            if author.affiliation
            else {}
        ),
    }


def _find_description(name: str, descriptions: Mapping[str, str]) -> str:
    folder = f"{PurePosixPath(name).parent}/"
    return descriptions.get(name) or descriptions.get(folder, "")


def _describe_file(name: str, digest: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "description": description,
        "contentUrl": name,
        "encodingFormat": MEDIA_TYPES.get(PurePosixPath(name).suffix, "text/plain"),
        "sha256": digest,
    }


def _describe_table(table: ReleaseTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.words,
        "key": list(_refer_to(table, table.key)),
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column}",
                "name": column,
                "dataType": DATA_TYPES[kind],
                "source": {"fileObject": {"@id": table.part}, "extract": {"column": column}},
            }
            for column, kind in table.columns.items()
        ],
    }


def _refer_to(table: ReleaseTable, columns: Iterable[str]) -> Iterable[dict[str, str]]:
    return ({"@id": f"{table.name}/{column}"} for column in columns)
