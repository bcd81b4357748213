"""Over a sampled pool no number counts what was not drawn as not relevant: every command, kind of
report, study, page, export, release and function of the library estimates, refuses with the reason,
or has a reason here why it shows no score. What is new has to say which of them it is."""

from __future__ import annotations

import inspect
import io
import zipfile

import pytest
from django.urls import get_resolver, reverse

import assay
import assay.library
from analysis.dashboard import exclusions
from analysis.judgements.labels import LabelChoices
from analysis.publishing.exports import EXPORTS, ExportOptions, available_exports, prepare_export
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from analysis.studies import stored_studies
from analysis.studies.inputs import StudyInputs
from analysis.studies.papers import STUDY_NAMES, get_study
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from assay.analyses.shared.sampled_files import SAMPLED_MEASURES
from assay.measures.evaluation import Evaluator
from assay.measures.measures import FAMILIES, parse_measures
from pooling.models import Qrels
from pooling.platform.jobs import Refused
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.test_sampled_campaigns import (
    judge_stage,
    make_collection_with_runs,
    make_sampled,
    ranked,
)
from tests.commands import get_commands, load_command_class
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db

ESTIMATES, REFUSES = "estimates", "refuses"
OF_CAMPAIGN = {
    "evaluate": ESTIMATES,
    "compare_systems": ESTIMATES,
    "stopping_advice": ESTIMATES,
    "bootstrap": REFUSES,
    "compare_rankings": REFUSES,
    "compare_runs": REFUSES,
    "unjudged": REFUSES,
    "leaderboard": REFUSES,
    "plan_study": REFUSES,
    "reusability": REFUSES,
    "split_half": REFUSES,
    "stability": REFUSES,
    "study": "as a study",
    "aggregate": "labels; no run is scored",
    "agreement": "judgements; no run is scored",
    "campaign_stats": "judgements; no run is scored",
    "label_overlap": "labels pair by pair; no run is scored",
    "check_release": "what a release lacks; no run is scored",
    "export_campaign": "files of labels, which say what they are",
    "export_judgements": "judgements; no run is scored",
    "export_payment": "hours and payment; no run is scored",
    "export_qrels": "labels, with a name and a head line that say what they are",
    "send_labels": "labels, whose name says what they are",
    "simulate_annotators": "makes judgements",
}
"""Every command that takes --campaign."""
OF_FILES = {
    **{
        name: "qrels"
        for name, what in OF_CAMPAIGN.items()
        if what == REFUSES or name in ("evaluate", "compare_systems", "stopping_advice")
    },
    "simulate_campaign": "qrels",
    "score_facets": "qrels",
    "label_overlap": "labels only",
    "export_labels": "labels only",
    "rank_llm_judges": "labels only",
    "compare_llm_judges": "its own five columns, by chances; and an LLM judge's labels of every pair",
    "sample_pool": "an LLM judge's labels of every pair",
}
"""Every command that reads qrels."""
MORE = {"unjudged": ["A"], "compare_runs": ["A", "B"], "stability": ["--element", "topics"]}
FURTHER = {
    "stability": ["--element", "topics"],
    "label_overlap": ["--clicks"],
    "rank_llm_judges": ["--llm-labels"],
}


def commands() -> dict[str, object]:
    ours = {
        name: app
        for name, app in get_commands().items()
        if app in ("annotation", "analysis", "assay")
    }
    return {
        name: load_command_class(app, name).create_parser("manage.py", name)
        for name, app in ours.items()
    }


def make_world() -> Campaign:
    """A campaign of which the first stage is judged."""
    made = make_sampled(make_collection_with_runs())
    judge_stage(made, 1)
    return made


@pytest.fixture
def campaign(world, monkeypatch) -> Campaign:
    forbid_measures_under_labels(monkeypatch)
    return world


def forbid_measures_under_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    def naive(self, *arguments, **named):
        raise AssertionError("a measure under labels was computed over a sampled pool")

    monkeypatch.setattr(Evaluator, "__init__", naive)
    for module in (
        "comparison.stability",
        "comparison.reusability",
        "measures.batch",
    ):  # batch last: whoever is imported while it is patched would keep what stands there
        monkeypatch.setattr(f"assay.{module}.evaluate_subcollections", naive)


def sampled_only(measures) -> bool:
    return all(FAMILIES[measure.family].sampled for measure in parse_measures(" ".join(measures)))


def test_every_command_that_takes_a_campaign_is_in_the_table():
    takes = {
        name
        for name, parser in commands().items()
        if any("--campaign" in action.option_strings for action in parser._actions)
    }
    assert takes == set(OF_CAMPAIGN)


@pytest.mark.parametrize("name", [name for name, what in OF_CAMPAIGN.items() if what == REFUSES])
def test_a_command_that_cannot_estimate_refuses_the_campaign_with_the_reason(campaign, name):
    status, out, said = refused(name, *MORE.get(name, []), "--campaign", campaign.slug)
    assert (status, out) == (2, "")
    assert (
        f"the pool of {campaign.slug} is sampled, and this measure would treat unsampled pairs as "
        f"not relevant. `evaluate --campaign"
    ) in said


@pytest.mark.parametrize("name", ["evaluate", "compare_systems"])
def test_a_command_that_estimates_shows_no_other_measure(campaign, name):
    answer = run(name, "--campaign", campaign.slug)
    measures = (
        answer["qrels"][campaign.slug]["A"]
        if name == "evaluate"
        else {key for key, one in answer.items() if isinstance(one, dict) and "means" in one}
    )
    shown = [measure for measure in SAMPLED_MEASURES.split() if measure in measures]
    assert len(shown) == len(measures)
    assert shown == SAMPLED_MEASURES.split()
    assert sampled_only(shown)
    for key, family in FAMILIES.items():
        if not family.sampled:
            some = next(text for text in (f"{key}@10", key, f"{key}(0.8)") if parses(text))
            status, out, said = refused(name, "--campaign", campaign.slug, "--measures", some)
            assert (status, out) == (2, ""), some
            assert "would treat unsampled pairs as not relevant" in said


def parses(text: str) -> bool:
    try:
        return bool(parse_measures(text))
    except ValueError:
        return False


def test_every_command_that_reads_qrels_is_in_the_table():
    reads = {
        name
        for name, parser in commands().items()
        for action in parser._actions
        if "QRELS" in str(action.metavar)
    }
    assert reads | {"compare_rankings", "label_overlap"} == set(OF_FILES)


@pytest.mark.parametrize("name", [name for name, what in OF_FILES.items() if what == "qrels"])
def test_qrels_of_a_sampled_pool_are_refused_from_a_file(campaign, name, tmp_path):
    marked = tmp_path / "marked.qrels"
    marked.write_bytes(
        prepare_export(EXPORTS["qrels"], campaign, ExportOptions(comments=True)).read()
    )
    five = tmp_path / "prels.txt"
    five.write_bytes(prepare_export(EXPORTS["prels"], campaign, ExportOptions()).read())
    paths = []
    for tag in "AB":
        path = tmp_path / f"{tag}.run"
        path.write_text(
            "".join(
                f"{topic} Q0 {d} {k} {1000 - k} {tag}\n"
                for topic, docs in ranked(tag).items()
                for k, d in enumerate(docs, start=1)
            )
        )
        paths.append(str(path))
    given = paths[: {"unjudged": 1}.get(name, 2)]
    if name == "compare_rankings":
        first, second = (
            [*given, "--qrels", f"x={one}", "--qrels", f"y={one}"] for one in (marked, five)
        )
    else:
        first, second = ([str(one), *given, *FURTHER.get(name, [])] for one in (marked, five))
    status, out, said = refused(name, *first)
    assert (status, out) == (2, ""), said
    assert "a measure would treat unsampled pairs as not relevant" in said
    status, out, said = refused(name, *second)
    assert (status, out) == (2, ""), said
    assert "five with a stratum are a sampled pool, which needs --sampled" in said


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_report_estimates_or_refuses(campaign, name):
    kind = KINDS[name]
    runs = [row.pk for row in campaign.collection.runs.order_by("tag")]
    own = ["campaign:graded:majority"] * max(kind.min_qrels, 1)
    chosen = {"runs": runs, "qrels": own, "options": {}}
    asked = {
        "collection": campaign.collection,
        "campaign": campaign,
        "parameters": chosen,
        "seed": 0,
        "user": None,
    }
    if kind.counts_labels_only:
        return
    if not kind.estimates:
        with pytest.raises(
            Refused,
            match="is sampled, and this measure would treat unsampled pairs as not relevant",
        ):
            reports.request_report(kind, **asked)
        return
    if name == "compare_llm_judges":
        with pytest.raises(Refused, match="This campaign has no frozen LLM judge"):
            reports.request_report(kind, **asked)
        return
    report = reports.request_report(kind, **asked)
    assert "--sampled" in report.command
    assert do(report.job).state == "done", report.job.message


def test_only_what_shows_no_score_counts_labels_alone():
    assert {name for name, kind in KINDS.items() if kind.counts_labels_only} == {"label_overlap"}
    assert {name for name, kind in KINDS.items() if kind.estimates} == {
        "evaluate",
        "compare_systems",
        "compare_llm_judges",
    }


def test_exported_qrels_that_are_imported_again_are_known_by_their_head_line(campaign):
    text = prepare_export(EXPORTS["qrels"], campaign, ExportOptions(comments=True)).read().decode()
    assert bring_in(campaign.collection, "qrels", text, name="back.qrels").state == "done"
    row = Qrels.objects.get(collection=campaign.collection)
    runs = [one.pk for one in campaign.collection.runs.all()]
    asked = {"runs": runs, "qrels": [f"imported:{row.pk}"], "options": {}}
    report = reports.request_report(
        KINDS["evaluate"],
        collection=campaign.collection,
        campaign=None,
        parameters=asked,
        seed=0,
        user=None,
    )
    job = do(report.job)
    assert (job.state, "unsampled pairs as not relevant" in job.message) == (
        "failed",
        True,
    )


@pytest.mark.long
@pytest.mark.parametrize("name", STUDY_NAMES)
def test_no_study_ranks_systems_under_the_labels(campaign, name, tmp_path):
    status, _, said = refused(
        "study", name, "--campaign", campaign.slug, "--output", str(tmp_path / "results")
    )
    ranks = status == 2 and "would treat unsampled pairs as not relevant" in said
    assert ranks or "AssertionError" not in said
    if not ranks:
        assert status == 0, said
    try:
        study = stored_studies.request_study(
            get_study(name),
            collection=campaign.collection,
            campaign=campaign,
            given=StudyInputs({}),
            user=None,
        )
    except Refused as error:
        assert "unsampled pairs" in str(error)  # noqa: PT017
    else:
        assert do(study.job).state == ("failed" if ranks else "done"), study.job.message


def test_no_page_shows_a_score_under_the_labels(campaign, client):
    """Every page of a campaign that needs nothing but its address."""
    client.force_login(campaign.created_by)
    names = [
        name
        for name in get_resolver().reverse_dict
        if isinstance(name, str) and name.startswith(("campaign", "api-campaign", "api-exports"))
    ]
    seen = []
    for name in names:
        if get_resolver().reverse_dict.getlist(name)[0][0][0][1] == ["slug"]:
            answer = client.get(reverse(name, args=[campaign.slug]))
            assert answer.status_code in (200, 301, 302, 405), name
            seen.append(name)
    assert {
        "campaign",
        "campaign-systems",
        "campaign-judgements",
        "campaign-export",
        "campaign-people",
        "api-campaign-progress",
    } <= set(seen)
    for kind in KINDS:
        assert (
            client.get(reverse("campaign-report-new", args=[campaign.slug, kind])).status_code
            == 200
        )


def test_previews_of_exclusions_and_recipes_rank_no_systems_and_say_why(campaign):
    ada = campaign.memberships.filter(role="annotator").first()
    job = do(
        exclusions.request_exclusion_preview(campaign, [ada.pseudonym], user=campaign.created_by)
    )
    assert job.state == "done", job.message
    assert "the pool is sampled" in str(job.report)


def test_exports_and_releases_score_nothing_and_say_what_they_are(campaign):
    for name, export in available_exports(campaign).items():
        wanted = ExportOptions(comments="comments" in export.heeds)
        text = prepare_export(export, campaign, wanted).read()
        if "comments" in export.heeds:
            assert b"# SAMPLED" in text, name
            assert "-sampled-" in export.filename(campaign, LabelChoices()), name
    lifecycle.close_campaign(campaign)
    out = io.BytesIO()
    write_release(
        Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk),
        ReleasePlan("first", LabelChoices()),
        out,
    )
    sheet = zipfile.ZipFile(out).read("datasheet.md").decode()
    assert (
        "qrels.txt would count all others as not relevant. Estimate scores from prels.txt" in sheet
    )
    assert "assay evaluate prels.txt RUN... --sampled" in sheet


def test_every_function_of_the_library_that_scores_refuses(campaign, tmp_path):
    takes = {
        name
        for name in assay.library.__all__
        if inspect.isfunction(one := getattr(assay, name))
        and "qrels" in inspect.signature(one).parameters
    }
    assert takes > {
        "evaluate",
        "compare",
        "write_qrels",
        "stability",
        "unjudged",
        "compare_rankings",
    }
    marked, five = tmp_path / "marked.qrels", tmp_path / "five.txt"
    marked.write_bytes(
        prepare_export(EXPORTS["qrels"], campaign, ExportOptions(comments=True)).read()
    )
    five.write_bytes(prepare_export(EXPORTS["prels"], campaign, ExportOptions()).read())
    runs = {
        tag: {
            topic: {d: 1000 - k for k, d in enumerate(docs)} for topic, docs in ranked(tag).items()
        }
        for tag in "AB"
    }
    one = {"A": runs["A"]}
    further = {
        "compare_runs": ([one, {"B": runs["B"]}], {}),
        "unjudged": ([one], {}),
        "score_facets": ([{"1": {"x": 1}}, runs], {}),
        "stability": ([runs], {"element": "topics"}),
    }
    labels_only = {"write_qrels", "rank_llm_judges", "export_labels"}
    for name in sorted(takes - labels_only):
        rest, options = further.get(name, ([runs], {}))

        def called(qrels, name=name, rest=rest, options=options):
            given = {"a": qrels, "b": qrels} if name == "compare_rankings" else qrels
            return getattr(assay, name)(given, *rest, **options)

        with pytest.raises(assay.BadInput, match="unsampled pairs as not relevant"):
            called(marked)
        with pytest.raises(assay.BadInput, match="unsampled pairs as not relevant"):
            called(assay.read_qrels(marked))
        with pytest.raises(assay.FormatError, match="which needs --sampled"):
            called(five)
