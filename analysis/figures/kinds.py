"""What is drawn of each kind of answer. -> (name, function that draws on a figure)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Result = dict[str, Any]
Drawing = tuple[str, Callable[[Figure], None]]
MARKS = "osD^vP*X"
HATCHES = ["", "///", "...", "xxx", "\\\\\\", "++", "oo"]
MOST = 80
"""Rows of a picture; more are unreadable on paper."""


def figures_of(kind: str, result: Result) -> Iterator[Drawing]:
    if kind in DRAWN:
        yield from DRAWN[kind](result)


def _conditions(result: Result) -> dict[str, Any]:
    return {name: found for name, found in result.items() if isinstance(found, dict)}


def _plain(text: str) -> str:
    """Names are shown as they are: a dollar sign is no formula."""
    return text.replace("$", r"\$")


def _points(
    figure: Figure, rows: Sequence[tuple[str, float | None, float | None, float | None]], label: str, *, reference: float | None = None
) -> None:
    """A point and its interval in each row."""
    figure.set_size_inches(6, 0.8 + 0.2 * len(rows))
    axes = figure.add_subplot()
    for place, (_, value, low, high) in enumerate(rows):
        if value is None:
            axes.annotate("undefined", (0.01, place), xycoords=("axes fraction", "data"), va="center", color="0.4")
            continue
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color="C0", linewidth=1)
        axes.plot([value], [place], "o", color="C0", markersize=4)
    if reference is not None:
        axes.axvline(reference, color="0.6", linestyle=":", linewidth=1)
    axes.set_yticks(range(len(rows)), [_plain(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(label)


def _stacked(figure: Figure, names: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], label: str) -> None:
    """Lying stacked bars of shares."""
    figure.set_size_inches(6, 1.1 + 0.3 * len(names))
    axes = figure.add_subplot()
    left = [0.0] * len(names)
    for number, (name, values) in enumerate(series):
        axes.barh(
            range(len(names)),
            values,
            left=left,
            label=_plain(name),
            color=f"C{number % 7}",
            hatch=HATCHES[number % 7],
            edgecolor="white",
            height=0.7,
        )
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.set_yticks(range(len(names)), [_plain(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel(label)
    figure.legend(loc="outside upper center", ncols=min(4, len(series)))


def evaluate(result: Result) -> Iterator[Drawing]:
    first = next(iter(result["qrels"].values()))
    for number, measure in enumerate(next(iter(first.values())), 1):
        rows = [
            (tag if len(result["qrels"]) == 1 else f"{tag} ({name})", by_run[tag][measure], None, None)
            for tag in first
            for name, by_run in result["qrels"].items()
        ]
        if any(value is not None for _, value, *_ in rows):
            yield f"scores-{number}", partial(_points, rows=rows[:MOST], label=f"mean {measure}")


def compare_rankings(result: Result) -> Iterator[Drawing]:
    rows = []
    for measure in result["tau"]:
        for a, b in combinations(result["qrels"], 2):
            low, high = result["interval"][measure][a][b] or (None, None)
            rows.append((f"{measure}: {a}, {b}", result["tau"][measure][a][b], low, high))
    if any(value is not None for _, value, *_ in rows):
        yield "tau", lambda figure: _points(figure, rows[:MOST], "Kendall's tau-b", reference=0.9)


def label_overlap(result: Result) -> Iterator[Drawing]:
    labels: list[str] = []
    for found in result.values():
        labels += [label for label in found["relevant"] if label not in labels]
    known = {name: found for name, found in result.items() if found["pairs"]}
    if known:
        names = [f"{name}, {kind}" for name in known for kind in ("relevant", "irrelevant")]
        series = [
            (
                "unlabelled" if label == "unlabelled" else f"label {label}",
                [known[name][kind].get(label) or 0.0 for name in known for kind in ("relevant", "irrelevant")],
            )
            for label in labels
        ]
        yield "labels", lambda figure: _stacked(figure, names, series, "share of the judged pairs")


def _outcomes(rows: Sequence[Result]) -> Drawing:
    series = [
        (name, [row["outcomes"][key] for row in rows])
        for key, name in (("neither", "neither"), ("a_only", "A only"), ("b_only", "B only"), ("both", "both"))
    ]
    names = [f"{row['a']} – {row['b']}" for row in rows]
    return "outcomes", lambda figure: _stacked(figure, names, series, "share of the topics, by who answers")


def compare_runs(result: Result) -> Iterator[Drawing]:
    yield _outcomes([result])


def leaderboard(result: Result) -> Iterator[Drawing]:
    runs = [run for run in result["runs"] if run["score"] is not None]
    dated = bool(runs) and all(run["date"] for run in runs)

    def over_time(figure: Figure) -> None:
        figure.set_size_inches(6, 3.6)
        axes = figure.add_subplot()
        x: list[Any] = [date.fromisoformat(run["date"][:10]) if dated else number for number, run in enumerate(runs, 1)]
        for name, key, mark, colour, size in (
            ("run", None, "o", "0.65", 4),
            ("marked", "highlighted", "s", "C4", 5),
            ("baseline", "baseline", "^", "C3", 6),
            ("state of the art", "sota", "D", "C1", 6),
        ):
            chosen = [i for i, run in enumerate(runs) if key is None or run[key]]
            if chosen:
                axes.plot([x[i] for i in chosen], [runs[i]["score"] for i in chosen], mark, color=colour, markersize=size, label=name)
        chain = [i for i, run in enumerate(runs) if run["sota"]]
        axes.step([x[i] for i in chain], [runs[i]["score"] for i in chain], where="post", color="C1", linewidth=1)
        axes.set_xlabel("submitted" if dated else "number of the run")
        axes.set_ylabel("mean reciprocal rank")
        if dated:
            figure.autofmt_xdate()
        figure.legend(loc="outside upper center", ncols=4)

    if runs:
        yield "over-time", over_time
    if result.get("vs_previous"):
        yield _outcomes(result["vs_previous"])


def bootstrap(result: Result) -> Iterator[Drawing]:
    for number, (name, found) in enumerate(_conditions(result).items(), 1):
        tags = sorted(found["observed"], key=lambda tag: (found["expected_rank"][tag], tag))[:MOST]
        places = sorted(found["rank_share"][tags[0]], key=int)

        def heat(figure: Figure, name: str = name, found: Result = found, tags: list[str] = tags, places: list[str] = places) -> None:
            figure.set_size_inches(6.5, 1.4 + 0.17 * len(tags))
            axes = figure.add_subplot()
            shares = [[found["rank_share"][tag][place] for place in places] for tag in tags]
            image = axes.imshow(shares, aspect="auto", cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
            axes.set_yticks(range(len(tags)), [_plain(tag) for tag in tags])
            every = max(1, len(places) // 15)
            axes.set_xticks(range(0, len(places), every), places[::every])
            axes.set_xlabel("rank")
            axes.set_title(f"{_plain(name)}, {found['topics']} topics, {found['trials']} samples")
            figure.colorbar(image, ax=axes, label="probability")

        yield f"ranks-{number}", heat


def split_half(result: Result) -> Iterator[Drawing]:
    for number, (_, found) in enumerate(_conditions(result).items(), 1):
        tests = {f"{kind}, {test}": rates for kind in ("mean", "median") for test, rates in found[kind].items()}
        if any(rates["agree"] is None for rates in tests.values()):
            continue
        series = [(rate, [rates[rate] for rates in tests.values()]) for rate in ("agree", "partial", "disagree")]
        yield f"halves-{number}", partial(_stacked, names=list(tests), series=series, label="share of pairs of runs")


def submissions(result: Result) -> Iterator[Drawing]:
    groups = [
        (name, found)
        for name, found in _conditions(result).items()
        if found["best_public_rank"] is not None and found["its_private_rank"] is not None
    ]

    def ranks(figure: Figure) -> None:
        figure.set_size_inches(4.5, 4)
        axes = figure.add_subplot()
        for name, found in groups:
            over = bool(found["breaches"])
            axes.plot([found["best_public_rank"]], [found["its_private_rank"]], "s" if over else "o", color="C1" if over else "C0")
            axes.annotate(
                _plain(name[:20]),
                (found["best_public_rank"], found["its_private_rank"]),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=7,
            )
        axes.set_xlabel("public rank of the group's best run")
        axes.set_ylabel("its private rank")
        axes.invert_yaxis()

    if groups:
        yield "ranks", ranks


def _curves(axes: Axes, x: Sequence[float], by_name: dict[str, Sequence[float | None]]) -> None:
    for number, (name, values) in enumerate(by_name.items()):
        defined = [math.nan if value is None else value for value in values]
        axes.plot(x, defined, marker=MARKS[number % len(MARKS)], markersize=4, linewidth=1, label=name)


def stability(result: Result) -> Iterator[Drawing]:
    levels = result["levels"]
    element = "relevant assessments" if result["element"] == "positive" else result["element"]

    def overlap(figure: Figure) -> None:
        figure.set_size_inches(5, 3.4)
        axes = figure.add_subplot()
        _curves(axes, levels, result["probability"])
        for number, fit in enumerate(result["fit"].values()):
            if fit["slope"] is not None:
                ends = [min(levels), max(levels)]
                axes.plot(ends, [fit["slope"] * o + fit["intercept"] for o in ends], color=f"C{number % 7}", linestyle=":", linewidth=1)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel(f"overlap o of {element}")
        axes.set_ylabel("P(o)")
        axes.legend()

    yield "overlap", overlap
    measures = list(result["probability"])
    if len(measures) >= 3:

        def least(figure: Figure) -> None:
            figure.set_size_inches(3.6, 3.6)
            axes = figure.add_subplot(projection="polar")
            angles = [2 * math.pi * i / len(measures) for i in range(len(measures))]
            values = [1.0 if result["minimum_overlap"][name] is None else result["minimum_overlap"][name] for name in measures]
            axes.plot([*angles, angles[0]], [*values, values[0]], marker="o", markersize=4)
            axes.set_xticks(angles, measures)
            axes.set_ylim(0, 1)

        yield "least-overlap", least


def reusability(result: Result) -> Iterator[Drawing]:
    depths = result["depth"]

    def by_depth(figure: Figure) -> None:
        figure.set_size_inches(5, 3.2)
        axes = figure.add_subplot()
        names = next(iter(depths.values()))["tau"]
        _curves(axes, [int(depth) for depth in depths], {name: [found["tau"][name] for found in depths.values()] for name in names})
        axes.axhline(0.9, color="0.6", linestyle=":", linewidth=1)
        axes.set_xlabel("depth of the pool")
        axes.set_ylabel("tau-b with the full qrels")
        axes.legend()

    if any(value is not None for found in depths.values() for value in found["tau"].values()):
        yield "depth", by_depth


DRAWN: dict[str, Callable[[Result], Iterator[Drawing]]] = {
    "evaluate": evaluate,
    "compare_rankings": compare_rankings,
    "label_overlap": label_overlap,
    "compare_runs": compare_runs,
    "leaderboard": leaderboard,
    "bootstrap": bootstrap,
    "split_half": split_half,
    "submissions": submissions,
    "stability": stability,
    "reusability": reusability,
}
