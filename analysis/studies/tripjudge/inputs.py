"""Input keys of the TripJudge study, and the files that its parts read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.studies.study import PartLeftOut, setting
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import (
    EVALUATION_KEYS,
    EVALUATION_SETTING_KEYS,
    RUNS_KEY,
    slugify_name,
)
from assay.analyses.shared.topic_groups import read_topic_groups
from assay.formats.qrels import read_qrels
from assay.formats.streams import iterate_lines
from assay.labels.aggregation import METHODS

SETTING_KEYS = (
    setting(
        "judgements",
        "file",
        "One row per judgement: Assay's columns, or an export of FiRA, crowd-kit, HiCAL, Label Studio, Potato or Quepid.",
    ),
    setting("name", "text", "Name of the judgements in tables (judgements).", "judgements"),
    setting("scale", "whole", "Number of grades (4).", least=2),
    setting("min_relevant", "whole", "Minimum relevant grade (2).", least=1),
    setting(
        "min_judgements",
        "whole",
        "Minimum number of judgements for a pair to have a label (2).",
        least=1,
    ),
    setting(
        "min_seconds",
        "number",
        "Minimum seconds per judgement (1); faster ones do not count.",
        least=0,
    ),
    setting("no_gold", "flag", "Leave out the judgements of gold questions."),
    setting(
        "method",
        "text",
        "Aggregation method: majority (default), median, dawid-skene, mace.",
        choices=tuple(METHODS),
    ),
    setting("grades", "names", 'Names of the grades, such as 0 = "Wrong".'),
    setting("labels", "file", "Labels on all grades, instead of those that the judgements give."),
    setting(
        "binary_labels", "file", "Labels on two grades, instead of those that the judgements give."
    ),
    setting("documents", "whole", "Number of documents in the collection.", least=1),
    setting(
        "pool",
        "file",
        "File written by `assay pool build`, for completeness and the top of the pool.",
    ),
    setting("top", "whole", "Deepest rank of the pool in Figure 3 (4).", 4, least=1),
    setting("texts", "file", "Topics with their texts, for the list of contradicting pairs."),
    setting(
        "document_texts",
        "files",
        "Documents with their texts, for the same list: JSON lines, TREC, CSV or an archive of them.",
    ),
    setting(
        "topic_groups",
        "file",
        "Topic and group (Head, Torso, Tail, ...), tab-separated, to compute each group separately too.",
    ),
    setting(
        "group_column",
        "text",
        "Name of the column of topic_groups that contains the groups (group).",
    ),
    RUNS_KEY,
    setting("clicks", "named", "Click qrels by name."),
    setting(
        "click_log",
        "file",
        "A click log, instead of click qrels: they are derived as DCTR and Raw.",
    ),
    setting(
        "click_queries",
        "file",
        "Topic file (ID and text), if click_log is a TripClick log (JSON lines). Only clicks for these queries are used.",
    ),
    setting(
        "shown",
        "file",
        "Ranking shown for each topic, if the click log contains clicks only.",
    ),
    setting(
        "measures",
        "text",
        "Measures of Table 2 (J@5 J@10 nDCG-J@5 nDCG@5 nDCG@10 R@100).",
        "J@5 J@10 nDCG-J@5 nDCG@5 nDCG@10 R@100",
    ),
    setting(
        "ranking_measures",
        "text",
        "Measures of Table 3 (nDCG@5 nDCG@10 RR@10 R@100).",
        "nDCG@5 nDCG@10 RR@10 R@100",
    ),
    setting(
        "system_labels",
        "text",
        "Labels that rank systems and are compared with clicks: binary (default) or graded.",
        "binary",
        choices=("binary", "graded"),
    ),
    setting(
        "survey",
        "file",
        "Survey answers: CSV or TSV with the columns question and answer, one row per answer.",
    ),
    setting(
        "compare_with",
        "text",
        "Paper whose published values are shown next to yours: tripjudge (default: none).",
        choices=("tripjudge",),
    ),
    *(key for key in EVALUATION_SETTING_KEYS if key.name != "min_relevant"),
)
EVALUATION_OPTION_KEYS = [name for name in EVALUATION_KEYS if name != "min_relevant"]
JUDGING_KEYS = ("min_relevant", "min_judgements", "min_seconds", "no_gold")
SCALE_NAMES = (("graded", "all grades"), ("binary", "2 grades"))


def judgement_arguments(context: StudyContext, *, only: str | None = None) -> dict[str, Any]:
    """Return the input arguments of a command that reads judgements. only: a file of topic IDs.
    Raises PartLeftOut."""
    context.need(
        "judgements",
        why="individual judgements, because labels do not show the annotator, grade and time of each judgement",
    )
    given = {
        "judgements": context.file("judgements") or "",
        **context.options(*JUDGING_KEYS, grades="scale"),
    }
    return given if only is None else {**given, "only_topics": only}


def compares_with_paper(context: StudyContext) -> bool:
    """Return whether tables also show the values that TripJudge published."""
    return context.value("compare_with") == "tripjudge"


def n_grades(context: StudyContext) -> int:
    return int(context.value("scale") or 4)


def list_scales(context: StudyContext) -> tuple[tuple[str, str], ...]:
    """Return the scales to report as (key, words). If the campaign has two grades, the labels on
    both scales are equal, so one is enough, unless published values exist for both."""
    is_same = n_grades(context) == 2 and not context.has("binary_labels")
    return (
        (("graded", "2 grades"),) if is_same and not compares_with_paper(context) else SCALE_NAMES
    )


def grade_name(context: StudyContext, grade: int | str) -> str:
    return str((context.value("grades") or {}).get(str(grade), f"grade {grade}"))


def label_file(context: StudyContext, scale: str) -> str:
    """Return the path of the file of labels, aggregated from the judgements if no file is given.
    scale: graded or binary. Raises PartLeftOut."""
    need_labels(context, scale)
    key = LABEL_KEYS[scale]
    if context.has(key):
        return context.file(key) or ""
    path = context.scratch_file(f"{scale}.qrels")
    context.run(
        "aggregate",
        **judgement_arguments(context),
        **context.options("method"),
        labels=scale,
        output=path,
    )
    return path


LABEL_KEYS = {"graded": "labels", "binary": "binary_labels"}


def need_labels(context: StudyContext, scale: str) -> None:
    if not context.has(LABEL_KEYS[scale]) and not context.has("judgements"):
        raise PartLeftOut(f"needs `judgements` or `{LABEL_KEYS[scale]}`")


def need_system_labels(context: StudyContext) -> None:
    """Raise PartLeftOut if there are no labels on the scale `system_labels`. If there are labels on
    the other scale, the message suggests changing the setting."""
    scale = context.value("system_labels")
    other = {"graded": "binary", "binary": "graded"}[scale]
    try:
        need_labels(context, scale)
    except PartLeftOut as reason:
        if context.has(LABEL_KEYS[other]):
            raise PartLeftOut(
                f'{reason}, or `system_labels = "{other}"` to use the given `{LABEL_KEYS[other]}`'
            ) from None
        raise


def judged_qrels_argument(context: StudyContext) -> str:
    """Return the labels for ranking systems as an argument NAME=FILE. Raises PartLeftOut."""
    need_system_labels(context)
    return f"{context.value('name')}={label_file(context, context.value('system_labels'))}"


def need_clicks(context: StudyContext) -> None:
    if not context.has("clicks") and not context.has("click_log"):
        raise PartLeftOut("needs `clicks` (click qrels) or `click_log` (to derive them from)")


def need_runs(context: StudyContext) -> None:
    context.need("runs")


def need_pooled(context: StudyContext) -> None:
    context.need("pooled", why="the names of the runs that contributed to the pool")


def need_all(context: StudyContext, *needs: Callable[[StudyContext], None]) -> None:
    """Raise PartLeftOut that names all missing inputs, not only the first."""
    missing = []
    for need in needs:
        try:
            need(context)
        except PartLeftOut as reason:
            missing.append(str(reason))
    if missing:
        raise PartLeftOut("; ".join(missing))


def click_qrels_files(context: StudyContext) -> dict[str, str]:
    """Return the files of click qrels by name. Raises PartLeftOut."""
    need_clicks(context)
    if context.has("clicks"):
        return context.named("clicks")
    made = {}
    shown: dict[str, Any] = {"shown": context.file("shown")} if context.has("shown") else {}
    shown |= query_file_option(context)
    for name in ("DCTR", "Raw"):
        path = context.scratch_file(f"{name}.qrels")
        context.run(
            "click_qrels",
            clicks=context.file("click_log") or "",
            **shown,
            click_model=name.lower(),
            output=path,
        )
        made[name] = path
    return made


def query_file_option(context: StudyContext) -> dict[str, Any]:
    """Return the option for reading TripClick's log, whose records contain queries instead of topic
    IDs. Raises PartLeftOut."""
    if context.has("click_queries"):
        return {"queries": context.file("click_queries")}
    first = next(
        (line for _, line in iterate_lines(context.file("click_log") or "") if line.strip()), ""
    )
    if not first.lstrip().startswith("{"):
        return {}
    if not context.has("texts"):
        raise PartLeftOut(
            "needs `texts` or `click_queries`: the click log is TripClick's, which has queries instead of topics"
        )
    return {"queries": context.file("texts")}


def optional_click_qrels(context: StudyContext) -> dict[str, str]:
    return click_qrels_files(context) if context.has("clicks") or context.has("click_log") else {}


def list_judged_topics(context: StudyContext) -> list[str]:
    """Return the IDs of topics with judgements, or with labels if there are no judgements. Raises
    PartLeftOut."""
    if context.has("judgements"):
        return list(
            context.run(
                "campaign_stats",
                **judgement_arguments(context),
                **pool_arguments(context),
                **context.options(n_documents="documents"),
            )["topic_seconds"]
        )
    given = [scale for scale in LABEL_KEYS if context.has(LABEL_KEYS[scale])]
    if not given:
        raise PartLeftOut("needs `judgements` or `labels`")
    return read_qrels(label_file(context, given[0])).topics


def pool_arguments(context: StudyContext) -> dict[str, Any]:
    return {"pool": context.file("pool")} if context.has("pool") else {}


def topics_by_group(context: StudyContext) -> dict[str, list[str]]:
    """Return the judged topics by group. Raises PartLeftOut."""
    topics = list_judged_topics(context)
    members = read_topic_groups(
        context, context.file("topic_groups") or "", topics, column=context.value("group_column")
    )
    return {
        name: [topic for topic, inside in zip(topics, mask.tolist(), strict=True) if inside]
        for name, mask in members.items()
    }


def write_group_files(context: StudyContext) -> dict[str, str]:
    """Write a file with the judged topics of each group, and return the paths by group. Raises
    PartLeftOut."""
    context.need("topic_groups", why="a file of topics and their groups")
    path_of = {}
    for name, members in topics_by_group(context).items():
        path_of[name] = context.scratch_file(f"{slugify_name(name)}.topics")
        with open(path_of[name], "w", encoding="utf-8") as out:
            out.writelines(f"{topic}\n" for topic in members)
    if not path_of:
        raise PartLeftOut("no judged topic is in a group of `topic_groups`")
    return path_of


def ratio_or_none(part: Any, whole: Any) -> float | None:
    return part / whole if whole else None
