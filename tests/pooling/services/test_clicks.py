"""A click log brought as qrels becomes labels from clicks."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.urls import reverse

from pooling.models import Job, Topic
from pooling.services.qrels import load_grades
from tests.pooling.conftest import bring_in, run
from tests.pooling.views.test_pages import send

# by hand: a is clicked in two of two sessions, b in none of two (skipped once above c), c in one of
# two
LOG = "session\ttopic\tdocument\trank\tclicked\n" + "".join(
    f"s{s}\t7\t{document}\t{rank}\t{int(document in clicked)}\n"
    for s, clicked in ((1, "ac"), (2, "a"))
    for rank, document in enumerate("abc", 1)
)


def labels(collection) -> dict[str, int]:
    grades = load_grades(collection.qrels.get())
    return {
        document.decode(): int(grade)
        for document, grade in zip(grades.documents.tolist(), grades.grades.tolist(), strict=True)
    }


def test_a_click_log_becomes_qrels_in_the_browser(client, collection, manager):
    client.force_login(manager)
    assert (
        send(
            client,
            collection,
            LOG.encode(),
            name="log.tsv",
            kind="qrels",
            click_model="dctr",
            thresholds="0.4, 0.6",
            mode="",
        ).status_code
        == 201
    )
    job = run(Job.objects.get())
    assert job.report["stored"], job.report
    assert (collection.qrels.get().kind, collection.qrels.get().name) == ("clicks", "log")
    assert labels(collection) == {"a": 3, "b": 0, "c": 2}  # rates 1, 0 and 0.5
    assert any("2 sessions, 3 clicks" in warning for warning in job.report["warnings"])
    assert (
        "click log"
        in client.get(reverse("collection-qrels", args=[collection.slug])).content.decode()
    )


# the same sessions as LOG: a row for each click, and the ranking that both saw; by hand as above
CLICKS = "session\ttopic\trank\tdocument\ns1\t7\t1\ta\ns1\t7\t3\tc\ns2\t7\t1\ta\n"
SHOWN = "topic\trank\tdocument\n7\t1\ta\n7\t2\tb\n7\t3\tc\n"


def packed(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.tsv", text)
    return out.getvalue()


@pytest.mark.parametrize("names", [("clicks", "shown"), ("z", "a")])
def test_a_log_beside_the_rankings_that_were_shown_is_a_zip_of_both(
    client, collection, manager, names
):
    """Told apart by their columns, whatever they are called and whichever comes first."""
    client.force_login(manager)
    data = packed(**dict(sorted(zip(names, (CLICKS, SHOWN), strict=True))))
    assert (
        send(
            client,
            collection,
            data,
            name="log.zip",
            kind="qrels",
            click_model="dctr",
            thresholds="0.4, 0.6",
            mode="",
        ).status_code
        == 201
    )
    job = run(Job.objects.get())
    assert job.report["stored"], job.report
    assert collection.qrels.get().kind == "clicks"
    assert labels(collection) == {"a": 3, "b": 0, "c": 2}
    assert any("2 sessions, 3 clicks" in warning for warning in job.report["warnings"])


def test_a_mistake_in_one_of_two_files_is_told_with_that_files_name(client, collection, manager):
    client.force_login(manager)
    send(
        client,
        collection,
        packed(clicks=CLICKS.replace("3\tc", "2\tc"), shown=SHOWN),
        name="log.zip",
        kind="qrels",
        mode="",
    )
    job = run(Job.objects.get())
    assert job.state == Job.State.FAILED
    [problem] = job.report["problems"]
    assert (problem["line"], problem["expected"]) == (3, "rank 3")
    assert not collection.qrels.exists()


def test_the_raw_rule(collection, manager):
    bring_in(collection, "qrels", LOG, name="log.tsv", click_model="raw", user=manager)
    assert labels(collection) == {"a": 1, "b": 0, "c": 1}


def test_rates_that_are_none_are_refused(client, collection, manager):
    client.force_login(manager)
    response = send(client, collection, LOG.encode(), kind="qrels", thresholds="0.6, 0.4")
    assert response.status_code == 400
    assert "ascending rates" in response.json()["error"]


def ubi(action: str, document: str, position: int) -> str:
    return json.dumps(
        {
            "action_name": action,
            "query_id": "s1",
            "event_attributes": {
                "object": {"object_id": document},
                "position": {"ordinal": position},
            },
        }
    )


EVENTS = "\n".join([ubi("impression", "a", 1), ubi("impression", "b", 2), ubi("click", "b", 2)])


def test_ubi_events_and_queries_in_a_zip_are_matched_to_topics_by_their_text(collection, manager):
    Topic.objects.create(collection=collection, topic_id="7", text="Red shoes", position=0)
    queries = json.dumps({"query_id": "s1", "user_query": "red  shoes"})
    data = packed(events=EVENTS, queries=queries)
    job = bring_in(collection, "qrels", data, name="log.zip", click_model="sdbn", user=manager)
    assert job.report["stored"], job.report
    grades = load_grades(collection.qrels.get())
    assert (grades.topics, labels(collection)) == (["7"], {"a": 0, "b": 3})
    assert collection.qrels.get().kind == "clicks"


def test_ubi_events_with_query_texts_need_no_other_file(collection, manager):
    Topic.objects.create(collection=collection, topic_id="7", text="red shoes", position=0)
    events = EVENTS.replace('"query_id"', '"user_query": "red shoes", "query_id"')
    bring_in(collection, "qrels", events, name="log.json", click_model="coec", user=manager)
    assert load_grades(collection.qrels.get()).topics == ["7"]


def dwelt(document: str, seconds: float) -> str:
    event = json.loads(ubi("click", document, 2))
    event["event_attributes"]["dwell_time"] = seconds
    return json.dumps(event)


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(("min_dwell", "b"), [("", 3), ("29.5", 3), ("31", 0)])
def test_clicks_with_less_than_the_minimum_dwell_time_do_not_count(
    client, collection, manager, is_packed, min_dwell, b
):
    """The only click, on b, has a dwell time of 30 seconds."""
    Topic.objects.create(collection=collection, topic_id="7", text="red shoes", position=0)
    events = "\n".join([*EVENTS.splitlines()[:2], dwelt("b", 30)])
    query = {"query_id": "s1", "user_query": "red shoes"}
    if is_packed:
        data = packed(events=events, queries=json.dumps(query))
    else:
        data = events.replace('"query_id"', '"user_query": "red shoes", "query_id"').encode()
    client.force_login(manager)
    fields = {"kind": "qrels", "click_model": "dctr", "min_dwell": min_dwell, "mode": "import"}
    send(client, collection, data, name="log.zip" if is_packed else "log.json", **fields)
    job = run(Job.objects.get())
    assert job.state == Job.State.DONE, job.message
    assert labels(collection) == {"a": 0, "b": b}


def test_a_minimum_dwell_time_for_a_log_without_dwell_times_is_refused(client, collection, manager):
    client.force_login(manager)
    assert send(client, collection, b"x", kind="qrels", min_dwell="-1").status_code == 400
    send(client, collection, LOG.encode(), name="log.tsv", kind="qrels", min_dwell="5")
    job = run(Job.objects.get())
    assert job.state == Job.State.FAILED
    assert "does not contain UBI events" in job.message
    assert not collection.qrels.exists()


def test_thresholds_that_the_model_does_not_have_are_refused(client, collection, manager):
    client.force_login(manager)
    for model, status in (("coec", 201), ("dctr", 400)):
        response = send(
            client,
            collection,
            LOG.encode(),
            name=f"{model}.tsv",
            kind="qrels",
            click_model=model,
            thresholds="1, 2",
        )
        assert response.status_code == status
