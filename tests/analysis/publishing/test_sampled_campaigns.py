"""A campaign on a sampled pool: what leaves it is enough to compute every estimate again, and
numbers that need the whole pool are refused."""

from __future__ import annotations

import io
import math
import statistics
import zipfile
from collections import Counter, defaultdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from analysis.judgements.campaign_sample import (
    NotEstimable,
    describe_stages,
    read_campaign_sample,
    read_stage_progress,
)
from analysis.judgements.labels import LabelChoices
from analysis.publishing.exports import EXPORTS, ExportOptions, available_exports, prepare_export
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from annotation.services.campaigns import lifecycle
from pooling.models import Collection, Document, Pool
from pooling.platform.jobs import Refused
from pooling.services import pools, sampling
from pooling.services.collections import create_collection
from tests.analysis.commands.judged_file import refused, run
from tests.builders import lease_of, make_annotator, make_user, submit
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db

TOPICS, N_RANKED = ("1", "2", "3"), 40


def ranked(tag: str) -> dict[str, list[str]]:
    """A and B have thirty documents in common, in different places."""
    first, step = (0, 1) if tag == "A" else (10, 7)
    return {
        topic: [f"d{topic}-{first + (step * rank) % N_RANKED:02d}" for rank in range(N_RANKED)]
        for topic in TOPICS
    }


def grade_of(document: str) -> int:
    """Every third document is relevant, every ninth highly."""
    number = int(document[-2:])
    return 3 if number % 9 == 0 else 2 if number % 3 == 0 else 0


def make_collection_with_runs() -> Collection:
    """Three topics, fifty documents each, the runs A and B."""
    made = create_collection(name="Sampled", user=make_user("owner", may_create=True))
    bring_in(
        made, "topics", "".join(f"{topic}\tquery {topic}\n" for topic in TOPICS), name="topics.tsv"
    )
    ids = [f"d{topic}-{number:02d}" for topic in TOPICS for number in range(50)]
    Document.objects.bulk_create(
        Document(collection=made, docno=docno, text=f"text of {docno}", n_words=3) for docno in ids
    )
    for tag in "AB":
        lines = (
            f"{topic} Q0 {d} {rank} {1000 - rank} {tag}\n"
            for topic, docs in ranked(tag).items()
            for rank, d in enumerate(docs, start=1)
        )
        bring_in(made, "run", "".join(lines), name=f"{tag}.run")
    return made


@pytest.fixture
def collection(settings, tmp_path: Path) -> Collection:
    settings.MEDIA_ROOT = tmp_path / "files"
    return make_collection_with_runs()


def make_sampled(collection: Collection, strata: str = "rank") -> Campaign:
    """Open, two judgements a pair, stages of 30 and 60 %."""
    making = sampling.make_sampled_parameters(strata, (0.3, 0.6))
    job = do(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=N_RANKED,
            seed=5,
            making=making,
            user=None,
        )
    )
    assert job.state == "done", job.message
    owner = User.objects.get(username="owner")
    campaign = lifecycle.create_campaign(
        name="C",
        collection=collection,
        actor=owner,
        judgements_per_pair=2,
        min_active_seconds=0,
        target_per_annotator=0,
    )
    lifecycle.set_pool(campaign, Pool.objects.get(pk=job.parameters["pool"]))
    lifecycle.open_campaign(campaign)
    for name in ("ada", "bob"):
        make_annotator(campaign, name)
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def judge_stage(
    campaign: Campaign, stage: int, *, most: int | None = None, cannot: int = 0
) -> None:
    """Everybody judges the pairs of a stage as `grade_of` has it; `cannot`: of so many they say
    that they cannot be judged."""
    members = list(campaign.memberships.filter(role="annotator").select_related("campaign", "user"))
    for number, pair in enumerate(
        campaign.pairs.filter(entry__stage=stage)
        .select_related("entry")
        .order_by("position")[:most]
    ):
        grade = None if number < cannot else grade_of(pair.entry.docno)
        for member in members:
            now = pair.entry.pool.created_at + timedelta(minutes=number + 1)
            why = {"cannot_reason": "document"} if grade is None else {}
            submit(
                member,
                lease_of(member, pair, now=now),
                grade,
                now=now + timedelta(seconds=20),
                **why,
            )


@pytest.fixture
def campaign(collection) -> Campaign:
    """The first stage is complete, of the second five pairs are judged."""
    made = make_sampled(collection)
    judge_stage(made, 1)
    judge_stage(made, 2, most=5)
    return made


MEASURES = "HT-P@10 HT-DCG@10 HT-nDCG@10 HT-AP xinfAP"


def exported(campaign: Campaign, name: str) -> str:
    return prepare_export(EXPORTS[name], campaign, ExportOptions()).read().decode()


def recomputed(prels: str, ranking: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """MEASURES of each topic, from the five columns and the run alone, in plain Python (SAMPLING
    3.2)."""
    pool: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    size: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for line in prels.splitlines():
        topic, _, document, stratum, grade = line.split()
        key = stratum if stratum.startswith("*") else f"{topic}/{stratum}"
        pool[topic][document] = (key, int(grade))
        size[key] += 1
        judged[key] += int(grade) >= 0
    found: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES.split()}
    for topic, pairs in pool.items():
        weight = {d: size[h] / judged[h] for d, (h, g) in pairs.items() if g >= 0}
        n_of = Counter()
        for document, one in weight.items():
            n_of[pairs[document][1]] += one
        gain = precision = average = expanded = 0.0
        relevant_above: list[str] = []
        above: dict[str, list[float]] = defaultdict(
            lambda: [0.0, 0.0, 0.0]
        )  # of each stratum: pooled, judged, relevant
        for rank, document in enumerate(ranking[topic], start=1):
            if document not in pairs:
                continue
            stratum, grade = pairs[document]
            if grade >= 1:
                if rank <= 10:
                    precision += weight[document] / 10
                    gain += grade * weight[document] / math.log2(rank + 1)
                expected = sum(m * (rel + 1e-5) / (jud + 3e-5) for m, jud, rel in above.values())
                average += weight[document] * (1 + expected) / rank
                together = sum(
                    1 / weight[document] / both_drawn(stratum, pairs[other][0], judged, size)
                    for other in relevant_above
                )
                expanded += weight[document] * (1 + together) / rank
                relevant_above.append(document)
            counts = above[stratum]
            counts[0], counts[1], counts[2] = (
                counts[0] + 1,
                counts[1] + (grade >= 0),
                counts[2] + (grade >= 1),
            )
        relevant = sum(n for grade, n in n_of.items() if grade >= 1)
        found["HT-P@10"][topic] = precision
        found["HT-DCG@10"][topic] = gain
        found["HT-nDCG@10"][topic] = gain / ideal(n_of, 10)
        found["HT-AP"][topic] = expanded / relevant
        found["xinfAP"][topic] = average / relevant
    return found


def both_drawn(one: str, other: str, n: Counter[str], size: Counter[str]) -> float:
    """The chance of two pairs of these strata."""
    if one != other:
        return n[one] / size[one] * n[other] / size[other]
    return n[one] * (n[one] - 1) / (size[one] * (size[one] - 1))


def ideal(n_of: Counter[int], places: int) -> float:
    """The first places filled with the estimated numbers, best grade first, fractions of a place
    allowed."""
    total, left, place = 0.0, 1.0, 1
    for grade in sorted((grade for grade in n_of if grade > 0), reverse=True):
        n = n_of[grade]
        while n > 1e-15 and place <= places:
            part = min(n, left)
            total += part * grade / math.log2(place + 1)
            n, left = n - part, left - part
            if left <= 1e-15:
                place, left = place + 1, 1.0
    return total


@pytest.mark.parametrize("strata", ["rank", "votes"])
def test_what_is_exported_gives_every_estimate_again(collection, strata):
    campaign = make_sampled(collection, strata)
    judge_stage(campaign, 1)
    answer = run("evaluate", "--campaign", campaign.slug, "--measures", MEASURES, "--per-topic")
    prels = exported(campaign, "prels")
    for tag in "AB":
        by_hand = recomputed(prels, ranked(tag))
        for measure, topics in answer["per_topic"][campaign.slug][tag].items():
            assert topics == pytest.approx(by_hand[measure], abs=1e-12, rel=0), (tag, measure)
        values = list(by_hand["HT-nDCG@10"].values())
        half = (
            math.sqrt(2 / (0.05 * 1.95) - 2) * statistics.stdev(values) / math.sqrt(3)
        )  # t of 2 degrees of freedom has a closed form
        interval = answer["interval"][campaign.slug][tag]["HT-nDCG@10"]
        assert interval == pytest.approx(
            [max(statistics.mean(values) - half, 0), min(statistics.mean(values) + half, 1)],
            abs=1e-12,
        )


def test_the_table_gives_the_same_chances(campaign):
    rows = [line.split("\t") for line in exported(campaign, "sample").splitlines()]
    assert rows[0] == [
        "topic",
        "document",
        "stratum",
        "pairs",
        "drawn",
        "probability",
        "place",
        "stage",
        "entered",
        "best_rank",
        "grade",
    ]
    for stratum in {row[2] for row in rows[1:]}:
        own = [row for row in rows[1:] if row[2] == stratum]
        assert {row[3] for row in own} == {str(len(own))}
        drawn = [row for row in own if row[7] == "1"]
        assert {row[4] for row in own} == {str(len(drawn))}
        assert {float(row[5]) for row in own} == {len(drawn) / len(own)}
        assert sorted(int(row[6]) for row in drawn) == list(range(1, len(drawn) + 1))


def test_only_a_campaign_on_a_sampled_pool_offers_its_files(campaign):
    new = {"prels", "prels-binary", "sample"}
    assert new <= set(available_exports(campaign))
    Pool.objects.filter(pk=campaign.pool_id).update(kind="depth")
    assert not new & set(available_exports(Campaign.objects.get(pk=campaign.pk)))


def test_judgements_of_a_stage_count_from_its_end_on(campaign):
    """Else the first pairs of the second stage, which are of one topic, would shift the chances."""
    assert read_stage_progress(campaign)[:2] == (1, 2)
    found = read_campaign_sample(campaign, LabelChoices())
    first = campaign.pool.entries.filter(stage=1).count()
    assert (found.stage, found.n_judged, found.n_drawn) == (1, first, first)
    assert exported(campaign, "qrels").count("\n") == first + 5, "qrels have every label"
    assert (
        sum(not line.endswith(" -1") for line in exported(campaign, "prels").splitlines()) == first
    )
    judge_stage(campaign, 2)
    assert read_campaign_sample(campaign, LabelChoices()).n_judged == campaign.n_pairs
    assert describe_stages(campaign) == "All 2 stages drawn so far are complete."


def test_before_the_first_stage_is_complete_nothing_is_estimated(collection):
    campaign = make_sampled(collection)
    judge_stage(campaign, 1, most=3)
    with pytest.raises(NotEstimable, match="pairs of the first stage of c wait for judgements"):
        read_campaign_sample(campaign, LabelChoices())
    status, _, said = refused("evaluate", "--campaign", campaign.slug)
    assert (status, "Estimates begin when the first stage is complete" in said) == (2, True)


def test_where_too_many_pairs_cannot_be_judged_there_is_no_interval(collection):
    campaign = make_sampled(collection)
    judge_stage(campaign, 1, cannot=4)
    found = read_campaign_sample(campaign, LabelChoices())
    assert found.n_drawn - found.n_judged == 4
    reason = f"4 of {found.n_drawn} drawn pairs have no grade; more than 2% cannot be treated as missing at random"
    assert set(
        run("evaluate", "--campaign", campaign.slug)["undefined"][campaign.slug].values()
    ) == {reason}


def test_numbers_that_need_the_whole_pool_are_refused_with_the_reason(campaign):
    for command, *more in (
        ("evaluate", "--measures", "nDCG@10"),
        ("compare_rankings",),
        ("bootstrap",),
        ("leaderboard",),
    ):
        status, _, said = refused(command, "--campaign", campaign.slug, *more)
        assert status == 2, command
        assert "unsampled pairs as not relevant" in said, command


def test_reports_estimate_or_refuse(campaign):
    runs = [row.pk for row in campaign.collection.runs.order_by("tag")]
    chosen = {"runs": runs, "qrels": ["campaign:graded:majority"], "options": {}}
    with pytest.raises(Refused, match="is sampled, and this measure would treat"):
        reports.request_report(
            KINDS["bootstrap"],
            collection=campaign.collection,
            campaign=campaign,
            parameters=chosen,
            seed=0,
            user=None,
        )
    report = reports.request_report(
        KINDS["evaluate"],
        collection=campaign.collection,
        campaign=campaign,
        parameters=chosen,
        seed=0,
        user=None,
    )
    assert do(report.job).state == "done", report.job.message
    report.refresh_from_db()
    answer = run("evaluate", "--campaign", campaign.slug)
    (means,), (expected,) = report.result["qrels"].values(), answer["qrels"].values()
    assert means == expected
    assert list(expected["A"]) == ["HT-nDCG@10", "HT-P@10", "xinfAP"]
    titles = [table.title for table in KINDS["evaluate"].tables(report.result)]
    assert titles == ["Estimates under c-graded", "Sample"]
    assert [cells[0] for cells in report.result["these_topics"]["c-graded"].items()] == ["A", "B"]
    assert KINDS["evaluate"].pictures(report.result)


def test_a_release_carries_the_draw_and_comes_back_with_it(campaign, tmp_path):
    lifecycle.close_campaign(campaign)
    out = io.BytesIO()
    write_release(
        Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk),
        ReleasePlan("first", LabelChoices()),
        out,
    )
    path = tmp_path / "release.zip"
    path.write_bytes(out.getvalue())
    with zipfile.ZipFile(path) as archive:
        names = [
            name for name in archive.namelist() if name in archive.read("datasheet.md").decode()
        ]
        assert {"prels.txt", "strata.tsv", "draw.tsv"} <= set(names)
        assert archive.read("prels.txt").decode() == exported(campaign, "prels")
    copy = import_release(path, name="release.zip", user=None)
    columns = ("topic__topic_id", "docno", "stratum", "place", "stage", "entered", "priority")
    assert list(copy.pool.entries.values_list(*columns)) == list(
        campaign.pool.entries.values_list(*columns)
    )
    assert list(copy.pool.strata.values_list("number", "name", "size", "drawn")) == list(
        campaign.pool.strata.values_list("number", "name", "size", "drawn")
    )
    assert (copy.pool.kind, copy.pool.parameters) == (
        "sampled",
        {"strata": "rank", "stages": [0.3, 0.6]},
    )
    assert exported(copy, "prels") == exported(campaign, "prels")
    assert copy.n_pairs == campaign.n_pairs


def test_advice_about_stopping_knows_that_the_pool_is_sampled(campaign):
    """Three topics are too few for advice; what it would be about is the first stage, which is
    wholly judged."""
    found = run("stopping_advice", "--campaign", campaign.slug)
    n_pairs, n_first = campaign.pool.entries.count(), campaign.pairs.filter(entry__stage=1).count()
    assert (found["rule"], found["pairs"], found["judged"], found["stop"]) == (
        "variance",
        n_pairs,
        n_first,
        False,
    )
    assert found["undefined"]["comparisons"] == "3 topics; advice needs at least 10"
