"""Home on the first start, and the usual one that follows."""

from __future__ import annotations

import pytest

from annotation.demo import creation, example
from annotation.models import Campaign
from assay.labels.annotator_types import AnnotatorType
from pooling.models import Job
from tests.analysis.dashboard.test_pages import client_of, manager_of, text_of
from tests.builders import judge, make_annotator, make_campaign, make_manager, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]
START = "Where do you want to start?"


@pytest.fixture
def demo() -> Campaign:
    """The example, closed, and a campaign to try judging, both empty."""
    to_judge = make_campaign(slug="try-judging")
    finished = make_campaign(
        slug=example.SLUG,
        name="Example: finished campaign",
        collection=to_judge.collection,
        manager=to_judge.created_by,
        state="closed",
    )
    Campaign.objects.filter(pk=finished.pk).update(annotator_type=AnnotatorType.SIMULATED)
    finished.refresh_from_db()
    return finished


def test_the_first_start_offers_the_example_judging_and_the_users_files(demo):
    page = manager_of(demo).get("/")
    assert START in text_of(page)
    body = page.content.decode()
    for address in (f"/campaigns/{example.SLUG}/", "/judge/try-judging/try", "/collections/new"):
        assert f'href="{address}"' in body
    assert 'id="filling"' not in body
    assert "Needs you" not in text_of(page)


def test_who_may_not_create_is_not_offered_to_upload_files(demo):
    demo.created_by.profile.may_create = False
    demo.created_by.profile.save()
    body = manager_of(demo).get("/").content.decode()
    assert "/judge/try-judging/try" in body
    assert "/collections/new" not in body


def test_home_shows_the_progress_of_the_job_that_fills_the_example(demo):
    job = Job.objects.create(
        kind=example.FILL_JOB, campaign_id=demo.pk, state="running", progress=1860
    )
    page = manager_of(demo).get("/")
    assert "The example is being prepared… 1,860 judgements so far." in " ".join(
        text_of(page).split()
    )
    assert 'id="filling"' in page.content.decode()
    job.state = "done"
    job.save()
    assert 'id="filling"' not in manager_of(demo).get("/").content.decode()


def test_home_says_that_the_demo_is_being_created_until_its_job_ends(db):
    manager = make_user(may_create=True)
    job = Job.objects.create(kind=creation.CREATE_JOB, created_by=manager, state="running")
    client = client_of(manager)
    page = client.get("/")
    assert "The demo campaigns are being created… They appear here in about a minute." in " ".join(
        text_of(page).split()
    )
    assert 'hx-trigger="every 2s"' in page.content.decode()
    assert 'href="/collections/new"' in page.content.decode()
    assert "being created" not in text_of(client_of(make_user()).get("/"))
    job.state = "failed"
    job.save()
    assert "being created" not in text_of(client.get("/"))


def test_a_campaign_of_ones_own_brings_the_usual_home_which_lists_the_example_last(demo):
    own = make_campaign(manager=demo.created_by, name="Council services", judgements_per_pair=1)
    judge(make_annotator(own), 1)
    text = text_of(manager_of(demo).get("/"))
    assert START not in text
    assert (
        text.index("Needs you")
        < text.index("Council services")
        < text.index("Example: finished campaign")
    )


def test_the_example_adds_nothing_to_the_to_do_list(demo):
    """Two annotators disagree on a pair: in a campaign of one's own, a manager has to decide."""
    own = make_campaign(manager=demo.created_by, n_topics=1, n_documents=1, judgements_per_pair=2)
    for campaign in (own, demo):
        Campaign.objects.filter(pk=campaign.pk).update(state="open")
        campaign.refresh_from_db()
    demo.pairs.exclude(pk=demo.pairs.first().pk).delete()
    for campaign in (own, demo):
        judge(make_annotator(campaign), 0)
        judge(make_annotator(campaign), 3)
    text = text_of(manager_of(demo).get("/"))
    to_do = text[text.index("Needs you") : text.index("All campaigns")]
    assert own.name in to_do
    assert demo.name not in to_do


def test_without_the_demo_home_is_the_usual_one():
    assert START not in text_of(manager_of(make_campaign()).get("/"))
    assert START not in text_of(client_of(make_user(may_create=True)).get("/"))


EMPTY_PAGES = ("", "people/", "questions/", "judgements/", "agreement/", "systems/", "export/")


@pytest.mark.parametrize("page", EMPTY_PAGES)
def test_a_page_without_judgements_leads_to_the_same_page_of_the_example(demo, page):
    client, link = manager_of(demo), f'href="/campaigns/{example.SLUG}/{page}"'
    assert link in client.get(f"/campaigns/try-judging/{page}").content.decode()
    own = client.get(f"/campaigns/{example.SLUG}/{page}").content.decode()
    assert "See this page in the example" not in own


def test_a_page_with_judgements_or_for_another_manager_does_not_name_the_example(demo):
    to_judge = Campaign.objects.get(slug="try-judging")
    other = make_manager(to_judge).user
    hidden = client_of(other).get("/campaigns/try-judging/people/")
    assert "See this page in the example" not in text_of(hidden)
    judge(make_annotator(to_judge), 1)
    judged = manager_of(demo).get("/campaigns/try-judging/people/")
    assert "See this page in the example" not in text_of(judged)


def test_pages_that_the_example_does_not_fill_do_not_lead_to_it(demo):
    for page in ("gold/", "feedback/", "settings/"):
        answer = manager_of(demo).get(f"/campaigns/try-judging/{page}", follow=True)
        assert answer.status_code == 200
        assert "See this page in the example" not in text_of(answer)
