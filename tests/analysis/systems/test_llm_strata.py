"""A sampled pool drawn by votes and a frozen LLM judge's grades: the design under which people may be
corrected by that LLM judge (methods/sampling.md)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, LlmJudge
from annotation.selectors.llm_grades import list_frozen_judges
from annotation.selectors.llm_judges import get_pool_entries
from annotation.services.campaigns import lifecycle
from annotation.services.llm_judges import judges
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Job, Pool
from pooling.platform.jobs import Refused
from pooling.services import pools, sampling
from pooling.services.making import make_parameters
from tests.analysis.publishing.test_sampled_campaigns import (
    N_RANKED,
    collection,  # noqa: F401
    grade_of,  # noqa: F401
    judge_stage,
)
from tests.analysis.systems.test_llm_kind import asked
from tests.builders import make_annotator, make_user
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db
RATES = [0.08, 0.20, 0.35, 0.50]
CAMPAIGN, JUDGE = "whole", "model-x"


@pytest.fixture
def owner(collection: Collection) -> User:  # noqa: F811
    return User.objects.get(username="owner")


@pytest.fixture
def whole(collection: Collection, owner: User) -> Campaign:  # noqa: F811
    """A draft on a pool of all pairs, as it is when a LLM labels it."""
    job = do(
        pools.request_pool(collection, runs=list(collection.runs.all()), depth=N_RANKED, user=None)
    )
    campaign = lifecycle.create_campaign(
        name="Whole",
        slug=CAMPAIGN,
        collection=collection,
        actor=owner,
        judgements_per_pair=2,
        min_active_seconds=0,
    )
    lifecycle.set_pool(campaign, Pool.objects.get(pk=job.parameters["pool"]))
    return campaign


def llm_grade(docno: str) -> int:
    """Never 3, so that the scale, not what was said, decides the rates."""
    return (int(docno[-2:]) * 7) % 3


def labelled(campaign: Campaign, *, most: int | None = None, freeze: bool = True) -> LlmJudge:
    pairs = list(get_pool_entries(campaign).values_list("topic__topic_id", "docno"))[:most]
    labels = [FileLabel(topic, docno, llm_grade(docno), "", None, False) for topic, docno in pairs]
    judge = judges.create_judge_from_file(
        campaign, name=JUDGE, model="some", labels=labels, file_name="f.txt", actor=None
    )
    return judges.freeze_judge(judge, actor=None) if freeze else judge


def drawn(collection: Collection, *stages: float, user: Any = None, name: str = "sample") -> Pool:  # noqa: F811
    making = make_parameters(
        PoolKind.SAMPLED,
        strata="llm",
        stages=stages,
        llm_judge=f"{CAMPAIGN}/{JUDGE}",
        collection=collection,
        user=user,
    )
    job = do(
        pools.request_pool(
            collection,
            runs=list(collection.runs.all()),
            depth=N_RANKED,
            seed=5,
            name=name,
            making=making,
            user=user,
        )
    )
    assert job.state == "done", job.message
    return Pool.objects.get(pk=job.parameters["pool"])


def test_strata_are_votes_and_the_llm_judges_grades_and_people_are_shared_out_by_them(
    whole: Campaign,
) -> None:
    """Two runs: a pair is in the first ten of none, of one or of both. The median of the votes is
    0, so that band 1 has none of them."""
    labelled(whole)
    pool = drawn(whole.collection, 0.2)
    first_ten = {
        entry.pk: sum(rank <= 10 for rank in entry.contributions.values()) / 2
        for entry in pool.entries.all()
    }
    strata = {one.number: one for one in pool.strata.all()}
    held = Counter()
    spread: dict[str, float] = Counter()
    for entry in pool.entries.all():
        name = strata[entry.stratum].name
        assert name.endswith(f"-grade{llm_grade(entry.docno)}")
        held[name] += 1
        votes = first_ten[entry.pk]
        spread[name] += math.sqrt(votes * (1 - votes))
        assert (votes == 0) == name.startswith("*votes1-")
    assert {one.name: one.size for one in strata.values()} == held
    weight = {}
    for name in held:
        rate = RATES[int(name[-1])]
        weight[name] = spread[name] * math.sqrt(rate * (1 - rate))
    n = {one.name: one.drawn[0] for one in strata.values()}
    assert all(count >= min(2, held[name]) for name, count in n.items())
    free = [name for name in n if 2 < n[name] < held[name]]
    assert len(free) > 1
    for a, b in combinations(free, 2):
        assert abs((n[a] - 2) * weight[b] - (n[b] - 2) * weight[a]) < weight[a] + weight[b], (
            "in proportion, but for the rounding of either"
        )


def test_a_later_stage_goes_on_in_the_same_strata(whole: Campaign) -> None:
    labelled(whole)
    pool, at_once = drawn(whole.collection, 0.2), drawn(whole.collection, 0.2, 0.5, name="at once")
    assert do(sampling.request_stage(pool, 0.5, user=None)).state == "done"
    assert list(pool.strata.values_list("name", "size", "drawn")) == list(
        at_once.strata.values_list("name", "size", "drawn")
    )


def test_what_makes_it_invalid_is_refused_with_what_is_missing(
    whole: Campaign, owner: User
) -> None:
    making = {"strata": "llm", "stages": (0.2,), "collection": whole.collection}
    with pytest.raises(Refused, match="require an LLM judge, given as CAMPAIGN/JUDGE"):
        make_parameters(PoolKind.SAMPLED, **making)
    with pytest.raises(Refused, match=r"named 'whole/nobody'\. No LLM judge is frozen yet\."):
        make_parameters(PoolKind.SAMPLED, llm_judge="whole/nobody", **making)
    judge = labelled(whole, most=100, freeze=False)
    with pytest.raises(Refused, match="model-x is not frozen"):
        make_parameters(PoolKind.SAMPLED, llm_judge="whole/model-x", **making)
    judges.freeze_judge(judge, actor=None)
    stranger = make_user("stranger")
    assert (
        list_frozen_judges(whole.collection, stranger),
        len(list_frozen_judges(whole.collection, owner)),
    ) == ([], 1)
    with pytest.raises(Refused, match="No LLM judge of this collection is named"):
        make_parameters(PoolKind.SAMPLED, llm_judge="whole/model-x", user=stranger, **making)
    made = make_parameters(PoolKind.SAMPLED, llm_judge="whole/model-x", user=owner, **making)
    job = do(
        pools.request_pool(
            whole.collection,
            runs=list(whole.collection.runs.all()),
            depth=N_RANKED,
            making=made,
            user=owner,
        )
    )
    assert job.state == "failed"
    assert "whole/model-x has no label for" in job.message


def test_a_manager_draws_by_it_on_the_page_and_the_report_corrects_people(
    whole: Campaign, owner: User, client: Client
) -> None:
    labelled(whole)
    client.force_login(owner)
    address = reverse("collection-pool-new", args=[whole.collection.slug])
    runs = [run.pk for run in whole.collection.runs.all()]
    form = {
        "runs": runs,
        "depth": N_RANKED,
        "seed": 5,
        "kind": "sampled",
        "stages": "60",
        "strata": "llm",
        "llm_judge": "whole/model-x",
    }
    assert "model-x (some), of Whole" in client.get(address).content.decode()
    assert client.post(address, form | {"llm_judge": ""}).status_code == 400
    assert client.post(address, form).status_code == 302
    preview = do(Job.objects.get(kind="preview pool"))
    page = client.get(
        reverse("pool-preview", args=[whole.collection.slug, preview.pk])
    ).content.decode()
    assert 'name="llm_judge" value="whole/model-x"' in page
    client.post(address, form | {"action": "build", "name": "by LLM judge"})
    do(Job.objects.get(kind="build pool", label__contains="by LLM judge"))
    pool = Pool.objects.get(name="by LLM judge")
    assert pool.parameters["llm_judge"]["judge"] == "whole/model-x"
    assert (
        "Strata: votes and grades by the LLM judge whole/model-x"
        in client.get(reverse("pool", args=[whole.collection.slug, pool.pk])).content.decode()
    )
    lifecycle.set_pool(whole, pool)
    lifecycle.open_campaign(whole)
    for name in ("ada", "bob"):
        make_annotator(whole, name)
    judge_stage(Campaign.objects.select_related("collection", "pool").get(pk=whole.pk), 1)
    report = asked(Campaign.objects.get(pk=whole.pk))
    corrected = (report.result or {})["model-x"]["systems"]["P@10"]["corrected"]
    assert set(corrected) == {"A", "B"}
    assert abs(corrected["A"][0] - 0.4) < 0.2, "four of the first ten are relevant, by grade_of"
