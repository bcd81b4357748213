"""judge_with_llm against an endpoint that replays labels, delays, fails and lies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import printed
from tests.annotation.llm.endpoint_server import Replay, serving

ROOT = Path(__file__).resolve().parents[3]
PAIRS = [(str(t), f"d{k}") for t in range(3) for k in range(5)]
LABELS = {pair: (int(pair[0]) + int(pair[1][1:])) % 4 for pair in PAIRS}


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """Pairs, topics and documents; everything but endpoint and store."""
    (tmp_path / "pairs.txt").write_text("".join(f"{t} 0 {d} -1\n" for t, d in PAIRS))
    (tmp_path / "pairs.tsv").write_text(
        "topic\tdocument\n" + "".join(f"{t}\t{d}\n" for t, d in PAIRS)
    )
    (tmp_path / "topics.tsv").write_text(
        "".join(f"{t}\tquestion about topic {t}\n" for t in range(3))
    )
    (tmp_path / "documents.jsonl").write_text(
        "".join(
            json.dumps({"_id": f"d{k}", "text": f"text of document d{k}"}) + "\n" for k in range(5)
        )
    )
    files = ["pairs.tsv", "--topics", "topics.tsv", "--documents", "documents.jsonl"]
    return [name if name.startswith("--") else str(tmp_path / name) for name in files] + [
        "--model",
        "replay",
        "--pause",
        "0",
    ]


def store(tmp_path: Path) -> list[str]:
    return ["--store", str(tmp_path / "answers.jsonl")]


def stored(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]


def test_every_pair_is_labelled_once_and_the_labels_are_the_llm_judges(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LLM_KEY", "a-secret-key")
    replay, out = Replay(LABELS), tmp_path / "labels.txt"
    with serving(replay) as url:
        found, warned = answer(
            "judge_with_llm",
            *asked,
            *store(tmp_path),
            "--endpoint",
            url,
            "--output",
            out,
            "--price-in",
            10,
            "--price-out",
            50,
        )
        again, _ = answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
    lines = out.read_text().splitlines()
    assert lines[0].startswith("# LLM labels, not human labels: replay, prompt grade 1")
    assert {(t, d): int(g) for t, _, d, g in (line.split() for line in lines[1:])} == LABELS
    assert found["calls"] == {"now": 15, "ever": 15, "lost": 0}
    assert found["outcomes"] == {"graded": 15, "refused": 0, "malformed": 0}
    assert found["tokens"] == {"in": 1500, "out": 60}
    assert found["cost"] == pytest.approx((1500 * 10 + 60 * 50) / 1e6)
    assert found["estimate"]["calls"] == 15
    assert found["estimate"]["cost"] > 0
    assert again["calls"] == {"now": 0, "ever": 15, "lost": 0}
    assert again["digest"] == found["digest"]
    assert set(replay.executed.values()) == {1}
    assert replay.headers[0]["Authorization"] == "Bearer a-secret-key"
    assert (
        "a-secret-key"
        not in out.read_text()
        + (tmp_path / "answers.jsonl").read_text()
        + json.dumps(found)
        + warned
    )
    assert all(body["model"] == "replay" and body["temperature"] == 0 for body in replay.seen)


def test_the_prompt_shows_query_document_scale_and_guidelines_and_nothing_else(
    tmp_path: Path, asked: list[str]
) -> None:
    guide, replay = tmp_path / "guide.md", Replay(LABELS)
    guide.write_text("Judge the text, not its style.")
    with serving(replay) as url:
        own = (
            "--guidelines",
            guide,
            "--grade",
            "0=No",
            "--grade",
            "3=Yes: it answers",
            "--prompt",
            "reasons",
        )
        answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url, *own)
    prompt = replay.seen[0]["messages"][1]["content"]
    for part in (
        "question about topic",
        "text of document",
        "Judge the text, not its style.",
        "0: No",
        "3: Yes. it answers",
        "at most three sentences",
    ):
        assert part in prompt


def test_several_samples_make_one_label(tmp_path: Path, asked: list[str]) -> None:
    """Of 3 1 1 the label is 1; of 2 0 (and a refusal) the lowest."""
    said = {
        "0": iter(["Grade: 3", "Grade: 1", "Grade: 1"] * 5),
        "1": iter(["Grade: 2", "I'm sorry, I cannot help with that.", "Grade: 0"] * 5),
    }
    replay = Replay(
        LABELS, lambda server, pair, number: next(said[pair[0]]) if pair[0] in said else None
    )
    with serving(replay) as url:
        found, _ = answer(
            "judge_with_llm",
            *asked,
            *store(tmp_path),
            "--endpoint",
            url,
            "--samples",
            3,
            "--threads",
            1,
        )
    assert found["outcomes"] == {"graded": 40, "refused": 5, "malformed": 0}
    assert found["calls"]["ever"] == 45
    own = [LABELS[pair] for pair in PAIRS if pair[0] == "2"]
    assert found["labels"] == {
        "0": 5 + own.count(0),
        "1": 5 + own.count(1),
        "2": own.count(2),
        "3": own.count(3),
    }


def test_lies_and_nonsense_are_counted_and_make_no_label(tmp_path: Path, asked: list[str]) -> None:
    lies = {
        "d0": "Grade: 7",
        "d1": "It mentions 2 of 3 points.",
        "d2": "I cannot judge this.",
        "d3": "Not grade 0 as in 2019. Grade: 2",
    }
    with serving(Replay(LABELS, lambda server, pair, number: lies.get(pair[1]))) as url:
        found, _ = answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
        text, _ = printed("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
    assert found["outcomes"] == {"graded": 6, "refused": 3, "malformed": 6}
    assert found["without_label"] == 9
    assert found["labels"]["2"] >= 3
    assert "cannot replace human labels" in text


def test_failures_pass_and_are_counted(tmp_path: Path, asked: list[str]) -> None:
    def fails(server: Replay, pair: tuple[str, str], number: int) -> Any:
        if number > 1:
            return None
        return {
            "d0": (429, {"Retry-After": "0"}),
            "d1": 503,
            "d2": b"{not json",
            "d3": b'{"choices": []}',
        }.get(pair[1])

    with serving(Replay(LABELS, fails)) as url:
        found, _ = answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
    assert found["troubles"] == {
        "rate limited": 3,
        "server error": 3,
        "no answer in the chat-completions form": 6,
    }
    assert found["calls"] == {"now": 27, "ever": 27, "lost": 0}
    assert (found["answers"], found["without_label"]) == (15, 0)


def test_an_answer_that_does_not_come_is_asked_for_again_and_left_when_it_never_comes(
    tmp_path: Path, asked: list[str]
) -> None:
    def slow(server: Replay, pair: tuple[str, str], number: int) -> Any:
        if pair == ("0", "d0") and number == 1:
            server.hold()
        return 500 if pair == ("1", "d1") else None

    replay = Replay(LABELS, slow)
    with serving(replay) as url:
        found, _ = answer(
            "judge_with_llm",
            *asked,
            *store(tmp_path),
            "--endpoint",
            url,
            "--timeout",
            1,
            "--attempts",
            2,
        )
        assert found["troubles"] == {"timed out": 1, "server error": 2}
        assert (found["answers"], found["unanswered"], found["without_label"]) == (14, 1, 1)
        replay.behaviour = None
        found, _ = answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
    assert (found["answers"], found["unanswered"], found["calls"]["now"]) == (15, 0, 1)


def test_a_wrong_key_ends_it_at_once(tmp_path: Path, asked: list[str]) -> None:
    replay = Replay(LABELS, lambda server, pair, number: 401)
    with serving(replay) as url:
        assert "status 401" in refused(
            "judge_with_llm", *asked, *store(tmp_path), "--endpoint", url, "--threads", 1
        )
    assert sum(replay.requests.values()) == 1


def test_the_limit_of_cost_holds(tmp_path: Path, asked: list[str]) -> None:
    """100 tokens sent and 4 received at 1000 a million: .104 a call; about 250 tokens are expected,
    so no call is begun above .35."""
    with serving(Replay(LABELS)) as url:
        prices = ("--price-in", 1000, "--price-out", 1000)
        found, _ = answer(
            "judge_with_llm",
            *asked,
            *store(tmp_path),
            "--endpoint",
            url,
            *prices,
            "--max-cost",
            0.6,
            "--threads",
            1,
        )
        assert 0 < found["cost"] <= 0.6
        assert found["answers"] < 15
        assert "cost limit" in found["stopped"]
        assert found["unanswered"] == 15 - found["answers"]
        assert "--max-cost requires --price-in and --price-out" in refused(
            "judge_with_llm",
            *asked,
            "--store",
            str(tmp_path / "x"),
            "--endpoint",
            url,
            "--max-cost",
            1,
        )
    untouched = tmp_path / "never"
    found, _ = answer(
        "judge_with_llm", *asked, "--store", untouched, "--endpoint", url, *prices, "--estimate"
    )
    assert found["estimate"]["cost"] > 0
    assert not untouched.exists()


def test_answers_of_another_setting_are_not_mixed(tmp_path: Path, asked: list[str]) -> None:
    with serving(Replay(LABELS)) as url:
        answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
        assert "made with a different prompt" in refused(
            "judge_with_llm", *asked, *store(tmp_path), "--endpoint", url, "--prompt", "reasons"
        )
        assert "made with a different model" in refused(
            "judge_with_llm", *asked, *store(tmp_path), "--endpoint", url, "--model", "other"
        )
        (tmp_path / "answers.jsonl").write_text("not a store\n")
        assert "answers.jsonl:1: not an answer of an LLM judge" in refused(
            "judge_with_llm", *asked, *store(tmp_path), "--endpoint", url
        )


def test_what_cannot_be_asked_is_refused_before_any_call(tmp_path: Path, asked: list[str]) -> None:
    (tmp_path / "mine.txt").write_text("Query $query, document $document")
    replay = Replay(LABELS)
    with serving(replay) as url:
        call = ("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
        assert "$scale missing" in refused(*call, "--prompt", tmp_path / "mine.txt")
        assert "neither grade nor reasons nor a file" in refused(*call, "--prompt", "other")
        (tmp_path / "topics.tsv").write_text("0\tonly one\n")
        assert "has no topic 1 and 1 more, which" in refused(*call)
        (tmp_path / "documents.jsonl").write_text('{"_id": "d0", "text": "x"}\n')
        (tmp_path / "topics.tsv").write_text("0\ta\n1\tb\n2\tc\n")
        assert "document d1 and 3 more" in refused(*call)
    assert not replay.requests


@pytest.mark.parametrize("threads", [1, 3])
def test_after_a_kill_in_the_middle_every_call_was_made_once(
    tmp_path: Path, asked: list[str], threads: int
) -> None:
    """Two samples of 15 pairs. The endpoint holds the calls from the twelfth on; the program is
    killed then, and started again."""
    count, lock = [0], threading.Lock()

    def holds(server: Replay, pair: tuple[str, str], number: int) -> None:
        with lock:
            count[0] += 1
            late = count[0] >= 12
        if late and not server.released.is_set():
            server.hold()

    replay = Replay(LABELS, holds)
    with serving(replay) as url:
        words = [
            "judge_with_llm",
            *asked,
            *store(tmp_path),
            "--endpoint",
            url,
            "--samples",
            "2",
            "--threads",
            str(threads),
            "--json",
        ]
        program = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            env={**os.environ},
        )
        try:
            assert replay.held.wait(120)
        finally:
            program.send_signal(signal.SIGKILL)
            program.wait()
        answered = {row["key"] for row in stored(tmp_path) if "key" in row}
        assert 0 < len(answered) < 30
        replay.released.set()
        found, _ = answer(*words[:-1])
    assert found["answers"] == 30
    assert 1 <= found["calls"]["lost"] <= threads
    assert len(replay.executed) == 30
    assert set(replay.executed.values()) == {1}  # none was carried out twice
    assert (
        30 <= sum(replay.requests.values()) <= 30 + found["calls"]["lost"]
    )  # only what was lost with the program came again, under its key
    assert all(replay.requests[key] == 1 for key in answered)
    assert len([row for row in stored(tmp_path) if "key" in row]) == 30


def test_pairs_of_a_sampled_pool_and_of_qrels(tmp_path: Path, asked: list[str]) -> None:
    for name, line in (("pool.prel", "{} 0 {} s 1\n"), ("qrels.txt", "{} 0 {} 1\n")):
        (tmp_path / name).write_text("".join(line.format(t, d) for t, d in PAIRS[:7]))
        with serving(Replay(LABELS)) as url:
            call = (
                "judge_with_llm",
                tmp_path / name,
                *asked[1:],
                "--store",
                tmp_path / f"{name}.store",
                "--endpoint",
                url,
            )
            assert answer(*call)[0]["answers"] == 7


def test_a_line_cut_by_the_kill_is_asked_again(tmp_path: Path, asked: list[str]) -> None:
    replay = Replay(LABELS)
    with serving(replay) as url:
        answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url, "--threads", 1)
        path = tmp_path / "answers.jsonl"
        path.write_bytes(path.read_bytes()[:-10])
        found, _ = answer("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
    assert (found["answers"], found["calls"]["now"], found["calls"]["lost"]) == (15, 1, 1)
    assert len([row for row in stored(tmp_path) if "key" in row]) == 15


def test_two_programs_do_not_write_to_one_store(tmp_path: Path, asked: list[str]) -> None:
    replay = Replay(LABELS, lambda server, pair, number: server.hold())
    said: list[Any] = []
    with serving(replay) as url:
        call = ("judge_with_llm", *asked, *store(tmp_path), "--endpoint", url)
        first = threading.Thread(target=lambda: said.append(answer(*call)))
        first.start()
        assert replay.held.wait(60)
        assert "another program is writing to this file" in refused(*call)
        replay.released.set()
        first.join()
    assert said[0][0]["answers"] == 15
