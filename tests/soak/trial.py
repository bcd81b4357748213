"""The trial of one fault from beginning to end: people judge, the fault begins and ends, people
continue, and the results are counted."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from tests.soak.crew import Crew
from tests.soak.place import JOB_SECONDS, N_JOB, Place
from tests.soak.trouble import Trouble

ACTIVE = {"queued", "running"}
RECOVERY_SECONDS = 60
MORE_ACCEPTED = 20
COLUMNS = (
    "| fault | database | accepted | not stored | over-judged | refused | lost | normal after | "
    "what else | result |"
)


@dataclass
class Outcome:
    """The result of a trial. complaints: violated expectations, as sentences, empty if the fault
    was survived."""

    trouble: str
    vendor: str
    accepted: int = 0
    not_stored: int = 0
    over: int = 0
    refused: int = 0
    lost: int = 0
    normal_after: float | None = None
    told: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def line(self) -> str:
        normal = "never" if self.normal_after is None else f"{self.normal_after:.1f} s"
        result = "; ".join(self.complaints) or "held"
        cells = [
            self.trouble,
            self.vendor,
            self.accepted,
            self.not_stored,
            self.over,
            self.refused,
            self.lost,
            normal,
            "; ".join(self.told),
            result,
        ]
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


def tried(trouble: Trouble, place: Place, *, short: bool = False, minutes: float = 0.0) -> Outcome:
    """Run the trial of a fault. minutes: minimum total time for which people judge."""
    outcome, crew, job = Outcome(trouble.name, place.vendor), place.crew(), ""
    with crew:
        lasting = trouble.seconds[short]
        around = 0.0 if short else max(15.0, (minutes * 60 - lasting) / 2)
        _let_judge(crew, around)
        if trouble.with_job:
            job = place.begin_job()
        before, begun = crew.answers(), time.monotonic()
        with trouble.cause(place) as told:
            time.sleep(lasting)
        ended = time.monotonic()
        outcome.told += [told] if isinstance(told, str) else told or []
        while crew.normal_since(ended) is None and time.monotonic() < ended + RECOVERY_SECONDS:
            time.sleep(0.1)
        outcome.normal_after = crew.normal_since(ended)
        _let_judge(crew, around)
    outcome.told.append(f"slowest answer {crew.slowest_since(begun):.1f} s")
    outcome.refused = crew.answers()[503] - before[503]
    outcome.lost = crew.answers()[0] - before[0]
    if trouble.unnoticed and outcome.refused + outcome.lost:
        outcome.complaints.append("people noticed it")
    _count(place, crew, job, outcome)
    outcome.told.append(f"load {os.getloadavg()[0]:.1f}")
    return outcome


def _let_judge(crew: Crew, seconds: float) -> None:
    """Let people judge for this time, and until enough further judgements were accepted to show
    that judging continues."""
    begun, enough = time.monotonic(), len(crew.accepted()) + MORE_ACCEPTED
    time.sleep(seconds)
    while len(crew.accepted()) < enough and time.monotonic() < begun + RECOVERY_SECONDS:
        time.sleep(0.1)


def _count(place: Place, crew: Crew, job: str, outcome: Outcome) -> None:
    until = time.monotonic() + JOB_SECONDS
    facts = place.look()
    while any(state in ACTIVE for state, *_ in facts["jobs"].values()) and time.monotonic() < until:
        facts = place.look()
    outcome.complaints += crew.strange()
    judge(outcome, facts, crew.accepted(), job)


def judge(outcome: Outcome, facts: dict[str, Any], accepted: list[str], job: str) -> None:
    """Fill in the counts of an outcome. facts: result of `Place.look`. accepted: keys of
    judgements. job: the file of the disturbed job."""
    if outcome.normal_after is None:
        outcome.complaints.append(f"not everybody was answered again within {RECOVERY_SECONDS} s")
    outcome.accepted = len(accepted)
    outcome.not_stored = len(set(accepted) - set(facts["keys"]))
    outcome.over = facts["more_than_needed"] + facts["twice"]
    for n, sentence in (
        (outcome.not_stored, "accepted and not stored"),
        (outcome.over, "judged too often"),
    ):
        if n:
            outcome.complaints.append(f"{n} {sentence}")
    if not accepted:
        outcome.complaints.append("nobody judged anything")
    if job:
        state, attempt, message = facts["jobs"][job]
        outcome.told.append(
            f"the job is {state} at attempt {attempt}" + (f" ({message})" if message else "")
        )
        if facts["imported"] != (N_JOB if state == "done" else 0):
            outcome.complaints.append(f"{facts['imported']} documents of the job are stored")
    hanging = [
        file
        for file, (state, _, message) in facts["jobs"].items()
        if state in ACTIVE or (state == "failed" and not message)
    ]
    outcome.complaints += [f"the job of {file} hangs" for file in hanging] + [
        f"verify: {fault}" for fault in facts["faults"]
    ]
