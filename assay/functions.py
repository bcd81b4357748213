"""The analyses as functions of the library: arguments, defaults and help are those that the command
declares, values are Python's.

A function takes qrels, runs or judgements as assay.given understands them, hands them over in
memory and returns the JSON object of the command as a dict; undefined is None."""

from __future__ import annotations

import inspect
import os
import warnings
from argparse import Action
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from assay.analyses.shared.measures import Stored, refuse_sample
from assay.calls import complete_options, declared_arguments
from assay.cli.base import (
    FileCommand,
    distinct_tags,
    fraction,
    jsonable,
    positive,
    seed_number,
)
from assay.cli.command_list import loaded
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.prel import Prel
from assay.given import is_path, judgements_given, qrels_given, runs_given
from assay.measures.measures import measure_names
from assay.options import Declared
from assay.results import Result

PACKAGE = os.path.dirname(__file__) + os.sep


def warn(message: str) -> None:
    """A warning of Python, told at the line of the notebook that called."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def judged_given(qrels: Any, name: str = "", *, command: FileCommand | None = None) -> QrelsColumns:
    """Qrels in memory. Raises BadInput for those of a sampled pool, by this name or their own,
    unless the command counts labels only."""
    judged = qrels_given(qrels)
    refuse_sample(command or FileCommand(), name or judged.name, judged)
    return judged


def named_apart(runs: Sequence[RunColumns]) -> list[RunColumns]:
    """The runs; a second one of a tag is called tag#2, with a warning."""
    tags, renamed = distinct_tags(run.tag for run in runs)
    for message in renamed:
        warn(message)
    return [replace(run, tag=tag) for run, tag in zip(runs, tags, strict=True)]


class Function(NamedTuple):
    """command: its name on the command line. takes: its data, in the order of the arguments.
    defaults: of options where a notebook wants others."""

    command: str
    takes: tuple[str, ...]
    defaults: Mapping[str, Any] = {}


QRELS_AND_RUNS = ("qrels", "runs")
ONE_RUN = ("run", "run_a", "run_b")
NAMED_QRELS = {("compare_rankings", "qrels"), ("label_overlap", "clicks")}
NAMED_QRELS |= {("rank_machines", "machine"), ("machine_judges", "machine")}
"""(command, argument) of qrels by name: {name: qrels}."""
FUNCTIONS = {
    "aggregate": Function("aggregate", ("judgements",)),
    "agreement": Function("agreement", ("judgements",)),
    "bootstrap": Function("bootstrap", QRELS_AND_RUNS),
    "campaign_stats": Function("campaign_stats", ("judgements",)),
    "check_topics": Function("check_topics", ("topics",)),
    "click_qrels": Function("click_qrels", ("clicks",)),
    "compare": Function("compare_systems", QRELS_AND_RUNS, {"measures": "nDCG@10"}),
    "compare_rankings": Function("compare_rankings", ("qrels", "runs")),
    "compare_runs": Function("compare_runs", ("qrels", "run_a", "run_b")),
    "holes": Function("holes", ("qrels", "run")),
    "label_overlap": Function("label_overlap", ("judged", "clicks")),
    "leaderboard": Function("leaderboard", QRELS_AND_RUNS),
    "machine_judges": Function("machine_judges", ("prel", "runs", "machine")),
    "plan_study": Function("plan_study", QRELS_AND_RUNS),
    "rank_machines": Function("rank_machines", ("qrels", "machine")),
    "reusability": Function("reusability", QRELS_AND_RUNS),
    "simulate_campaign": Function("simulate_campaign", QRELS_AND_RUNS),
    "split_half": Function("split_half", QRELS_AND_RUNS),
    "stability": Function("stability", QRELS_AND_RUNS),
    "stopping_advice": Function("stopping_advice", QRELS_AND_RUNS),
    "submissions": Function("submissions", ("file",)),
}
"""name in the library -> what is called. `evaluate`, `aggregate` and `pool` have results
of their own, in assay.library."""
NOT_IN_A_NOTEBOOK = {
    *("help", "json", "output", "campaign", "method", "judges", "scores", "lenient"),
    *("sampled", "rank_model", "table", "machines"),
    *("settings", "pythonpath", "verbosity", "traceback", "no_color", "force_color", "skip_checks"),
}
"""Options of the terminal, of an installation's database, of how files are read, of sampled pools,
which are no qrels, and of labels in files of several LLM judges."""
OF_CAMPAIGNS = "with --campaign: "
TYPES = {positive: int, fraction: float, seed_number: int, int: int, float: float}


def function(name: str) -> Callable[..., Result]:
    """The analysis of this name, with the signature and the help that its command declares."""
    about = FUNCTIONS[name]
    command = loaded(about.command)
    parser = command.create_parser("assay", about.command)
    hidden = {*NOT_IN_A_NOTEBOOK, *about.takes} - ({"output"} if command.makes_data_file else set())
    options = {
        action.dest: action
        for action in parser.declared
        if action.option_strings
        and action.dest not in hidden
        and not (action.help or "").startswith(OF_CAMPAIGNS)
    }
    defaults = {dest: about.defaults.get(dest, action.default) for dest, action in options.items()}
    parameters = [
        inspect.Parameter(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in about.takes
    ]
    first = ["measures"] if "measures" in options else []
    for dest in [*first, *(dest for dest in options if dest not in first)]:
        action = options[dest]
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(
            inspect.Parameter(
                dest,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if dest in first else kind,
                default=inspect.Parameter.empty if action.required else defaults[dest],
                annotation=_annotation(action),
            )
        )
    signature = inspect.Signature(parameters, return_annotation=Result)

    def analysis(*arguments: Any, **named: Any) -> Result:
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            known = ", ".join(signature.parameters)
            there_are = "" if set(named) <= set(signature.parameters) else f"; there are {known}"
            raise TypeError(f"{name}() {error}{there_are}") from None
        asking, asked = asked_of(name, {**about.defaults, **given})
        values = jsonable(asking.answered(asked))
        if asking.takes_seed:
            values["seed"] = asked["seed"]
        return Result(values, getattr(asking, "tables", None))

    analysis.__name__ = analysis.__qualname__ = name
    analysis.__doc__ = _help(command, about, options)
    analysis.__signature__ = signature  # type: ignore[attr-defined]
    return analysis


def _annotation(action: Action) -> Any:
    if action.nargs == 0:
        return bool
    if action.nargs not in (None, "?") or isinstance(action.default, (list, tuple)):
        return list
    one = getattr(action.type, "__self__", None)
    of = (
        one.type
        if isinstance(one, Declared) and one.type in (int, float)
        else type(action.default)
        if isinstance(action.default, (int, float))
        else TYPES.get(action.type, str)  # type: ignore[arg-type]
    )
    return of if action.default is not None or action.required else of | None


def _help(command: FileCommand, about: Function, options: Mapping[str, Action]) -> str:
    lines = [command.help, "", f"The result is the JSON object of the command `{about.command}`."]
    lines += ["", "Options:"]
    lines += [
        f"    {dest}: {(action.help or '').replace('%%', '%')}" for dest, action in options.items()
    ]
    return "\n".join(lines)


def asked_of(name: str, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The command behind a function, and its options as its parser would give them. TypeError for
    an option that it does not have, ValueError for a value that it refuses."""
    about = FUNCTIONS[name]
    command = loaded(about.command)
    command.warn = warn
    command.note = lambda message: None
    declared = declared_arguments(command)
    for option in given:
        if option not in declared:
            known = ", ".join(one for one in declared if one not in NOT_IN_A_NOTEBOOK)
            raise TypeError(
                f"{name}() got an unexpected keyword argument {option!r}; there are {known}"
            )
    if given.get("measures") is not None:
        given = {**given, "measures": measure_names(given["measures"])}
    places, command.stored = _handed_over(about, given, command)
    options = {key: value for key, value in given.items() if key not in about.takes}
    return command, complete_options(command, {**options, **places})


def _handed_over(
    about: Function, given: Mapping[str, Any], command: FileCommand
) -> tuple[dict[str, Any], Stored]:
    """The data of a call in the places where the command looks for paths, and what stands there."""
    places: dict[str, Any] = {}
    runs: list[RunColumns] = []
    qrels: dict[str, QrelsColumns] = {}
    judgements: dict[str, Any] = {}
    prels: dict[str, Any] = {}
    for name in about.takes:
        value = given[name]
        if name == "runs" or name in ONE_RUN:
            runs += runs_given(value)
        elif name == "judgements":
            judgements[name] = judgements_given(value, given.get("scale") or 4)
            places[name] = name
        elif (about.command, name) in NAMED_QRELS:
            places[name] = []
            for key, one in value.items():
                path = f"{name}/{key}"
                if name == "machine" and is_path(one):  # read with confidences of labels
                    path = str(one)
                else:
                    qrels[path] = judged_given(one, str(key), command=command)
                places[name].append(f"{key}={path}")
        elif name in ("qrels", "judged"):
            judged = judged_given(value, command=command)
            qrels[judged.name] = judged
            places[name] = judged.name
        elif isinstance(value, Prel):
            prels[name], places[name] = partial(_same, value), name
        else:
            places[name] = str(value)
    runs = named_apart(runs)
    tags = [run.tag for run in runs]
    if "runs" in about.takes:
        places["runs"] = tags
    else:
        places |= zip([name for name in about.takes if name in ONE_RUN], tags, strict=True)
    stored = Stored(
        runs={run.tag: partial(_same, run) for run in runs},
        qrels={name: partial(_same, judged) for name, judged in qrels.items()},
        judgements={name: partial(_same, one) for name, one in judgements.items()},
        prels=prels,
    )
    return places, stored


def _same(value: Any) -> Any:
    return value
