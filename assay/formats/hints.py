"""Hints for fixing rejected lines of runs and qrels. Common errors are recognised from the text of
the line."""

from __future__ import annotations

import re

from assay.formats.errors import FileProblem

HEADER_WORDS = {
    "topic",
    "topic_id",
    "qid",
    "query",
    "query_id",
    "docid",
    "doc_id",
    "docno",
    "document",
    "rank",
    "score",
    "tag",
    "run",
    "grade",
    "rel",
}
LENIENT_OPTION = "Lenient (--lenient)"


def add_hints(problems: list[FileProblem], *, lenient: bool, of_run: bool) -> list[FileProblem]:
    """Return the problems, each with a hint appended to the expected value if the line shows the
    cause."""
    return [
        problem._replace(expected=f"{problem.expected}; {way}")
        if (way := _find_hint(problem, lenient, of_run))
        else problem
        for problem in problems
    ]


def _find_hint(problem: FileProblem, lenient: bool, of_run: bool) -> str:
    words = problem.text.split()
    named = [
        word.strip('"').lower().replace("-", "_") for word in re.split(r"[\s,;]+", problem.text)
    ]
    if problem.line and len(HEADER_WORDS & set(named)) >= 3:
        return (
            f"{LENIENT_OPTION} skips the header"
            if of_run and not lenient and len(words) > 1
            else "remove the header"
        )
    if re.match(r"'[+-]?\d*\.\d+' is not a grade", problem.problem):
        return "grades are not rounded: choose a grade of your scale for each fraction"
    count = re.match(r"(\d+) columns?$", problem.problem)
    if count is None:
        comma = re.search(r"^'[+-]?\d+,\d+'", problem.problem)
        return (
            "use a decimal point, not a comma: save the file with English number formats"
            if comma
            else ""
        )
    if int(count[1]) == 1 and len(re.split(r"[,;]", problem.text)) >= 3:
        return "use white space between columns, not commas: save the file as text with tabs"
    if not of_run and int(count[1]) == 6:
        return (
            "a run has six columns: were the qrels and the run exchanged? (Six columns with a "
            "confidence are labels of an LLM judge: --llm-labels reads them)"
        )
    if not of_run or lenient:
        return (
            "" if lenient or int(count[1]) < 5 else f"{LENIENT_OPTION} ignores additional columns"
        )
    if int(count[1]) in (3, 4):
        return f"{LENIENT_OPTION} accepts three, `topic document rank`, and four, `topic document rank score`"
    return f"{LENIENT_OPTION} ignores additional columns" if int(count[1]) > 6 else ""
