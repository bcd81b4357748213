"""Looks at whether judging may stop: stored, few, in the words of the rules, and stopping
nothing."""

from __future__ import annotations

import random
import uuid
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from analysis.judgements import interim_checks
from analysis.judgements.campaign_sample import read_campaign_sample
from analysis.judgements.interim_checks import (
    get_stopping_advice,
    list_interim_checks,
    request_interim_check,
)
from annotation.models import Campaign, Judgement, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling
from assay.formats.prel import write_prel
from assay.sampling.stopping import estimate_remaining_relevant
from pooling.models import Collection, Document, Job, Pool, Topic
from pooling.platform.jobs import Refused
from pooling.services import making, ordering, pools
from pooling.services.collections import create_collection
from tests.analysis.commands.called import answer
from tests.analysis.commands.ranked_files import files
from tests.builders import make_annotator, make_user
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db

LETTERS = "abcdefghijklmnopqrst"
RUNS = {"good": LETTERS, "twin": LETTERS[:15] + LETTERS[:14:-1], "poor": LETTERS[::-1]}
N_TOPICS = 12


def make_collection(settings, tmp_path: Path) -> Collection:
    """Over 12 topics of 20 documents: two runs that are the same but for their tails, and one the
    other way round."""
    settings.MEDIA_ROOT = tmp_path / "files"
    made = create_collection(name="Stopping", user=make_user("owner", may_create=True))
    Topic.objects.bulk_create(
        Topic(collection=made, topic_id=str(t), text=f"query {t}", position=t)
        for t in range(N_TOPICS)
    )
    Document.objects.bulk_create(
        Document(collection=made, docno=d, text=f"text of {d}", n_words=3) for d in LETTERS
    )
    for tag, order in RUNS.items():
        lines = (
            f"{t} Q0 {d} {r} {50 - r} {tag}\n"
            for t in range(N_TOPICS)
            for r, d in enumerate(order, start=1)
        )
        bring_in(made, "run", "".join(lines), name=f"{tag}.run")
    return made


@pytest.fixture
def collection(settings, tmp_path: Path) -> Collection:
    return make_collection(settings, tmp_path)


def make_judged(settings, tmp_path: Path) -> Campaign:
    """Two batches of 80 of 240 pairs are judged: 20 of each were drawn at random."""
    made = make_campaign(
        make_collection(settings, tmp_path), ordering.make_ordered_parameters(batch=80, audit=0.25)
    )
    judge(made)
    next_batch(made)
    judge(made)
    return made


def make_campaign(collection: Collection, parameters: dict) -> Campaign:
    job = do(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=20,
            seed=5,
            making=parameters,
            user=None,
        )
    )
    assert job.state == "done", job.message
    owner = User.objects.get(username="owner")
    made = lifecycle.create_campaign(
        name="C", collection=collection, actor=owner, judgements_per_pair=1, min_relevant=1
    )
    lifecycle.set_pool(made, Pool.objects.get(pk=job.parameters["pool"]))
    lifecycle.open_campaign(made)
    return Campaign.objects.select_related("collection", "pool").get(pk=made.pk)


CHANCE = random.Random(1)
GRADES = {
    (t, d): int((d in "abcde" and CHANCE.random() < 0.9) or CHANCE.random() < 0.1)
    for t in range(N_TOPICS)
    for d in LETTERS
}


def judge(campaign: Campaign, *, most: int | None = None, grade: int | None = None) -> None:
    """Every pair that waits, by one annotator; grade: in place of GRADES."""
    member = campaign.memberships.filter(role="annotator").first() or make_annotator(campaign)
    pairs = list(
        campaign.pairs.filter(counted=0).select_related("entry__topic").order_by("position")[:most]
    )
    Judgement.objects.bulk_create(
        Judgement(
            key=uuid.uuid4(),
            pair=pair,
            membership=member,
            judged_at=timezone.now(),
            grade=GRADES[int(pair.entry.topic.topic_id), pair.entry.docno]
            if grade is None
            else grade,
        )
        for pair in pairs
    )
    Pair.objects.filter(pk__in=[pair.pk for pair in pairs]).update(
        counted=1, open_slots=0, started=True
    )


def look(campaign: Campaign) -> dict:
    job = do(request_interim_check(campaign, user=None))
    assert job.state == "done", job.message
    return job.report


def next_batch(campaign: Campaign) -> None:
    assert do(ordering.request_batch(campaign.pool, user=None)).state == "done"


@pytest.fixture
def ordered(settings, tmp_path: Path) -> Campaign:
    return make_judged(settings, tmp_path)


def test_a_look_at_an_ordered_pool_gives_decisions_and_no_range(ordered):
    found = look(ordered)
    order = {(decision["a"], decision["b"]): decision["order"] for decision in found["decisions"]}
    assert (found["rule"], found["pairs"], found["judged"], found["look"]) == (
        "decisions",
        240,
        160,
        1,
    )
    assert order["good", "poor"] == order["twin", "poor"] == "before"
    assert not any("interval" in decision or "half" in decision for decision in found["decisions"])
    assert found["words"].endswith("Judging the rest would not add topics.") is found["stop"]
    assert Campaign.objects.get().state == "open", "it advises and stops nothing"


def test_audit_pairs_of_the_last_finished_batch_tell_what_is_left(ordered):
    """160 pairs waited when the second batch was planned; the bound holds over ten looks
    together."""
    entries = ordered.pool.entries.filter(stage=2).select_related("topic")
    grades = [(entry.entered, GRADES[int(entry.topic.topic_id), entry.docno]) for entry in entries]
    r, since = sum(g for entered, g in grades if entered == "chance"), sum(g for _, g in grades)
    left = look(ordered)["left"]
    assert (left["batch"], left["estimate"]) == (2, max(160 * r / 20 - since, 0))
    assert left["upper"] == pytest.approx(
        estimate_remaining_relevant(160, r, 20, found_since=since, confidence=0.995).upper
    )
    assert left["found"] == sum(
        GRADES[int(t), d]
        for t, d in ordered.pairs.values_list("entry__topic__topic_id", "entry__docno")
    )
    assert "(95% confidence over 10 interim checks together, Clopper-Pearson)" in left["words"]


def test_a_bound_without_relevant_audit_pairs_is_that_of_arithmetic(collection):
    made = make_campaign(collection, ordering.make_ordered_parameters(batch=80, audit=0.25))
    judge(made)
    next_batch(made)
    audit = made.pairs.filter(entry__stage=2, entry__entered="chance")
    assert audit.count() == 20
    judge(made, grade=0)
    upper = look(made)["left"]["upper"]
    assert upper == pytest.approx(160 * (1 - 0.005 ** (1 / 20))), (
        "none of 20 relevant, none of the batch found"
    )


def test_an_unfinished_batch_tells_nothing_and_what_came_later_is_not_spoken_of(ordered):
    next_batch(ordered)
    judge(ordered, most=5)
    assert look(ordered)["left"]["batch"] == 2, "the third is not judged yet"
    ordered.collection.topics.filter(topic_id="3").update(removed_reason="unclear")
    lifecycle.add_new_pairs(ordered)
    judge(ordered)
    found = look(ordered)
    assert (found["pairs"], found["left"]["batch"]) == (220, 3), "without the topic that is gone"
    ordered.collection.topics.update(removed_reason="")
    ordered.pool.strata.filter(number=3).update(size=50)
    assert (
        "the audit pairs of the next batch will cover them"
        in interim_checks._advise_ordered(
            ordered, interim_checks.make_labels(ordered, _choices()), None
        )["why_not_left"]
    )


def _choices():
    return interim_checks.LabelChoices(min_judgements=1)


def test_looks_are_few(ordered):
    assert get_stopping_advice(ordered).why_not == ""
    look(ordered)
    with pytest.raises(
        Refused, match=r"no pairs have been judged since the last interim check \(160 pairs\)"
    ):
        request_interim_check(ordered, user=None)
    next_batch(ordered)
    judge(ordered, most=10)
    with pytest.raises(
        Refused,
        match="the last interim check was at 160 judged pairs; the next is possible after another tenth of the pool, at 184",
    ):
        request_interim_check(ordered, user=None)
    judge(ordered, most=14)
    first = request_interim_check(ordered, user=None)
    with pytest.raises(Refused, match=r"An interim check is already running\."):
        request_interim_check(ordered, user=None)
    assert do(first).state == "done"
    assert [job.report["look"] for job in list_interim_checks(ordered)] == [1, 2]


def test_no_look_before_there_is_enough(collection):
    made = make_campaign(collection, ordering.make_ordered_parameters(batch=80))
    judge(made)
    with pytest.raises(Refused, match="available from 10 judged pairs per topic"):
        request_interim_check(made, user=None)


def test_while_there_is_not_enough_the_card_is_one_line(collection, client):
    made = make_campaign(collection, ordering.make_ordered_parameters(batch=80))
    judge(made)
    client.force_login(User.objects.get(username="owner"))
    text = client.get(reverse("campaign-systems", args=[made.slug])).content.decode()
    assert "No stopping advice yet: available from 10 judged pairs per topic (6.7 now)." in text
    assert "Can we stop judging?" not in text


def test_a_closed_campaign_without_checks_is_not_asked_whether_judging_can_stop(ordered, client):
    judge(ordered)
    client.force_login(User.objects.get(username="owner"))
    page = reverse("campaign-systems", args=[ordered.slug])
    assert "Can we stop judging?" in client.get(page).content.decode()
    Campaign.objects.update(state=Campaign.State.CLOSED)
    assert "Can we stop judging?" not in client.get(page).content.decode()


def test_a_look_at_a_sampled_pool_is_the_variance_rule_of_its_complete_stages(collection, tmp_path):
    """As the command has it of the files that leave the campaign."""
    made = make_campaign(
        collection, making.make_parameters("sampled", strata="votes", stages=(0.6, 0.9))
    )
    with pytest.raises(Refused, match="the first stage is not complete"):
        request_interim_check(made, user=None)
    first = made.pairs.filter(entry__stage=1).count()
    judge(made, most=first + 3)
    found = look(made)
    assert (found["rule"], found["judged"]) == ("variance", first)
    with (tmp_path / "sample.prel").open("w") as file:
        write_prel(read_campaign_sample(made, _choices()).prel("graded"), file)
    rankings = {
        tag: "".join(
            f"{t} Q0 {d} {r} {50 - r} {tag}\n"
            for t in range(N_TOPICS)
            for r, d in enumerate(RUNS[tag], start=1)
        )
        for tag in RUNS
    }
    by_files = answer(
        "stopping_advice",
        tmp_path / "sample.prel",
        *files(tmp_path, **rankings),
        "--sampled",
        "--seed",
        made.seed,
    )[0]
    for one, same in zip(found["comparisons"], by_files["comparisons"], strict=True):
        assert one == same | {
            name: pytest.approx(same[name]) for name in ("difference", "judging", "topics", "half")
        }
    assert (found["stop"], found["words"]) == (by_files["stop"], by_files["words"])
    assert "left" not in found
    with pytest.raises(Refused, match="no pairs have been judged since the last interim check"):
        request_interim_check(made, user=None)


def test_results_show_the_last_look_and_ask_for_one(ordered, client):
    client.force_login(User.objects.get(username="owner"))
    page = reverse("campaign-systems", args=[ordered.slug])
    assert "An interim check estimates" in client.get(page).content.decode()
    back = client.post(reverse("campaign-stopping", args=[ordered.slug]))
    assert back["Location"] == page
    (job,) = interim_checks.Job.objects.filter(kind=interim_checks.STOPPING_JOB)
    assert do(job).state == "done"
    text = client.get(page).content.decode()
    assert job.report["words"] in text
    assert job.report["left"]["words"].replace("'", "&#x27;") in text
    assert "Not checked: no pairs have been judged" in text


def test_pairs_that_a_file_named_have_no_rule(ordered):
    Pool.objects.update(kind="given")
    assert get_stopping_advice(Campaign.objects.get()) is None


def test_a_pool_of_which_nearly_all_must_be_judged_before_advice_has_no_card(collection, client):
    """12 topics: advice begins at 120 judged pairs, more than nine tenths of 133."""
    made = make_campaign(collection, ordering.make_ordered_parameters(batch=80))
    made.pairs.all().delete()
    client.force_login(User.objects.get(username="owner"))
    page = reverse("campaign-systems", args=[made.slug])
    for kept, shown in ((134, True), (133, False)):
        made.pool.entries.exclude(
            pk__in=list(
                made.pool.entries.order_by("priority", "docno", "pk").values_list("pk", flat=True)[
                    :kept
                ]
            )
        ).delete()
        assert ("No stopping advice yet" in client.get(page).content.decode()) == shown
    with pytest.raises(
        Refused, match=r"the pool has 11\.1 pairs per topic; advice needs 10 judged pairs per topic"
    ):
        request_interim_check(made, user=None)


def test_no_more_than_ten_looks_are_taken(ordered):
    look(ordered)
    (done,) = list_interim_checks(ordered)
    for number in range(2, 11):
        Job.objects.create(
            kind=done.kind,
            state="done",
            campaign_id=ordered.pk,
            collection=ordered.collection,
            report={**done.report, "judged": 100 + number, "look": number},
        )
    assert get_stopping_advice(ordered).n_checks == 10
    with pytest.raises(Refused, match="all 10 interim checks have been made"):
        request_interim_check(ordered, user=None)


def test_advice_stops_nothing(ordered):
    """Whatever it says: the campaign stays open, the next batch is planned, and annotators are
    served."""
    ada = make_annotator(ordered)
    look(ordered)
    (done,) = list_interim_checks(ordered)
    Job.objects.filter(pk=done.pk).update(report={**done.report, "stop": True})
    assert Campaign.objects.get(pk=ordered.pk).state == "open"
    next_batch(ordered)
    assert scheduling.claim_pair(ada) is not None
