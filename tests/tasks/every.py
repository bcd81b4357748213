"""The list of tasks, in the order of the pictures."""

from __future__ import annotations

from tests.tasks import annotators, annotators_before, managers, managers_before
from tests.tasks.task import Task


def of_managers(
    name: str,
    says: str,
    at_most: int,
    *,
    start: str = "/",
    not_before: str = "",
    published: str = "",
) -> Task:
    before = getattr(managers_before, name, getattr(managers, name))
    return Task(
        name,
        says,
        getattr(managers, name),
        before,
        at_most,
        start=start,
        not_before=not_before,
        published=published,
    )


def of_annotators(
    name: str,
    says: str,
    at_most: int,
    *,
    start: str = "",
    phone: bool = False,
    not_before: str = "",
    who: str = "",
) -> Task:
    before = getattr(annotators_before, name, getattr(annotators, name))
    who = who or f"annotator of {name}"
    return Task(
        name,
        says,
        getattr(annotators, name),
        before,
        at_most,
        who=who,
        start=start or f"{{{name}}}",
        phone=phone,
        not_before=not_before,
    )


TASKS = (
    of_managers(
        "files_to_campaign",
        "I have five files. Make them a campaign, and open it.",
        15,
        start="/collections/",
        published="32 actions, 18 pages, with a collection of a real size",
    ),
    of_managers(
        "best_system",
        "Which system is best, and how sure is that?",
        2,
        published="two reports and seven tables",
    ),
    of_managers("who_needs_me", "Who needs me today?", 0),
    of_managers(
        "deadline",
        "Shall we be done by the deadline, and what could I do?",
        3,
        not_before="a forecast, and nothing to do about it",
    ),
    of_managers("pause_clicker", "Somebody clicks through. Stop them, and say why.", 5),
    of_managers(
        "gold_from_file",
        "Here are ten pairs whose grade I know. Make them gold.",
        5,
        published="six actions a pair",
    ),
    of_managers("disputed", "Let me decide five disputed pairs, one after the other.", 13),
    of_managers(
        "another_recipe", "Which labels change with another rule? Show me the first of them.", 4
    ),
    of_managers("picture_for_the_paper", "Give me the ranking as a figure for the paper.", 3),
    of_managers(
        "show_a_colleague",
        "Let a colleague read the results and change nothing.",
        6,
        not_before="members and annotators only",
    ),
    of_managers("pay", "What do I owe to whom? As a file.", 4, not_before="hours of nobody"),
    of_managers(
        "remove_doubles",
        "62 of these topics are there twice. Out with them.",
        3,
        start="{doubles}",
        published="64 clicks, one topic after the other; d059014 has *Remove all* already",
    ),
    of_annotators(
        "join",
        "I was sent a link. Let me judge.",
        5,
        start="/join/{token}",
        phone=True,
        who="nobody",
    ),
    of_annotators(
        "passage",
        "It is Perfect because of these words.",
        3,
        phone=True,
        not_before="the message lies over “Mark this passage”",
    ),
    of_annotators("reopen", "The one before the last was wrong. Open it again.", 2),
    of_annotators(
        "larger", "I cannot read this. Make it larger.", 2, not_before="the setting did nothing"
    ),
    of_annotators("stay", "Let me finish a query before the next: eight documents of it.", 8),
    of_annotators(
        "ask", "May I ask something? And what is the answer?", 5, not_before="nobody to ask"
    ),
    of_annotators("practice", "Was my practice answer right, and why not?", 1),
    of_annotators(
        "language",
        "I would rather read this in Arabic.",
        4,
        start="/account",
        phone=True,
        not_before="English only",
    ),
)
