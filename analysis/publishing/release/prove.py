"""Check a release with the Python standard library (Python 3.11 or newer).

    python prove.py                # in the folder of an unpacked release
    python prove.py release.zip

It recomputes labels, qrels, statistics and agreement from the raw judgements, and checks digests and
the audit trail. The exit status is 1 if something is wrong. NOT_RECOMPUTED lists what is not checked.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
import statistics
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

NOT_RECOMPUTED = (
    "chance-level agreement, which depends on NumPy's random numbers; confidence intervals, "
    "quartiles, AC1 and quadratic weights in agreement.json; statistics by day, rank and topic in "
    "statistics.json; prels.txt of sampled pools; runs and click qrels. Their digests are checked."
)
DIGESTED = "qid docid annotator revision grade cannot_judge_reason spans judged_at excluded"
CHAINED = "judged_at event qid docid annotator revision grade cannot_judge_reason spans"
DECISIONS = ("unanimous", "majority", "lowest_grade")
Pair = tuple[str, str]
Votes = dict[Pair, dict[str, int]]  # the grade of each annotator, by pair
Posterior = dict[Pair, list[float]]  # the probability of each grade, by pair
Grades = dict[Pair, list[int]]  # the acceptable grades, beginning with the preferred one


class ReleaseFiles:
    """The files of a release in a zip file or a folder, and the judgements that enter labels."""

    def __init__(self, place: Path | IO[bytes]) -> None:
        if isinstance(place, Path) and place.is_dir():
            self.names = [p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()]
            self.open = lambda name: (place / name).open("rb")
        else:
            archive = zipfile.ZipFile(place)
            self.names, self.open = archive.namelist(), archive.open

    def text(self, name: str) -> str:
        with self.open(name) as file:
            return file.read().decode()

    def lines(self, name: str) -> list[str]:
        return self.text(name).split("\n")[:-1]

    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table without quoting."""
        head, *rows = (line.split("\t") for line in self.lines(name))
        return [dict(zip(head, row, strict=True)) for row in rows]

    def load(self) -> None:
        self.about = json.loads(self.text("campaign.json"))
        self.recipe, self.settings = self.about["recipe"], self.about["campaign"]["settings"]
        self.scale = {g["value"]: " ".join(g["name"].split()) for g in self.settings["scale"]}
        self.n_grades = max(self.scale) + 1
        chosen = self.recipe["min_relevant"]
        self.min_relevant = self.settings["min_relevant"] if chosen is None else chosen
        self.least = max(self.recipe["min_judgements"], 1)
        text = io.StringIO(self.text("judgements.tsv"), newline="")
        self.head, *rows = csv.reader(text, delimiter="\t")
        self.rows = [dict(zip(self.head, row, strict=True)) for row in rows]
        self.rulings = self.table("adjudications.tsv")
        self.gold = {(r["topic"], r["document"]): int(r["grade"]) for r in self.table("gold.tsv")}
        pairs = self.table("pairs.tsv") + self.table("qualification.tsv")
        self.kinds = {(r["topic"], r["document"]): r["kind"] for r in pairs}
        self.types = {r["annotator"]: r["type"] for r in self.table("annotators.tsv")}
        newest = {(r["qid"], r["docid"], r["annotator"]): r for r in self.rows}
        self.counted = [row for row in newest.values() if self.enters_labels(row)]
        self.graded: Votes = defaultdict(dict)
        for row in self.counted:
            self.graded[row["qid"], row["docid"]][row["annotator"]] = int(row["grade"])
        self.binary: Votes = {
            pair: {who: int(grade >= self.min_relevant) for who, grade in votes.items()}
            for pair, votes in self.graded.items()
        }

    def enters_labels(self, row: dict[str, str]) -> bool:
        """Return whether the recipe takes this newest revision of a judgement."""
        recipe, who, status = self.recipe, row["annotator"], row["status"]
        seconds = int(row["active_ms"]) / 1000 if row["active_ms"] else math.inf
        if status == "excluded" and {who, "*"} & set(recipe["include_excluded"]):
            status = "too_fast" if seconds < self.settings["min_active_seconds"] else "counted"
        return (
            status == "counted"
            and row["grade"] != ""
            and row["kind"] != "qualification"
            and self.types[who] in recipe["judges"]
            and who not in recipe["exclude"]
            and (row["gold"] == "0" or recipe["with_gold"])
            and seconds >= recipe["min_seconds"]
        )


def majority(grades: Iterable[int]) -> tuple[int, str]:
    """Return the most frequent grade, the lowest of tied ones, and how it was decided."""
    counts = Counter(grades)
    tied = sorted(grade for grade, n in counts.items() if n == max(counts.values()))
    return tied[0], DECISIONS[0 if len(counts) == 1 else 1 if len(tied) == 1 else 2]


def fit(votes: Votes, n_grades: int, improve: Callable[[Posterior], Posterior]) -> Grades:
    """Start from the shares of the grades of each pair, and improve the probabilities until none
    changes by 1e-6, at most 2,000 times. improve: returns log probabilities.

    Grades within 1e-6 of the most probable one are acceptable, because programs round sums
    differently. The lowest within 1e-9 is preferred.
    """
    grades = range(n_grades)
    posterior = {p: [[*v.values()].count(g) / len(v) for g in grades] for p, v in votes.items()}
    for _ in range(2000):
        before, posterior = posterior, {}
        for pair, logs in improve(before).items():
            values = [math.exp(value - max(logs)) for value in logs]
            posterior[pair] = [value / math.fsum(values) for value in values]
        change = (abs(a - b) for p in before for a, b in zip(before[p], posterior[p], strict=True))
        if max(change) < 1e-6:
            break
    return {
        pair: [g for near in (1e-9, 1e-6) for g, p in enumerate(row) if p >= max(row) - near]
        for pair, row in posterior.items()
    }


def by_dawid_skene(votes: Votes, n_grades: int) -> Grades:
    """Dawid and Skene (1979), with 0.01 added to each count of an annotator's confusion matrix."""
    grades = range(n_grades)

    def improve(posterior: Posterior) -> Posterior:
        shares = [math.fsum(row[k] for row in posterior.values()) / len(votes) for k in grades]
        prior = [math.log(share) if share > 0 else -math.inf for share in shares]
        sums: dict[str, Any] = defaultdict(lambda: [[0.01] * n_grades for _ in grades])
        for pair, given in votes.items():
            for who, grade in given.items():
                for k in grades:
                    sums[who][k][grade] += posterior[pair][k]
        errors = {
            who: [[math.log(value / math.fsum(row)) for value in row] for row in rows]
            for who, rows in sums.items()
        }
        return {
            p: [prior[k] + math.fsum(errors[w][k][g] for w, g in v.items()) for k in grades]
            for p, v in votes.items()
        }

    return fit(votes, n_grades, improve)


def by_mace(votes: Votes, n_grades: int) -> Grades:
    """Hovy et al. (2013), with 0.1 / n_grades added to each expected count."""
    added = 0.1 / n_grades
    competent_share: dict[tuple[str, int], float] = {}

    def improve(posterior: Posterior) -> Posterior:
        right: dict[str, float] = defaultdict(lambda: added)
        guesses: dict[str, list[float]] = defaultdict(lambda: [added] * n_grades)
        guessed: dict[str, float] = defaultdict(lambda: added)
        for pair, given in votes.items():
            for who, grade in given.items():
                p = posterior[pair][grade] * competent_share.get((who, grade), 1)
                right[who] += p
                guessed[who] += 1 - p
                guesses[who][grade] += 1 - p
        result = {pair: [0.0] * n_grades for pair in votes}
        for pair, given in votes.items():
            for who, grade in given.items():
                competent = right[who] / (right[who] + guessed[who])
                guess = (1 - competent) * guesses[who][grade] / math.fsum(guesses[who])
                competent_share[who, grade] = competent / (competent + guess)
                for k in range(n_grades):
                    result[pair][k] += math.log(guess + competent * (k == grade))
        return result

    return fit(votes, n_grades, improve)


METHODS: dict[str, Callable[[Votes, int], Grades]] = {
    "majority": lambda votes, n: {pair: [majority(v.values())[0]] for pair, v in votes.items()},
    "median": lambda votes, n: {p: [statistics.median_low(v.values())] for p, v in votes.items()},
    "dawid-skene": by_dawid_skene,
    "mace": by_mace,
}


def make_labels(release: ReleaseFiles) -> tuple[dict[Pair, list[str]], list[str]]:
    """Return the cells of labels.tsv by pair, and problems. Acceptable grades are kept."""
    recipe = release.recipe
    listed = {(row["topic"], row["document"]): row for row in release.table("labels.tsv")}
    labels: dict[Pair, list[str]] = defaultdict(list)
    sides = (("grade", release.graded, release.n_grades), ("binary", release.binary, 2))
    for column, votes, n_grades in sides:
        enough = {pair: given for pair, given in votes.items() if len(given) >= release.least}
        values = METHODS[recipe["method"]](enough, n_grades) if enough else {}
        for pair, grades in values.items():
            stated = listed.get(pair, {}).get(column, "")
            decision = majority(enough[pair].values())[1] if recipe["method"] == "majority" else ""
            labels[pair] += [stated if stated in map(str, grades) else str(grades[0]), decision]
    if "llm" not in recipe["judges"]:  # known grades and adjudications override votes
        known = [pair for pair in release.gold if release.kinds.get(pair) == "qualification"]
        others = {pair: (release.gold[pair], "known_grade") for pair in known}
        for row in release.rulings:
            others[row["topic"], row["document"]] = (int(row["grade"]), "adjudicated")
        for pair, (grade, decision) in others.items():
            if recipe["with_gold"] or pair not in release.gold:
                binary = str(int(grade >= release.min_relevant))
                labels[pair] = [str(grade), decision, binary, decision]
    rows = {p: [*labels[p], str(len(release.graded.get(p, ())))] for p in sorted(labels)}
    said = {pair: list(row.values())[2:] for pair, row in listed.items()}
    problems = [
        f"labels.tsv: {' '.join(pair)}: {said.get(pair)}, recomputed {rows.get(pair)}"
        for pair in sorted(rows.keys() | said.keys())
        if said.get(pair) != rows.get(pair)
    ]
    if list(said) != list(rows) or len(release.lines("labels.tsv")) != len(rows) + 1:
        problems.append("labels.tsv: pairs are missing, repeated or not in order")
    return rows, problems


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the defined values. None is undefined."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def cohen_kappa(joint: Counter[tuple[int, int]], distance: Callable[..., float]) -> float | None:
    first, second = Counter[int](), Counter[int]()
    for (a, b), n in joint.items():
        first[a] += n
        second[b] += n
    expected = math.fsum(distance(a, b) * first[a] * second[b] for a in first for b in second)
    observed = math.fsum(distance(*cell) * n for cell, n in joint.items()) * sum(joint.values())
    return 1 - observed / expected if expected > 0 else None


def krippendorff_alpha(votes: Votes, *, ordinal: bool) -> float | None:
    joint: dict[tuple[int, int], float] = defaultdict(float)
    totals: dict[int, float] = defaultdict(float)
    for given in votes.values():
        for a, b in itertools.permutations(given.values(), 2):
            joint[a, b] += 1 / (len(given) - 1)
            totals[a] += 1 / (len(given) - 1)
    middle = {g: sum(totals[k] for k in totals if k < g) + totals[g] / 2 for g in totals}

    def distance(a: int, b: int) -> float:
        return (middle[a] - middle[b]) ** 2 if ordinal else a != b

    expected = math.fsum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    observed = math.fsum(value * distance(*cell) for cell, value in joint.items())
    return 1 - observed * (sum(totals.values()) - 1) / expected if expected > 0 else None


def compute_agreement(votes: Votes, least: int, n_grades: int) -> dict[str, float | None]:
    labels, others, common = (defaultdict[Any, Counter[tuple[int, int]]](Counter) for _ in range(3))
    equal = []
    for given in votes.values():
        for who, grade in given.items():
            if len(given) >= least:
                labels[who][grade, majority(given.values())[0]] += 1
            if rest := [g for name, g in given.items() if name != who]:
                others[who][grade, majority(rest)[0]] += 1
        for a, b in itertools.combinations(sorted(given), 2):
            common[a, b][given[a], given[b]] += 1
            equal.append(given[a] == given[b])

    def kappa(joints: Iterable[Counter[tuple[int, int]]]) -> float | None:
        return mean(cohen_kappa(j, lambda a, b: abs(a - b) / (n_grades - 1)) for j in joints)

    percent, fleiss = mean(equal), None
    counts = Counter(grade for given in votes.values() for grade in given.values())
    if percent is not None and len(counts) > 1 and len({len(v) for v in votes.values()}) == 1:
        chance = math.fsum((n / sum(counts.values())) ** 2 for n in counts.values())
        fleiss = (percent - chance) / (1 - chance)
    return {
        "mean_kappa": kappa(labels.values()),
        "mean_kappa_others": kappa(others.values()),
        "mean_pairwise_kappa": kappa(j for j in common.values() if sum(j.values()) >= 10),
        "fleiss": fleiss,
        "percent": percent,
    }


def compute_statistics(release: ReleaseFiles) -> dict[str, Any]:
    enough = [pair for pair, given in release.graded.items() if len(given) >= release.least]
    grades = {}
    for grade in map(str, range(release.n_grades)):
        rows = [row for row in release.counted if row["grade"] == grade]
        seconds = [int(row["active_ms"]) / 1000 for row in rows if row["active_ms"]]
        grades[grade] = {
            "n": len(rows),
            "share": mean(row["grade"] == grade for row in release.counted),
            "mean_seconds": mean(seconds),
            "median_seconds": statistics.median(seconds) if seconds else None,
        }
    people = Counter(row["annotator"] for row in release.counted)
    return {
        "topics": len({topic for topic, _ in release.graded}),
        "pairs": len(release.graded),
        "labelled_pairs": len(enough),
        "judgements": len(release.counted),
        "per_pair": mean(map(len, release.graded.values())),
        "per_labelled_pair": mean(len(release.graded[pair]) for pair in enough),
        "annotators": len(people),
        "per_annotator": mean(people.values()),
        "relevant_share": mean(majority(release.binary[pair].values())[0] for pair in enough),
        "grades": grades,
    }


def check_digests(release: ReleaseFiles) -> Iterator[str]:
    expected = []
    for name in sorted(n for n in release.names if n != "SHA256SUMS" and "__pycache__/" not in n):
        with release.open(name) as file:
            expected.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}")
    said = release.text("SHA256SUMS").split("\n")
    for line in sorted({*said[:-1]} ^ {*expected}):
        yield f"SHA256SUMS: {line}: the digest is wrong, or the file or its line is missing"
    if said != [*expected, ""] or len({*release.names}) < len(release.names):
        yield "SHA256SUMS: not one line per file, sorted by name"


def check_audit_trail(release: ReleaseFiles) -> Iterator[str]:
    """Compare audit.tsv with the judgements and adjudications in the order of time."""
    events = [row | {"event": "judgement"} for row in release.rows]
    for ruled in release.rulings:
        at = ruled["decided_at"] and ruled["decided_at"][:23] + "Z"
        about = {"judged_at": at, "event": "adjudication", "grade": ruled["grade"]}
        events.append(about | {"qid": ruled["topic"], "docid": ruled["document"]})
    columns = CHAINED.split()
    rows = [[" ".join(event.get(name, "").split()) for name in columns] for event in events]
    rows.sort(key=lambda row: (*row[:5], int(row[5] or 0)))
    before, *lines = release.lines("audit.tsv")
    if len(lines) != len(rows):
        yield f"audit.tsv: {len(lines)} events, expected {len(rows)}"
    for number, (line, row) in enumerate(zip(lines, rows, strict=False), 2):
        *event, digest = line.split("\t")
        if digest != hashlib.sha256(f"{before}\n".encode()).hexdigest():
            yield f"audit.tsv:{number}: previous_sha256 is not the digest of the line before"
        if event != row:
            yield f"audit.tsv:{number}: {' '.join(event)}, expected {' '.join(row)}"
        before = line


def check_judgements(release: ReleaseFiles) -> Iterator[str]:
    """Compare columns with the recipe and other files."""
    keys = [(r["qid"], r["docid"], r["annotator"], int(r["revision"])) for r in release.rows]
    if any(a >= b for a, b in itertools.pairwise(keys)):
        yield "judgements.tsv: rows are repeated or not in order"
    counted = {id(row) for row in release.counted}
    for number, row in enumerate(release.rows, 1):
        pair = row["qid"], row["docid"]
        expected = {
            "excluded": str(int(id(row) not in counted)),
            "kind": release.kinds.get(pair),
            "gold": str(int(pair in release.gold)),
            "label": release.scale[int(row["grade"])] if row["grade"] else "",
        }
        for name, value in expected.items():
            if " ".join(row[name].split()) != value:
                yield f"judgements.tsv: row {number}: {name} is {row[name]!r}, expected {value!r}"
    text, excluded = io.StringIO(), [row for row in release.rows if row["excluded"] == "1"]
    table = csv.writer(text, delimiter="\t", lineterminator="\n")
    table.writerows([release.head, *(row.values() for row in excluded)])
    if text.getvalue() != release.text("excluded.tsv"):
        yield "excluded.tsv: not the excluded rows of judgements.tsv"


def check_labels(release: ReleaseFiles) -> Iterator[str]:
    """Recompute labels.tsv, both qrels, the content digest and the counts in campaign.json."""
    rows, problems = make_labels(release)
    yield from problems
    lines = sorted("\t".join(row[name] for name in DIGESTED.split()) + "\n" for row in release.rows)
    content = hashlib.sha256("".join(lines).encode())
    for name, column in (("qrels.txt", 0), ("qrels-binary.txt", 2)):
        text = "".join(f"{t} 0 {document} {row[column]}\n" for (t, document), row in rows.items())
        content.update(text.encode())
        if text != release.text(name):
            yield f"{name}: not the labels that the judgements give"
    dates = [row["judged_at"] for row in release.rows]
    dates += [row["decided_at"][:23] + "Z" for row in release.rulings if row["decided_at"]]
    decisions = Counter(row[1] for row in rows.values())
    labels = {"pairs": len(rows), "judgements": len(release.counted)}
    labels |= {"adjudicated": decisions["adjudicated"], "known": decisions["known_grade"]}
    values = {"as_of": max(dates, default=None), "content_sha256": content.hexdigest()}
    yield from differences("campaign.json", release.about, values | {"labels": labels})
    for scale, place in (("graded", 0), ("binary", 2)):
        judged = Counter(tuple(rows[p][place : place + 2]) for p in rows if p in release.graded)
        said = json.loads(release.text("statistics.json"))[scale]["cross"]
        cross = {g: {name: judged[g, name] for name in cells} for g, cells in said.items()}
        yield from differences(f"statistics.json: {scale}", said, cross)


def differences(place: str, said: Any, value: Any) -> Iterator[str]:
    """Compare values, which may be nested. Numbers may differ by rounding."""
    if isinstance(value, dict):
        for key in value:
            yield from differences(f"{place}: {key}", said[key], value[key])
    elif said != value and not (
        isinstance(said, float) and math.isclose(said, value, abs_tol=1e-9)
    ):
        yield f"{place} is {said}, recomputed {value}"


def check_statistics(release: ReleaseFiles) -> Iterator[str]:
    values = compute_statistics(release)
    yield from differences("statistics.json", json.loads(release.text("statistics.json")), values)
    rows = {
        ("Statistics", "Judged pairs"): [figure(values["pairs"])],
        ("Statistics", "Labelled pairs"): [figure(values["labelled_pairs"])],
        ("Statistics", "Judgements"): [figure(values["judgements"])],
        ("Statistics", "Judgements per judged pair"): [figure(values["per_pair"], 2)],
        ("Statistics", "Judgements per labelled pair"): [figure(values["per_labelled_pair"], 2)],
        ("Statistics", "Annotators"): [figure(values["annotators"])],
        ("Statistics", "Judgements per annotator"): [figure(values["per_annotator"], 1)],
    }
    for grade, name in release.scale.items():
        n, share, *seconds = values["grades"][str(grade)].values()
        cells = [figure(n), "undefined" if share is None else f"{100 * share:.1f}%"]
        rows["Judgements by grade", name] = cells + [figure(value, 1) for value in seconds]
    yield from compare_sheet(release, rows)


def check_agreement(release: ReleaseFiles) -> Iterator[str]:
    if not release.counted:
        return
    values = {}
    for scale, votes in (("graded", release.graded), ("binary", release.binary)):
        n_grades = release.n_grades if scale == "graded" else 2
        alpha = krippendorff_alpha(votes, ordinal=scale == "graded")
        values[scale] = compute_agreement(votes, release.least, n_grades) | {"alpha": alpha}
    yield from differences("agreement.json", json.loads(release.text("agreement.json")), values)
    words = {
        "mean_kappa": "Cohen's kappa with the label, mean over annotators",
        "mean_kappa_others": "Cohen's kappa with the others' label, mean",
        "mean_pairwise_kappa": "pairwise Cohen's kappa, mean",
        "alpha": "Krippendorff's alpha (ordinal; nominal on two grades)",
        "fleiss": "Fleiss' kappa",
        "percent": "agreeing pairs of judgements",
    }
    rows = {
        ("Agreement", n): [figure(values[s][key], 3) for s in values] for key, n in words.items()
    }
    yield from compare_sheet(release, rows)


def compare_sheet(release: ReleaseFiles, rows: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """Compare rows of the datasheet. Its cells may continue with a reason or an interval."""
    sheet, section = {}, ""
    for line in release.lines("datasheet.md"):
        section = line[3:] if line.startswith("## ") else section
        first, *cells = (c.replace("\\", "") for c in line.removesuffix(" |")[2:].split(" | "))
        sheet[section, first] = [cell.split(" ")[0].rstrip(":") for cell in cells]
    for (section, name), expected in rows.items():
        if (said := sheet.get((section, name.replace("\\", "")))) != expected:
            yield f"datasheet.md: {section}: {name}: {said}, recomputed {expected}"


def figure(value: float | None, digits: int = 0) -> str:
    return "undefined" if value is None else f"{value:,.{digits}f}"


def find_problems(place: Path | IO[bytes]) -> dict[str, list[str]]:
    """Return the problems by check. A release that cannot be read has problems as well."""
    csv.field_size_limit(2**31 - 1)
    by_check: dict[str, list[str]] = {"digests": []}
    try:
        release = ReleaseFiles(place)
        by_check["digests"] += check_digests(release)
        release.load()
        checks = (check_audit_trail, check_judgements, check_labels)
        for check in (*checks, check_statistics, check_agreement):
            by_check[check.__name__[6:]] = list(check(release))
    except Exception as error:  # whatever it is, the release is not as it should be
        by_check["completeness"] = [f"the release cannot be read further ({error!r})"]
    return by_check


def main() -> int:
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    by_check = find_problems(place)
    for name, problems in by_check.items():
        print(f"{'FAILED' if problems else 'ok':6}  {name}")
        for problem in problems[:20]:
            print(f"        {problem}")
    print(f"Not recomputed: {NOT_RECOMPUTED}")
    return 1 if any(by_check.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
