"""Which scales can be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.core import scale
from annotation.core.scale import SHAPES
from annotation.models import default_scale


def grades(*values, **changes):
    return [
        {"value": value, "name": f"grade {value}", "shape": "disc", **changes} for value in values
    ]


def test_the_default_scale_is_in_order():
    assert scale.find_scale_problems(default_scale(), min_relevant=2) == []


def test_two_and_nine_grades_will_do():
    assert scale.find_scale_problems(grades(0, 1), min_relevant=1) == []
    assert scale.find_scale_problems(grades(*range(9)), min_relevant=3) == []


@pytest.mark.parametrize(
    ("given", "min_relevant", "said"),
    [
        (grades(0), 0, "2 to 9"),
        (grades(*range(10)), 1, "2 to 9"),
        (grades(1, 0), 1, "lowest first"),
        (grades(0, 0, 1), 1, "lowest first"),
        (grades(0, "1"), 1, "whole number"),
        (grades(0, 1), 0, "minimum relevant grade"),
        (grades(0, 1), 5, "minimum relevant grade"),
        (grades(0, 1, name="same"), 1, "same name"),
        (grades(0, 1, name=" "), 1, "must have a name"),
        (grades(0, 1, shape="skull"), 1, "shape"),
    ],
)
def test_a_scale_that_cannot_be_used_says_why(given, min_relevant, said):
    assert said in " ".join(scale.find_scale_problems(given, min_relevant=min_relevant))


def test_every_sign_is_drawn_on_the_server_and_on_the_judging_page():
    root = Path(__file__).parents[3]
    template, script = (
        (root / "templates/_shape.html").read_text(),
        (root / "static/js/judge/shapes.js").read_text(),
    )
    assert set(re.findall(r'shape == "(\w+)"', template)) | {"ring"} == set(SHAPES), (
        "ring is what the template draws for any other word"
    )
    assert set(re.findall(r"^  (\w+): \[\s*\[", script, re.MULTILINE)) == set(SHAPES)
