"""The list of the slowest folders at the end of a run of the tests."""

from __future__ import annotations

from types import SimpleNamespace

from tests.times import seconds_by_folder, told


def report(nodeid: str, duration: float) -> SimpleNamespace:
    return SimpleNamespace(nodeid=nodeid, duration=duration)


def test_folders_are_told_by_the_time_of_their_tests_and_only_after_a_long_run() -> None:
    reports = [
        report("tests/annotation/api/test_a.py::test_x", 20.0),
        report("tests/test_wheel.py::test_y", 35.0),
        report("tests/annotation/api/test_b.py::Class::test_z[a/b]", 5.5),
        SimpleNamespace(message="a warning has no duration"),
    ]
    assert seconds_by_folder(reports) == [
        ("tests/test_wheel.py", 35.0),
        ("tests/annotation/api", 25.5),
    ]
    assert told(reports) == ["     35 s  tests/test_wheel.py", "     26 s  tests/annotation/api"]
    assert told(reports[:2]) == []
