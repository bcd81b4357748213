"""The few pairs that are gold, qualification or ruled by a manager are found by an index, not by
reading all pairs."""

from __future__ import annotations

import pytest
from django.db import connection

from annotation.models import Pair
from annotation.selectors.pairs import get_ruled_pairs, get_special_pairs
from tests.builders import make_campaign

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="plans of so small a table tell nothing on PostgreSQL"
)
def test_special_and_ruled_pairs_are_found_by_their_indexes():
    campaign = make_campaign()
    assert "special_pairs" in get_special_pairs(campaign, Pair.Kind.QUALIFICATION).explain()
    assert (
        "special_pairs" in get_special_pairs(campaign, Pair.Kind.GOLD, Pair.Kind.EVERYONE).explain()
    )
    assert "ruled_pairs" in get_ruled_pairs(campaign).explain()


def test_special_and_ruled_pairs_are_those_and_no_others():
    campaign = make_campaign()
    gold, test, ruled, *others = Pair.objects.filter(campaign=campaign).order_by("pk")
    assert others
    Pair.objects.filter(pk=gold.pk).update(kind=Pair.Kind.GOLD, gold_grade=1)
    Pair.objects.filter(pk=test.pk).update(
        kind=Pair.Kind.QUALIFICATION, gold_grade=1, adjudicated_grade=1
    )
    Pair.objects.filter(pk=ruled.pk).update(adjudicated_grade=0)
    assert list(get_special_pairs(campaign, Pair.Kind.GOLD)) == [gold]
    assert list(get_special_pairs(campaign, Pair.Kind.QUALIFICATION)) == [test]
    assert set(get_special_pairs(campaign, Pair.Kind.GOLD, Pair.Kind.QUALIFICATION)) == {gold, test}
    assert list(get_ruled_pairs(campaign)) == [ruled]
