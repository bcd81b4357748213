"""Qualification pairs are no holes in what is published: their known grade is their label,
marked."""

from __future__ import annotations

import io

import pytest

from analysis.judgements.labels import LabelChoices, make_labels
from analysis.publishing import exports
from annotation.services.campaigns import lifecycle
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


def test_the_known_grade_of_a_qualification_pair_is_published_and_marked():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2)
    first = campaign.pairs.select_related("entry__topic").order_by("position").first()
    lifecycle.set_pair_kind(first, "qualification", gold_grade=3)
    for member in (make_annotator(campaign), make_annotator(campaign)):
        for _ in range(2):
            judge(member, 1)
    topic, document = first.entry.topic.topic_id, first.entry.docno
    found = make_labels(campaign, LabelChoices())
    rows = {
        (row.topic, row.document): (row.grade, row.binary, row.decision, row.judgements)
        for row in found.rows
    }
    assert rows[topic, document] == (3, 1, "known_grade", 0)
    assert (len(found.rows), found.n_known, found.n_adjudicated) == (3, 1, 0)
    out = io.StringIO()
    exports._qrels_writer("graded")(campaign, exports.ExportOptions(), out)
    assert f"{topic} 0 {document} 3\n" in out.getvalue()
    assert len([line for line in out.getvalue().splitlines() if not line.startswith("#")]) == 3


def test_it_goes_with_the_gold_pairs_where_these_are_left_out():
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2)
    lifecycle.set_pair_kind(campaign.pairs.first(), "qualification", gold_grade=3)
    assert make_labels(campaign, LabelChoices(with_gold=False)).rows == []
    assert make_labels(campaign, LabelChoices()).n_known == 1
