"""What the study of judgements reads."""

from __future__ import annotations

from typing import Any

from analysis.core.aggregation import METHODS
from analysis.studies.bench import Bench
from analysis.studies.study import PartLeftOut, SettingKey
from analysis.studies.words import READ, READING, RUNS

KEYS = (
    SettingKey("judgements", "file", "One row a judgement: our columns, or FiRA's, crowd-kit's, HiCAL's or Quepid's export."),
    SettingKey("name", "text", "What the judgements are called in tables (judgements).", "judgements"),
    SettingKey("scale", "whole", "Number of grades (4).", least=2),
    SettingKey("threshold", "whole", "Lowest relevant grade (2).", least=1),
    SettingKey("min_judgements", "whole", "A pair has a label from so many judgements on (2).", least=1),
    SettingKey("min_seconds", "number", "Faster judgements do not count (1).", least=0),
    SettingKey("no_gold", "flag", "Leave out the judgements of gold pairs."),
    SettingKey("method", "text", "How labels are made: majority (default), median, dawid-skene, mace.", choices=tuple(METHODS)),
    SettingKey("grades", "names", "Names of the grades, such as 0 = \"Wrong\"."),
    SettingKey("labels", "file", "Labels on all grades, in place of those that the judgements give."),
    SettingKey("binary_labels", "file", "Labels on two grades, in place of those that the judgements give."),
    SettingKey("documents", "whole", "Documents in the collection.", least=1),
    SettingKey("pool", "file", "The pool of build_pool: completeness, and which pairs stand at its top."),
    SettingKey("top", "whole", "Figure 3 takes the pool down to this rank (4).", 4, least=1),
    SettingKey("texts", "file", "Topics with their texts, for the list of contradicting pairs."),
    SettingKey("topic_groups", "file", "Topic and group (Head, Torso, Tail, ...), tab-separated: everything within each group, too."),
    RUNS,
    SettingKey("clicks", "named", "Click qrels by their names."),
    SettingKey("click_log", "file", "A click log, in place of click qrels: they are derived as DCTR and Raw."),
    SettingKey("shown", "file", "The ranking that was shown for each topic, where the click log has clicks only."),
    SettingKey("measures", "text", "Of Table 2 (J@5 J@10 nDCG-J@5 nDCG@5 nDCG@10 R@100).", "Judged@5 Judged@10 nDCG-J@5 nDCG@5 nDCG@10 R@100"),
    SettingKey("ranking_measures", "text", "Of Table 3 (nDCG@5 nDCG@10 RR@10 R@100).", "nDCG@5 nDCG@10 RR@10 R@100"),
    SettingKey("system_labels", "text", "Which labels rank systems and meet clicks: binary (default) or graded.", "binary", choices=("binary", "graded")),
    SettingKey("survey", "file", "What annotators said: CSV or TSV with the columns question and answer, one row an answer."),
    *(key for key in READING if key.name != "level"),
)  # fmt: skip
HOW = [name for name in READ if name != "level"]
JUDGING = ("scale", "threshold", "min_judgements", "min_seconds", "no_gold")
SCALES = (("graded", "all grades"), ("binary", "2 grades"))


def judgements(bench: Bench, *, only: str | None = None) -> list[str]:
    """The arguments of a command over judgements. only: a file of topics. Raises LeftOut."""
    bench.need("judgements", why="single judgements; labels do not tell who gave which grade, and when")
    given = [bench.file("judgements") or "", *bench.options(*JUDGING)]
    return given if only is None else [*given, f"--only-topics={only}"]


def n_grades(bench: Bench) -> int:
    return int(bench.value("scale") or 4)


def grade_name(bench: Bench, grade: int | str) -> str:
    return str((bench.value("grades") or {}).get(str(grade), f"grade {grade}"))


def labels(bench: Bench, scale: str) -> str:
    """The file of the labels, made of the judgements where none is given. scale: graded or binary. Raises LeftOut."""
    key = "labels" if scale == "graded" else "binary_labels"
    if bench.has(key):
        return bench.file(key) or ""
    if not bench.has("judgements"):
        raise PartLeftOut(f"needs `judgements` or `{key}`")
    path = bench.scratch_file(f"{scale}.qrels")
    bench.run("aggregate", *judgements(bench), *bench.options("method"), f"--grades={scale}", f"--output={path}")
    return path


def judged_qrels(bench: Bench) -> str:
    """NAME=FILE of the labels that rank systems."""
    return f"{bench.value('name')}={labels(bench, bench.value('system_labels'))}"


def click_qrels(bench: Bench) -> dict[str, str]:
    """Name -> file. Raises LeftOut."""
    if bench.has("clicks"):
        return bench.named("clicks")
    bench.need("click_log", why="click qrels (`clicks`), or a log from which they are derived")
    made = {}
    shown = [f"--shown={bench.file('shown')}"] if bench.has("shown") else []
    for name in ("DCTR", "Raw"):
        path = bench.scratch_file(f"{name}.qrels")
        bench.run("click_qrels", bench.file("click_log") or "", *shown, f"--model={name.lower()}", f"--output={path}")
        made[name] = path
    return made


def share(part: Any, whole: Any) -> float | None:
    return part / whole if whole else None
