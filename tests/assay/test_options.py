"""Options said once: the command line, the form, the study and the function read one dataclass."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass

import pytest

from analysis.studies.study import settings_from
from analysis.systems.forms import form_bounds
from assay.analyses import evaluate
from assay.options import CheckedOptions, add_options, list_options, option


@dataclass(frozen=True)
class Small(CheckedOptions):
    depth: int = option(10, "Depth of the pool", least=1, most=100)
    alpha: float = option(0.05, "Significant means p below", least=0, most=1)
    order: str = option(
        "score", "Order", choices=(("score", "by score"), ("rank", "by the file's rank"))
    )
    power: float = option(0.8, "Power", least=0, most=1, strict=True)
    lenient: bool = option(False, "Accept extra columns")


def parsed(*words: str) -> Small:
    parser = ArgumentParser(exit_on_error=False)
    add_options(parser, Small)
    return Small.from_mapping(vars(parser.parse_args([*words])))


def test_the_command_line_gives_what_the_dataclass_says() -> None:
    assert parsed() == Small()
    assert parsed("--depth", "3", "--order", "rank", "--lenient") == Small(
        depth=3, order="rank", lenient=True
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--depth", "0"), "expected a whole number of at least 1, not '0'"),
        (("--depth", "101"), "expected a whole number of at most 100, not '101'"),
        (("--depth", "2.5"), "expected a whole number, not '2.5'"),
        (("--alpha", "2"), "expected a number of at most 1, not '2'"),
        (("--alpha", "nan"), "expected a number of at least 0, not 'nan'"),
        (("--power", "0"), "expected a number above 0, not '0'"),
        (("--power", "1"), "expected a number below 1, not '1'"),
        (("--order", "size"), "invalid choice: 'size'"),
    ],
)
def test_the_command_line_refuses_what_is_out_of_bounds(words, says, capsys) -> None:
    with pytest.raises((SystemExit, Exception)) as refused:
        parsed(*words)
    assert says in str(refused.value) + capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"depth": 0}, "depth: expected a whole number of at least 1, not 0"),
        ({"depth": True}, "depth: expected a whole number, not True"),
        ({"depth": 2.5}, "depth: expected a whole number, not 2.5"),
        ({"alpha": 1.5}, "alpha: expected a number of at most 1, not 1.5"),
        ({"order": "size"}, "order: expected one of 'score', 'rank', not 'size'"),
    ],
)
def test_a_function_refuses_it_as_python_does(given: dict, says: str) -> None:
    with pytest.raises(ValueError) as refused:
        Small(**given)
    assert str(refused.value) == says
    with pytest.raises(TypeError):
        Small(width=3)  # type: ignore[call-arg]


def test_form_and_study_have_the_same_names_defaults_and_bounds() -> None:
    fields = {one.name: one for one in list_options(Small)}
    assert {name: one.default for name, one in fields.items()} == vars(Small())
    assert (fields["depth"].kind, *form_bounds(fields["depth"])) == ("whole", 1, 100)
    assert [one.kind for one in fields.values()] == [
        "whole",
        "number",
        "choice",
        "number",
        "flag",
    ]
    keys = settings_from(Small, "depth", "order")
    assert [(key.name, key.kind, key.about.least, key.values) for key in keys] == [
        ("depth", "whole", 1, []),
        ("order", "text", None, ["score", "rank"]),
    ]


def test_a_text_of_measures_is_read_and_a_wrong_one_is_a_value_error() -> None:
    options = evaluate.Options(measures="AP P@5")  # type: ignore[arg-type]
    assert [str(measure) for measure in options.measures] == ["AP", "P@5"]
    with pytest.raises(ValueError, match="Nonsense"):
        evaluate.Options(measures="Nonsense")  # type: ignore[arg-type]
    assert {one.name for one in list_options(evaluate.Options)} >= {
        "measures",
        "min_relevant",
        "per_topic",
    }
