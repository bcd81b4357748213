"""Publication metadata of a campaign."""

from __future__ import annotations

import pytest

from annotation.core.publication import Publication, has_right_check_digit


@pytest.mark.parametrize(
    ("orcid", "is_right"),
    [
        ("0000-0002-1825-0097", True),  # the examples of ORCID's documentation
        ("0000-0001-5109-3700", True),
        ("0000-0002-1694-233X", True),
        ("0000-0002-1825-0098", False),
        ("0000-0002-1694-2330", False),
        ("0000-0002-1852-0097", False),  # two digits swapped
    ],
)
def test_the_check_digit_of_an_orcid_is_verified(orcid, is_right):
    assert has_right_check_digit(orcid) is is_right


def test_each_invalid_value_is_reported_with_its_path():
    publication = Publication.read(
        {
            "doi": "https://doi.org/10.5281/zenodo.1",
            "license_topics": "CC BY 4.0",
            "language": "English",
            "authors": [
                {"name": "Ada", "orcid": "0000-0002-1825-0098"},
                {"name": " ", "orcid": "0000000218250097"},
            ],
        }
    )
    assert [path for path, _, _ in publication.find_problems()] == [
        ("doi",),
        ("language",),
        ("license_topics",),
        ("authors", 0, "orcid"),
        ("authors", 1),
        ("authors", 1, "orcid"),
    ]


def test_empty_metadata_and_usual_values_are_valid():
    assert Publication.read({}).find_problems() == []
    given = {"doi": "10.5281/zenodo.1234567", "license_topics": "CC-BY-4.0", "language": "pt-BR"}
    assert Publication.read(given).find_problems() == []


@pytest.mark.parametrize(
    "values",
    [
        {"titel": "A"},
        {"title": 1},
        {"authors": [{"nom": "A"}]},
        {"authors": 3},
        {"authors": ["A"]},
        [],
    ],
)
def test_values_of_an_unknown_form_are_refused(values):
    with pytest.raises(ValueError, match="metadata"):
        Publication.read(values)
