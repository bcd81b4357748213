"""What the library takes in place of files: objects of other libraries, which the tests do not
install, as stand-ins with the same public attributes; and the real ones where they are installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pytest

import assay
from assay.inputs import read_run_input, read_runs_input
from tests.analysis.commands.judged_file import refused, run
from tests.assay.test_library import Frame

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 0, "d": 1}}
RUN = {"1": {"a": 0.5, "c": 2.5, "x": 1.0}, "2": {"d": 1.0, "a": 2.0}}
QRELS_ROWS = [(t, d, grade) for t, inner in QRELS.items() for d, grade in inner.items()]
RUN_ROWS = [(t, d, score) for t, inner in RUN.items() for d, score in inner.items()]
MEASURES = "AP nDCG@2 Judged@3"


class Doc(NamedTuple):
    doc_id: str
    title: str
    text: str
    url: str


class Query(NamedTuple):
    query_id: str
    title: str
    description: str
    narrative: str


class DataSet:
    """A data set of ir_datasets."""

    def has_qrels(self) -> bool:
        return True

    has_scoreddocs = has_queries = has_docs = has_qrels

    def qrels_iter(self) -> Iterator[Any]:
        return (ir_measures.Qrel(*row) for row in QRELS_ROWS)

    def scoreddocs_iter(self) -> Iterator[Any]:
        return (ir_measures.ScoredDoc(*row) for row in RUN_ROWS)

    def queries_iter(self) -> Iterator[Any]:
        return iter([Query("1", "first query", "more of it", ""), Query("2", "second", "", "")])

    def docs_iter(self) -> Iterator[Any]:
        return iter([Doc("a", " A  title", "text of a", "http://x/"), Doc("b", "", "b", "")])


class WithoutRuns(DataSet):
    def has_scoreddocs(self) -> bool:
        return False


class OfRanx:
    """A Run or a Qrels of ranx."""

    def __init__(self, attribute: str, content: dict[str, Any], name: str | None = None) -> None:
        setattr(self, attribute, content)
        self.content, self.name = content, name

    def keys(self) -> Any:
        return self.content.keys()

    def __getitem__(self, topic: str) -> Any:
        return self.content[topic]

    def __len__(self) -> int:
        return len(self.content)

    def to_dict(self) -> dict[str, Any]:
        return self.content


class Hub:
    """A Dataset of Hugging Face."""

    def __init__(self, **columns: list[Any]) -> None:
        self.inner = {name.replace("_", "-"): cells for name, cells in columns.items()}
        self.column_names = list(self.inner)

    def __getitem__(self, name: str) -> list[Any]:
        return self.inner[name]


def table(kind: Callable[..., Any], rows: list[tuple[Any, ...]], *names: str) -> Any:
    return kind(**{name: [row[i] for row in rows] for i, name in enumerate(names)})


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> dict[str, DataSet]:
    sets = {"vaswani": DataSet(), "no-runs": WithoutRuns()}
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=sets.__getitem__))
    return sets


GIVEN_QRELS: dict[str, Callable[[], Any]] = {
    "tuples": lambda: [ir_measures.Qrel(*row) for row in QRELS_ROWS],
    "iterator": lambda: (ir_measures.Qrel(*row) for row in QRELS_ROWS),
    "data set": DataSet,
    "data set by id": lambda: "irds:vaswani",
    "ranx": lambda: OfRanx("qrels", QRELS, "judged"),
    "PyTerrier": lambda: table(Frame, QRELS_ROWS, "qid", "docno", "label"),
    "Hugging Face": lambda: table(Hub, QRELS_ROWS, "query_id", "corpus_id", "score"),
}
GIVEN_RUNS: dict[str, Callable[[], Any]] = {
    "tuples": lambda: [ir_measures.ScoredDoc(*row) for row in RUN_ROWS],
    "iterator": lambda: (ir_measures.ScoredDoc(*row) for row in RUN_ROWS),
    "in a list": lambda: [[ir_measures.ScoredDoc(*row) for row in RUN_ROWS]],
    "by tag": lambda: {"run": [ir_measures.ScoredDoc(*row) for row in RUN_ROWS]},
    "iterator by tag": lambda: {"run": (ir_measures.ScoredDoc(*row) for row in RUN_ROWS)},
    "iterator of runs": lambda: iter([RUN]),
    "data set": DataSet,
    "data set by id": lambda: {"run": "irds:vaswani"},
    "ranx": lambda: OfRanx("run", RUN),
    "ranx in a list": lambda: [OfRanx("run", RUN, "run")],
    "PyTerrier": lambda: table(
        Frame,
        [(t, d, score, 0, "text") for t, d, score in RUN_ROWS],
        *("qid", "docno", "score", "rank", "query"),
    ),
    "Hugging Face": lambda: table(Hub, RUN_ROWS, "query_id", "corpus_id", "score"),
}


@pytest.mark.parametrize("kind", GIVEN_QRELS)
def test_qrels_are_the_same_whatever_holds_them(kind: str, catalogue: object) -> None:
    scores = assay.evaluate(GIVEN_QRELS[kind](), RUN, MEASURES)
    assert scores.topics == ["1", "2"]
    np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)


@pytest.mark.parametrize("kind", GIVEN_RUNS)
def test_runs_are_the_same_whatever_holds_them(kind: str, catalogue: object) -> None:
    scores = assay.evaluate(QRELS, GIVEN_RUNS[kind](), MEASURES)
    assert scores.tags == ["run"]
    np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)


def test_names_come_from_the_object_and_a_given_tag_wins(catalogue: object) -> None:
    assert read_run_input(OfRanx("run", RUN, "bm25")).tag == "bm25"
    assert read_run_input("irds:vaswani").tag == "vaswani"
    assert [run.tag for run in read_runs_input({"mine": OfRanx("run", RUN, "bm25")})] == ["mine"]
    assert (
        read_run_input({"run": ["x"], "topic": ["1"], "document": ["a"], "score": [1]}).tag == "x"
    )


def test_commands_take_data_sets_in_place_of_files(catalogue: object, tmp_path: Path) -> None:
    assay.write_qrels(QRELS, tmp_path / "vaswani.qrels")
    assay.write_run({"vaswani": RUN}, tmp_path / "vaswani.run")
    words = ("--measures", MEASURES)
    files = ("evaluate", str(tmp_path / "vaswani.qrels"), str(tmp_path / "vaswani.run"), *words)
    assert run("evaluate", "irds:vaswani", "irds:vaswani", *words) == run(*files)
    assert run("check_topics", "irds:vaswani")["kept"] == 2
    pooled = run("build_pool", "irds:vaswani", "--only-topics", "irds:vaswani")
    assert pooled["unique"] == {"vaswani": 5}


@pytest.mark.parametrize("name", ["vaswani", "nothing"])
def test_commands_say_why_there_is_no_data_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "ir_datasets", None if name == "vaswani" else SimpleNamespace()
    )
    status, out, err = refused("check_topics", f"irds:{name}")
    assert (status, out) == (2, "")
    assert ("pip install ir_datasets" if name == "vaswani" else "has no dataset named") in err


def test_patterns_of_paths_are_the_files_in_order(tmp_path: Path) -> None:
    for tag in ("b", "a"):
        assay.write_run({tag: RUN}, tmp_path / f"{tag}.run")
    (tmp_path / "[x].run").write_text("1 Q0 a 1 1 x\n", encoding="utf-8")
    (tmp_path / "folder.run").mkdir()
    pattern = str(tmp_path / "?.run")
    assert [run.tag for run in read_runs_input(pattern)] == ["a", "b"]
    assert [
        run.tag for run in read_runs_input([tmp_path / "[b].run", tmp_path / "*" / ".." / "a.run"])
    ]
    assert [run.tag for run in read_runs_input(str(tmp_path / "[x].run"))] == ["x"]
    with pytest.raises(ValueError, match=r"no file matches .*none\*\.run"):
        assay.evaluate(QRELS, str(tmp_path / "none*.run"))
    with pytest.raises(FileNotFoundError):
        assay.evaluate(QRELS, str(tmp_path / "none.run"))


@pytest.mark.parametrize(
    "topics",
    [
        "irds:vaswani",
        DataSet(),
        list(DataSet().queries_iter()),
        Frame(
            qid=["1", "2"],
            query=["first query", "second"],
            description=["more of it", None],
        ),
        Hub(_id=["1", "2"], text=["first query", "second"], description=["more of it", ""]),
    ],
    ids=["id", "data set", "tuples", "PyTerrier", "Hugging Face"],
)
def test_topics_are_those_of_a_file(topics: Any, catalogue: object) -> None:
    if isinstance(topics, Hub):
        topics.inner["_id"] = topics.inner.pop("-id")
        topics.column_names = list(topics.inner)
    first, second = assay.read_topics(topics)
    assert (first.topic, first.text, first.description) == ("1", "first query", "more of it")
    assert (second.topic, second.text) == ("2", "second")


def test_topics_of_a_mapping_and_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\tfirst query\n", encoding="utf-8")
    (of_file,) = assay.read_topics(tmp_path / "topics.tsv")
    (of_mapping,) = assay.read_topics({1: "first query"})
    assert of_file.topic == of_mapping.topic == "1"
    assert of_file.text == of_mapping.text == "first query"
    with pytest.raises(assay.FormatError, match="a topic without ID"):
        assay.read_topics(Frame(query=["no id"]))


@pytest.mark.parametrize(
    "documents",
    [
        "irds:vaswani",
        DataSet(),
        list(DataSet().docs_iter()),
        Frame(
            docno=["a", "b"], title=["A title", ""], text=["text of a", "b"], url=["http://x/", ""]
        ),
    ],
    ids=["id", "data set", "tuples", "frame"],
)
def test_documents_are_those_of_a_file(documents: Any, catalogue: object) -> None:
    first, second = assay.read_documents(documents)
    assert (first.document, first.title, first.text) == ("a", "A title", "text of a")
    assert first.fields == {"url": "http://x/"}
    assert (second.document, second.text) == ("b", "b")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: read_runs_input("irds:no-runs"),
            "'no-runs' of ir_datasets has no scored documents",
        ),
        (lambda: read_runs_input("irds:nothing"), "ir_datasets has no dataset named 'nothing'"),
        (
            lambda: assay.evaluate([ir_measures.Qrel("1", "a", 1), ("1", "b", 1)], RUN),
            "qrels: a list of tuple in row 1, expected a file's path, ",
        ),
        (
            lambda: assay.evaluate([ir_measures.ScoredDoc("1", "a", 1), Doc("a", "", "", "")], RUN),
            "qrels: a list of Doc in row 1, expected",
        ),
        (
            lambda: assay.evaluate(list(DataSet().queries_iter()), RUN),
            "qrels: no column document (or document_id, doc_id, docid) among query_id, title",
        ),
        (
            lambda: assay.evaluate(SplitHub(train=Hub(), test=Hub()), RUN),
            "a dataset with several tables (train, test), expected one of them",
        ),
        (
            lambda: assay.evaluate(
                QRELS, table(Frame, [("1", "a", None)], "qid", "docno", "score")
            ),
            "run: None in row 0 is not a number",
        ),
    ],
)
def test_what_cannot_be_read_is_a_value_error(
    call: Callable[[], Any], sentence: str, catalogue: object
) -> None:
    with pytest.raises(ValueError) as refusal:
        call()
    assert sentence in str(refusal.value)


class SplitHub(dict[str, Any]):
    """A DatasetDict of Hugging Face."""

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: one.column_names for name, one in self.items()}


SPELLINGS = {
    "map": "AP",
    "ndcg_cut_2": "nDCG@2",
    "recip_rank": "RR",
    "P_2": "P@2",
    "recall_2": "R@2",
    "bpref": "Bpref",
    "MRR@1": "RR@1",
    "MAP(rel=2)": "AP(rel=2)",
}


def test_measures_in_other_spellings_have_the_values_of_the_canonical_ones() -> None:
    asked = [*SPELLINGS, ir_measures.P(rel=2) @ 1, ir_measures.nDCG(dcg="exp-log2") @ 2]
    names = [*SPELLINGS.values(), "P(rel=2)@1", "nDCG-exp@2"]
    scores, expected = assay.evaluate(QRELS, RUN, asked), assay.evaluate(QRELS, RUN, names)
    assert scores.measures == expected.measures == names
    np.testing.assert_array_equal(scores.values, expected.values)
    two = {"x": RUN, "y": {"1": {"b": 1}, "2": {"d": 1}}}
    assert assay.compare(QRELS, two, [ir_measures.AP]) == assay.compare(QRELS, two, "map")
    assert "AP" in assay.compare(QRELS, two, ir_measures.AP)


def test_a_level_in_a_measure_counts_in_place_of_that_of_the_evaluation() -> None:
    scores = assay.evaluate(QRELS, RUN, "P(rel=2)@2 P@2", min_relevant=1)
    own, level_of_evaluation = scores.values[0].T.tolist()
    assert own == assay.evaluate(QRELS, RUN, "P@2", min_relevant=2).values[0, :, 0].tolist()
    assert level_of_evaluation == assay.evaluate(QRELS, RUN, "P@2").values[0, :, 0].tolist()
    assert own != level_of_evaluation


def installed(name: str) -> ModuleType:
    return pytest.importorskip(name, reason=f"{name} is not installed: only a stand-in is tested")


def test_scores_are_those_of_ir_measures() -> None:
    measures = [ir_measures.AP, ir_measures.nDCG @ 2, ir_measures.P(rel=2) @ 1, ir_measures.RR]
    qrels = [ir_measures.Qrel(*row) for row in QRELS_ROWS]
    run = [ir_measures.ScoredDoc(*row) for row in RUN_ROWS]
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    scores = assay.evaluate(iter(qrels), iter(run), measures)
    assert scores.means[0].tolist() == pytest.approx([expected[one] for one in measures])


def test_real_ranx() -> None:
    ranx = installed("ranx")
    qrels, run = ranx.Qrels(QRELS, name="judged"), ranx.Run(RUN, name="bm25")
    scores = assay.evaluate(qrels, run, MEASURES)
    assert scores.tags == ["bm25"]
    np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)
    assert scores.means[0, 0] == pytest.approx(ranx.evaluate(qrels, run, "map"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_real_data_frames(library: str) -> None:
    frames = installed(library)
    qrels = table(lambda **c: frames.DataFrame(c), QRELS_ROWS, "qid", "docno", "label")
    run = table(lambda **c: frames.DataFrame(c), RUN_ROWS, "qid", "docno", "score")
    scores = assay.evaluate(qrels, {"bm25": run}, MEASURES)
    np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)
    assert assay.read_topics(frames.DataFrame({"qid": ["1"], "query": ["x"]}))[0].text == "x"


def test_real_data_sets_of_hugging_face() -> None:
    datasets = installed("datasets")

    def data_set(**columns: list[Any]) -> Any:
        return datasets.Dataset.from_dict(
            {name.replace("_", "-"): cells for name, cells in columns.items()}
        )

    qrels = table(data_set, QRELS_ROWS, "query_id", "corpus_id", "score")
    run = table(data_set, RUN_ROWS, "query_id", "corpus_id", "score")
    scores = assay.evaluate(qrels, run, MEASURES)
    np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)
    with pytest.raises(ValueError, match="a data set of train"):
        assay.evaluate(datasets.DatasetDict({"train": qrels}), run)


def test_real_data_sets_of_ir_datasets(tmp_path: Path) -> None:
    """Of files, so that nothing is fetched."""
    ir_datasets = installed("ir_datasets")
    for name, text in {
        "docs.tsv": "a\ttext of a\nb\tb\n",
        "queries.tsv": "1\tfirst query\n2\tsecond\n",
        "qrels.txt": "".join(f"{t} 0 {d} {grade}\n" for t, d, grade in QRELS_ROWS),
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"),
        queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels.txt"),
    )
    ir_datasets.registry.register("assay-test", made)
    for data_set in (made, "irds:assay-test"):
        scores = assay.evaluate(data_set, RUN, MEASURES)
        np.testing.assert_array_equal(scores.values, assay.evaluate(QRELS, RUN, MEASURES).values)
        assert [topic.text for topic in assay.read_topics(data_set)] == ["first query", "second"]
        assert [one.text for one in assay.read_documents(data_set)] == ["text of a", "b"]
        with pytest.raises(ValueError, match="has no scored documents"):
            assay.evaluate(QRELS, data_set)
