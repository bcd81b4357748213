"""The analyses as functions of the library. Arguments, defaults and help are those of the commands,
but values are Python objects.

A function takes qrels, runs or judgements in any form that `assay.inputs` reads, passes them to the
command in memory and returns its JSON object as a Result. Undefined values are None.
"""

from __future__ import annotations

import inspect
import os
import warnings
from argparse import Action
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from assay.analyses.shared.measures import InMemoryInputs, refuse_sampled_qrels
from assay.calls import complete_options, declared_arguments
from assay.cli.base import (
    FileCommand,
    make_tags_distinct,
    parse_fraction,
    parse_positive,
    parse_seed,
    to_json_types,
)
from assay.cli.command_list import load_command
from assay.column_types import BattleColumns, QrelsColumns, RunColumns
from assay.formats.prel import SampledQrels
from assay.inputs import (
    expand_paths,
    is_path,
    read_battles_input,
    read_judgements_input,
    read_qrels_input,
    read_runs_input,
)
from assay.measures.measures import format_measure_names
from assay.options import DeclaredOption
from assay.results import Result

PACKAGE = os.path.dirname(__file__) + os.sep


def warn_caller(message: str) -> None:
    """Issue a Python warning that refers to the line of the library's caller."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def read_judged_qrels(
    qrels: Any, name: str = "", *, command: FileCommand | None = None
) -> QrelsColumns:
    """Read qrels, under their own name or this one. Raises BadInput for those of a sampled pool,
    unless the command only counts labels."""
    judged = read_qrels_input(qrels)
    refuse_sampled_qrels(command or FileCommand(), name or judged.name, judged)
    return judged


def make_run_tags_distinct(runs: Sequence[RunColumns]) -> list[RunColumns]:
    """Return the runs with distinct tags. The second of equal tags becomes tag#2, with a
    warning."""
    tags, renamed = make_tags_distinct(run.tag for run in runs)
    for message in renamed:
        warn_caller(message)
    return [replace(run, tag=tag) for run, tag in zip(runs, tags, strict=True)]


class FunctionSpec(NamedTuple):
    """The command behind a function of the library. command: its module. takes: arguments with
    data, in order. defaults: defaults of options that differ from the command's."""

    command: str
    takes: tuple[str, ...]
    defaults: Mapping[str, Any] = {}


QRELS_AND_RUNS = ("qrels", "runs")
SINGLE_RUN_INPUTS = ("run", "run_a", "run_b")
NAMED_QRELS = {("compare_rankings", "qrels"), ("label_overlap", "clicks")}
NAMED_QRELS |= {("rank_llm_judges", "llm_labels"), ("compare_llm_judges", "llm_labels")}
"""(command, argument) of qrels by name: {name: qrels}."""
FUNCTIONS = {
    "aggregate": FunctionSpec("aggregate", ("judgements",)),
    "agreement": FunctionSpec("agreement", ("judgements",)),
    "bootstrap": FunctionSpec("bootstrap", QRELS_AND_RUNS),
    "campaign_stats": FunctionSpec("campaign_stats", ("judgements",)),
    "check_topics": FunctionSpec("check_topics", ("topics",)),
    "click_qrels": FunctionSpec("click_qrels", ("clicks",)),
    "compare": FunctionSpec("compare_systems", QRELS_AND_RUNS, {"measures": "nDCG@10"}),
    "compare_preferences": FunctionSpec("compare_preferences", ("battles",)),
    "compare_rankings": FunctionSpec("compare_rankings", ("qrels", "runs")),
    "compare_runs": FunctionSpec("compare_runs", ("qrels", "run_a", "run_b")),
    "export_labels": FunctionSpec("export_labels", ("qrels",)),
    "draw_battles": FunctionSpec("draw_battles", ("answers",)),
    "unjudged": FunctionSpec("unjudged", ("qrels", "run")),
    "label_overlap": FunctionSpec("label_overlap", ("judged", "clicks")),
    "leaderboard": FunctionSpec("leaderboard", QRELS_AND_RUNS),
    "compare_llm_judges": FunctionSpec("compare_llm_judges", ("prel", "runs", "llm_labels")),
    "plan_study": FunctionSpec("plan_study", QRELS_AND_RUNS),
    "rank_llm_judges": FunctionSpec("rank_llm_judges", ("qrels", "llm_labels")),
    "reusability": FunctionSpec("reusability", QRELS_AND_RUNS),
    "score_facets": FunctionSpec("score_facets", ("qrels", "facet", "runs")),
    "score_nuggets": FunctionSpec("score_nuggets", ("nuggets", "labels")),
    "score_rubrics": FunctionSpec("score_rubrics", ("rubrics", "labels")),
    "score_support": FunctionSpec("score_support", ("answers", "labels")),
    "simulate_campaign": FunctionSpec("simulate_campaign", QRELS_AND_RUNS),
    "split_half": FunctionSpec("split_half", QRELS_AND_RUNS),
    "stability": FunctionSpec("stability", QRELS_AND_RUNS),
    "stopping_advice": FunctionSpec("stopping_advice", QRELS_AND_RUNS),
    "submissions": FunctionSpec("submissions", ("file",)),
}
"""{name in the library: how it is called}. `evaluate`, `aggregate`, `pool` and `sample_pool` have
result types of their own, in assay.library."""
COMMAND_LINE_ONLY = {
    *("help", "json", "output", "campaign", "method", "annotators", "precision", "lenient"),
    *("sampled", "rank_model", "table", "llm_table", "fail_on", "scores"),
    *("settings", "pythonpath", "verbosity", "traceback", "no_color", "force_color", "skip_checks"),
}
"""Options that functions do not have: those of the terminal, of an installation's database, of
reading files, of sampled pools, of files with labels of several LLM judges, and of exit status."""
CAMPAIGN_HELP_PREFIX = "with --campaign: "
TYPES = {parse_positive: int, parse_fraction: float, parse_seed: int, int: int, float: float}


def make_function(name: str) -> Callable[..., Result]:
    """Return the function of this name, with the signature and help of its command."""
    about = FUNCTIONS[name]
    command = load_command(about.command)
    parser = command.create_parser("assay", about.command)
    hidden = {*COMMAND_LINE_ONLY, *about.takes} - ({"output"} if command.makes_data_file else set())
    options = {
        action.dest: action
        for action in parser.declared
        if action.option_strings
        and action.dest not in hidden
        and not (action.help or "").startswith(CAMPAIGN_HELP_PREFIX)
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
                annotation=_make_annotation(action),
            )
        )
    signature = inspect.Signature(parameters, return_annotation=Result)

    def analysis(*arguments: Any, **named: Any) -> Result:
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            known = ", ".join(signature.parameters)
            there_are = "" if set(named) <= set(signature.parameters) else f"; choose from {known}"
            raise TypeError(f"{name}() {error}{there_are}") from None
        asking, asked = prepare_call(name, {**about.defaults, **given})
        values = to_json_types(asking.compute_result(asked))
        if asking.takes_seed:
            values["seed"] = asked["seed"]
        return Result(values, getattr(asking, "tables", None), asking.charts)

    analysis.__name__ = analysis.__qualname__ = name
    analysis.__doc__ = _make_help(command, about, options)
    analysis.__signature__ = signature  # type: ignore[attr-defined]
    return analysis


def _make_annotation(action: Action) -> Any:
    if action.nargs == 0:
        return bool
    if action.nargs not in (None, "?") or isinstance(action.default, (list, tuple)):
        return list
    one = getattr(action.type, "__self__", None)
    of = (
        one.type
        if isinstance(one, DeclaredOption) and one.type in (int, float)
        else type(action.default)
        if isinstance(action.default, (int, float))
        else TYPES.get(action.type, str)  # type: ignore[arg-type]
    )
    return of if action.default is not None or action.required else of | None


def _make_help(command: FileCommand, about: FunctionSpec, options: Mapping[str, Action]) -> str:
    lines = [command.help, "", f"The result is the JSON object of the command `{about.command}`."]
    lines += ["", "Options:"]
    lines += [
        f"    {dest}: {(action.help or '').replace('%%', '%')}" for dest, action in options.items()
    ]
    return "\n".join(lines)


def prepare_call(name: str, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return (the command behind a function, its options as the parser would return them). Raises
    TypeError for unknown options and ValueError for invalid values."""
    about = FUNCTIONS[name]
    command = load_command(about.command)
    command.warn = warn_caller
    command.note = lambda message: None
    declared = declared_arguments(command)
    for option in given:
        if option not in declared:
            known = ", ".join(one for one in declared if one not in COMMAND_LINE_ONLY)
            raise TypeError(
                f"{name}() got an unexpected keyword argument {option!r}; choose from {known}"
            )
    if given.get("measures") is not None:
        given = {**given, "measures": format_measure_names(given["measures"])}
    places, command.stored = _store_inputs(about, given, command)
    options = {key: value for key, value in given.items() if key not in about.takes}
    return command, complete_options(command, {**options, **places})


def _store_inputs(
    about: FunctionSpec, given: Mapping[str, Any], command: FileCommand
) -> tuple[dict[str, Any], InMemoryInputs]:
    """Return (the data arguments as paths for the command, the data stored under these paths)."""
    places: dict[str, Any] = {}
    runs: list[RunColumns] = []
    qrels: dict[str, QrelsColumns] = {}
    judgements: dict[str, Any] = {}
    prels: dict[str, Any] = {}
    battles: dict[str, BattleColumns] = {}
    for name in about.takes:
        value = given[name]
        if name == "runs" or name in SINGLE_RUN_INPUTS:
            runs += read_runs_input(value)
        elif name == "judgements":
            judgements[name] = read_judgements_input(value, given.get("grades") or 4)
            places[name] = name
        elif name == "battles":
            battles[name] = read_battles_input(value)
            places[name] = name
        elif name == "answers":
            paths = [value] if is_path(value) else value
            places[name] = [str(path) for one in paths for path in expand_paths(one)]
        elif (about.command, name) in NAMED_QRELS:
            places[name] = []
            for key, one in value.items():
                path = f"{name}/{key}"
                if name == "llm_labels" and is_path(one):
                    # read from the file, which may have confidences
                    path = str(one)
                else:
                    qrels[path] = read_judged_qrels(one, str(key), command=command)
                places[name].append(f"{key}={path}")
        elif name in ("qrels", "judged", "facet"):
            judged = read_judged_qrels(value, command=command)
            qrels[judged.name] = judged
            places[name] = judged.name
        elif isinstance(value, SampledQrels):
            prels[name], places[name] = partial(_identity, value), name
        else:
            places[name] = str(value)
    runs = make_run_tags_distinct(runs)
    tags = [run.tag for run in runs]
    if "runs" in about.takes:
        places["runs"] = tags
    else:
        places |= zip(
            [name for name in about.takes if name in SINGLE_RUN_INPUTS], tags, strict=True
        )
    stored = InMemoryInputs(
        runs={run.tag: partial(_identity, run) for run in runs},
        qrels={name: partial(_identity, judged) for name, judged in qrels.items()},
        judgements={name: partial(_identity, one) for name, one in judgements.items()},
        prels=prels,
        battles={name: partial(_identity, one) for name, one in battles.items()},
    )
    return places, stored


def _identity(value: Any) -> Any:
    return value
