"""The page New campaign while it is open: the chosen pool decides which task it offers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.battles import make_battle_pool
from tests.browser.conftest import DESKTOP
from tests.builders import make_pool, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_pool_of_battles_replaces_the_presets_of_grades(
    signed_in_page: Callable[..., Page],
) -> None:
    battles = make_battle_pool()
    grades = make_pool(battles.collection)
    user = make_user(may_create=True)
    battles.collection.managers.add(user)
    page = signed_in_page(user, viewport=DESKTOP)
    page.goto(f"{reverse('campaign-new')}?pool={grades.pk}")
    presets, pools = page.locator("#presets label"), page.locator("#id_pool")
    gold = page.get_by_text("Gold questions and qualification test")
    per_pair = page.locator("#id_judgements_per_pair")
    page.locator("#presets [value=trec]").check()
    expect(per_pair).to_have_value("1")
    pools.select_option(str(battles.pk))
    expect(presets).to_have_count(1)
    expect(presets).to_contain_text("Two documents side by side")
    expect(gold).to_be_hidden()
    expect(page.locator("#guidelines textarea:visible")).to_have_attribute(
        "name", "guidelines-preferences"
    )
    expect(per_pair).to_have_value("3")
    pools.select_option(str(grades.pk))
    expect(presets).to_have_count(4)
    expect(gold).to_be_visible()
