"""The command-line contract: each command has these arguments and options, and its JSON these
keys."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from assay.cli.command_list import command_name
from tests.analysis.commands import judged_file
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import CLICKS, GOOD, OTHER, POOR, QRELS, files
from tests.commands import get_commands, load_command_class

JUDGED = "--grades --min-relevant --min-seconds --campaign"
MEASURED = "--min-relevant --missing-topics --precision --lenient --topic-groups"
OPTIONS = {
    "check_topics": "--match --keep --removed",
    "build_pool": "--depth --only-topics --sort-by --lenient",
    "aggregate": f"{JUDGED} --method --min-judgements --labels",
    "agreement": f"{JUDGED} --min-common --no-gold",
    "campaign_stats": f"{JUDGED} --pool --n-documents",
    "evaluate": f"{MEASURED} --measures --per-topic --intervals --qrels --campaign --sampled",
    "sample_pool": "--depth --budget --strata",
    "draw_battles": "--rounds --repeated",
    "compare_systems": f"{MEASURED} --measures --against --correction --permutations --alpha --fail-on --campaign --scores",
    "compare_preferences": "--adjust --alpha",
    "score_support": "--missing-topics --per-topic --scores",
    "score_facets": "--persistence --min-facet --gains --by-document --min-relevant --missing-topics --per-topic --scores",
    "score_nuggets": "--missing-topics --per-topic --scores",
    "score_rubrics": "--missing-topics --per-topic --scores",
    "plan_study": f"{MEASURED} --measures --power --alpha --difference --width --campaign",
    "study": "--campaign --collection --processes --replace --keys",
    "unjudged": "--measures --pool-runs --groups --against-run --max-grade --campaign",
    "compare_llm_judges": "--llm-labels --llm-table --about --judgements --related --measures",
    "simulate_campaign": (
        "--strategy --depth --budgets --strata --batch --audit --sensitivity --specificity "
        "--n-judgements --simulations --stopping --processes"
    ),
    "judge_with_llm": (
        "--topics --documents --endpoint --model --store --prompt --samples --per-minute "
        "--max-cost --estimate"
    ),
    "rank_llm_judges": "--llm-labels --table --min-relevant --max-grade",
    "stopping_advice": "--sampled --depth --cutoff --last --audit-sample --recall --min-relevant",
    "compare_rankings": f"{MEASURED} --measures --qrels --bootstrap --campaign",
    "label_overlap": "--judged --clicks --pool --top --min-relevant --campaign",
    "click_qrels": "--shown --queries --ubi-queries --click-model --thresholds --min-dwell",
    "compare_runs": f"{MEASURED} --cutoff --alpha --decide --correction --family-size --campaign",
    "leaderboard": f"{MEASURED} --metadata --cutoff --alpha --decide --correction --family-size --campaign",
    "submissions": "--limit",
    "bootstrap": f"{MEASURED} --measures --trials --show --condition --processes --campaign",
    "split_half": f"{MEASURED} --measures --splits --alpha --processes --campaign",
    "stability": (
        f"{MEASURED} --element --overlaps --pairs --min-tau --measures --docids "
        f"--per-topic-quota --processes --campaign"
    ),
    "reusability": f"{MEASURED} --depth --groups --measures --processes --campaign",
    "export_labels": "--topics --target --index --cutoff --template",
    "export_qrels": "--campaign",
    "export_judgements": "--campaign",
    "export_campaign": "--campaign",
    "export_payment": "--campaign --rate --per",
    "send_labels": "--campaign --to --target",
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "check_topics": {"match": "exact"},
    "build_pool": {"depth": 10},
    "sample_pool": {"depth": 10, "budget": 0.2, "strata": "rank"},
    "draw_battles": {"rounds": 1, "repeated": 0.1},
    "compare_systems": {
        "against": "all",
        "correction": "holm",
        "permutations": 100_000,
        "alpha": 0.05,
    },
    "plan_study": {"power": 0.8, "alpha": 0.05},
    "aggregate": {"method": "majority", "min_judgements": 2, "labels": "graded"},
    "agreement": {"min_common": 10},
    "compare_rankings": {
        "bootstrap": 1000,
        "min_relevant": 1,
        "missing_topics": "zero",
        "precision": "float64",
    },
    "label_overlap": {"top": 4, "min_relevant": 1},
    "click_qrels": {"thresholds": None, "min_dwell": 0.0},
    "compare_runs": {"cutoff": 100, "alpha": 0.05, "decide": "wsr", "correction": "none"},
    "leaderboard": {"correction": "holm"},
    "submissions": {"limit": 2},
    "bootstrap": {"trials": 1000},
    "split_half": {"splits": 100, "alpha": 0.05},
    "stability": {"pairs": 50, "min_tau": 0.9},
    "reusability": {"depth": 10},
}


def parser_of(name: str):
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_command_has_the_options_of_the_contract(name: str) -> None:
    actions = parser_of(name)._actions
    assert name not in SEEDED or name in TAKING_A_SEED
    there = {option for action in actions for option in action.option_strings}
    assert set(OPTIONS[name].split()) | {"--json", "--output"} <= there
    defaults = {action.dest: action.default for action in actions}
    assert {key: defaults[key] for key in DEFAULTS.get(name, {})} == DEFAULTS.get(name, {})


TAKING_A_SEED = [
    name
    for name in [*OPTIONS, "make_pool", "simulate_annotators"]
    if any(action.dest == "seed" for action in parser_of(name)._actions)
]


@pytest.mark.parametrize("name", TAKING_A_SEED)
def test_a_negative_seed_is_bad_input_everywhere(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        load_command_class(get_commands()[name], name).run_from_argv(
            ["manage.py", name, "--seed", "-1"]
        )
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--seed: '-1' is not a whole number of at least 0" in err


DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "commands.md").read_text(
    encoding="utf-8"
)
SHARED = DOCUMENT[: DOCUMENT.index("## On plain files")]


def paths(value: Any, prefix: str = "") -> set[str]:
    """Dotted keys, those of lists under []."""
    if isinstance(value, dict):
        return {prefix} | {
            path
            for key, one in value.items()
            for path in paths(one, f"{prefix}.{key}" if prefix else str(key))
        }
    if isinstance(value, list):
        return {prefix} | {path for one in value for path in paths(one, f"{prefix}[]")}
    return {prefix}


def each(prefix: str, names: str) -> list[str]:
    return [f"{prefix}.{name}" for name in names.split()]


COMPARED = [
    *each("mrr", "a b difference wrs wrs_tie_corrected wsr t"),
    *each("outcomes", "neither a_only b_only both"),
    *each("esl", "a b wsr t"),
    *each("rr", "a b wsr t"),
    "binomial",
    *each("verdict", "better significantly_better do_no_harm because by_rr disagreements"),
    "topics",
]
AGREED = (
    "mean_kappa kappa_quartiles chance_floor mean_kappa_others mean_pairwise_kappa "
    "mean_pairwise_kappa_weighted pairs_of_annotators "
    "alpha alpha_nominal alpha_ci fleiss percent undefined"
)
LABELLED = [
    "labels.0",
    "labels.3",
    *each("decisions", "unanimous majority lowest_grade"),
    *each("cross.0", "unanimous majority lowest_grade"),
]


@pytest.fixture
def answers(tmp_path: Path):
    """What each command says on small files."""
    judged, clicks, good, poor, other = files(
        tmp_path, judged=QRELS, clicks=CLICKS, good=GOOD, poor=POOR, other=OTHER
    )
    judgements = judged_file.written(tmp_path)
    pool = judged_file.written(tmp_path, judged_file.POOL, "pool.tsv")
    log = judged_file.written(
        tmp_path,
        "session\ttopic\tdocument\trank\tclicked\ns\t1\ta\t1\t1\ns\t1\tb\t2\t0\n",
        "log.tsv",
    )
    topics = judged_file.written(tmp_path, "1\tone\n2\tone\n", "topics.tsv")
    order = judged_file.written(
        tmp_path,
        "tag\tdate\tgroup\nother\t2021-01-02\tx\npoor\t2021-01-03\ty\ngood\t2021-02-01\tx\n",
        "order.tsv",
    )
    board = judged_file.written(
        tmp_path,
        "tag\tdate\tgroup\tscore\tprivate score\nA\t2021-01-01\tx\t0.1\t0.3\nB\t2021-01-02\tx\t0.2\t0.2\n",
        "board.tsv",
    )
    battles = judged_file.written(
        tmp_path, "1 good poor good\n1 good poor tie\n2 good poor poor\n", "battles.txt"
    )
    sampled = judged_file.written(
        tmp_path, "1 0 a s 1\n1 0 b s 0\n1 0 c t -1\n2 0 a s 1\n2 0 d t 0\n", "sampled.prel"
    )
    labels = judged_file.written(
        tmp_path, "1 0 a 1\n1 0 b 0\n1 0 c 1\n2 0 a 1\n2 0 d 1\n", "labels.txt"
    )
    runs = [good, poor, other]
    arguments = {
        "check_topics": [topics],
        "build_pool": [*runs, "--depth", "2", "--output", str(tmp_path / "made.tsv")],
        "aggregate": [judgements],
        "agreement": [judgements, "--min-common", "1"],
        "campaign_stats": [judgements, "--pool", pool],
        "sample_pool": [
            *runs,
            "--depth",
            "2",
            "--budget",
            "0.5",
            "--output",
            str(tmp_path / "made.prel"),
        ],
        "compare_systems": [judged, *runs, "--measures", "AP", "--permutations", "20"],
        "plan_study": [judged, *runs, "--measures", "AP", "--difference", "0.1"],
        "unjudged": [judged, other],
        "compare_llm_judges": [sampled, *runs, "--llm-labels", f"m={labels}", "--measures", "P@1"],
        "evaluate": [judged, *runs, "--per-topic", "--measures", "AP"],
        "compare_rankings": [
            *runs,
            "--qrels",
            f"A={judged}",
            "--qrels",
            f"B={clicks}",
            "--measures",
            "AP",
            "--bootstrap",
            "5",
        ],
        "label_overlap": ["--judged", judged, "--clicks", f"c={clicks}"],
        "click_qrels": [log],
        "compare_runs": [judged, poor, good],
        "leaderboard": [judged, *runs, "--metadata", order],
        "submissions": [board],
        "compare_preferences": [battles],
        "bootstrap": [judged, *runs, "--measures", "AP", "--trials", "20"],
        "split_half": [judged, *runs, "--measures", "AP", "--splits", "2"],
        "stability": [
            judged,
            *runs,
            "--element",
            "assessments",
            "--overlaps",
            "50:100:50",
            "--pairs",
            "2",
        ],
        "reusability": [judged, *runs, "--depth", "2", "--measures", "AP"],
    }
    return lambda name: run(name, *arguments[name])


KEYS = {
    "check_topics": ["kept", *each("removed[]", "topic text reason same_as")],
    "build_pool": ["pairs", "topics", "by_depth.1", "unique.good", "overlap.good.poor"],
    "aggregate": [
        "pairs",
        *each("dropped", "too_few too_fast excluded repeated"),
        *LABELLED,
        *(f"graded.{key}" for key in LABELLED),
        "binary.labels.1",
        "binary.cross.1.majority",
    ],
    "agreement": [
        *each("graded", AGREED),
        *each("binary", AGREED),
        *each(
            "annotators.a",
            "judgements kappa_graded kappa_binary kappa_graded_others kappa_binary_others median_seconds share.0",
        ),
    ],
    "campaign_stats": [
        "topics",
        "documents",
        "pairs",
        "labelled_pairs",
        "judgements",
        "per_pair",
        "per_labelled_pair",
        "grades.0.n",
        "grades.0.share",
        "grades.0.mean_seconds",
        "grades.0.median_seconds",
        "annotators",
        "per_annotator",
        "per_12h",
        "daily_seconds",
        "complete_depth",
        "relevant_share",
    ],
    "sample_pool": ["pairs", "drawn", *each("strata.1/1-3", "N n probability")],
    "compare_systems": [
        "AP.means.good",
        *each(
            "AP.pairs[]", "a b difference interval t wsr sign randomisation effect wins ties losses"
        ),
        *each("AP.pairs[].corrected", "t wsr sign randomisation"),
        "AP.groups.good",
        "AP.topics",
    ],
    "compare_preferences": [
        *each("systems.good", "ability ci rank wins losses ties both_bad"),
        *each("differences[]", "a b difference ci p p_holm significant"),
        *("ranking[]", "not_separated[]", "no_maximum", "battles", "counted", "both_bad", "topics"),
        *("tie_parameter.value", "tie_parameter.ci", "left.share", "shown_both_ways.units"),
        *each("matrix", "systems wins ties both_bad"),
    ],
    "plan_study": ["AP.variance.median", *each("AP", "topics_needed smallest_difference labels")],
    "unjudged": [
        "unjudged.total",
        "unjudged.per_topic.1",
        *(f"{key}.nDCG@10" for key in ("score", "bounds", "filled")),
        "order[][]",
    ],
    "compare_llm_judges": [
        *each("m.agreement", "kappa weighted_kappa binary_kappa confusion by_topic"),
        *(f"m.systems.P@1.{key}.good" for key in ("people", "corrected", "cross_fitted")),
        *each("m.systems.P@1", "gain tau_llm_alone tau_llm_alone_top5"),
    ],
    "evaluate": [
        "qrels.judged.good.AP",
        "per_topic.judged.good.AP.1",
        *each("topics.judged", "qrels without_relevant missing.good ignored.good"),
    ],
    "compare_rankings": [f"{key}.AP.A.B" for key in ("tau", "tau_a", "tau_ap", "interval", "swaps")]
    + ["tied.AP.A", "topics.A.B"],
    "label_overlap": each(
        "c",
        (
            "pairs relevant.unlabelled relevant.0 irrelevant.unlabelled irrelevant.0 agree disagree "
            "both judged_only clicked_only contradicting"
        ),
    ),
    "click_qrels": ["pairs", "labels.0"],
    "compare_runs": COMPARED,
    "leaderboard": [
        "chain",
        "vs_first",
        "vs_previous",
        "vs_last",
        "order",
        "cycles",
        *each("vs_previous[]", "a b"),
        *each("vs_previous[]", " ".join(COMPARED)),
    ],
    "submissions": each(
        "x",
        "submissions per_month.2021-01 breaches best_public_rank its_private_rank its_expected_private_rank",
    ),
    "bootstrap": each(
        "AP",
        (
            "observed.good expected_rank.good best_rank worst_rank rank_share.good.1 interval.good "
            "beats.good.poor significantly_worse.good"
        ),
    ),
    "split_half": [
        f"AP.{kind}.{test}.{rate}"
        for kind, tests in (("mean", "sign wrs wsr t"), ("median", "sign wrs wsr"))
        for test in tests.split()
        for rate in ("agree", "partial", "disagree", "significant")
    ]
    + ["AP.tied_medians"],
    "stability": ["element", "population", "size", "levels", "shared"]
    + [
        f"{key}.{name}"
        for key in ("probability", "mean_tau", "undefined", "minimum_overlap")
        for name in ("AP", "Rprec", "Bpref", "nDCG")
    ]
    + ["fit.AP.slope", "fit.AP.intercept"],
    "reusability": [
        *each("leave_out.good", "pairs tau.AP runs.good.score_change.AP runs.good.rank_change.AP"),
        *each("depth.1", "pairs tau.AP mean_abs_change.AP"),
    ],
}
SEEDED = {
    "check_topics",
    "build_pool",
    "aggregate",
    "agreement",
    "compare_rankings",
    "compare_runs",
    "leaderboard",
}
SEEDED |= {
    "bootstrap",
    "split_half",
    "stability",
    "reusability",
    "sample_pool",
    "compare_systems",
    "plan_study",
    "compare_llm_judges",
}


@pytest.mark.parametrize("name", KEYS)
def test_the_answer_has_the_keys_of_the_contract(answers, name: str) -> None:
    found = answers(name)
    assert sorted(set(KEYS[name]) - paths(found)) == []
    assert ("seed" in found) == (name in SEEDED)


NAMES = {
    "good",
    "poor",
    "other",
    "judged",
    "A",
    "B",
    "a",
    "b",
    "c",
    "t1",
    "t2",
    "m",
    "x",
    "2021-01",
    "nDCG@10",
    "P@10",
    "RBP(0.8)",
    "P@1",
    "AP",
    "nDCG",
    "Rprec",
    "Bpref",
}
"""Of the files here, and measures: keys that no document can know."""
BY_ROWS = {"compare_runs", "leaderboard", "submissions", "label_overlap"}
"""Their sections tell rows by the columns of their tables, not each key."""


def names_of_keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for one in value for name in names_of_keys(one)}
    if isinstance(value, dict):
        return set(value) | {name for one in value.values() for name in names_of_keys(one)}
    return set()


@pytest.mark.parametrize("name", sorted(KEYS.keys() - BY_ROWS))
def test_each_key_of_the_answer_is_in_the_commands_section_of_the_document(
    answers, name: str
) -> None:
    section = re.search(rf"(?ms)^### `{command_name(name)}\b.*?(?=^##|\Z)", DOCUMENT)
    assert section
    told = set(
        re.findall(
            r"[A-Za-z]\w*(?:-[A-Za-z]+)*", " ".join(re.findall(r"`([^`]+)`", section[0] + SHARED))
        )
    )
    told |= {option.replace("-", "_") for option in told}
    parser = load_command_class(get_commands()[name], name).create_parser("assay", name)
    told |= {action.dest for action in parser._actions}  # the site lists them, `settings` has them
    keys = {
        key
        for key in names_of_keys(answers(name))
        if key not in NAMES and not re.fullmatch(r"[\d.]+|\d+/.*", key)
    }
    assert sorted(keys - told) == []


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_computed(
    tmp_path: Path,
) -> None:
    good, poor, judged = files(tmp_path, good=GOOD, poor=POOR, judged=QRELS)
    topics, judgements = (
        judged_file.written(tmp_path, "1\tone\n2\tone\n", "topics.tsv"),
        judged_file.written(tmp_path),
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    absent, beside = str(tmp_path / "absent" / "x.txt"), str(tmp_path / "kept.tsv")
    for words in (
        ("evaluate", judged, good, "--output"),
        ("evaluate", judged, good, "--json", "--output"),
        ("build_pool", good, poor, "--output"),
        ("sample_pool", good, poor, "--output", beside, "--draw"),
        ("check_topics", topics, "--keep", beside, "--removed"),
        ("unjudged", judged, poor, "--top-up"),
    ):
        assert refused(*words, absent) == (
            2,
            "",
            f"{absent}: the folder {tmp_path / 'absent'} does not exist; create it first\n",
        )
        assert refused(*words, str(tmp_path)) == (
            2,
            "",
            f"{tmp_path}: is a folder, expected a file name in it\n",
        )
    for words in (
        ("build_pool", good),
        ("sample_pool", good, "--budget", "1"),
        ("aggregate", judgements),
    ):
        assert refused(*words, "--output", "-") == (
            2,
            "",
            "-: data files cannot be written to standard output, expected a file name\n",
        )
    twice = refused("check_topics", topics, "--keep", beside, "--removed", beside)
    assert twice == (
        2,
        "",
        f"--keep and --removed name the same file, expected one file for each: {beside}\n",
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_full_disk_ends_a_command_in_a_sentence_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    good, judged = files(tmp_path, good=GOOD, judged=QRELS)
    monkeypatch.setattr("assay.atomic_files.os.replace", full)
    target = tmp_path / "out.txt"
    for words in (("evaluate", judged, good), ("build_pool", good)):
        assert refused(*words, "--output", str(target)) == (
            2,
            "",
            f"{target}: No space left on device\n",
        )
    assert not [path for path in tmp_path.iterdir() if "out.txt" in path.name]
