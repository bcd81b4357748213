"""Who may: strangers, annotators, managers, superusers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotation import permissions
from annotation.models import Membership
from annotation.services.people.tokens import create_api_token, get_token, sufficient_scopes
from pooling.models import Job
from pooling.permissions import visible_collections, visible_jobs
from tests.builders import make_annotator, make_campaign, make_collection, make_user

pytestmark = pytest.mark.django_db


def test_only_members_know_that_a_campaign_exists():
    campaign = make_campaign()
    for stranger in (make_user(), AnonymousUser()):
        for ask in (
            permissions.get_membership,
            permissions.get_annotator,
            permissions.get_managed_campaign,
        ):
            with pytest.raises(Http404):
                ask(stranger, campaign.slug)
    with pytest.raises(Http404):
        permissions.get_managed_campaign(make_user(superuser=True), "no-such-campaign")


def test_an_annotator_judges_and_does_not_manage():
    campaign = make_campaign()
    ada = make_annotator(campaign)
    assert permissions.get_membership(ada.user, campaign.slug) == ada
    assert permissions.get_annotator(ada.user, campaign.slug) == ada
    with pytest.raises(PermissionDenied):
        permissions.get_managed_campaign(ada.user, campaign.slug)


def test_a_manager_manages_and_does_not_judge():
    campaign = make_campaign()
    assert permissions.get_managed_campaign(campaign.created_by, campaign.slug) == campaign
    with pytest.raises(PermissionDenied):
        permissions.get_annotator(campaign.created_by, campaign.slug)


def test_the_manager_of_one_campaign_is_a_stranger_to_another():
    with pytest.raises(Http404):
        permissions.get_managed_campaign(make_campaign().created_by, make_campaign().slug)


def test_a_superuser_manages_every_campaign():
    campaign = make_campaign()
    assert permissions.get_managed_campaign(make_user(superuser=True), campaign.slug) == campaign


def test_who_may_make_campaigns_says_the_profile():
    assert permissions.can_create(make_user(may_create=True))
    assert permissions.can_create(make_user(superuser=True))
    assert not permissions.can_create(make_user())
    assert not permissions.can_create(AnonymousUser())


def test_staff_see_only_the_collections_that_they_manage():
    """Staff may enter the administration; only superusers may see everything."""
    staff = make_user("staff")
    staff.is_staff = True
    staff.save()
    other, own = make_collection(slug="other"), make_collection(slug="own", manager=staff)
    assert list(visible_collections(staff)) == [own]
    assert set(visible_collections(make_user("root", superuser=True))) == {other, own}


def test_only_managed_campaigns_are_listed():
    campaign, other = make_campaign(), make_campaign()
    ada, viewer = make_annotator(campaign), make_annotator(campaign)
    viewer.role = Membership.Role.VIEWER
    viewer.save()
    assert list(permissions.visible_campaigns(campaign.created_by)) == [campaign]
    assert not permissions.visible_campaigns(ada.user).exists()
    assert not permissions.visible_campaigns(viewer.user).exists()
    assert set(permissions.visible_campaigns(make_user(superuser=True))) == {campaign, other}


def test_viewers_and_managers_read_results_and_annotators_do_not():
    campaign = make_campaign()
    ada, viewer = make_annotator(campaign), make_annotator(campaign)
    viewer.role = Membership.Role.VIEWER
    viewer.save()
    for reader in (campaign.created_by, viewer.user):
        assert permissions.get_results_campaign(reader, campaign.slug) == campaign
    with pytest.raises(PermissionDenied):
        permissions.get_results_campaign(ada.user, campaign.slug)
    with pytest.raises(PermissionDenied):
        permissions.get_managed_campaign(viewer.user, campaign.slug)


def test_a_job_is_seen_by_the_user_who_requested_it_and_by_managers_of_its_collection():
    manager, ada = make_user("mia"), make_user("ada")
    collection = make_collection(slug="own", manager=manager)
    own = Job.objects.create(kind="a job", created_by=ada)
    of_collection = Job.objects.create(kind="a job", collection=collection)
    assert list(visible_jobs(ada)) == [own]
    assert list(visible_jobs(manager)) == [of_collection]
    assert not visible_jobs(AnonymousUser()).exists()
    assert set(visible_jobs(make_user("root", superuser=True))) == {own, of_collection}


def test_the_token_of_a_closed_account_is_unknown():
    ada = make_user("ada")
    token = create_api_token(user=ada, name="script")
    assert get_token(token).user == ada
    ada.is_active = False
    ada.save()
    assert get_token(token) is None


@pytest.mark.parametrize(
    ("judging", "changes", "sufficient"),
    [
        (True, True, ["judge"]),
        (True, False, ["read", "judge", "manage"]),
        (False, True, ["manage"]),
        (False, False, ["read", "manage"]),
    ],
)
def test_scopes_of_a_token_permit_requests(judging, changes, sufficient):
    assert sufficient_scopes("read judge manage", judging=judging, changes=changes) == sufficient
