"""Which of the systems of one collection are really better (METHODS 14): the results section of a system paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.charts.points import Interval, intervals
from analysis.core.system_comparison import FAMILIES
from analysis.studies.bench import Bench
from analysis.studies.study import Figure, Key, Part, Section, Study
from analysis.studies.words import QRELS, READ, READING, RUNS, best_of, pictured, prefixed, runs_under, slug
from analysis.systems.kind import Result
from analysis.systems.kinds.bootstrap import KIND as BOOTSTRAP
from analysis.systems.tabular import Cell, Table
from analysis.systems.verdict_tables import p_value

MOST_PAIRS = 60
"""More rows than this make no picture; the table has all."""
TESTED = (("t", "t p"), ("wsr", "signed-rank p"), ("sign", "sign p"), ("randomisation", "randomisation p"))


def compared(bench: Bench) -> Result:
    given = bench.options("measures", "against", "family", "trials", "alpha", *READ)
    groups = [f"--topic-groups={bench.file('topic_groups')}"] if bench.has("topic_groups") else []
    return bench.run("compare_systems", *runs_under(bench), *given, *groups)


def measures_of(result: Result) -> dict[str, Any]:
    return {name: found for name, found in result.items() if isinstance(found, dict) and "means" in found}


def main_table(bench: Bench) -> Section:
    result = compared(bench)
    found = measures_of(result)
    table = means_table("scores", "Effectiveness of the systems", found, result["settings"])
    values = {measure: {"means": one["means"], "groups": one["groups"], "topics": one["topics"]} for measure, one in found.items()}
    return Section(tables=[table], words=[*leaders(found, result["settings"]), *undefined(result)], values=values)


def means_table(key: str, title: str, found: Mapping[str, Any], settings: Mapping[str, Any]) -> Table:
    """A run a row, best first by the first measure; best in bold, letters or daggers by the corrected tests."""
    measures = list(found)
    first = found[measures[0]]["means"]
    tags = sorted(first, key=lambda tag: (-(first[tag] if first[tag] is not None else -1), tag))
    against = settings["against"]
    header, heads = ["run"], [("", 1)]
    for measure in measures:
        header += ["mean", "group"] if against == "all" else ["mean"]
        heads.append((measure, len(header) - sum(n for _, n in heads)))
    rows: list[list[Cell]] = []
    marks: dict[tuple[int, int], str] = {}
    for number, tag in enumerate(tags):
        row: list[Cell] = [tag]
        for measure in measures:
            if sign := dagger(found[measure], tag, settings):
                marks[number, len(row)] = sign
            row += [found[measure]["means"][tag], *([found[measure]["groups"][tag]] if against == "all" else [])]
        rows.append(row)
    numbers = [k for k, name in enumerate(header) if name == "mean"]
    if against != "all":
        header, heads = ["run", *measures], []
    over = ", ".join(f"{n}" for n in sorted({one["topics"] for one in found.values()}))
    return Table(
        key, title, header, rows, f"Means over {over} topics. {how(settings)}", heads=tuple(heads), bold=best_of(rows, numbers), marks=marks
    )


def how(settings: Mapping[str, Any]) -> str:
    test = {"randomisation": "the paired randomisation test", "t": "the paired t-test"}[settings["letters_by"]]
    family = {"none": "uncorrected", "max": "by the greatest difference", "holm": "Holm-corrected", "bonferroni": "Bonferroni-corrected"}[
        settings["family"]
    ]
    if settings["against"] == "all":
        return f"Best in bold; runs that share a letter cannot be told apart at {settings['alpha']:g} by {test} ({family})."
    return f"Best in bold; † better, ‡ worse than {settings['against']} at {settings['alpha']:g} by {test} ({family})."


def dagger(found: Mapping[str, Any], tag: str, settings: Mapping[str, Any]) -> str:
    """† significantly better than the run that all are compared with, ‡ significantly worse; none where every pair is compared."""
    if settings["against"] == "all":
        return ""
    for row in found["pairs"]:
        if row["b"] == tag:
            p = row["corrected"][settings["letters_by"]]
            return "" if p is None or p >= settings["alpha"] else "†" if row["difference"] > 0 else "‡"
    return ""


def leaders(found: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Who leads by each measure, and from how many others it can be told apart."""
    said = []
    for measure, one in found.items():
        means = {tag: mean for tag, mean in one["means"].items() if mean is not None}
        if not means:
            continue
        best = max(means.values())
        first = [tag for tag, mean in means.items() if mean == best]
        text = f"By {measure} {' and '.join(first)} lead{'s' if len(first) == 1 else ''} with {best:.4f} over {one['topics']} topics"
        if settings["against"] == "all" and len(first) == 1:
            same = [tag for tag in means if tag != first[0] and set(one["groups"][tag]) & set(one["groups"][first[0]])]
            text += f"; it cannot be told apart from {', '.join(same)}" if same else ", and can be told apart from every other run"
        said.append(text + ".")
    return said


def undefined(result: Result) -> list[str]:
    return [f"{name}: {reason}." for name, reason in result.get("undefined", {}).items()]


def differences(bench: Bench) -> Section:
    result = compared(bench)
    tables, figures = [], []
    for measure, found in measures_of(result).items():
        if not found["pairs"]:
            continue
        tables.append(pairs_table(f"differences-{slug(measure)}", f"Differences by {measure}", found, result["settings"]))
        figures.append(Figure(f"differences-{slug(measure)}", f"Mean differences by {measure}", differences_picture(measure, found)))
    return Section(tables, figures, undefined(result), {m: {"pairs": f["pairs"]} for m, f in measures_of(result).items()})


def pairs_table(key: str, title: str, found: Mapping[str, Any], settings: Mapping[str, Any]) -> Table:
    held = [(test, words) for test, words in TESTED if settings["family"] != "max" or test == "randomisation"]
    held = [] if settings["family"] == "none" else held
    header = [
        "A",
        "B",
        "B - A",
        "2.5 %",
        "97.5 %",
        "effect",
        "wins",
        "ties",
        "losses",
        *(words for _, words in TESTED),
        *(words for _, words in held),
    ]
    rows: list[list[Cell]] = [
        [row["a"], row["b"], row["difference"], *row["interval"], row["effect"], row["wins"], row["ties"], row["losses"]]
        + [p_value(row[test]) for test, _ in TESTED]
        + [p_value(row["corrected"][test]) for test, _ in held]
        for row in found["pairs"]
    ]
    decided = len(header) - 1 if held else header.index(dict(TESTED)[settings["letters_by"]])
    bold = {(number, decided) for number, row in enumerate(rows) if isinstance(p := row[decided], float) and p < settings["alpha"]}
    heads = [("", 2), ("difference", 3), ("", 1), ("topics of B", 3), ("raw", len(TESTED))]
    heads += [(f"corrected ({settings['family']})", len(held))] if held else []
    note = (
        f"Over {found['topics']} topics; intervals by t; effect: mean difference / standard deviation of the differences. "
        f"In bold: below {settings['alpha']:g}. Randomisation: {settings['trials']:,} changes of signs, all where they are fewer."
    )
    return Table(key, title, header, rows, note, heads=tuple(heads), bold=frozenset(bold))


def differences_picture(measure: str, found: Mapping[str, Any]) -> str:
    pairs: Sequence[Mapping[str, Any]] = found["pairs"]
    caption = f"Mean differences by {measure} (B - A) with 95 % intervals by t over {found['topics']} topics"
    if len(pairs) > MOST_PAIRS:
        pairs = sorted(pairs, key=lambda row: -abs(row["difference"]))[:MOST_PAIRS]
        caption += f"; the {MOST_PAIRS} greatest"
    rows = [Interval(f"{row['b']} - {row['a']}", row["difference"], *row["interval"]) for row in pairs]
    return intervals(rows, caption=caption, x_label=f"difference of {measure}", what="pair", reference=(0.0, ""), form=lambda v: f"{v:.3f}")


def by_group(bench: Bench) -> Section:
    bench.need("topic_groups", why="a file of topics and their groups")
    result = compared(bench)
    found = measures_of(result)
    names = list(next(iter(found.values()))["by_group"])
    tables = [
        means_table(
            f"scores-{slug(name)}",
            f"Effectiveness on {name} topics",
            {m: one["by_group"][name] for m, one in found.items()},
            result["settings"],
        )
        for name in names
    ]
    values = {
        name: {m: {"means": one["by_group"][name]["means"], "topics": one["by_group"][name]["topics"]} for m, one in found.items()}
        for name in names
    }
    return Section(tables, words=undefined(result), values=values)


def ranks(bench: Bench) -> Section:
    result = bench.run("bootstrap", *runs_under(bench), *bench.options("measures", *READ))
    tables = [table for table in BOOTSTRAP.tables(result) if not table.key.startswith("beats")]
    pictures = BOOTSTRAP.pictures(result)
    conditions = {name: one for name, one in result.items() if isinstance(one, dict) and "expected_rank" in one}
    values = {name: {"expected_rank": one["expected_rank"], "interval": one["interval"]} for name, one in conditions.items()}
    return Section(prefixed(tables, "certainty"), pictured(pictures, "ranks"), values=values)


def planning(bench: Bench) -> Section:
    result = bench.run("plan_study", *runs_under(bench), *bench.options("measures", "power", "alpha", "difference", *READ))
    settings = result["settings"]
    rows: list[list[Cell]] = []
    for measure, found in result.items():
        if isinstance(found, dict) and found.get("variance"):
            spread = [found["variance"]["median"], found["variance"]["highest"]]
            rows.append(
                [measure, found["topics"], *spread, found["topics_needed"], found["topics_needed_highest"], found["smallest_difference"]]
            )
    header = ["measure", "topics here", "median pair", "highest", "topics needed", "for the highest", "seen here"]
    title = f"Topics that a difference of {settings['difference']:g} needs"
    note = (
        f"Paired t-test at {settings['alpha']:g}, power {settings['power']:g}, from the variances of the differences at hand. "
        "Seen here: the smallest true difference that the topics at hand show with this power, median pair."
    )
    table = Table("planning", title, header, rows, note, heads=(("", 2), ("variance of the difference", 2), ("", 3)))
    return Section([table], values={str(row[0]): {"topics_needed": row[4], "smallest_difference": row[6]} for row in rows})


STUDY = Study(
    name="comparison",
    title="Systems compared",
    source="Smucker, Allan and Carterette 2007; Carterette 2012; Sakai 2014, 2018",
    sentence="Which systems are really better: means, every pair tested, groups, certainty of the ranks, and what the next study needs.",
    keys=(
        QRELS, RUNS,
        Key("measures", "text", "Measures between blanks (nDCG@10 AP)."),
        Key("against", "text", "The tag of a run that all others are compared with; all (default): every pair."),
        Key("family", "text", "How the errors of all tests are held together: none (default), bonferroni, holm, max.", choices=FAMILIES),
        Key("trials", "whole", "Random changes of signs beyond 20 topics (100000).", least=1),
        Key("alpha", "number", "Level of tests and letters (0.05).", least=0),
        Key("topic_groups", "file", "Topic and group, tab-separated: everything within each group, too."),
        Key("power", "number", "Of the planned study (0.8).", least=0),
        Key("difference", "number", "That the planned study is to find (0.05).", least=0),
        *READING,
    ),
    parts=(
        Part("scores", "Effectiveness", main_table),
        Part("differences", "Every pair tested", differences),
        Part("groups", "By topic group", by_group),
        Part("ranks", "Certainty of the ranks", ranks),
        Part("planning", "What the next study needs", planning),
    ),
)  # fmt: skip
