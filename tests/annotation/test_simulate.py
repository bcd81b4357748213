"""`manage.py simulate_annotators`: a whole campaign over HTTP and directly."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError
from django.utils import timezone

from annotation.models import ApiTokenRow, Judgement, Membership
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from tests.annotation.core.test_campaign_questions import make_question
from tests.builders import make_campaign
from tests.commands import call_command


@pytest.fixture
def qrels(tmp_path):
    """Documents d1 and d2 are Fully answers, d3 is Related, of two topics."""
    path = tmp_path / "truth.txt"
    path.write_text(
        "".join(
            f"t{topic} 0 d{document} {grade}\n"
            for topic in (1, 2)
            for document, grade in ((1, 3), (2, 3), (3, 1))
        )
    )
    return path


def simulate(campaign, qrels, *arguments):
    out = StringIO()
    call_command(
        "simulate_annotators",
        "--json",
        "--campaign",
        campaign.slug,
        "--truth",
        str(qrels),
        *arguments,
        stdout=out,
    )
    return json.loads(out.getvalue())


@pytest.mark.django_db
def test_a_campaign_directly_ends_complete_without_overshoot(qrels):
    campaign = make_campaign(n_topics=2, n_documents=6, judgements_per_pair=3)
    found = simulate(campaign, qrels, "--direct", "--n-annotators", "5", "--reliability", "1")
    assert (found["judgements"], found["statuses"], found["slots_left"], found["slots_held"]) == (
        36,
        {"counted": 36},
        0,
        0,
    )
    assert check_invariants(campaign) == []
    grades = set(Judgement.objects.values_list("pair__entry__docno", "grade"))
    assert grades == {("d1", 3), ("d2", 3), ("d3", 1), ("d4", 0), ("d5", 0), ("d6", 0)}
    assert not Judgement.objects.filter(judged_at__gt=timezone.now()).exists()


@pytest.mark.django_db
def test_everything_about_a_simulation_is_marked_as_simulated(qrels):
    campaign = make_campaign(n_topics=2, n_documents=2, judgements_per_pair=1)
    simulate(campaign, qrels, "--direct", "--n-annotators", "2")
    campaign.refresh_from_db()
    assert campaign.simulated
    assert set(
        Membership.objects.filter(role="annotator").values_list("annotator_type", flat=True)
    ) == {"simulated"}
    assert set(Judgement.objects.values_list("device", flat=True)) == {"simulated"}
    assert all(
        not member.user.has_usable_password()
        for member in Membership.objects.filter(annotator_type="simulated")
    )


@pytest.mark.django_db
def test_what_dropouts_leave_is_taken_over_and_speeders_fill_no_slot(qrels):
    campaign = make_campaign(n_topics=2, n_documents=20, judgements_per_pair=2)
    kinds = "reliable:5,dropout:3,speeder:1,clicker:1,contrarian:1,confuser:1"
    found = simulate(campaign, qrels, "--direct", "--n-annotators", "12", "--kinds", kinds)
    assert found["states"]["dropped out"] >= 1
    assert found["statuses"]["too fast"] > 0
    assert (found["statuses"]["counted"], found["slots_left"], found["slots_held"]) == (80, 0, 0)
    assert check_invariants(campaign) == []


@pytest.mark.django_db
def test_the_same_seed_gives_the_same_judgements(qrels):
    def run():
        campaign = make_campaign(n_topics=2, n_documents=4, judgements_per_pair=2)
        simulate(
            campaign,
            qrels,
            "--direct",
            "--n-annotators",
            "3",
            "--seed",
            "7",
            "--reliability",
            "0.5",
        )
        rows = Judgement.objects.filter(pair__campaign=campaign).order_by("pk")
        return list(
            rows.values_list("membership__pseudonym", "pair__position", "grade", "active_ms")
        )

    assert run() == run()


@pytest.mark.django_db(transaction=True)
def test_a_campaign_over_http_ends_complete_without_overshoot(qrels, live_server):
    campaign = make_campaign(
        n_topics=2, n_documents=6, judgements_per_pair=3, guideline="Read this."
    )
    found = simulate(
        campaign,
        qrels,
        "--url",
        live_server.url,
        "--n-annotators",
        "6",
        "--threads",
        "3",
        "--patience",
        "1",
    )
    assert found["errors"] == []
    assert (found["judgements"], found["statuses"], found["slots_left"], found["slots_held"]) == (
        36,
        {"counted": 36},
        0,
        0,
    )
    assert check_invariants(campaign) == []
    assert not ApiTokenRow.objects.exists()
    assert (
        Judgement.objects.filter(active_ms__gt=5_000).count() > 25
    )  # drawn times, not those of the test


def marked_where_required() -> None:
    """Judgements of Related and above have one passage that begins and ends with a word; those below
    have none."""
    rows = Judgement.objects.select_related("pair__entry__document")
    assert {(row.grade >= 1, len(row.spans)) for row in rows} == {(True, 1), (False, 0)}
    for row in rows.filter(grade__gte=1):
        [[start, end]] = row.spans
        assert (
            row.pair.entry.document.text[start:end].split(" ")[0]
            in row.pair.entry.document.text.split()
        )
        assert (
            row.pair.entry.document.text[start:end].split(" ")[-1]
            in row.pair.entry.document.text.split()
        )


@pytest.mark.django_db
def test_passages_are_marked_where_the_campaign_requires_them_directly(qrels):
    campaign = make_campaign(
        n_topics=2, n_documents=4, judgements_per_pair=2, spans="required", spans_from=1
    )
    found = simulate(campaign, qrels, "--direct", "--n-annotators", "3")
    assert (found["judgements"], found["statuses"], found["slots_left"]) == (
        16,
        {"counted": 16},
        0,
    )
    marked_where_required()


@pytest.mark.django_db(transaction=True)
def test_passages_are_marked_where_the_campaign_requires_them_over_http(qrels, live_server):
    campaign = make_campaign(
        n_topics=2, n_documents=4, judgements_per_pair=2, spans="required", spans_from=1
    )
    found = simulate(
        campaign,
        qrels,
        "--url",
        live_server.url,
        "--n-annotators",
        "3",
        "--threads",
        "2",
        "--patience",
        "1",
    )
    assert (found["errors"], found["statuses"], found["slots_left"]) == ([], {"counted": 16}, 0)
    marked_where_required()


@pytest.mark.django_db
def test_a_document_without_text_cannot_be_judged_if_a_passage_is_required(qrels):
    campaign = make_campaign(
        n_topics=1, n_documents=1, judgements_per_pair=1, spans="required", spans_from=0
    )
    campaign.collection.documents.update(text=" ")
    found = simulate(campaign, qrels, "--direct", "--n-annotators", "1")
    assert found["statuses"] == {"cannot judge": 1}


@pytest.mark.django_db
def test_mistakes_are_said_in_a_sentence(qrels):
    campaign = make_campaign(n_topics=1, n_documents=1)
    people = campaign.memberships.count()
    for arguments, said in [
        (("--kinds", "robot"), "unknown kind of annotator"),
        (("--url", "http://192.0.2.7:8000"), "is not this machine"),
        (("--url", "nonsense"), "not an address"),
        (
            ("--url", "http://127.0.0.1:1"),
            r"no server answers at http://127.0.0.1:1 \(Connection refused\): start it, name another one with --url",
        ),
        (("--n-annotators", "0"), "above 0"),
    ]:
        with pytest.raises(CommandError, match=said):
            simulate(campaign, qrels, *arguments)
        assert campaign.memberships.count() == people, "nobody was recruited"
    lifecycle.close_campaign(campaign)
    with pytest.raises(CommandError, match="is closed"):
        simulate(campaign, qrels)


@pytest.mark.django_db
def test_further_questions_are_answered_where_they_are_asked(qrels, tmp_path):
    """d1 and d2 are asked, d3 (Topic) and the others are not."""
    ease = tmp_path / "ease.txt"
    ease.write_text("t1 0 d1 2\nt1 0 d2 1\n")
    campaign = make_campaign(
        n_topics=1, n_documents=4, further_questions=[make_question("ease", asked_from=2)]
    )
    arguments = ("--direct", "--n-annotators", "3", "--reliability", "1")
    simulate(campaign, qrels, *arguments, "--question-truth", f"ease={ease}")
    answers = Judgement.objects.values_list("pair__entry__docno", "grade", "answers__ease")
    assert set(answers) == {("d1", 3, 2), ("d2", 3, 1), ("d3", 1, None), ("d4", 0, None)}
    with pytest.raises(CommandError, match="expected ease=FILE"):
        simulate(campaign, qrels, *arguments)
