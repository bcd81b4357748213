"""--campaign SLUG in place of QRELS: the same numbers as with the exported labels and the files of
the runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.commands.ranked_files import printed
from tests.analysis.systems.builders import qrels_text, run_texts, small_campaign, small_collection
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


@pytest.fixture
def files(campaign: Campaign, tmp_path: Path) -> dict[str, str]:
    """graded, binary, clicks: qrels; runs."""
    for grades in ("graded", "binary"):
        run(
            "export_qrels",
            "--campaign",
            campaign.slug,
            "--labels",
            grades,
            "--output",
            str(tmp_path / f"{grades}.txt"),
        )
    (tmp_path / "clicks.txt").write_text(qrels_text(2, 1))
    for tag, text in run_texts().items():
        (tmp_path / tag).write_text(text)
    return {
        path.name.removesuffix(".txt"): str(path) for path in tmp_path.iterdir() if path.is_file()
    }


def named(result: Any, name: str) -> Any:
    """The same answer with the qrels called differently."""
    if isinstance(result, dict):
        return {name if key == "x" else key: named(value, name) for key, value in result.items()}
    return result


RUNS = [f"sys.{number}" for number in range(5)]
CASES = {
    "bootstrap": ["--trials", "50", "--measures", "AP RR@10"],
    "split_half": ["--splits", "3", "--measures", "AP"],
    "stability": ["--element", "topics", "--pairs", "2", "--measures", "AP"],
    "reusability": ["--depth", "2", "--measures", "AP"],
    "leaderboard": ["--cutoff", "10"],
    "stopping_advice": ["--depth", "2", "--audit-sample", "20,1,10"],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("grades", ["graded", "binary"])
def test_labels_and_runs_of_the_campaign(campaign, files, name, grades) -> None:
    expected = run(name, files[grades], *(files[tag] for tag in RUNS), *CASES[name])
    assert run(name, "--campaign", campaign.slug, "--labels", grades, *CASES[name]) == expected
    assert (
        run(name, *CASES[name], *RUNS, "--campaign", campaign.slug, "--labels", grades) == expected
    )  # by tags
    assert (
        run(
            name,
            *CASES[name],
            "--labels",
            grades,
            "--campaign",
            campaign.slug,
            *(files[tag] for tag in RUNS),
        )
        == expected
    )


@pytest.mark.parametrize("name", ["compare_systems", "leaderboard"])
def test_who_compares_systems_while_judging_runs_reads_what_looking_often_does(
    campaign, files, name
) -> None:
    assert "hold for one check" in printed(name, "--campaign", campaign.slug, *RUNS)[1]
    assert (
        "hold for one check" not in printed(name, files["graded"], *(files[tag] for tag in RUNS))[1]
    )


def test_evaluate_names_the_qrels_after_the_campaign(campaign, files) -> None:
    further = ["--qrels", f"clicks={files['clicks']}", "--measures", "AP nDCG@5"]
    expected = run("evaluate", f"x={files['graded']}", files["sys.2"], files["sys.0"], *further)
    assert run("evaluate", "--campaign", campaign.slug, "sys.2", "sys.0", *further) == named(
        expected, campaign.slug
    )
    assert list(
        run("evaluate", "sys.2", "--campaign", campaign.slug, *further)["qrels"][campaign.slug]
    ) == ["sys.2"]


def test_rankings_are_compared_with_those_of_the_campaign_on_two_grades(campaign, files) -> None:
    rest = ["--qrels", f"clicks={files['clicks']}", "--measures", "AP", "--bootstrap", "20"]
    expected = run(
        "compare_rankings", *(files[tag] for tag in RUNS), "--qrels", f"x={files['binary']}", *rest
    )
    assert run("compare_rankings", "--campaign", campaign.slug, *rest) == named(
        expected, campaign.slug
    )


def test_two_runs_of_the_campaign(campaign, files) -> None:
    expected = run(
        "compare_runs", files["graded"], files["sys.1"], files["sys.3"], "--min-relevant", "2"
    )
    assert (
        run("compare_runs", "--campaign", campaign.slug, "sys.1", "sys.3", "--min-relevant", "2")
        == expected
    )
    status, out, err = refused("compare_runs", "--campaign", campaign.slug, "sys.1")
    assert (status, out) == (2, "")
    assert "--campaign needs 2 runs" in err


def test_label_overlap_takes_the_campaigns_pool(campaign, files, tmp_path) -> None:
    pool = tmp_path / "pool.tsv"
    entries = campaign.pool.entries.values_list("topic__topic_id", "docno", "best_rank")
    pool.write_text(
        "topic\tdocument\tbest_rank\n"
        + "".join("\t".join(map(str, entry)) + "\n" for entry in entries)
    )
    clicks = ["--clicks", f"c={files['clicks']}", "--top", "2"]
    expected = run("label_overlap", "--judged", files["binary"], "--pool", str(pool), *clicks)
    assert expected["c"]["pairs"] > 0
    found = run("label_overlap", "--campaign", campaign.slug, *clicks)
    assert (
        found["c"].pop("contradicting_pairs") is not None
    )  # texts that only a campaign's documents have
    assert found == expected


def test_what_a_campaign_cannot_give_is_refused(campaign) -> None:
    empty = make_campaign(n_topics=1, n_documents=1)
    for arguments, complaint in (
        (["evaluate", "--campaign", "nowhere"], "there is no campaign with the slug 'nowhere'"),
        (["evaluate", "--campaign", empty.slug], "has no runs"),
        (["evaluate", "--campaign", campaign.slug, "sys.9"], "sys.9: No such file"),
    ):
        status, out, err = refused(*arguments)
        assert (status, out) == (2, "")
        assert complaint in err


def test_a_campaign_without_labels_has_no_qrels(settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    campaign = small_campaign(small_collection(slug="bare"), judged=False)
    status, out, err = refused("evaluate", "--campaign", campaign.slug)
    assert (status, out) == (2, "")
    assert f"no pair of the campaign {campaign.slug} has a label yet" in err


def test_the_noise_of_labels_is_that_of_the_campaigns_own_judgements(
    campaign, files, tmp_path
) -> None:
    judged = str(tmp_path / "judged.tsv")
    run("export_judgements", "--campaign", campaign.slug, "--output", judged)
    how = ["--measures", "AP", "--label-trials", "5"]
    expected = run(
        "plan_study",
        files["graded"],
        *(files[tag] for tag in RUNS),
        *how,
        "--judgements",
        judged,
        "--grades",
        str(campaign.grades.size),
    )
    assert run("plan_study", "--campaign", campaign.slug, *how) == expected
    assert expected["AP"]["labels"]["as_judged"] > 0
    on_two = run("plan_study", "--campaign", campaign.slug, "--labels", "binary", *how)["AP"][
        "labels"
    ]
    assert on_two["pairs"] == expected["AP"]["labels"]["pairs"]
    by_model = run("plan_study", "--campaign", campaign.slug, "--method", "dawid-skene", *how)
    assert by_model["AP"]["labels"] is None
    assert "majority" in by_model["undefined"]["labels"]


def test_ranks_with_the_noise_of_labels_take_the_campaigns_own_judgements(
    campaign, files, tmp_path
) -> None:
    judged = str(tmp_path / "judged.tsv")
    run("export_judgements", "--campaign", campaign.slug, "--output", judged)
    how = ["--measures", "AP", "--trials", "60", "--label-trials", "6"]
    scale = ["--judgements", judged, "--grades", str(campaign.grades.size)]
    expected = run("bootstrap", files["graded"], *(files[tag] for tag in RUNS), *how, *scale)
    own = run("bootstrap", "--campaign", campaign.slug, "--label-noise", *how)
    assert own == expected
    drawn, plain = own["AP"]["labels"], own["AP"]
    for tag, (low, high) in drawn["rank_interval"].items():
        assert low <= plain["rank_interval"][tag][0]
        assert high >= plain["rank_interval"][tag][1]
    assert sum(drawn["by_labels"]["expected_rank"].values()) == pytest.approx(15)  # ranks 1 to 5
    assert "labels" not in run("bootstrap", "--campaign", campaign.slug, *how)["AP"]
    status, _, err = refused("bootstrap", files["graded"], files["sys.1"], "--label-noise")
    assert (status, "--judgements FILE" in err) == (2, True)
