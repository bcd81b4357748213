"""Things of another's campaign, named in one's own forms and requests: refused with a reason, and
nothing is changed."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from analysis.judgements.labels import LabelChoices
from analysis.models import Release, Report
from analysis.publishing import recipes
from analysis.publishing.release.parts import ReleasePlan
from pooling.models import Job, Pool
from tests.builders import judge, make_annotator, make_campaign, make_pool, make_user
from tests.pooling.conftest import RUN_A, bring_in

pytestmark = pytest.mark.django_db
RUN = RUN_A.replace("051", "t1").replace("7 Q0", "t1 Q0")


class Side:
    """A manager with a campaign, and everything that could be named."""

    def __init__(self, name: str, state: str) -> None:
        self.manager = make_user(name, may_create=True)
        self.campaign = make_campaign(
            manager=self.manager,
            n_topics=1,
            n_documents=3,
            judgements_per_pair=1,
            state=state,
            name=name,
        )
        self.collection = self.campaign.collection
        if state == "open":
            judge(make_annotator(self.campaign, f"annotator of {name}"), 1)
        self.pool = make_pool(self.collection)
        bring_in(self.collection, "run", RUN.replace(" A\n", f" {name}\n"), user=self.manager)
        bring_in(self.collection, "qrels", "t1 0 d1 1\n", user=self.manager)
        self.waiting = bring_in(
            self.collection, "run", f"t1 Q0 d1 1 9 waits{name}\n", user=self.manager, mode="inspect"
        )
        self.recipe = recipes.save_recipe(
            self.campaign, ReleasePlan(f"of {name}", LabelChoices()), user=self.manager
        )
        self.client = Client()
        self.client.force_login(self.manager)


@pytest.fixture
def sides(settings, tmp_path) -> tuple[Side, Side]:
    settings.MEDIA_ROOT = tmp_path / "files"
    return Side("mine", "draft"), Side("theirs", "open")


def text(answer) -> str:
    return answer.content.decode()


def test_a_pool_of_another_is_no_choice_for_ones_own_campaign(sides):
    mine, theirs = sides
    before = mine.campaign.pool_id
    answer = mine.client.post(
        reverse("campaign-step", args=[mine.campaign.slug, "pool"]), {"pool": theirs.pool.pk}
    )
    assert (answer.status_code, "Select a valid choice" in text(answer)) == (400, True)
    mine.campaign.refresh_from_db()
    assert mine.campaign.pool_id == before


def test_a_recipe_of_another_is_neither_compared_built_nor_deleted(sides):
    mine, theirs = sides
    slug = mine.campaign.slug
    address = reverse("campaign-recipe-difference", args=[slug])
    answer = mine.client.get(
        address, {"first": mine.recipe.pk, "second": theirs.recipe.pk}, follow=True
    )
    assert "Choose two different recipes" in text(answer)
    assert "of theirs" not in text(answer)
    for action in ("build", "delete"):
        assert (
            mine.client.post(
                reverse("campaign-recipe", args=[slug, theirs.recipe.pk]), {"action": action}
            ).status_code
            == 404
        )
    assert (
        mine.client.post(reverse("api-recipe-build", args=[slug, theirs.recipe.pk])).status_code
        == 404
    )
    assert (
        theirs.campaign.recipes.count(),
        Release.objects.count(),
        Job.objects.filter(kind=recipes.BUILD_JOB).count(),
    ) == (1, 0, 0)


@pytest.mark.parametrize("what", ["runs", "qrels"])
def test_runs_and_qrels_of_another_are_in_no_report(sides, what):
    mine, theirs = sides
    asked = {
        "kind": "evaluate",
        "collection": mine.collection.slug,
        "runs": [mine.collection.runs.get().pk],
        "options": {"measure": "AP"},
    }
    asked["qrels"] = [f"imported:{(theirs if what == 'qrels' else mine).collection.qrels.get().pk}"]
    if what == "runs":
        asked["runs"] = [theirs.collection.runs.get().pk]
    answer = mine.client.post(reverse("api-reports"), asked, content_type="application/json")
    assert answer.status_code in (400, 409), text(answer)
    assert answer.json()["detail"]
    page = reverse("collection-report-new", args=[mine.collection.slug, "evaluate"])
    answer = mine.client.post(
        page, {"runs": asked["runs"], "qrels": asked["qrels"], "measure": "AP"}
    )
    assert (answer.status_code, "Select a valid choice" in text(answer)) == (400, True)
    assert Report.objects.count() == 0


def test_runs_of_another_are_in_no_pool(sides):
    mine, theirs = sides
    n_before = Pool.objects.count()
    made = mine.client.post(
        reverse("api-pools", args=[mine.collection.slug]),
        {"depth": 1, "runs": ["theirs"]},
        content_type="application/json",
    )
    assert (made.status_code in (400, 409), "theirs" in made.json()["detail"]) == (True, True)
    page = reverse("collection-pool-new", args=[mine.collection.slug])
    answer = mine.client.post(
        page, {"name": "p", "depth": 1, "runs": [theirs.collection.runs.get().pk]}
    )
    assert (answer.status_code, "Select a valid choice" in text(answer)) == (400, True)
    assert (Pool.objects.count(), Job.objects.filter(kind="build pool").count()) == (n_before, 0)


def test_a_topic_of_another_is_neither_removed_nor_kept(sides):
    mine, theirs = sides
    topic = theirs.collection.topics.get()
    type(topic).objects.filter(pk=topic.pk).update(topic_id="only-theirs")
    answer = mine.client.post(
        reverse("api-topics-decisions", args=[mine.collection.slug]),
        {"remove": ["only-theirs"]},
        content_type="application/json",
    )
    assert (
        answer.status_code,
        "1 topic is not in the collection: only-theirs" in answer.json()["detail"],
    ) == (409, True)
    mine.client.post(
        reverse("collection-topics-change", args=[mine.collection.slug]),
        {"action": "remove", "topic": topic.pk},
    )
    topic.refresh_from_db()
    assert (topic.removed_reason, topic.decided_at) == ("", None)


@pytest.mark.parametrize("what", ["runs", "qrels"])
def test_runs_and_qrels_of_another_are_in_no_study(sides, what):
    mine, theirs = sides
    of = {name: theirs if name == what else mine for name in ("runs", "qrels")}
    asked = {
        "name": "comparison",
        "collection": mine.collection.slug,
        "options": {"measures": "RR"},
    }
    asked |= {
        "runs": [of["runs"].collection.runs.get().pk],
        "qrels": [f"imported:{of['qrels'].collection.qrels.get().pk}"],
    }
    answer = mine.client.post(reverse("api-studies"), asked, content_type="application/json")
    assert (answer.status_code in (400, 409), bool(answer.json()["detail"])) == (True, True), text(
        answer
    )
    assert Report.objects.count() == 0


def test_files_that_wait_at_another_are_neither_imported_nor_discarded(sides):
    mine, theirs = sides
    upload = theirs.collection.uploads.get().pk
    for slug in (mine.collection.slug, theirs.collection.slug):
        assert mine.client.post(reverse("api-upload", args=[slug, upload])).status_code == 404
        assert mine.client.delete(reverse("api-upload", args=[slug, upload])).status_code == 404
        assert (
            mine.client.post(
                reverse("upload-decide", args=[slug, upload]), {"decision": "discard"}
            ).status_code
            == 404
        )
    assert theirs.collection.uploads.count() == 1


def test_a_link_of_another_campaign_makes_nobody_a_member_of_ones_own(sides):
    from annotation.services.people.accounts import create_invitation

    _, theirs = sides
    invitation = create_invitation(campaign=theirs.campaign, actor=theirs.manager)
    guest = Client()
    guest.force_login(make_user("guest"))
    guest.post(reverse("join", args=[invitation.token]))
    assert guest.get(reverse("judge", args=[theirs.campaign.slug])).status_code == 200
    assert guest.get(reverse("judge", args=[sides[0].campaign.slug])).status_code == 404
