"""The list of all tasks, in the order of the screenshots."""

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
        "Create a campaign from five files, and open it.",
        15,
        start="/collections/",
        published="32 actions, 18 pages, with a collection of realistic size",
    ),
    of_managers(
        "best_system",
        "Find out which system is best, and how certain that is.",
        2,
        published="two reports and seven tables",
    ),
    of_managers("who_needs_me", "Find out who needs the manager today.", 0),
    of_managers(
        "deadline",
        "Find out whether the deadline will be met, and what could help.",
        3,
        not_before="a forecast without options",
    ),
    of_managers("pause_clicker", "Stop an annotator who clicks at random, with a reason.", 6),
    of_managers(
        "gold_from_file",
        "Import ten gold questions from a file.",
        5,
        published="six actions per pair",
    ),
    of_managers("disputed", "Decide five disputed pairs, one after the other.", 13),
    of_managers(
        "another_recipe", "Find the labels that change with another rule, and open the first.", 4
    ),
    of_managers("picture_for_the_paper", "Download the ranking of systems as a figure.", 4),
    of_managers(
        "show_a_colleague",
        "Give a colleague read-only access to the results.",
        6,
        not_before="members and annotators only",
    ),
    of_managers("pay", "Download the payment list.", 5, not_before="no hours per annotator"),
    of_managers(
        "remove_doubles",
        "Remove 62 duplicate topics.",
        4,
        start="{doubles}",
        published="64 clicks, one topic after the other",
    ),
    of_annotators(
        "join",
        "Accept an invitation and start judging.",
        5,
        start="/join/{token}",
        phone=True,
        who="nobody",
    ),
    of_annotators(
        "passage",
        "Mark the passage that makes a document Fully answers.",
        3,
        phone=True,
        not_before="a message covered “Mark this passage”",
    ),
    of_annotators("reopen", "Reopen the judgement before the last one.", 2),
    of_annotators("larger", "Enlarge the text.", 2, not_before="the setting did nothing"),
    of_annotators("stay", "Judge eight documents of one query in a row.", 8),
    of_annotators(
        "ask", "Ask the manager a question, and read the answer.", 5, not_before="no way to ask"
    ),
    of_annotators("practice", "Find out why an answer to a qualification pair was wrong.", 1),
    of_annotators(
        "language",
        "Switch the page to Arabic.",
        4,
        start="/account",
        phone=True,
        not_before="English only",
    ),
)
