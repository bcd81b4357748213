from __future__ import annotations

from pooling.models import Topic
from pooling.services import qrels

QRELS = "7 0 d2 1\n7 0 d1 0\n051 Q0 d1 2\n051 0 d9 -1\n"


def test_qrels_are_stored_as_columns_with_their_grades_counted(collection, bring):
    job = bring("qrels", QRELS, name="expert.qrels.txt")
    assert job.state == "done", job.message
    row = collection.qrels.get()
    assert (row.name, row.kind, row.n_rows, row.n_topics) == ("expert", "judged", 4, 2)
    assert row.grades == {"-1": 1, "0": 1, "1": 1, "2": 1}
    assert row.warnings == ["1 pair has a negative grade: pooled but unjudged"]
    grades = qrels.load_grades(row)
    assert grades.topics == ["7", "051"]
    assert grades.documents.tolist() == [b"d1", b"d2", b"d1", b"d9"]
    assert grades.grades.tolist() == [0, 1, 2, -1]


def test_comments_and_grades_such_as_2_0_are_notes_of_the_report(collection, bring):
    job = bring("qrels", "# mine\n7 0 d2 1.0\n7 0 d1 0.0\n", mode="careful", name="expert.txt")
    assert (job.report["stored"], job.report["warnings"]) == (True, [])
    assert [note.partition(" ")[0] for note in job.report["notes"]] == ["1", "grades"]
    assert qrels.load_grades(collection.qrels.get()).grades.tolist() == [0, 1]


def test_grades_that_never_use_0_and_unknown_topics_are_warned_about(collection, bring):
    Topic.objects.create(collection=collection, topic_id="051", text="x", position=0)
    job = bring("qrels", "7 0 d2 1\n051 0 d2 4\n", mode="careful")
    assert job.report["stored"] is False
    assert any("no pair has grade 0" in warning for warning in job.report["warnings"])
    assert any(
        "1 of its 2 topics is not in the collection, such as 7" in warning
        for warning in job.report["warnings"]
    )


def test_a_name_that_is_taken_and_the_same_grades_are_refused(collection, bring):
    bring("qrels", QRELS, name="a.txt")
    assert (
        "Qrels named a already exist" in bring("qrels", QRELS + "8 0 d 1\n", name="a.txt").message
    )
    assert (
        bring("qrels", QRELS, name="b.txt").message
        == "These qrels have already been imported as a."
    )


def test_click_qrels_are_marked_as_such(collection, bring):
    bring("qrels", QRELS, kind="clicks", name="clicks")
    assert collection.qrels.get().get_kind_display() == "from clicks"


def test_two_grades_for_one_pair_are_refused(collection, bring):
    job = bring("qrels", QRELS + "7 0 d2 2\n")
    assert job.state == "failed"
    assert job.report["problems"][0]["line"] == 5
    assert not collection.qrels.exists()


def test_deleting_qrels_deletes_their_columns(
    collection, bring, own_storage, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        bring("qrels", QRELS)
        qrels.delete_qrels(collection.qrels.get())
    assert not [path for path in own_storage.rglob("*") if path.is_file()]
