"""The part of the TripJudge study on systems under judgements and under clicks (Tables 2 and 3),
and on judgements compared with clicks (Figure 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from analysis.studies.published import TRIPJUDGE_MEANS, TRIPJUDGE_RUNS, TRIPJUDGE_TAU
from analysis.studies.study import Figure, PartLeftOut, Section
from analysis.studies.study_context import StudyContext
from analysis.studies.table_names import make_figures, prefix_tables
from analysis.studies.tripjudge.inputs import (
    EVALUATION_OPTION_KEYS,
    click_qrels_files,
    compares_with_paper,
    judged_qrels_argument,
    label_file,
    need_all,
    need_clicks,
    need_pooled,
    need_runs,
    need_system_labels,
    optional_click_qrels,
    pool_arguments,
    topics_by_group,
)
from assay.analyses.label_overlap import agreement_chart
from assay.analyses.shared.score_tables import best_cells
from assay.comparison.rankings import correlate_sorted_names, tau_b
from assay.formats.documents import read_documents
from assay.formats.topics import read_topics
from assay.results import Result
from assay.tabular import Cell, Table

MAX_LISTED = 200
"""Maximum number of contradicting pairs in the table. Further ones are only counted."""
EXCERPT_CHARACTERS = 200
"""Maximum number of characters of a document's text in the table of contradicting pairs."""


def qrels_arguments(context: StudyContext) -> list[str]:
    """Return the qrels as arguments NAME=FILE: the judgements, then the clicks if there are any."""
    return [
        judged_qrels_argument(context),
        *(f"{name}={path}" for name, path in optional_click_qrels(context).items()),
    ]


def make_systems_by_labels(context: StudyContext) -> Section:
    need_all(context, need_runs, need_system_labels)
    first, *further = qrels_arguments(context)
    asked = str(context.value("measures")).split()
    evaluated = context.run(
        "evaluate",
        judged=first,
        runs=context.files("runs"),
        qrels=further,
        measures=" ".join(with_judged_shares(asked)),
        **context.options(*EVALUATION_OPTION_KEYS),
    )
    names = list(evaluated["qrels"])
    tags = list(evaluated["qrels"][names[0]])
    measures = drop_equal_shares(evaluated["qrels"])
    rows: list[list[Cell]] = [
        [tag, *(evaluated["qrels"][name][tag][measure] for name in names for measure in measures)]
        for tag in tags
    ]
    header = ["run", *(abbreviate_measure(measure) for _ in names for measure in measures)]
    coverage = {k for k, name in enumerate(header) if name.startswith(("J@", "Judged@"))}
    has_shares = any(measure.startswith("Judged@") for measure in measures)
    over = ", ".join(f"{name} {evaluated['topics'][name]['qrels']:,}" for name in names)
    note = (
        "J@m: judged documents among the first m, divided by m; "
        f"{'' if has_shares else 'Judged@m, divided by those retrieved, is equal; '}"
        "n@m: nDCG at m; -j: judged documents only. Means "
        f"over all topics of each qrels ({over}). Best in bold."
    )
    table = Table(
        "table-2",
        "Effectiveness and judged shares",
        header,
        rows,
        note,
        heads=(("", 1), *((name, len(measures)) for name in names)),
        bold=best_cells(rows, [k for k in range(1, len(header)) if k not in coverage]),
        digits=(None, *[2 if k in coverage else 3 for k in range(1, len(header))]),
    )
    return Section(
        [table],
        words=[] if further else ["No clicks were given: judgements only."],
        values=evaluated["qrels"],
    )


def with_judged_shares(measures: Sequence[str]) -> list[str]:
    """Insert Judged@m after each J@m in a list of measures."""
    shares = {name: name.replace("J@", "Judged@") for name in measures if name.startswith("J@")}
    return [
        one
        for name in measures
        for one in ([name, shares[name]] if name in shares else [name])
        if one == name or one not in measures
    ]


def drop_equal_shares(by_qrels: Mapping[str, Any]) -> list[str]:
    """Return the names of the measures, without each Judged@m whose means all equal those of
    J@m."""
    rows = [row for of_qrels in by_qrels.values() for row in of_qrels.values()]
    return [
        measure
        for measure in rows[0]
        if not measure.startswith("Judged@")
        or (other := measure.replace("Judged@", "J@")) not in rows[0]
        or any(row[measure] != row[other] for row in rows)
    ]


def abbreviate_measure(measure: str) -> str:
    """Abbreviate the name of a measure as in Table 2 of TripJudge: n@5-j for nDCG-J@5."""
    family, at, cutoff = measure.partition("@")
    if family == "nDCG-J" and at:
        return f"n@{cutoff}-j"
    return f"n@{cutoff}" if family == "nDCG" and at else measure


def make_ranking_comparison(context: StudyContext) -> Section:
    need_all(context, need_runs, need_system_labels, need_clicks)
    rankings = run_ranking_comparison(context)
    header = [
        "measure",
        "qrels",
        "tau of the means",
        "2.5%",
        "97.5%",
        "tau-ap",
    ]
    heads: tuple[tuple[str, int], ...] = ()
    note, words = "", TAU_THRESHOLD_NOTE
    if compares_with_paper(context):
        header += ["authors' script", "published"]
        heads = (("", 2), ("here", 5), ("TripJudge", 1))
        note = "Published: the paper's values for TripJudge's seven systems under the corresponding qrels. "
        words = f"{words} {AUTHORS_SCRIPT_NOTE}"
    table = Table(
        "table-3",
        "Kendall's tau between rankings",
        header,
        [row[: len(header)] for row in tau_rows(context, rankings)],
        f"{note}{_interval_reason(rankings)}".strip(),
        heads=heads,
        digits=(None, None, *[3] * (len(header) - 2)),
    )
    tables = [
        one
        for one in rankings.tables()
        if one.key in ("correlations", "between-measures", "swaps", "undecided") and one.rows
    ]
    values = {
        "tau": rankings["tau"],
        "tau_ap": rankings["tau_ap"],
        "interval": rankings["interval"],
    }
    return Section(
        [table, *prefix_tables(tables, "table-3")],
        make_figures(rankings.charts(), "table-3"),
        [words],
        values,
    )


def _interval_reason(rankings: Result) -> str:
    """Explain in one sentence why pairs of Table 3 have no confidence interval. Empty if all have
    one."""
    names = list(rankings["qrels"])
    reasons = [
        rankings["interval_reason"][measure][a][b]
        for measure in rankings["tau"]
        for a, b in combinations(names, 2)
    ]
    listed = "; ".join(dict.fromkeys(filter(None, reasons)))
    return f"Why confidence intervals are missing: {listed}." if listed else ""


TAU_THRESHOLD_NOTE = "Above 0.9, two qrels are considered equivalent (Voorhees)."
AUTHORS_SCRIPT_NOTE = (
    "The paper's numbers come from the authors' script, which correlates the alphabetical "
    "order of the runs' names. Tau of the means correlates the rankings."
)


def run_ranking_comparison(context: StudyContext, *, only: str | None = None) -> Result:
    """Compare the system rankings under all qrels. only: a file of topic IDs. Raises
    PartLeftOut."""
    return context.run(
        "compare_rankings",
        runs=context.files("runs"),
        qrels=qrels_arguments(context),
        measures=context.value("ranking_measures"),
        **({"only_topics": only} if only else {}),
        **context.options(*EVALUATION_OPTION_KEYS),
    )


def tau_rows(context: StudyContext, rankings: Result) -> list[list[Cell]]:
    """Return one row per measure and pair of qrels: tau of the means, the value by the authors'
    script, and the published value."""
    names = list(rankings["qrels"])
    rows: list[list[Cell]] = []
    for measure in rankings["tau"]:
        for a, b in combinations(names, 2):
            tags = list(rankings["qrels"][a])
            first, second = (
                [rankings["qrels"][name][tag][measure] for tag in tags] for name in (a, b)
            )
            by_name = (
                None
                if None in (*first, *second)
                else correlate_sorted_names(first, second, names=tags)
            )
            theirs = TRIPJUDGE_TAU.get(measure, {}).get(published_pair(context, a, b))
            low, high = rankings["interval"][measure][a][b] or (None, None)
            rows.append(
                [
                    measure,
                    f"{a} - {b}",
                    rankings["tau"][measure][a][b],
                    low,
                    high,
                    rankings["tau_ap"][measure][a][b],
                    by_name,
                    theirs,
                ]
            )
    return rows


def published_pair(context: StudyContext, a: str, b: str) -> str:
    """Return the pair of qrels in the paper's Table 3 that corresponds to this pair. The judgements
    correspond to TripJudge."""
    return "-".join("TripJudge" if name == context.value("name") else name for name in (a, b))


def make_published_tau(context: StudyContext) -> Section:
    """Compute the tau values of the paper's Table 3 from its own Table 2, for comparison with the
    campaign's."""
    if not compares_with_paper(context):
        raise PartLeftOut('needs `compare_with = "tripjudge"`')
    if not any(context.has(key) for key in ("judgements", "labels", "binary_labels")):
        raise PartLeftOut("needs `judgements` or `labels`")
    rows: list[list[Cell]] = []
    for measure in ("nDCG@5", "nDCG@10", "R@100"):
        for a, b in combinations(TRIPJUDGE_MEANS, 2):
            means = (TRIPJUDGE_MEANS[a][measure], TRIPJUDGE_MEANS[b][measure])
            rows.append(
                [
                    measure,
                    f"{a} - {b}",
                    TRIPJUDGE_TAU[measure][f"{a}-{b}"],
                    correlate_sorted_names(*means, names=TRIPJUDGE_RUNS),
                    tau_b(*means),
                ]
            )
    note = (
        "From the published Table 2 (three decimals). Seven of the nine values follow from "
        "the alphabetical order of the runs' names."
    )
    header = ["measure", "qrels", "published", "authors' script", "tau of the means"]
    table = Table(
        "table-3-published",
        "TripJudge's Table 3, three ways",
        header,
        rows,
        note,
        digits=(None, None, 3, 3, 3),
    )
    return Section([table], values={f"{row[0]} {row[1]}": row[2:] for row in rows})


def make_click_comparison(context: StudyContext) -> Section:
    need_all(context, need_system_labels, need_clicks)
    overlap = run_label_overlap(context)
    tables = [
        shares_table(overlap, describe_considered_pairs(context)),
        contradicting_table(context, overlap),
    ]
    figures = []
    for by_row, key, words in (
        (False, "figure-3", "all judged pairs"),
        (True, "figure-3-by-row", "each bar"),
    ):
        caption = f"{context.value('name')} and click labels: shares of {words}"
        figures.append(Figure(key, caption, agreement_chart(overlap, by_row=by_row)))
    values = {
        one: {key: value for key, value in row.items() if key != "contradicting_pairs"}
        for one, row in overlap.items()
    }
    return Section([table for table in tables if table.rows], figures, values=values)


def make_reusability(context: StudyContext) -> Section:
    """Leave each run of the pool out, and make the pool shallower. Other runs do not take part: a
    pair that they also retrieve would count as pooled by them."""
    need_all(context, need_runs, need_system_labels, need_pooled)
    result = context.run(
        "reusability",
        qrels=label_file(context, context.value("system_labels")),
        runs=context.pooled_files,
        measures=context.value("ranking_measures"),
        **context.options(*EVALUATION_OPTION_KEYS),
    )
    return Section(
        prefix_tables(result.tables(), "reusability"),
        make_figures(result.charts(), "reusability"),
        values=dict(result),
    )


def run_label_overlap(context: StudyContext, *, only: str | None = None) -> Result:
    """Compare the labels with the click labels. only: a file of topic IDs. Raises PartLeftOut."""
    _, _, judged = judged_qrels_argument(context).partition("=")
    level = context.value("min_relevant") or 2 if context.value("system_labels") == "graded" else 1
    return context.run(
        "label_overlap",
        judged=judged,
        clicks=[f"{one}={path}" for one, path in click_qrels_files(context).items()],
        **({**pool_arguments(context), **context.options("top")} if context.has("pool") else {}),
        min_relevant=level,
        **({"only_topics": only} if only else {}),
        list_pairs=True,
    )


def describe_considered_pairs(context: StudyContext) -> str:
    return (
        f"the pool down to rank {context.value('top')}"
        if context.has("pool")
        else "all judged pairs (no `pool` is given)"
    )


def shares_table(overlap: Mapping[str, Any], where: str) -> Table:
    header, rows = share_rows(overlap)
    pairs = ", ".join(sorted({f"{one['pairs']:,}" for one in overlap.values()}))
    note = (
        f"Shares of {pairs} pairs, {where}. Agree: relevant and label 1 or more, or not "
        "relevant and label 0 or none. Contradicting: of the pairs with a click label."
    )
    return Table(
        "figure-3",
        "Judgements and click labels",
        header,
        rows,
        note,
        heads=(("", 2), ("click label", len(header) - 5), ("", 3)),
        digits=(None, None, *[3] * (len(header) - 3), None),
        ruled=frozenset(range(0, len(rows), 2)),
    )


def share_rows(overlap: Mapping[str, Any]) -> tuple[list[str], list[list[Cell]]]:
    """Return header and rows that compare judgements with click labels: relevant and non-relevant
    judgements by click label, as shares of all considered pairs, for each of the click qrels."""
    labels = sorted(
        {label for one in overlap.values() for label in one["relevant"] if label != "unlabelled"},
        key=int,
    )
    rows: list[list[Cell]] = []
    for name, one in overlap.items():
        for kind in ("relevant", "irrelevant"):
            rows.append(
                [
                    name,
                    kind,
                    *(one[kind].get(label) for label in ("unlabelled", *labels)),
                    *(
                        [one["agree"], one["disagree"], one["contradicting"]]
                        if kind == "relevant"
                        else [None] * 3
                    ),
                ]
            )
    return [
        "click qrels",
        "judged",
        "no label",
        *(f"label {label}" for label in labels),
        "agree",
        "disagree",
        "contradicting pairs",
    ], rows


def contradicting_table(context: StudyContext, overlap: Mapping[str, Any]) -> Table:
    """Return a table of the pairs whose judgements contradict clicks, with their texts and groups
    if the inputs contain them."""
    pairs = list(iterate_listed_pairs(overlap))
    listed = pairs[:MAX_LISTED]
    queries = (
        {topic.topic: topic.text for topic in read_topics(context.file("texts") or "")}
        if context.has("texts")
        else {}
    )
    texts = read_document_texts(context, {pair["document"] for _, pair in listed})
    group = (
        {topic: name for name, members in topics_by_group(context).items() for topic in members}
        if context.has("topic_groups")
        else {}
    )
    columns: dict[str, list[Cell]] = {
        "click qrels": [name for name, _ in listed],
        "group": [group.get(pair["topic"], "") for _, pair in listed],
        "topic": [pair["topic"] for _, pair in listed],
        "query": [queries.get(pair["topic"], "") for _, pair in listed],
        "document": [pair["document"] for _, pair in listed],
        "text": [texts.get(pair["document"], "") for _, pair in listed],
        "judged": [pair["judged"] for _, pair in listed],
        "click label": [pair["clicks"] for _, pair in listed],
    }
    known = {"group": bool(group), "text": bool(texts)}
    chosen = {name: cells for name, cells in columns.items() if known.get(name, True)}
    note = [f"The first {MAX_LISTED} of {len(pairs):,}."] if len(pairs) > MAX_LISTED else []
    note += [f"The first {EXCERPT_CHARACTERS} characters of each document."] if texts else []
    return Table(
        "contradicting",
        "Contradicting pairs",
        list(chosen),
        [list(row) for row in zip(*chosen.values(), strict=True)],
        " ".join(note),
    )


def read_document_texts(context: StudyContext, document_ids: set[str]) -> dict[str, str]:
    """Read the documents in `document_texts`. Returns title and first characters of the text by
    document ID."""
    texts = {}
    for path in context.files("document_texts"):
        for document in read_documents(path):
            if document.document in document_ids:
                whole = " ".join(f"{document.title}: {document.text}".removeprefix(": ").split())
                texts[document.document] = whole[:EXCERPT_CHARACTERS] + (
                    "…" if len(whole) > EXCERPT_CHARACTERS else ""
                )
    return texts


def iterate_listed_pairs(overlap: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, one in overlap.items():
        listed: Sequence[Mapping[str, Any]] = one.get("contradicting_pairs") or []
        yield from ((name, pair) for pair in listed)
