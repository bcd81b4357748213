"""Tasks of managers and annotators, done in a browser with counted actions, in this version and,
where possible, in the first one.

`python -m tests.tasks` does all tasks in both versions and takes a screenshot of where each ends.
docs/evidence/usability.md has the table.
"""
