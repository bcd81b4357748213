"""What a request of the judging page costs: statements that leave for the database, and the size of
the answer, in small and in large campaigns, at the beginning and later. Run on SQLite with all
tests, on PostgreSQL by tests/annotation/test_on_postgresql.py."""

from __future__ import annotations

import uuid
from contextlib import contextmanager

import pytest
from django.db import connection
from rest_framework.test import APIClient

from annotation.selectors.judging import check_invariants
from tests.annotation.core.test_campaign_questions import make_question
from tests.builders import make_annotator, make_campaign, make_collection

pytestmark = pytest.mark.django_db
HOUSEKEEPING = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")
# On SQLite, where a statement is a call and no trip, what is one statement on PostgreSQL is one for
# each table.
MOST = {
    "postgresql": {
        "judgements": 10,
        "first leases": 10,
        "leases": 5,
        "renew": 5,
        "setup": 4,
        "page": 3,
    },
    "sqlite": {
        "judgements": 12,
        "first leases": 14,
        "leases": 5,
        "renew": 5,
        "setup": 4,
        "page": 3,
    },
}


@contextmanager
def counting(monkeypatch):
    """The statements, also those that bypass Django's log."""
    found: list[str] = []
    if connection.vendor == "postgresql":
        import psycopg

        plain = psycopg.Cursor.execute

        def execute(cursor, statement, *arguments, **more):
            found.append(str(statement))
            return plain(cursor, statement, *arguments, **more)

        monkeypatch.setattr(psycopg.Cursor, "execute", execute)
        yield found
        monkeypatch.setattr(psycopg.Cursor, "execute", plain)
    else:
        with connection.execute_wrapper(
            lambda run, sql, *more: (found.append(sql), run(sql, *more))[1]
        ):
            yield found
    found[:] = [statement for statement in found if not statement.startswith(HOUSEKEEPING)]


class Page:
    def __init__(self, member):
        self.client, self.held = APIClient(), []
        self.client.force_login(member.user)
        self.answers = {question["key"]: 1 for question in member.campaign.further_questions}
        self.address = f"/api/v1/judging/{member.campaign.slug}/"

    def post(self, path, **body):
        answer = self.client.post(self.address + path, body, format="json")
        assert answer.status_code == 200, answer.content
        self.held += [pair["lease"] for pair in answer.json().get("pairs", [])]
        return answer

    def judge(self):
        return self.post(
            "judgements",
            lease=self.held.pop(0),
            key=str(uuid.uuid4()),
            grade=1,
            answers=self.answers,
            want=3,
            held=self.held,
        )


@pytest.mark.parametrize(
    ("n_topics", "n_documents", "n_judged", "questions"),
    [(2, 8, 1, []), (12, 12, 30, []), (2, 8, 1, [make_question("a"), make_question("b")])],
)
def test_what_a_request_costs_grows_with_nothing(
    monkeypatch, n_topics, n_documents, n_judged, questions
):
    collection = make_collection(
        n_topics=n_topics,
        n_documents=n_documents,
        texts=["The same text of 30 letters."] * n_documents,
    )
    campaign = make_campaign(
        collection=collection,
        judgements_per_pair=2,
        guideline="# Read",
        min_active_seconds=0,
        gold_every=20,
        further_questions=questions,
    )
    page, most, sizes = Page(make_annotator(campaign)), MOST[connection.vendor], []
    with counting(monkeypatch) as first:
        page.post("leases", want=2, held=[])
    page.post("leases", want=3, held=page.held)
    for _ in range(n_judged):
        page.judge()
    with counting(monkeypatch) as judged:
        sizes.append(len(page.judge().content))
    with counting(monkeypatch) as again:
        page.post("leases", want=3, held=page.held)
    with counting(monkeypatch) as renewed:
        page.post("leases/renew", leases=page.held)
    with counting(monkeypatch) as setup:
        page.client.get(page.address + "setup")
    with counting(monkeypatch) as shell:
        assert page.client.get(f"/judge/{campaign.slug}/").status_code == 200
    counts = {
        "judgements": judged,
        "first leases": first,
        "leases": again,
        "renew": renewed,
        "setup": setup,
        "page": shell,
    }
    assert {name: len(found) for name, found in counts.items() if len(found) > most[name]} == {}, (
        judged
    )
    assert max(sizes) < 1500  # one new pair, whatever was judged before
    assert check_invariants(campaign) == []
