"""Every option of a command can be chosen in the form of its report, and the stored command line
gives the same numbers."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from analysis.models import Report
from analysis.systems.forms import MeasuresField, ReportForm
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from assay.formats.runs import read_run, save_run
from pooling.services.stored_columns import store_columns
from tests.analysis.systems.builders import by_command, small_campaign, small_collection
from tests.analysis.systems.test_reports import done, unpacked
from tests.commands import load_command_class

DJANGO = {
    "help",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}
ELSEWHERE = {
    "json": "a download of the report",
    "output": "a download of the report",
    "processes": "the workers share the pieces",
    "lenient": "a run was read leniently or not when it was imported",
    "campaign": "the campaign's labels are a choice among the qrels",
    "labels": "a choice among the qrels",
    "method": "a choice among the qrels",
    "annotators": "a choice among the qrels",
    "seed": "in the form of each kind that is seeded",
    "judged": "the choice of qrels",
    "clicks": "the choice of qrels",
    "metadata": "dates, groups and baselines of the stored runs",
    "groups": "the option by_group, from the stored runs",
    "score_column": "the stored runs have one score",
    "scores": "a table instead of stored runs",
    "only_topics": "topics are removed from the collection, with a reason",
    "sampled": "stored qrels have no inclusion probabilities",
    "intervals": "always asked for",
    "pool_runs": "of a late run: the other runs that are chosen",
    "top_up": "of a late run: the table Judge first",
    "topped_up": "the worker writes what the top-up campaigns have judged",
    "list_pairs": "each pair in the JSON, for programs and studies",
    "also": "further thresholds in the JSON, for programs and studies",
    "llm_labels": "frozen LLM judges of the campaign come as --llm-table",
    "llm_table": "the worker writes the frozen labels",
    "about": "the worker writes what is known of the LLM judges",
    "judgements": "the worker writes the campaign's; elsewhere it is in the form",
    "related": "an LLM judge has its related systems",
    "deltas": "each tau in the JSON, for programs and studies",
    "topic_groups": "of the report Systems compared; elsewhere for programs, and a topic subset on the page of ranks",
    "institutions": "the groups of the stored runs",
    "fail_on": "for builds, which stop with an error",
    "export": "files in a folder of who calls; the study of stability has them in its folder",
    "export_qrels": "as export",
    "label_noise": "the worker writes the judgements of the campaign",
}
SAME = {"condition": "conditions", "against_run": "against"}


@pytest.mark.parametrize("name", KINDS)
def test_every_option_of_the_command_is_in_the_form(name: str) -> None:
    parser = load_command_class("assay", name).create_parser("manage.py", name)
    fields = {field.name for field in KINDS[name].fields} | {"qrels"}
    options = {
        option.lstrip("-").replace("-", "_")
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    }
    missing = {
        option
        for option in options - DJANGO - set(ELSEWHERE)
        if option not in fields and SAME.get(option) not in fields
    }
    assert not missing


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def choices(campaign: Campaign, kind: str, qrels: list[str], **options: Any) -> dict[str, Any]:
    """What a browser sends: the form as it stands, with these options changed."""
    collection = campaign.collection
    ids = {row.name: f"imported:{row.pk}" for row in collection.qrels.all()}
    chosen: list[str] = [ids.get(name, name) for name in qrels]
    sent: dict[str, Any] = {"runs": list(collection.runs.values_list("pk", flat=True)), "seed": 3}
    if KINDS[kind].private_qrels:
        sent |= {"qrels": chosen[0], "private_qrels": chosen[1]}
    elif KINDS[kind].click_qrels:
        sent |= {"qrels": chosen[0], "click_qrels": chosen[1:]}
    else:
        sent["qrels"] = chosen
    return (
        sent
        | {
            one.name: "" if one.default is None else one.default
            for one in KINDS[kind].fields
            if one.kind in ("choice", "measures", "whole", "grade", "number")
        }
        | options
    )


def asked(
    client,
    campaign: Campaign,
    kind: str,
    qrels: list[str],
    *,
    of_collection: bool = False,
    **options: Any,
) -> Report:
    client.force_login(campaign.collection.managers.get())
    name, slug = (
        ("collection-report-new", campaign.collection.slug)
        if of_collection
        else ("campaign-report-new", campaign.slug)
    )
    answer = client.post(
        reverse(name, args=[slug, kind]), choices(campaign, kind, qrels, **options)
    )
    assert answer.status_code == 302, answer.context["form"].errors
    return done(Report.objects.latest("pk"))


def refused(client, campaign: Campaign, kind: str, qrels: list[str], **options: Any) -> str:
    client.force_login(campaign.collection.managers.get())
    answer = client.post(
        reverse("campaign-report-new", args=[campaign.slug, kind]),
        choices(campaign, kind, qrels, **options),
    )
    assert answer.status_code == 400
    assert not Report.objects.exists()
    return answer.content.decode().replace("&#x27;", "'")


def file(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def same_by_command(report: Report, tmp_path: Path) -> dict[str, Any]:
    found = by_command(report.command, unpacked(report, tmp_path / f"exported-{report.pk}"))
    assert found == report.result
    assert found
    return found


pytestmark = pytest.mark.django_db


def add_run(campaign: Campaign, tag: str, text: str, *, order: str = "score") -> None:
    run = read_run(BytesIO(text.encode()), name=f"{tag}.txt", order=order)  # type: ignore[arg-type]
    name, digest = store_columns("runs", lambda path: save_run(run, path))
    campaign.collection.runs.create(
        tag=tag,
        source_name=f"{tag}.txt",
        columns=name,
        digest=digest,
        n_rows=len(run),
        n_topics=len(run.topics),
    )


@pytest.mark.parametrize(
    "kind",
    [
        "evaluate",
        "compare_rankings",
        "bootstrap",
        "split_half",
        "stability",
        "reusability",
        "leaderboard",
    ],
)
def test_scores_in_single_precision(campaign, client, tmp_path, kind) -> None:
    campaign.collection.runs.all().delete()
    # equal as float32: then d9 stands above d10, as its id is greater; as float64 d10 is first
    for tag, low in (("near", "0.100000001"), ("apart", "0.05")):
        add_run(
            campaign,
            tag,
            "".join(
                f"t{t} Q0 d10 1 0.100000002 {tag}\nt{t} Q0 d9 2 {low} {tag}\n" for t in range(1, 9)
            ),
        )
    options: dict[str, Any] = {"measures": "P@1"} if kind not in ("leaderboard",) else {"cutoff": 5}
    options |= {
        "bootstrap": {"trials": 20},
        "split_half": {"splits": 2},
        "compare_rankings": {"bootstrap": 0},
    }.get(kind, {})
    options |= {"stability": {"element": "topics", "pairs": 2}}.get(kind, {})
    report = asked(
        client,
        campaign,
        kind,
        ["judged, old", "clicks A"][: 2 if kind == "compare_rankings" else 1],
        precision="float32",
        **options,
    )
    assert "--precision=float32" in report.command
    found = same_by_command(report, tmp_path)
    if kind == "evaluate":
        judged = dict(line.rsplit(" ", 1) for line in grades(campaign))
        means = found["qrels"]["judged-old"]
        assert (
            means["near"]["P@1"]
            == sum(int(judged.get(f"t{t} d9", 0)) >= 1 for t in range(1, 9)) / 8
        )
        assert (
            means["apart"]["P@1"]
            == sum(int(judged.get(f"t{t} d10", 0)) >= 1 for t in range(1, 9)) / 8
        )


def test_the_form_begins_with_two_runs_and_the_lowest_relevant_grade_of_the_campaign(
    campaign, client
) -> None:
    client.force_login(campaign.collection.managers.get())
    form = client.get(reverse("campaign-report-new", args=[campaign.slug, "compare_runs"])).context[
        "form"
    ]
    first, second = campaign.collection.runs.values_list("pk", flat=True)[:2]
    assert (form["run_a"].initial, form["run_b"].initial) == (first, second)
    assert (campaign.min_relevant, form["min_relevant"].initial) == (2, 2)
    form = client.get(
        reverse("collection-report-new", args=[campaign.collection.slug, "compare_runs"])
    ).context["form"]
    assert form["min_relevant"].initial == 1


@pytest.mark.parametrize(
    ("kind", "qrels", "options", "complaint"),
    [
        (
            "evaluate",
            ["campaign:graded:majority", "clicks A"],
            {"min_relevant": 2},
            "“clicks A” has grade 2 or higher. The highest grade is 1. Enter 1, or choose other qrels.",
        ),
        (
            "evaluate",
            ["campaign:graded:majority", "campaign:binary:majority"],
            {"min_relevant": 2},
            "2 grades, majority” has grade 2 or higher. The highest grade is 1.",
        ),
        (
            "evaluate",
            ["campaign:binary:majority"],
            {"min_relevant": 3},
            "No label of “This campaign, 2 grades, majority” has grade 3 or higher",
        ),
        (
            "evaluate",
            ["campaign:graded:majority"],
            {"min_relevant": 4},
            "has grade 4 or higher. The highest grade is 3.",
        ),
        (
            "label_overlap",
            ["campaign:binary:majority", "clicks A"],
            {"min_relevant": 3},
            "has grade 3 or higher. The highest grade is 1.",
        ),
    ],
)
def test_a_lowest_relevant_grade_that_qrels_never_reach_is_refused(
    campaign, client, kind, qrels, options, complaint
) -> None:
    campaign.collection.qrels.filter(name="clicks A").update(
        grades={"0": 30, "1": 10}
    )  # as an import counts them
    assert complaint in refused(client, campaign, kind, qrels, **options)


def grades(campaign: Campaign) -> list[str]:
    from tests.analysis.systems.builders import qrels_text

    return [
        " ".join((topic, document, grade))
        for topic, _, document, grade in map(str.split, qrels_text(1, 3).splitlines())
    ]


@pytest.mark.parametrize(
    ("qrels", "level"), [("campaign:binary:majority", "1"), ("campaign:graded:majority", "2")]
)
def test_the_lowest_relevant_grade_follows_the_scale_of_the_labels(
    campaign, client, qrels, level
) -> None:
    """The form begins with the campaign's own, 2 of 4 grades; labels of two grades are relevant
    from 1 on."""
    report = asked(client, campaign, "evaluate", [qrels], min_relevant=2)
    assert report.parameters["options"]["min_relevant"] == int(level)


def test_a_run_in_the_order_of_its_rank_column_keeps_it(campaign, client, tmp_path) -> None:
    campaign.collection.runs.all().delete()
    add_run(
        campaign,
        "ranked",
        "".join(f"t{t} Q0 d10 2 9.5 x\nt{t} Q0 d9 1 0.5 x\n" for t in range(1, 9)),
        order="rank",
    )
    judged = dict(line.rsplit(" ", 1) for line in grades(campaign))
    expected = sum(int(judged.get(f"t{t} d9", 0)) >= 1 for t in range(1, 9)) / 8
    for scores in ("float64", "float32"):
        found = same_by_command(
            asked(client, campaign, "evaluate", ["judged, old"], measures="P@1", precision=scores),
            tmp_path,
        )
        assert found["qrels"]["judged-old"] == {"ranked": {"P@1": expected}}


def test_only_some_runs_of_a_bootstrap_are_shown(campaign, client, tmp_path) -> None:
    whole = asked(client, campaign, "bootstrap", ["judged, old"], measures="AP", trials=130)
    report = asked(
        client,
        campaign,
        "bootstrap",
        ["judged, old"],
        measures="AP",
        trials=130,
        show=["sys.1", "sys.3"],
    )
    found = same_by_command(report, tmp_path)["AP"]
    assert set(found["expected_rank"]) == {"sys.1", "sys.3"}
    assert whole.result is not None
    assert found["expected_rank"] == {
        tag: whole.result["AP"]["expected_rank"][tag] for tag in ("sys.1", "sys.3")
    }  # ranked among all


PUBLIC = "t1\nt2\nt3\nt4\n"


def test_conditions_are_measure_and_topic_subset_and_qrels(campaign, client, tmp_path) -> None:
    lines = (
        "public = RR@10, judged-old, public\nprivate, strict = nDCG@5, clicks-B, private, "
        "2\n\nall = AP, judged-old\n"
    )
    lists = [file("public.txt", PUBLIC), file("private.txt", "t5\nt6\nt8 a comment\n")]
    report = asked(
        client,
        campaign,
        "bootstrap",
        ["judged, old", "clicks B"],
        trials=130,
        conditions=lines,
        topic_lists=lists,
    )
    found = same_by_command(report, tmp_path)
    assert {name: one["topics"] for name, one in found.items() if name != "seed"} == {
        "public": 4,
        "private, strict": 3,
        "all": 8,
    }
    per_topic = asked(
        client, campaign, "evaluate", ["judged, old"], measures="RR@10", per_topic="on"
    ).result
    assert per_topic is not None
    for tag, observed in found["public"]["observed"].items():
        values = per_topic["per_topic"]["judged-old"][tag]["RR@10"]
        assert observed == pytest.approx(
            sum(values[topic] for topic in ("t1", "t2", "t3", "t4")) / 4, abs=1e-12
        )
    client.post(reverse("report-again", args=[report.pk]))
    again = done(Report.objects.latest("pk"))
    assert (again.result, again.input_digest) == (report.result, report.input_digest)


def test_topic_subsets_alone_are_crossed_with_measures_and_qrels(
    campaign, client, tmp_path
) -> None:
    report = asked(
        client,
        campaign,
        "bootstrap",
        ["judged, old", "clicks A"],
        measures="AP RR@10",
        trials=20,
        topic_lists=[file("public.txt", PUBLIC)],
    )
    found = same_by_command(report, tmp_path)
    names = {
        f"{measure} {qrels}{subset}"
        for measure in ("AP", "RR@10")
        for qrels in ("judged-old", "clicks-A")
        for subset in ("", " public")
    }
    assert set(found) == names | {"seed"}
    assert {name: one["topics"] for name, one in found.items() if name in names} == {
        name: 4 if "public" in name else 8 for name in names
    }


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"conditions": "public RR@10"},
            "Condition 1, 'public RR@10': expected name = measure, qrels",
        ),
        (
            {"conditions": "a = AP, judged-old\nb = AP, judged"},
            "Condition 2: qrels 'judged' are not selected; selected are judged-old",
        ),
        (
            {"conditions": "a = AP, judged-old, public"},
            "Condition 1: unknown topic subset 'public'; none was uploaded",
        ),
        ({"conditions": "a = APP, judged-old"}, "APP"),
        ({"conditions": "a = AP, judged-old,,none"}, "none"),
    ],
)
def test_a_wrong_condition_is_refused_with_its_number(campaign, client, options, complaint) -> None:
    assert complaint in refused(client, campaign, "bootstrap", ["judged, old"], **options)


def test_documents_of_a_list(campaign, client, tmp_path) -> None:
    ids = "".join(f"d{number}\n" for number in range(1, 61))  # 30 more than the runs know
    options: dict[str, Any] = {
        "element": "documents",
        "overlaps": "50:100:50",
        "pairs": 3,
        "measures": "AP",
    }
    found = same_by_command(
        asked(
            client, campaign, "stability", ["judged, old"], docids=[file("ids.txt", ids)], **options
        ),
        tmp_path,
    )
    assert (found["population"], found["size"]) == (60, 30)
    found = same_by_command(
        asked(client, campaign, "stability", ["judged, old"], documents="imported", **options),
        tmp_path,
    )
    assert found["population"] == campaign.collection.documents.count() == 30


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"element": "documents", "docids": [file("ids.txt", "d1\nd2 d3\n")]},
            "ids.txt:2: 2 words",
        ),
        ({"element": "documents", "docids": [file("ids.txt", "\n")]}, "no IDs"),
        ({"element": "documents", "documents": "list"}, "pload the file"),
        ({"element": "topics", "documents": "imported"}, "only if documents vary"),
    ],
)
def test_a_wrong_list_of_documents_is_refused(campaign, client, options, complaint) -> None:
    assert complaint in refused(client, campaign, "stability", ["judged, old"], **options).replace(
        "Choose", "choose"
    )


def test_groups_of_topics_are_uploaded_and_compared_within(campaign, client, tmp_path) -> None:
    groups = file(
        "bands.csv",
        "topic,band\n" + "".join(f"t{t},{'Head' if t <= 4 else 'Tail'}\n" for t in range(1, 9)),
    )
    options: dict[str, Any] = {
        "measures": "RR@10",
        "permutations": 200,
        "correction": "holm",
        "against": "sys.2",
    }
    report = asked(
        client, campaign, "compare_systems", ["judged, old"], topic_groups=[groups], **options
    )
    found = same_by_command(report, tmp_path)["RR@10"]
    assert [(group, one["topics"]) for group, one in found["by_group"].items()] == [
        ("Head", 4),
        ("Tail", 4),
    ]
    for tag, mean in found["means"].items():
        parts = [one["means"][tag] for one in found["by_group"].values()]
        assert mean == pytest.approx(sum(parts) / 2, abs=1e-12)  # two groups of four topics each
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "Effectiveness on Head" in page
    assert "<strong>" in page.partition("Effectiveness of the systems")[2]  # the best


def test_the_noise_of_labels_needs_a_campaigns_own(campaign, client, tmp_path) -> None:
    assert "only the campaign&#x27;s own labels have" in refused(
        client, campaign, "plan_study", ["judged, old"], judgements="on"
    ).replace("'", "&#x27;")
    report = asked(
        client,
        campaign,
        "plan_study",
        ["campaign:graded:majority"],
        measures="nDCG@5",
        judgements="on",
        label_trials=5,
        min_relevant=2,
    )
    found = same_by_command(report, tmp_path)["nDCG@5"]["labels"]
    assert found["pairs"] == 40  # each judged twice
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "Topics by judgements per pair" in page


def test_baselines_of_a_leaderboard_without_dates(campaign, client, tmp_path) -> None:
    campaign.collection.runs.update(submitted_on=None)
    all_count = same_by_command(asked(client, campaign, "leaderboard", ["judged, old"]), tmp_path)
    best = max(all_count["runs"], key=lambda run: run["score"])["tag"]
    found = same_by_command(
        asked(client, campaign, "leaderboard", ["judged, old"], baselines=[best]), tmp_path
    )
    assert [run["tag"] for run in found["runs"] if run["baseline"]] == [best]
    assert found["chain"] == []  # nothing beats the best


def test_a_pool_of_the_collection_bounds_the_labels(campaign, client, tmp_path) -> None:
    campaign.collection.pools.update(built_at=timezone.now())
    pool = campaign.collection.pools.get()
    options = {"pool": pool.pk, "top": 2}
    report = asked(
        client,
        campaign,
        "label_overlap",
        ["judged, old", "clicks A"],
        of_collection=True,
        **options,
    )
    found = same_by_command(report, tmp_path)
    top = set(pool.entries.filter(best_rank__lte=2).values_list("topic__topic_id", "docno"))
    judged = {tuple(line.split()[:2]) for line in grades(campaign) if int(line.split()[2]) >= 0}
    assert found["clicks-A"]["pairs"] == len(judged & top)


def test_expected_private_ranks_from_a_bootstrap(campaign, client, tmp_path) -> None:
    ranks = asked(client, campaign, "bootstrap", ["clicks A"], measures="AP", trials=130)
    Report.objects.filter(pk=ranks.pk).update(finished_at=timezone.now() - timedelta(minutes=1))
    report = asked(
        client, campaign, "submissions", ["judged, old", "clicks A"], measure="AP", ranks=ranks.pk
    )
    found = same_by_command(report, tmp_path)
    assert ranks.result is not None
    for group in found.values():
        assert (
            group["its_expected_private_rank"] == ranks.result["AP"]["expected_rank"][group["best"]]
        )


@pytest.mark.parametrize(
    ("kind", "graded", "binary"),
    [
        ("bootstrap", "nDCG@10", "RR@100"),
        ("compare_rankings", "AP nDCG nDCG@10 RR@10 R@100", "AP nDCG nDCG@10 RR@10 R@100"),
        (
            "evaluate",
            "AP nDCG nDCG@10 RR@10 R@100 Judged@10",
            "AP nDCG nDCG@10 RR@10 R@100 Judged@10",
        ),
    ],
)
def test_a_form_begins_with_measures_that_fit_the_question_and_the_scale(
    campaign, kind, graded, binary
):
    def begins() -> str:
        return ReportForm(kind=KINDS[kind], collection=campaign.collection, campaign=campaign)[
            "measures"
        ].initial

    assert len(campaign.scale) > 2
    assert begins() == graded
    campaign.scale = campaign.scale[:2]
    assert begins() == binary


def test_measures_of_a_form_get_their_canonical_names() -> None:
    asked = MeasuresField(single=False, initial="AP", required=False)
    assert asked.clean("MAP  ndcg_cut_10 RBP(0.8)") == "AP nDCG@10 RBP(0.8)"
    assert asked.clean("") == "AP"
    assert MeasuresField(single=True, initial="AP").clean("MRR@10") == "RR@10"
