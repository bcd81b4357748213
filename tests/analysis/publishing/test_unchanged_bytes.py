"""The bytes of exports and releases of a campaign with one question stay the same from version to
version. The digests were computed before campaigns could have further questions."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from analysis.judgements.labels import LabelChoices
from analysis.publishing.exports import ExportOptions, available_exports, prepare_export
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import Campaign
from tests.analysis.publishing.test_releases import built, parts
from tests.builders import make_user

pytestmark = pytest.mark.django_db
OLD_RELEASE = Path(__file__).parents[2] / "data" / "release-before-0.2.0.zip"
CHANGING_PARTS = {
    *("SHA256SUMS", "croissant.json", "datasheet.md", "prove.py", "load_ir_datasets.py"),
}
"""Parts that contain the program's text or version."""
EXPORTS = {
    "adjudications": "91d91f3b6850",
    "crowd-kit": "910d0f7d4cd9",
    "excluded": "84d791650963",
    "feedback": "8e11ad9d528f",
    "fira": "fbc1fb141711",
    "judgements": "b27334c06bea",
    "label-csv": "9e58916cb91e",
    "labels": "484ff8292c44",
    "ltr": "316cc95b64ea",
    "opensearch": "88534a17d646",
    "pool": "4856546439c3",
    "qrels": "41d327cd3c51",
    "qrels-binary": "919aea9a6baa",
    "quepid-book": "e96672dedf70",
    "quepid-detailed": "dfadd40b148d",
    "quepid-general": "9660f7c117a9",
    "quepid-ratings": "cd8984d4cc34",
    "rank-eval": "6fd4422eb1d8",
    "topics": "f5cc841da26a",
    "topics-removed": "d9227782fb76",
}
PARTS = {
    "adjudications.tsv": "91d91f3b6850",
    "agreement.json": "4ee4b5d0725c",
    "annotators.tsv": "aad80b5f6bd0",
    "audit.tsv": "36c12cd38d28",
    "campaign.json": "f8c1604c7462",
    "documents.jsonl": "eaa5688a8699",
    "excluded.tsv": "84d791650963",
    "feedback.tsv": "8e11ad9d528f",
    "gold.tsv": "4896430d15fb",
    "guidelines/v1.md": "1b86713b7265",
    "judgements.tsv": "b27334c06bea",
    "labels.tsv": "484ff8292c44",
    "llm-judges.json": "a28e8f04e0eb",
    "llm-labels.tsv": "2e031e8505a2",
    "pairs.tsv": "d4cd8bc22c2e",
    "pool.tsv": "4856546439c3",
    "qrels-binary.txt": "919aea9a6baa",
    "qrels.txt": "41d327cd3c51",
    "qualification.tsv": "ed5eaa493a5b",
    "statistics.json": "20ce53f1d77c",
    "topics-removed.tsv": "d9227782fb76",
    "topics.jsonl": "878fb7b765d7",
    "topics.tsv": "f5cc841da26a",
}


@pytest.fixture
def campaign() -> Campaign:
    return import_release(OLD_RELEASE, name="old.zip", user=make_user("importer"))


def short_digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def test_exports_have_the_bytes_of_earlier_versions(campaign: Campaign) -> None:
    made = {
        name: short_digest(prepare_export(export, campaign, ExportOptions()).read())
        for name, export in available_exports(campaign).items()
        if name not in ("beir", "quepid-snapshot")  # a zip file; the time of the import
    }
    assert made == EXPORTS


def test_releases_have_the_bytes_of_earlier_versions(campaign: Campaign) -> None:
    found = parts(built(campaign, ReleasePlan("first", LabelChoices(), documents=True, notes=True)))
    about = json.loads(found["campaign.json"])
    assert about.pop("software")
    for newer in ("runs", "clicks"):  # keys that recipes had not when the digests were computed
        assert about["recipe"].pop(newer) is False
    found["campaign.json"] = json.dumps(about, sort_keys=True).encode()
    assert {n: short_digest(d) for n, d in found.items() if n not in CHANGING_PARTS} == PARTS
