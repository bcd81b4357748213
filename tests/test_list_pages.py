"""Every table that grows is searched, sorted and turned over by the same means
(pooling/platform/listing.py); a new one is listed here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "templates"
LISTS: dict[str, str] = {
    "analysis/_changes.html": "pairs that two recipes label otherwise",
    "analysis/_report_list.html": "reports and studies",
    "analysis/agreement.html": "annotators by overlap",
    "analysis/audit.html": "changes of a campaign",
    "analysis/gold.html": "known pairs, and annotators by their answers to them",
    "analysis/judgements.html": "pairs of a campaign, and how many of each topic are relevant",
    "analysis/people.html": "annotators of a campaign",
    "analysis/people_without_grades.html": "annotators of a campaign of preferences",
    "analysis/person.html": "where an annotator and the others differ",
    "analysis/results_systems.html": "reports, for readers",
    "annotation/accounts.html": "people of the installation",
    "annotation/campaign_people.html": "invitations and members",
    "annotation/campaigns.html": "campaigns",
    "annotation/llm_judges.html": "LLM judges",
    "annotation/webhooks.html": "messages of webhooks",
    "config/sessions.html": "sessions and tokens",
    "pooling/collections.html": "collections",
    "pooling/_pools.html": "pools of a collection",
    "pooling/documents.html": "document files, and texts of the pools",
    "pooling/jobs.html": "background work",
    "pooling/pool.html": "pairs of a pool",
    "pooling/qrels.html": "qrels of a collection",
    "pooling/runs.html": "runs of a collection",
    "pooling/topic_check.html": "topics proposed for removal",
    "pooling/topics.html": "topics of a collection",
}
"""Template with a list -> what stands in it."""
NO_LISTS = {
    "analysis/_campaign_numbers.html": "statistics of one campaign, one a row",
    "analysis/_coefficients.html": "coefficients of one campaign, one a row",
    "analysis/_exclusion_body.html": "the consequences of one decision, to be read whole",
    "analysis/_pairs_to_choose.html": "some pairs of one search of the page",
    "analysis/_report_table.html": "a table of a report, sorted in the page and downloaded whole",
    "analysis/export_difference.html": "measures and runs of one comparison",
    "analysis/overview.html": "what is in hand at the moment",
    "analysis/report.html": "the files of one report",
    "analysis/_times.html": "the slowest of one campaign",
    "annotation/account.html": "one's own browsers and tokens",
    "annotation/campaign_rules.html": "the effect of one setting",
    "analysis/planning.html": "a row a level of depth",
    "annotation/readers.html": (
        "the few who read the results of one campaign, and its links, of which the number is "
        "bounded"
    ),
    "annotation/llm_judge.html": "what one LLM judge answered",
    "pooling/_activity.html": "files that wait for a decision, decided together",
    "pooling/_figures.html": "figures of one pool, sorted in the page",
    "pooling/_job.html": "the first refused lines of one file, downloaded whole",
    "pooling/pool_extension.html": "costs, one a row",
    "pooling/pool_new.html": "runs to choose, in one form",
    "pooling/_stages.html": "stages of one pool",
}
"""Template with a table that does not grow beyond what one sees at once -> why."""


def grows(text: str) -> bool:
    """The template repeats rows of a table."""
    return bool(re.search(r"<tbody>\s*\{% for ", text))


def test_each_table_of_rows_is_a_list_or_says_why_not() -> None:
    tables = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.html")
        if grows(path.read_text(encoding="utf-8"))
    }
    listed = {*LISTS, *NO_LISTS}
    assert tables <= listed, (
        f"use ListPage (docs/developing.md, To add) and name it in LISTS, or say in NO_LISTS why "
        f"not: {sorted(tables - listed)}"
    )
    assert listed <= tables, f"no such table any more: {sorted(listed - tables)}"


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_words_headings_and_pages(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert '{% include "_list_tools.html" with shown=' in text
    assert '{% include "_list_foot.html" with shown=' in text
    assert "{% column " in text
    assert "{% empty %}" in text, "say that nothing fits"
    assert re.search(r'\{% table .*\bcard-rows\b[^"]*"(?: files=False)? %\}', text), (
        "on a phone each row is a card"
    )
