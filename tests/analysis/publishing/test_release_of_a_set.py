"""A campaign over the pairs of an imported set, which no run named, leaves as a release and comes
back."""

from __future__ import annotations

from analysis.judgements.labels import LabelChoices
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling
from annotation.services.people import accounts
from pooling.services.collections import create_collection
from tests.analysis.publishing.test_releases import built
from tests.builders import make_user, submit
from tests.pooling.conftest import bring_in
from tests.pooling.services.test_sets import FIRA, fetch, zipped


def test_pairs_without_runs_and_pairs_for_everyone_survive_a_release(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    manager = make_user("manager", may_create=True)
    collection = create_collection(name="Trip", user=manager)
    assert bring_in(collection, "set", zipped(FIRA), name="trip.zip").state == "done"
    fetch(collection)
    campaign = lifecycle.create_campaign(
        name="Trip", collection=collection, actor=manager, judgements_per_pair=1
    )
    lifecycle.set_pool(campaign, collection.pools.get())
    lifecycle.save_guideline(campaign, "Judge.")
    lifecycle.open_campaign(campaign)
    for name in ("ann", "bob"):
        seat = accounts.add_member(campaign=campaign, user=make_user(name), role="annotator")
        while (lease := scheduling.claim_pair(seat)) is not None:
            submit(seat, lease, 1)
    lifecycle.close_campaign(campaign)
    path = tmp_path / "release.zip"
    path.write_bytes(built(campaign, ReleasePlan("all", LabelChoices(min_judgements=1))))
    again = import_release(path, name="release.zip", user=manager)
    columns = ("entry__topic__topic_id", "entry__docno", "kind", "counted")
    rows = sorted(again.pairs.values_list(*columns))
    assert rows == sorted(campaign.pairs.values_list(*columns))
    assert ("2", "b", "everyone", 2) in rows
    assert again.pool.runs.count() == 0
