"""Every analysis as a function: the answer of its command, Python's own errors, help."""

from __future__ import annotations

import inspect
import json
import warnings
from pathlib import Path

import pytest

import assay
from assay.cli.command_list import find_command_files, read_command_help
from assay.formats.prel import read_prel
from assay.functions import FUNCTIONS
from tests.analysis.commands.called import answer

QRELS = {str(topic): {f"d{n}": (n * topic) % 3 for n in range(1, 9)} for topic in range(1, 13)}
RUNS = {
    tag: {
        topic: {document: float((n * shift + int(topic)) % 11) for n, document in enumerate(of)}
        for topic, of in QRELS.items()
    }
    for tag, shift in (("x", 3), ("y", 5), ("z", 7))
}
CLICKED = {
    topic: {document: min(grade, 1) for document, grade in of.items()}
    for topic, of in QRELS.items()
}
SMALL = {
    "bootstrap": {"trials": 20, "measures": "AP"},
    "compare": {"permutations": 200},
    "leaderboard": {},
    "plan_study": {},
    "reusability": {"depth": 3, "measures": "AP"},
    "simulate_campaign": {"depth": 4, "simulations": 3, "measures": "P@5"},
    "split_half": {"splits": 4, "measures": "AP"},
    "stability": {"element": "topics", "pairs": 3, "overlaps": "0.5", "measures": "AP"},
    "stopping_advice": {"depth": 4},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    assay.write_qrels(QRELS, folder / "qrels.txt")
    assay.write_qrels(CLICKED, folder / "clicked.txt")
    for tag, run in RUNS.items():
        assay.write_run({tag: run}, folder / f"{tag}.run")
    return {path.stem: path for path in folder.iterdir()}


def same(function: dict, command: dict) -> None:
    """Names of files aside, which a function does not know."""
    text = json.dumps(function, sort_keys=True)
    assert json.loads(text) == json.loads(json.dumps(command, sort_keys=True))


@pytest.mark.parametrize("name", SMALL)
def test_a_function_gives_the_answer_of_its_command(name: str, files: dict[str, Path]) -> None:
    options = SMALL[name]
    words = [
        word for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value)
    ]
    if name == "compare":
        words += ["--measures", "nDCG@10"]
    of_command, _ = answer(
        FUNCTIONS[name].command, files["qrels"], *(files[tag] for tag in RUNS), *words
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_function = getattr(assay, name)(str(files["qrels"]), RUNS, **options)
    same(of_function, of_command)


def test_two_runs_and_one_run(files: dict[str, Path]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(
            assay.compare_runs(str(files["qrels"]), str(files["x"]), str(files["y"])),
            answer("compare_runs", files["qrels"], files["x"], files["y"])[0],
        )
        same(
            assay.unjudged(str(files["qrels"]), str(files["x"])),
            answer("unjudged", files["qrels"], files["x"])[0],
        )


def test_rank_correlation_between_qrels(files: dict[str, Path]) -> None:
    given = {"judged": str(files["qrels"]), "clicked": str(files["clicked"])}
    words = [word for key, path in given.items() for word in ("--qrels", f"{key}={path}")]
    same(
        assay.compare_rankings(given, RUNS, "AP", bootstrap=50),
        answer(
            "compare_rankings",
            *(files[tag] for tag in RUNS),
            *words,
            *("--measures", "AP", "--bootstrap", "50"),
        )[0],
    )


def test_labels_of_clicks_and_of_llm_judges(files: dict[str, Path], tmp_path: Path) -> None:
    judged, clicked = str(files["qrels"]), str(files["clicked"])
    same(
        assay.label_overlap(QRELS, {"clicked": CLICKED}, list_pairs=True),
        answer(
            "label_overlap", "--judged", judged, "--clicks", f"clicked={clicked}", "--list-pairs"
        )[0],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (CLICKED, clicked):
            same(
                assay.rank_llm_judges(QRELS, {"judge": given}),
                answer("rank_llm_judges", judged, "--llm-labels", f"judge={clicked}")[0],
            )
        sample = tmp_path / "sample.prel"
        runs = [str(files[tag]) for tag in RUNS]
        words = ("--depth", "8", "--budget", "0.8", "--strata", "votes", "--judged", judged)
        answer("sample_pool", *runs, *words, "--output", sample)
        of_command = answer(
            *("compare_llm_judges", sample, *runs, "--llm-labels", f"judge={clicked}"),
            *("--measures", "P@5"),
        )[0]
        for given in (str(sample), read_prel(sample)):
            same(assay.compare_llm_judges(given, RUNS, {"judge": CLICKED}, "P@5"), of_command)


def test_labels_of_a_click_log(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("session\ttopic\tdocument\trank\tclicked\ns\t1\ta\t1\t1\ns\t1\tb\t2\t0\n")
    found = assay.click_qrels(log, click_model="raw", output=str(tmp_path / "qrels.txt"))
    same(found, answer("click_qrels", log, "--click-model", "raw")[0])
    assert (tmp_path / "qrels.txt").read_text() == "1 0 a 1\n"
    assert [table.key for table in found.tables()] == ["labels"]


def test_wrong_arguments_are_told_as_python_does() -> None:
    with pytest.raises(TypeError, match=r"compare\(\) got an unexpected keyword argument 'trails'"):
        assay.compare(QRELS, RUNS, trails=5)
    with pytest.raises(TypeError, match=r"stability\(\) missing a required argument: 'element'"):
        assay.stability(QRELS, RUNS)
    with pytest.raises(
        ValueError, match="permutations: expected a whole number of at least 1, not '0'"
    ):
        assay.compare(QRELS, RUNS, permutations=0)
    with pytest.raises(ValueError, match="correction: expected one of 'none', 'bonferroni'"):
        assay.compare(QRELS, RUNS, correction="some")


def test_help_shows_types_defaults_and_what_an_option_means() -> None:
    signature = inspect.signature(assay.compare)
    trials = signature.parameters["permutations"]
    assert (trials.annotation, trials.default) == (int, 100_000)
    assert signature.parameters["measures"].default == "nDCG@10"
    assert "\n    permutations: " in inspect.getdoc(assay.compare)
    assert "campaign" not in signature.parameters
    difference = inspect.signature(assay.plan_study).parameters["difference"]
    assert (difference.annotation, difference.default) == (float | None, None)


def test_a_warning_names_the_line_that_called() -> None:
    with pytest.warns(UserWarning, match="has no results for the topics of") as told:
        assay.evaluate(QRELS, {**RUNS, "w": {"elsewhere": {"d1": 1.0}}}, "AP")
    assert told[0].filename == __file__


def test_every_analysis_on_files_is_a_function_or_says_why_not() -> None:
    on_files = {
        name
        for name, path in find_command_files().items()
        if read_command_help(path).module.startswith("assay.")
    }
    without = {
        "evaluate",
        "build_pool",
        "sample_pool",
    }  # evaluate, pool, sample_pool in assay.library
    assert {about.command for about in FUNCTIONS.values()} == on_files - without


def test_a_result_has_the_tables_of_the_command():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"b": 1}, "q4": {"b": 1}}
    runs = {"first": {q: {"a": 2.0, "b": 1.0} for q in qrels}}
    runs["second"] = {q: {"b": 2.0, "a": 1.0} for q in qrels}
    result = assay.split_half(qrels, runs, "RR@10", splits=3)
    (table,) = result.tables()
    assert table.title == "Agreement of halves by RR@10"
    assert json.loads(json.dumps(result.to_dict()))["RR@10"]["splits"] == 3
    assert result["RR@10"]["topics"] == 4
    assert "<caption>Agreement of halves by RR@10</caption>" in result._repr_html_()
    with pytest.raises(KeyError, match="choose from agreement-1"):
        result.to_frame("other")
