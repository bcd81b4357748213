"""The kinds of reports: analyses of `assay.analyses` on stored runs and qrels.

The analysis defines its options, tables, charts and computation. This module adds what only web
pages need: headings, the options in the form, choices among stored rows, uploads, and small files
that the worker writes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from analysis.systems import written_files
from analysis.systems.inputs import PREL_SUFFIX, AnalysisFiles
from analysis.systems.running import NotComputable
from analysis.systems.topped_up import TOP_UP_FILE
from analysis.systems.written_files import WrittenFile
from assay.analyses.bootstrap import DEFAULT_MEASURE
from assay.analyses.shared.measures import PiecewiseCommand
from assay.analyses.shared.reading import (
    MEASURES_HINT,
    EvaluationOptions,
    SampledEvaluationOptions,
)
from assay.analyses.shared.sampled_files import SAMPLED_MEASURES
from assay.analyses.shared.stability_tables import name_element
from assay.analyses.shared.unjudged_tables import summarise_follow_up
from assay.charts.svg import Picture
from assay.measures.measures import split_condition
from assay.options import DeclaredOption, Option, list_options
from assay.results import Values
from assay.tabular import Table

EVALUATION = ("min_relevant", "missing_topics", "only_with_relevant", "precision")
"""Options of all analyses that compute measures of runs."""
Inputs = Callable[[AnalysisFiles, Mapping[str, Any]], dict[str, Any]]


def web_field(
    name: str,
    label: str,
    kind: str,
    default: Any = "",
    *,
    hint: str = "",
    choices: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> DeclaredOption:
    """Declare a form field that is not an option of the analysis. The kind's `inputs` converts it
    to arguments."""
    return DeclaredOption(
        name, str, default, Option(label, hint=hint, choices=choices, kind=kind, more=more)
    )


def qrels_and_runs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"qrels": files.qrels[0][1], "runs": files.runs}


@dataclass(frozen=True)
class ReportKind:
    """A kind of report, based on the analysis called `name`.

    title, sentence: for pages. group, hint: in the list of analyses. shows: form fields in order,
    as names of the analysis's options or as fields of the form only. inputs: converts files and
    options to the inputs of the analysis. qrels: minimum and maximum number of selected qrels (0:
    any number). click_qrels: whether click qrels are selected too. private_qrels: whether private
    qrels are selected too. pair: whether two ordered runs are selected. least_runs: minimum number
    of runs. written: files that the worker writes in addition to runs and qrels. estimates: whether
    labels of a sampled pool are accepted too. subject: returns the subject of a report from its
    options, for its title. beside_others: whether charts also use other results on the same input.
    topped_up: describes the outcome from the follow-up result, for results that list pairs to judge
    next (`order`), from which a top-up campaign can be created.
    """

    name: str
    title: str
    sentence: str
    shows: tuple[str | DeclaredOption, ...]
    inputs: Inputs = qrels_and_runs
    group: str = "compare"
    hint: str = ""
    qrels: tuple[int, int] = (1, 1)
    qrels_label: str = "Qrels"
    click_qrels: bool = False
    private_qrels: bool = False
    least_runs: int = 1
    pair: bool = False
    estimates: bool = False
    beside_others: bool = False
    subject: Callable[[Mapping[str, Any]], str] = lambda options: ""
    written: tuple[WrittenFile, ...] = ()
    topped_up: Callable[[Values], str] | None = None

    @cached_property
    def module(self) -> ModuleType:
        return importlib.import_module(f"assay.analyses.{self.name}")

    @property
    def command(self) -> Any:
        """Return the class of the command that computes this kind of report."""
        return self.module.Command

    @cached_property
    def fields(self) -> tuple[DeclaredOption, ...]:
        """Return the options and other fields in the order of the form."""
        options = {one.name: one for one in list_options(self.module.Options)}
        return tuple(options[one] if isinstance(one, str) else one for one in self.shows)

    @property
    def tables(self) -> Callable[[Values], list[Table]]:
        """Return the function that converts a result to tables, the most important first."""
        return self.command.tables  # type: ignore[no-any-return]

    def verdicts(self, result: Values) -> list[str]:
        """Return the verdicts of a result as sentences. Empty if the analysis gives none."""
        command = self.command
        return command.verdicts(result) if command.verdicts else []

    @property
    def tables_below_verdicts(self) -> Callable[[Values], list[Table]]:
        """Return the function that converts a result to the tables below its verdicts."""
        return self.command.tables_below_verdicts or self.tables

    @property
    def pictures(self) -> Callable[..., list[Picture]]:
        """Return the function that converts a result to `<figure>` strings with text alternatives,
        the most important first."""
        return self.command.charts  # type: ignore[no-any-return]

    @property
    def seeded(self) -> bool:
        return bool(self.command.takes_seed)

    @property
    def pieces(self) -> bool:
        """Return whether the computation is split into pieces that any worker can compute."""
        return issubclass(self.command, PiecewiseCommand)

    @property
    def counts_labels_only(self) -> bool:
        """Return whether the analysis ignores unjudged documents."""
        return getattr(self.command, "counts_labels_only", False)

    @property
    def min_qrels(self) -> int:
        """Return how many qrels the analysis needs at least, summed over all qrels fields."""
        return self.qrels[0] + self.click_qrels + self.private_qrels

    def written_file(self, name: str) -> WrittenFile:
        return next(one for one in self.written if one.name == name)

    def arguments(self, files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return inputs and options as arguments of the analysis, by name. Options with default
        values are omitted. Raises NotComputable."""
        given, options = self.inputs(files, options), dict(options)
        if issubclass(self.module.Options, SampledEvaluationOptions):
            given |= self._estimate(files, options)
        unused: set[str] = set()
        for written in self.written:
            if written.name not in files.others:
                # The command shown with the report does not name options without effect.
                unused.update(written.options)
            elif written.argument:
                given[written.argument] = files.others[written.name]
        for one in self.fields:
            if one.kind == "rows" and f"{one.name}.txt" in files.others:
                given[one.name] = files.others[f"{one.name}.txt"]
            value = options.get(one.name)
            # `inputs` has converted the fields that only the form has.
            if one.name not in self.shows or one.name in unused or value in (None, ""):
                continue
            if one.about.required or value != one.default:
                given[one.name] = value
        return given

    def _estimate(self, files: AnalysisFiles, options: dict[str, Any]) -> dict[str, Any]:
        """Return the additional arguments if the labels are of a sampled pool. The default measures
        count unjudged documents as non-relevant, so they are replaced by the default estimators."""
        if not any(path.endswith(PREL_SUFFIX) for _, path in files.qrels):
            if options.get("rank_model"):
                raise NotComputable(
                    "the rank model needs labels of a sampled pool, and the selected labels "
                    "are not from one; switch it off"
                )
            return {}
        usual = next(one.default for one in self.fields if one.name == "measures")
        if options.get("measures") in (None, "", usual):
            options["measures"] = SAMPLED_MEASURES
        return {"sampled": True}


def named_qrels_and_runs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"runs": files.runs, "qrels": list(map("=".join, files.qrels))}


def evaluate_inputs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    first, *others = map("=".join, files.qrels)
    given: dict[str, Any] = {"judged": first, "runs": files.runs, "qrels": others}
    sampled = any(path.endswith(PREL_SUFFIX) for _, path in files.qrels)
    return given if sampled else {**given, "intervals": True}


def two_runs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    if len(files.runs) != 2:
        raise NotComputable("select exactly two runs")
    return {"qrels": files.qrels[0][1], "run_a": files.runs[0], "run_b": files.runs[1]}


def labels_and_clicks(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"judged": files.qrels[0][1], "clicks": list(map("=".join, files.qrels[1:]))}


def sample_and_runs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    if not files.qrels[0][1].endswith(PREL_SUFFIX):
        raise NotComputable(
            "human labels must be those of this campaign's sampled pool; select them as qrels"
        )
    return {"prel": files.qrels[0][1], "runs": files.runs}


def unpooled_run(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    runs = dict(zip(files.tags, files.runs, strict=True))
    tag, against = options.get("unpooled_run") or next(iter(runs), ""), options.get("against", "")
    if tag not in runs:
        raise NotComputable(f"the unpooled run {tag} is not among the selected runs")
    if against and (against == tag or against not in runs):
        raise NotComputable(f"{against} must be another one of the selected runs")
    given: dict[str, Any] = {"qrels": files.qrels[0][1], "run": runs[tag]}
    if TOP_UP_FILE.name in files.others:
        given["topped_up"] = [files.others[TOP_UP_FILE.name]]
    if pool := [path for other, path in runs.items() if other != tag]:
        given["pool_runs"] = pool
    if against:
        given["against_run"] = runs[against]
    return given


def collection_documents(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given = qrels_and_runs(files, options)
    if not options.get("documents"):
        return given
    if written_files.DOCUMENTS.name not in files.others:
        raise NotComputable("upload the file with the list of the collection's documents")
    if "documents" not in str(options.get("element")).split("+"):
        raise NotComputable("the list of documents is used only if documents vary")
    return {**given, "docids": files.others[written_files.DOCUMENTS.name]}


def conditions_and_runs(files: AnalysisFiles, options: Mapping[str, Any]) -> dict[str, Any]:
    given = qrels_and_runs(files, options)
    measures = str(options.get("measures") or DEFAULT_MEASURE)
    if options.get("conditions"):
        return {**given, "conditions": parse_conditions(str(options["conditions"]), files)}
    if len(files.qrels) > 1 or files.lists("topics"):
        return {**given, "conditions": cross_conditions(measures.split(), files)}
    return {**given, "measures": measures}


def cross_conditions(measures: Sequence[str], files: AnalysisFiles) -> list[str]:
    """Return the conditions of a comparison as lines: one per measure and qrels, on all topics and
    on each topic subset."""
    subsets = {"": "", **files.lists("topics")}
    return [
        f"{measure} {name}{f' {subset}' if subset else ''}={measure},{path}{f',{topics}' if topics else ''}"
        for name, path in files.qrels
        for subset, topics in subsets.items()
        for measure in measures
    ]


def parse_conditions(text: str, files: AnalysisFiles) -> list[str]:
    """Parse lines `name = measure, qrels[, topic subset[, minimum relevant grade]]`. Raises
    NotComputable with the line."""
    qrels, subsets = dict(files.qrels), files.lists("topics")
    conditions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, rest = split_condition(line)
        parts = [part.strip() for part in rest.split(",")]
        if not name.strip() or not 2 <= len(parts) <= 4 or not all(parts[:2]):
            raise NotComputable(
                f"condition {number}, {line.strip()!r}: expected name = measure, qrels, topic "
                "subset, minimum relevant grade"
            )
        measure, judged, subset, level = [*parts, "", ""][:4]
        if judged not in qrels:
            raise NotComputable(
                f"condition {number}: qrels {judged!r} are not selected; selected are {', '.join(qrels)}"
            )
        if subset and subset not in subsets:
            uploaded = f"choose from {', '.join(subsets)}" if subsets else "none was uploaded"
            raise NotComputable(f"condition {number}: unknown topic subset {subset!r}; {uploaded}")
        values = [measure, qrels[judged], subsets.get(subset, ""), level]
        while not values[-1]:
            values.pop()
        conditions.append(f"{name.strip()}={','.join(values)}")
    return conditions


ALL_KINDS = (
    ReportKind(
        "compare_rankings",
        "Rankings under several qrels",
        "Do two qrels rank systems alike? Kendall's tau with its confidence interval, swapped and tied pairs.",
        ("measures", "bootstrap", *EVALUATION),
        named_qrels_and_runs,
        qrels=(2, 0),
        least_runs=2,
        hint="judgements, clicks, LLM judges",
    ),
    ReportKind(
        "label_overlap",
        "Judgements and click labels",
        "How many judged pairs have a click label, and how often the two agree or contradict each other.",
        (
            web_field(
                "pool",
                "Pool",
                "pool",
                hint="Only pairs at the top of this pool count. Leave empty for the pool of the campaign, or for all judged pairs.",
            ),
            *("top", "min_relevant"),
        ),
        labels_and_clicks,
        qrels_label="Judgements",
        click_qrels=True,
        least_runs=0,
        written=(written_files.POOL,),
        group="trust",
        hint="do they agree?",
    ),
    ReportKind(
        "evaluate",
        "Scores of runs",
        "Measures of runs under one or more qrels: means and scores per topic.",
        ("measures", *EVALUATION, "per_topic", "rank_model"),
        evaluate_inputs,
        qrels=(1, 0),
        estimates=True,
        hint="means and scores per topic",
    ),
    ReportKind(
        "compare_runs",
        "Compare two runs",
        "Is run B better than run A? Topics answered by neither, one or both, with tests and a verdict.",
        (
            *("cutoff", "alpha", "decide", "correction", "family_size", "seconds_per_document"),
            *EVALUATION,
        ),
        two_runs,
        pair=True,
        least_runs=2,
        hint="topics answered, with a verdict",
    ),
    ReportKind(
        "compare_systems",
        "Compare systems",
        "Which systems are better? Every pair tested, with confidence intervals, effect "
        "sizes, corrected p-values and groups that do not differ.",
        (
            *("measures", "against", "correction", "permutations", "alpha"),
            web_field(
                "topic_groups",
                "Groups of topics",
                "rows",
                hint="A tab-separated file with the columns topic and group. Each group is "
                "also compared separately.",
            ),
            *(*EVALUATION, "rank_model"),
        ),
        least_runs=2,
        estimates=True,
        hint="tests, effect sizes, groups",
    ),
    ReportKind(
        "plan_study",
        "Power analysis",
        "Topics needed to detect a difference, from the variances of existing runs, and the value of additional judgements or deeper pools.",
        (
            *("measures", "difference", "width", "power", "alpha"),
            web_field(
                "judgements",
                "Label noise",
                "flag",
                False,
                hint="Resamples the campaign's judgements within their pairs, for the current and other "
                "numbers of judgements per pair.",
            ),
            *("grades", "label_trials", "depths", *EVALUATION),
        ),
        least_runs=2,
        written=(written_files.JUDGEMENTS,),
        group="plan",
        hint="topics for the next study",
    ),
    ReportKind(
        "leaderboard",
        "Leaderboard over time",
        "Chain of state-of-the-art runs, and whether each step is significant.",
        (
            *("cutoff", "alpha", "decide", "correction", "family_size"),
            *("baselines", "until", "highlight", *EVALUATION),
        ),
        written=(written_files.ORDER,),
        group="leaderboards",
        hint="which steps were significant?",
    ),
    ReportKind(
        "bootstrap",
        "Certainty of the ranks",
        "Each run's rank over bootstrap samples of the topics: probabilities, intervals and "
        "pairwise wins, for several qrels side by side.",
        (
            web_field(
                "measures",
                "Measures",
                "measures",
                DEFAULT_MEASURE,
                hint=MEASURES_HINT,
                graded="nDCG@10",
            ),
            *("trials", "show"),
            web_field(
                "topic_lists",
                "Topic subsets",
                "lists",
                hint="Files with one topic ID per line, such as public.txt and private.txt.",
            ),
            web_field(
                "conditions",
                "Conditions",
                "conditions",
                hint="One per line: name = measure, qrels, topic subset, minimum relevant "
                "grade. The last two are optional. Leave empty for each measure under "
                "each qrels, on all topics and on each topic subset.",
            ),
            web_field(
                "judgements",
                "Ranks under resampled labels",
                "flag",
                False,
                hint="Resamples the campaign's judgements within their pairs, for fixed topics and together "
                "with topics.",
            ),
            *("grades", "label_trials", *EVALUATION),
        ),
        conditions_and_runs,
        qrels=(1, 0),
        written=(written_files.JUDGEMENTS,),
        group="trust",
        hint="on resampled topics",
    ),
    ReportKind(
        "split_half",
        "Split-half agreement",
        "How often tests on two halves of the topics agree about pairs of runs.",
        ("measures", "splits", "alpha", *EVALUATION),
        least_runs=2,
        group="trust",
        hint="would new topics agree?",
    ),
    ReportKind(
        "submissions",
        "Submissions by group",
        "Number of submissions by group, and how the best public run of each group performs under private qrels.",
        (
            web_field("measure", "Measure", "measure", "RR@100"),
            *("limit", "until"),
            web_field(
                "ranks",
                "Expected private ranks",
                "report",
                report="bootstrap",
                hint="From a completed report on the certainty of ranks.",
            ),
            "private_condition",
            *list_options(EvaluationOptions, "min_relevant"),
        ),
        lambda files, options: {},
        qrels_label="Public qrels",
        private_qrels=True,
        written=(written_files.SUBMISSIONS, written_files.RANKS),
        group="leaderboards",
        hint="private ranks, limits",
    ),
    ReportKind(
        "stability",
        "Stability of the collection",
        "Does the ranking stay the same when documents, topics or assessments change? Curves "
        "by overlap, and the least overlap needed.",
        (
            *("element", "measures", "overlaps", "pairs", "min_tau", "similarity"),
            web_field(
                "documents",
                "Documents",
                "choice",
                choices=(
                    ("", "those of runs and qrels"),
                    ("imported", "those imported into the collection"),
                    ("list", "those of the list below"),
                ),
                hint="Documents to draw from, if documents vary.",
            ),
            web_field(
                "docids",
                "List of the collection's documents",
                "list",
                implies=("documents", "list"),
                hint="A file with one document ID per line.",
            ),
            *("per_topic_quota", *EVALUATION),
        ),
        collection_documents,
        least_runs=2,
        beside_others=True,
        subject=lambda options: name_element(str(options.get("element", ""))),
        written=(written_files.DOCUMENTS,),
        group="trust",
        hint="fewer documents, topics, judges",
    ),
    ReportKind(
        "reusability",
        "Reusability of the pool",
        "Would a system that did not contribute be judged fairly? Was the pool deep enough?",
        (
            *("measures", "depth"),
            web_field(
                "by_group",
                "Leave out whole groups",
                "flag",
                False,
                hint="Uses the groups of the runs. A run without a group counts as its own group.",
            ),
            *("as_unpooled", *EVALUATION),
        ),
        least_runs=2,
        written=(written_files.GROUPS,),
        group="trust",
        hint="fair to unpooled runs?",
    ),
    ReportKind(
        "compare_llm_judges",
        "LLM judge and humans",
        "Agreement of LLM labels with human labels, both rankings of systems, and human "
        "estimates corrected by prediction-powered inference.",
        ("measures", "min_relevant", "precision"),
        sample_and_runs,
        qrels_label="Human labels of the sampled pool",
        estimates=True,
        written=written_files.LLM_JUDGES,
        hint="agreement, corrected estimates",
    ),
    ReportKind(
        "unjudged",
        "Unpooled run",
        "Unjudged documents of a run, its score bounds, and the pairs to judge first.",
        (
            web_field(
                "unpooled_run",
                "Unpooled run",
                "tag",
                choices=(("", "first selected run"),),
                hint="The other runs are those of the pool. Scores are imputed from documents that only one of them found.",
            ),
            "measures",
            web_field(
                "against",
                "Order by the difference from",
                "tag",
                choices=(("", "no run (by its own score)"),),
            ),
            *("judge", "max_grade", "min_relevant", "precision"),
        ),
        unpooled_run,
        subject=lambda options: str(options.get("unpooled_run") or ""),
        written=(TOP_UP_FILE,),
        topped_up=summarise_follow_up,
        group="plan",
        hint="which pairs to judge first",
    ),
)
KINDS = {kind.name: kind for kind in ALL_KINDS}
"""Kinds by name, in the order of the pages."""
