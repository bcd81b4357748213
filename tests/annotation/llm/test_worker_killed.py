"""An LLM judge in a real worker that is killed with -9 in the middle: pairs x samples calls were
carried out, none twice."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.annotation.llm.endpoint_server import Replay, serving
from tests.pooling.jobs.test_workers import (  # noqa: F401  fixtures
    Installation,
    installation,
    migrated,
)

PAIRS = [(str(t), str(d)) for t in (1, 2) for d in range(1, 8)]
N = 2 * len(PAIRS)
MAKE = """
from annotation.services.llm_judges import judges as llm_judges
from annotation.services.llm_judges.judges import CallLimits, JudgeOptions
from pooling import tasks
from tests.builders import make_campaign
campaign = make_campaign(n_topics=2, n_documents=7)
for topic in campaign.collection.topics.all():
    topic.text = f"topic {topic.topic_id[1:]}"
    topic.save()
for document in campaign.collection.documents.all():
    document.text = f"document {document.docno[1:]}"
    document.save()
judge = llm_judges.create_judge(campaign, JudgeOptions("m", "replay", "%s", samples=2, limits=CallLimits(threads=3)), actor=None)
tasks.send(llm_judges.request_run(judge, user=None))
"""


@pytest.mark.long
def test_after_a_kill_in_the_middle_every_call_was_carried_out_once(
    installation: Callable[[str], Installation],  # noqa: F811
) -> None:
    """The endpoint holds the calls from the twelfth on; the worker is killed then, and another goes
    on."""
    count, lock = [0], threading.Lock()

    def holds(server: Replay, pair: tuple[str, str], number: int) -> None:
        with lock:
            count[0] += 1
            late = count[0] >= 12
        if late and not server.released.is_set():
            server.hold()

    replay = Replay(dict.fromkeys(PAIRS, 1), holds)
    place = installation("")
    with serving(replay) as url:
        place.env["ASSAY_LLM_ENDPOINTS"] = url
        place.manage("shell", "-c", MAKE % url)
        first = place.start_worker()
        place.wait(replay.held.is_set, 300)
        place.kill(first)
        answered = {
            key
            for (key,) in place.sql("SELECT key FROM annotation_llmlabel WHERE state <> 'asked'")
        }
        lost = place.sql("SELECT COUNT(*) FROM annotation_llmlabel WHERE state = 'asked'")[0][0]
        assert 0 < len(answered) < N
        assert 1 <= lost <= 3
        replay.released.set()
        place.let_time_pass()
        place.start_worker()
        place.wait(lambda: place.jobs() == [("done", 2)], 300)
        rows = place.sql(
            "SELECT state, COUNT(*), SUM(calls) FROM annotation_llmlabel GROUP BY state"
        )
    assert rows == [
        ("graded", N, N + lost)
    ]  # every call that was begun is told, those lost with the worker too
    assert len(replay.executed) == N
    assert set(replay.executed.values()) == {1}
    assert all(replay.requests[key] == 1 for key in answered)
    assert N <= sum(replay.requests.values()) <= N + lost
