"""What docs/evidence/reproduction.md says that commands print is what they print.

Each console block of the page stands under a comment `<!-- check: name -->` and is run again: `$
manage.py ...` in this process, any other line behind `$` by the shell. Each table that is not the
plain output of a command stands under such a comment too, and has a test here. Studies stand under
a comment of their own, and are made again. `make reproduction` (benchmarks/reproduction.py) writes
blocks and studies."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from analysis.studies.papers import STUDY_NAMES
from assay.comparison.rankings import tau_b
from assay.comparison.stability import (
    StabilityProtocol,
    combine_results,
    make_chunks,
    make_population,
    run_chunk,
    to_json,
)
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.batch import pack_collection
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measures
from benchmarks.reproduction import (
    CHECK_PATTERN,
    PAGE_PATH,
    RESULTS_DIR,
    ROOT,
    STUDY_PATTERN,
    describe_study,
    make_study_folder,
    parse_commands,
    rewrite_page,
    run_command,
)
from tests.commands import call_command

TEXT = PAGE_PATH.read_text("utf-8")
BLOCKS = {name: body for name, body in CHECK_PATTERN.findall(TEXT) if body.startswith("```")}
TABLES = {name: body for name, body in CHECK_PATTERN.findall(TEXT) if body.startswith("|")}
STUDIES = {name: (tables, body) for name, tables, body in STUDY_PATTERN.findall(TEXT)}


def cells(table: str) -> list[list[str]]:
    """The rows of a Markdown table below its header."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def printed_json(*arguments: str) -> dict:
    out = io.StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


HALVES = {"craswell-split-half-nist": "halves-NIST", "craswell-split-half-gpt4": "halves-GPT-4"}
"""Blocks with the figures of tables of the study leaderboard-dl21, which take a minute each."""


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in HALVES])
def test_a_command_of_the_page_prints_what_the_page_says(name, data_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    for command, expected in parse_commands(BLOCKS[name]):
        printed = run_command(command, data=data_folder, work=tmp_path)
        assert printed.rstrip("\n").splitlines() == expected.rstrip("\n").splitlines(), command


def read_halves(printed: str) -> list[tuple[list[list[str]], str]]:
    """Return rows and note of each measure's table."""
    tables = re.split(r"^Agreement of halves by .+\n\n.+\n", printed, flags=re.MULTILINE)[1:]
    parts = [table.strip().split("\n\n") for table in tables]
    return [([line.split() for line in rows.splitlines()], note) for rows, note in parts]


@pytest.mark.data
@pytest.mark.parametrize("name", HALVES)
def test_a_command_of_halves_prints_tables_as_those_of_the_page(name, data_folder, tmp_path):
    """With one split: the study computes all of them."""
    [(command, expected)] = parse_commands(BLOCKS[name])
    printed = run_command(f"{command} --splits 1", data=data_folder, work=tmp_path)
    for one, page in zip(read_halves(printed), read_halves(expected), strict=True):
        assert [row[:2] for row in one[0]] == [row[:2] for row in page[0]]
        assert one[1].split(" of ")[1].split(";")[0] == page[1].split(" of ")[1].split(";")[0]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_the_page_gives_what_the_page_says(name, data_folder, tmp_path):
    tables, body = STUDIES[name]
    folder = make_study_folder(name, data=data_folder, work=tmp_path)
    assert describe_study(name, tables.split(), folder) == body
    if name != "leaderboard-dl21":
        return
    for block, key in HALVES.items():
        computed = []
        for number in (1, 2):
            text = (folder / "tables" / f"{key}-agreement-{number}.json").read_text("utf-8")
            table = json.loads(text)
            rows = [[*row[:2], *(f"{rate:.4f}" for rate in row[2:])] for row in table["rows"]]
            computed.append((rows, table["note"]))
        assert read_halves(parse_commands(BLOCKS[block])[0][1]) == computed


def test_the_reproduction_page_quotes_the_settings_file_of_all_five_studies():
    assert {path.stem for path in RESULTS_DIR.glob("*.toml")} == STUDIES.keys()
    assert {name.partition("-")[0] for name in STUDIES} == set(STUDY_NAMES)
    for name, (_, body) in STUDIES.items():
        said = body.removeprefix("```toml\n").partition("```")[0]
        assert said in (RESULTS_DIR / f"{name}.toml").read_text("utf-8")


@pytest.mark.data
def test_only_what_is_named_is_written_anew(data_folder):
    page = (
        "<!-- check: one -->\n```console\n$ echo 1\nold\n```\n\nWords.\n\n<!-- check: two "
        "-->\n```console\n$ echo 2\nold\n$ echo 3\n```\n"
    )
    assert rewrite_page(page, ["two"], data=data_folder) == page.replace(
        "2\nold\n$ echo 3\n", "2\n2\n$ echo 3\n3\n"
    )
    assert rewrite_page(page, [], data=data_folder) == page.replace("1\nold", "1\n1").replace(
        "2\nold\n$ echo 3\n", "2\n2\n$ echo 3\n3\n"
    )


def test_every_block_and_table_of_numbers_has_a_check_and_every_check_its_own_name():
    names = re.findall(r"<!-- check: (\S+) -->", TEXT)
    assert len(names) == len(set(names))
    assert set(names) == BLOCKS.keys() | TABLES.keys()
    assert TEXT.count("```console") == len(BLOCKS)
    assert TABLES.keys() == {
        "tripjudge-published-tau",
        "tripjudge-quartiles",
        "lin-two-sides",
        "multi-element-curves",
        "multi-element-trec-covid",
    }


RUNS_IN_THEIR_SCRIPT = {
    "BM25": "bm25",
    "SciBERT_DOT": "scibert_dot",
    "PubMedBERT_DOT": "pubmedbert_dot",
    "ColBERT (SciBERT)": "colbert_scibert",
    "ColBERT (PubMedBERT)": "colbert_pubmedbert",
    "BERT_CAT": "bert_cat",
    "Ensemble": "3bert_fix_ensemble_avg",
}
"""TripJudge's names of the runs in Table 2, and in the list of their evaluation script."""


def tau_of_sorted_names(one: dict[str, float], other: dict[str, float]) -> float:
    """TripJudge's script: the names of the runs sorted by value, compared by Kendall's tau as if
    their alphabetical order were a value."""
    first, second = (
        sorted(scores, key=scores.__getitem__, reverse=True) for scores in (one, other)
    )
    n = len(first)
    agree = [(first[i] < first[j]) == (second[i] < second[j]) for i in range(n) for j in range(i)]
    return float(Fraction(2 * sum(agree) - len(agree), len(agree)))


@pytest.mark.data
def test_the_tau_of_the_published_table_2_is_that_of_the_page(data_folder):
    with open(data_folder / "tripjudge" / "published_table2.csv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    with open(
        data_folder / "tripjudge" / "published_table3_kendall_tau.csv", encoding="utf-8"
    ) as lines:
        published = {row["measure"]: row for row in csv.DictReader(lines)}
    expected = []
    for measure in ("nDCG@5", "nDCG@10", "Recall@100"):
        scores = {}
        for collection in ("TripJudge", "DCTR", "Raw"):
            own = [row for row in rows if row["test_collection"].endswith(collection)]
            scores[collection] = {
                RUNS_IN_THEIR_SCRIPT[row["run"]]: float(row[measure]) for row in own
            }
            assert len(scores[collection]) == 7
        for one, other in (("TripJudge", "DCTR"), ("TripJudge", "Raw"), ("DCTR", "Raw")):
            pair = f"{one}-{other}"
            by_script = tau_of_sorted_names(scores[one], scores[other])
            means = [np.array(list(scores[collection].values())) for collection in (one, other)]
            expected.append(
                [
                    measure,
                    pair,
                    published[measure][pair],
                    f"{by_script:.3f}",
                    f"{tau_b(*means):.3f}",
                ]
            )
    assert cells(TABLES["tripjudge-published-tau"]) == expected
    same = [abs(float(row[2]) - float(row[3])) < 0.0015 for row in expected]
    assert same == [True] * 6 + [False, False, True]
    as_the_text_says = scores["TripJudge"] | {
        "3bert_fix_ensemble_avg": scores["TripJudge"]["bert_cat"] + 0.001
    }  # of R@100, the last
    found = [
        f"{tau_of_sorted_names(as_the_text_says, scores[other]):.3f}" for other in ("DCTR", "Raw")
    ]
    assert found == [published["Recall@100"][f"TripJudge-{other}"] for other in ("DCTR", "Raw")]


@pytest.mark.data
def test_the_pairs_of_runs_whose_means_and_signed_ranks_differ_are_those_of_the_page(data_folder):
    """A signed-rank test of search lengths, by random changes of signs, whose ranks favour the
    other run than the means do."""
    qrels = read_qrels(data_folder / "dl21-passage" / "qrels.nist.txt.gz", name="NIST")
    evaluator = Evaluator(qrels, "RR@100", min_relevant=2)
    found, ranks = [], {}
    for path in sorted((data_folder / "dl21-passage" / "runs-judged53").glob("*.gz")):
        run = read_run(path)
        rr = evaluator.evaluate(run).values[:, 0]
        ranks[run.tag] = np.where(rr > 0, np.rint(1 / np.maximum(rr, 1e-9)), 0)
    assert len(ranks) == 63
    for a, b in permutations(ranks, 2):
        both = (ranks[a] > 0) & (ranks[b] > 0)
        d = (ranks[b] - ranks[a])[both]
        d = d[d != 0]
        balance = (rankdata(np.abs(d)) * np.sign(d)).sum()
        if d.sum() < 0 < balance:  # shorter searches of B by the means, longer ones by the ranks
            signs = np.random.default_rng(1).choice([-1, 1], size=(100_000, len(d)))
            p = (
                (np.abs(signs @ rankdata(np.abs(d))) >= balance - 1e-9).mean()
                if wilcoxon(d, method="approx").pvalue < 0.1
                else 1.0
            )
            if p < 0.05:
                found.append(
                    [a, b, f"{ranks[a][both].mean():.2f}", f"{ranks[b][both].mean():.2f}", p]
                )
    expected = cells(TABLES["lin-two-sides"])
    assert [row[:4] for row in found] == [row[:4] for row in expected]
    for ours, page in zip(found, expected, strict=True):
        assert float(page[4]) == pytest.approx(ours[4], abs=0.003)


@pytest.mark.data
def test_the_quartiles_of_kappa_are_those_of_the_page(data_folder, tmp_path):
    first, second = (
        parse_commands(BLOCKS[name])[0][0]
        for name in ("tripjudge-agreement-web-search", "tripjudge-agreement-machines")
    )
    expected = []
    for name, prepare, file, scale in (
        ("ws-zhou2012", first, "ws.csv", "5"),
        ("llmjudge-2024", second, "llm.csv", "4"),
    ):
        run_command(prepare, data=data_folder, work=tmp_path)
        found = printed_json("agreement", str(tmp_path / file), "--grades", scale)
        for grades in ("graded", "binary"):
            figures = found[grades]
            quartiles = [f"{value:.2f}" for value in figures["kappa_quartiles"]]
            expected.append(
                [
                    name,
                    grades,
                    f"{figures['mean_kappa']:.2f}",
                    *quartiles,
                    str(figures["undefined"]["kappa"]),
                ]
            )
    assert cells(TABLES["tripjudge-quartiles"]) == expected


ELEMENTS = ("documents", "topics", "assessments", "positive")
MEASURES = ("AP", "Rprec", "Bpref", "nDCG")
COLLECTIONS = {  # name -> qrels, folder of runs
    "nfcorpus": ("nfcorpus/qrels.test.3-2-1.txt.gz", "nfcorpus/runs"),
    "cranfield": ("cranfield/qrels.graded.txt", "cranfield/runs"),
    "vaswani-npl": ("vaswani-npl/qrels", "vaswani-npl/runs"),
    "trec-covid-r4-ohsu": (
        "trec-covid-r4-ohsu/qrels.covid-round4.txt.gz",
        "trec-covid-r4-ohsu/runs",
    ),
}


def kept(collection: str, element: str) -> dict:
    return json.loads((RESULTS_DIR / f"stability-{collection}-{element}.json").read_text("utf-8"))


def rows_of(collection: str) -> list[list[str]]:
    """What the page's table says of a collection, from the kept result files."""
    rows = []
    for element in ELEMENTS:
        result = kept(collection, element)
        near = [
            min(range(len(result["levels"])), key=lambda i, o=o: abs(result["levels"][i] - o))
            for o in (0.05, 0.25, 0.5, 0.75, 0.95)
        ]
        for measure in MEASURES:
            least = result["minimum_overlap"][measure]
            rows.append(
                [
                    collection,
                    element,
                    f"{result['population']}, {result['size']}",
                    measure,
                    " / ".join(f"{result['probability'][measure][i]:.2f}" for i in near),
                    f"{result['fit'][measure]['slope']:.3f}",
                    f"{result['fit'][measure]['intercept']:.3f}",
                    "none" if least is None else f"{100 * least:.1f} %",
                ]
            )
    return rows


def test_the_tables_of_stability_are_those_of_the_kept_results():
    expected = [
        row
        for collection in ("nfcorpus", "cranfield", "vaswani-npl")
        for row in rows_of(collection)
    ]
    assert cells(TABLES["multi-element-curves"]) == expected
    assert cells(TABLES["multi-element-trec-covid"]) == rows_of("trec-covid-r4-ohsu")


def test_a_kept_curve_is_1_where_both_sub_collections_are_the_same():
    for collection in COLLECTIONS:
        for element in ELEMENTS:
            result = kept(collection, element)
            assert result["levels"][-1] == 1
            assert all(result["probability"][measure][-1] == 1 for measure in MEASURES)


@pytest.mark.data
@pytest.mark.parametrize("collection", COLLECTIONS)
def test_half_overlap_on_every_kept_curve_is_computed_again(collection, data_folder, tmp_path):
    qrels, runs = COLLECTIONS[collection]
    packed = pack_collection(
        read_qrels(data_folder / qrels),
        [read_run(path) for path in sorted((data_folder / runs).glob("*.gz"))],
    )
    lists = {
        Path(command.split(" > ")[1]).stem: command
        for command, _ in parse_commands(BLOCKS["multi-element-ids"])
        if " > " in command
    }
    for element in ELEMENTS:
        documents = None
        if element == "documents" and collection in lists:
            run_command(lists[collection], data=data_folder, work=tmp_path)
            documents = np.unique(np.array((tmp_path / f"{collection}.ids").read_bytes().split()))
        protocol = StabilityProtocol(
            element, tuple(parse_measures(MEASURES)), overlaps=(Fraction(1, 2),)
        )
        drawn = make_population(packed, protocol, documents)
        work = make_chunks(drawn, protocol)
        again = to_json(
            combine_results(
                drawn,
                protocol,
                work,
                [run_chunk(packed, protocol, chunk, documents) for chunk in work],
            )
        )
        result = kept(collection, element)
        assert (again["population"], again["size"]) == (result["population"], result["size"])
        place = result["levels"].index(0.5)
        for key in ("probability", "mean_tau", "undefined"):
            for measure in MEASURES:
                assert again[key][measure] == pytest.approx(
                    [result[key][measure][place]], abs=1e-12
                ), (element, measure)


@pytest.mark.data
def test_the_command_writes_what_is_kept(data_folder):
    files = [
        str(data_folder / "vaswani-npl/qrels"),
        *sorted(map(str, (data_folder / "vaswani-npl/runs").glob("*.gz"))),
    ]
    assert printed_json("stability", *files, "--element", "assessments") == kept(
        "vaswani-npl", "assessments"
    )
