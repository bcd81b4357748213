"""A campaign as a document: what it may say, read from TOML or JSON into plain values, and written
again.

described = read_document({"collection": {...}, "pool": {...}, "campaign": {...}})     #
CampaignMistakes otherwise
document_of(described)                                                                 # the same
again
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core import rules
from annotation.core.gold_rules import GoldRule
from annotation.core.known_pairs import are_in_doubt, grades_in_words, with_grades
from annotation.core.scale import SHAPES, Scale
from assay.labels.judges import JudgeKind
from pooling.core.collection_file import COLLECTION, POOL
from pooling.core.declared import Change, Key, Mistake, Path, differences, plain_table, read_table

STATES = ("draft", "open", "paused", "closed")
GRADE = (
    Key("value", "whole", "The grade.", least=0, most=999, required=True),
    Key("name", "text", "What annotators read.", required=True),
    Key("explanation", "text", "When it is given.", default=""),
    Key("example", "text", "Examples, one a line.", default=""),
    Key("shape", "text", "The sign beside its colour.", choices=SHAPES, default="disc"),
)
GOLD = (
    Key("topic", "text", "The topic's id.", required=True),
    Key("document", "text", "The document's id.", required=True),
    Key(
        "kind",
        "text",
        "What the pair is.",
        choices=("gold", "everyone", "qualification"),
        default="gold",
    ),
    Key("grade", "whole", "The known grade; of a pair for everyone there is none.", least=0),
    Key(
        "explanation",
        "text",
        "What annotators of the qualification read after their answer.",
        default="",
    ),
)
GOLD_GRADES = (
    Key("file_grade", "whole", "A grade in the rows of gold.", required=True),
    Key(
        "grade", "whole", "What it counts as on the scale; left out: its rows are ignored.", least=0
    ),
)
PERSON = (
    Key(
        "user",
        "text",
        "Sign-in name; may be left out of somebody who is there under the pseudonym.",
        default="",
    ),
    Key(
        "role",
        "text",
        "What the person does here.",
        choices=("manager", "annotator", "viewer"),
        default="annotator",
    ),
    Key(
        "pseudonym",
        "text",
        "Under which the judgements leave the campaign; left out: the next free one.",
        default="",
    ),
    Key(
        "standing",
        "text",
        "Whether the person takes part.",
        choices=("active", "paused", "excluded"),
        default="active",
    ),
    Key("reason", "text", "Why paused or excluded.", default=""),
)
INVITATION = (
    Key("name", "text", "For whom it is, if for one.", default=""),
    Key("email", "text", "The person's address.", default=""),
    Key(
        "role",
        "text",
        "What the person will do.",
        choices=("annotator", "manager", "viewer"),
        default="annotator",
    ),
    Key("max_uses", "whole", "For how many people it is good; 0 for any number.", least=0, none=0),
    Key("expires_at", "moment", 'Until when; "" for ever.', none=""),
)


INVITATIONS = Key(
    "invitations",
    "rows",
    "Links to send. Others stay.",
    row=INVITATION,
    identity=("name", "email", "role", "max_uses", "expires_at"),
)


def _number(name: str, kind: str, help: str, *, none: int | None = None) -> Key:
    most = rules.MOST.get(name, 2**31 - 1 if kind == "whole" else None)
    return Key(name, kind, help, least=rules.LEAST.get(name, 0), most=most, none=none)


SETTINGS = (
    Key("name", "text", "What annotators read."),
    Key("description", "text", "What it is about."),
    Key("scale", "rows", "The grades, lowest first.", row=GRADE, identity=("value",), whole=True),
    _number("threshold", "whole", "The lowest relevant grade."),
    _number("judgements_per_pair", "whole", "How many different annotators grade each pair."),
    _number("target_per_annotator", "whole", "Judgements that each is asked for; 0 for no target."),
    _number(
        "daily_limit", "whole", "Judgements of one annotator on one day; 0 for no limit.", none=0
    ),
    Key("continue_after_target", "flag", "Whether annotators may go on after their target."),
    Key("deadline", "moment", 'When the judging ends; "" for no deadline.', none=""),
    _number(
        "grace_minutes",
        "whole",
        "Minutes after the deadline in which answers given before it are taken.",
    ),
    _number(
        "closing_hours",
        "whole",
        "From so many hours before the deadline pairs that have judgements come first.",
    ),
    _number("min_active_seconds", "number", "Faster judgements count nowhere."),
    _number(
        "pause_after_fast",
        "whole",
        "Too fast judgements after which an annotator is paused until a manager lets go on; 0: nobody is.",
    ),
    _number(
        "idle_seconds", "whole", "Longer stretches without a sign of life are not active time."
    ),
    _number("expected_seconds", "number", "Expected seconds per judgement, for previews of cost."),
    _number("lease_minutes", "whole", "How long a pair is reserved for who has it on screen."),
    _number("lease_window", "whole", "Pairs leased ahead."),
    _number("block_length", "whole", "Pairs of one topic in a row."),
    _number(
        "band",
        "whole",
        "Neighbouring priorities that are judged together; 1: strictly by priority.",
    ),
    _number(
        "truncate_words", "whole", "Words of a document that are shown at first; 0 for all.", none=0
    ),
    Key("spans", "text", "Marking passages.", choices=("off", "optional", "required")),
    _number("spans_from", "whole", "The lowest grade for which a passage is required."),
    Key("rotate_text", "flag", "Start each annotator at another sentence, as FiRA does."),
    Key(
        "show_near_duplicates",
        "flag",
        "Offer a document very like the one on the page beside it, with the annotator's own grade of it.",
    ),
    _number("gold_every", "whole", "One gold or everyone pair in so many, on average."),
    _number(
        "min_common",
        "whole",
        "Planned overlap: pairs that two annotators should share; 0: not planned.",
    ),
    _number("min_partners", "whole", "Planned overlap: with how many others."),
    Key(
        "consent_text",
        "text",
        "Markdown that annotators agree to before the first pair; empty: none.",
    ),
    Key("thanks_text", "text", "Words at the end."),
    Key(
        "completion_code",
        "text",
        "Shown to who has reached the target; left out of a new campaign: one by chance.",
    ),
    Key("completion_url", "text", "Where annotators go at the end."),
    _number(
        "qualification_pass",
        "number",
        "Share of qualification pairs to get right; 0: no qualification.",
    ),
    Key(
        "gold_rule",
        "text",
        (
            "When a judgement of a gold or qualification pair is right: same side of `threshold`, "
            "within one grade, or the known grade."
        ),
        choices=tuple(rule.value for rule in GoldRule),
    ),
)
CAMPAIGN = (
    Key("slug", "text", "Its address: the campaign that is meant, or that is made.", required=True),
    *SETTINGS,
    _number("seed", "whole", "What fixes chances; cannot be changed."),
    Key(
        "judge_kind",
        "text",
        "Who judges; cannot be changed.",
        choices=tuple(kind.value for kind in JudgeKind),
    ),
    Key(
        "guidelines", "text", "Markdown. Another text is a new version, which annotators must read."
    ),
    Key("guidelines_file", "file", "A file with the guidelines, in place of the text."),
    Key("guidelines_note", "text", "What changed in a new version."),
    Key(
        "gold",
        "rows",
        "Pairs that are not ordinary. The list is whole: others become so.",
        row=GOLD,
        identity=("topic", "document"),
        whole=True,
    ),
    Key(
        "gold_file",
        "file",
        "A file of them (topic, document, grade; or qrels), in place of the list.",
    ),
    Key(
        "gold_grades",
        "rows",
        (
            "What the grades of gold count as. Needed if they may be of another scale: one is not on "
            "the scale, or none is its highest."
        ),
        row=GOLD_GRADES,
        identity=("file_grade",),
    ),
    Key(
        "people",
        "rows",
        "Who takes part; accounts must exist. Others stay.",
        row=PERSON,
        identity=("user", "pseudonym"),
    ),
    INVITATIONS,
    Key("state", "text", "The state that is wanted.", choices=STATES),
    Key("paused_reason", "text", "What annotators read while it is paused."),
)
TABLES = {"collection": COLLECTION, "pool": POOL, "campaign": CAMPAIGN}
FIXED = {
    "seed": "it has fixed chances already",
    "judge_kind": "judgements of one kind would stand under the name of another",
}
NOT_COMPARED = {"guidelines_note", "guidelines_file", "gold_file", "gold_grades"}


@dataclass(frozen=True)
class DescribedCampaign:
    """What was said, by table and key: a key that is not there was not mentioned."""

    collection: dict[str, Any] = field(default_factory=dict)
    pool: dict[str, Any] = field(default_factory=dict)
    campaign: dict[str, Any] = field(default_factory=dict)


class CampaignMistakes(Exception):
    """All that is wrong with a document."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("; ".join(sentence(one) for one in mistakes))
        self.mistakes = mistakes


def sentence(mistake: Mistake) -> str:
    return f"{shown_path(mistake.path)}: {mistake.problem}, expected {mistake.expected}"


def shown_path(path: Path) -> str:
    """As one would write it: campaign.people[2].role."""
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in path
    ).removeprefix(".")


def read_document(said: Any) -> DescribedCampaign:
    """Raises CampaignMistakes for all that no look at what is there could make right."""
    if not isinstance(said, Mapping):
        raise CampaignMistakes(
            [Mistake(("document",), "no table", "tables collection, pool and campaign")]
        )
    mistakes = [
        Mistake((str(name),), f"unknown table {str(name)[:60]!r}", f"one of {', '.join(TABLES)}")
        for name in said
        if name not in TABLES
    ]
    tables: dict[str, dict[str, Any]] = {}
    for name, keys in TABLES.items():
        tables[name], wrong = read_table(said[name], keys, (name,)) if name in said else ({}, [])
        mistakes += wrong
    if "collection" not in said:
        mistakes.append(
            Mistake(("collection",), "no table collection", "[collection] with its slug")
        )
    if not mistakes:
        mistakes = contradictions(DescribedCampaign(**tables))
    if mistakes:
        raise CampaignMistakes(mistakes)
    return DescribedCampaign(**tables)


def contradictions(said: DescribedCampaign) -> list[Mistake]:
    campaign, mistakes = said.campaign, []
    for name in ("guidelines", "gold"):
        if name in campaign and f"{name}_file" in campaign:
            mistakes.append(
                Mistake(("campaign", f"{name}_file"), f"{name} and {name}_file", "one of the two")
            )
    mistakes += [
        Mistake(("campaign", name), text.rstrip("."), "another value")
        for name, text in rules.problems(campaign)
    ]
    if "guidelines" in campaign and not campaign["guidelines"].strip():
        mistakes.append(
            Mistake(("campaign", "guidelines"), "empty guidelines", "a text, or no such key")
        )
    for number, row in enumerate(campaign.get("gold", [])):
        if (row["grade"] is None) != (row["kind"] == "everyone"):
            mistakes.append(
                Mistake(
                    ("campaign", "gold", number),
                    f"a pair that is {row['kind']}",
                    "a grade, but for a pair of everyone",
                )
            )
    for number, row in enumerate(campaign.get("people", [])):
        if not row["user"] and not row["pseudonym"]:
            mistakes.append(
                Mistake(
                    ("campaign", "people", number),
                    "nobody",
                    "user, or the pseudonym of somebody who is there",
                )
            )
        if (row["standing"] == "active") == bool(row["reason"]):
            problem = f"standing {row['standing']} of {row['user'] or row['pseudonym']}"
            mistakes.append(
                Mistake(
                    ("campaign", "people", number),
                    problem,
                    "a reason where paused or excluded, and only there",
                )
            )
    batches, sample = (
        [name for name in names if name in said.pool]
        for names in (("goal", "batch", "audit"), ("strata", "stages", "machine"))
    )
    if said.pool.get("pairs") and ({"depth", "runs"} & set(said.pool) or batches or sample):
        mistakes.append(
            Mistake(
                ("pool", "pairs"),
                "pairs of a file beside what makes a pool of runs",
                "one of the two",
            )
        )
    if batches and sample:
        mistakes.append(
            Mistake(
                ("pool", batches[0]),
                f"{batches[0]} of batches beside {' and '.join(sample)} of a sample",
                "one of the two",
            )
        )
    if campaign.get("paused_reason") and campaign.get("state") != "paused":
        mistakes.append(
            Mistake(
                ("campaign", "paused_reason"),
                "a reason of pausing for a campaign that does not pause",
                'state = "paused"',
            )
        )
    return mistakes


def with_gold_of_the_scale(said: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """Return the table with the grades of its gold as the scale has them. Raises CampaignMistakes
    if it does not say what they count as."""
    given = {row["grade"] for row in said.get("gold", []) if row["grade"] is not None}
    counts_as = {row["file_grade"]: row["grade"] for row in said.get("gold_grades", [])}
    if "gold" not in said or (not counts_as and not are_in_doubt(given, scale)):
        return dict(said)
    if unsaid := given - set(counts_as):
        problem = (
            f"gold has grades {grades_in_words(given)}, the scale has "
            f"{grades_in_words(scale.values)}; {grades_in_words(unsaid)} may mean something else"
        )
        raise CampaignMistakes(
            [
                Mistake(
                    ("campaign", "gold"),
                    problem,
                    f"gold_grades = [{{ file_grade = {min(unsaid)}, grade = ... }}, ...]",
                )
            ]
        )
    if off := {grade for grade in counts_as.values() if grade is not None} - set(scale.values):
        raise CampaignMistakes(
            [
                Mistake(
                    ("campaign", "gold_grades"),
                    f"grade {min(off)}",
                    f"a grade of the scale, {grades_in_words(scale.values)}",
                )
            ]
        )
    return {**said, "gold": with_grades(said["gold"], counts_as)}


def document_of(described: DescribedCampaign, *, as_text: bool = False) -> dict[str, Any]:
    """As TOML or, as_text, JSON has it: what `read_document` reads again."""
    tables = {
        "collection": described.collection,
        "pool": described.pool,
        "campaign": described.campaign,
    }
    return {
        name: plain_table(values, TABLES[name], as_text=as_text)
        for name, values in tables.items()
        if values
    }


def campaign_changes(
    before: Mapping[str, Any], wanted: Mapping[str, Any]
) -> tuple[list[Change], list[Mistake]]:
    """before: what is there, {} where nothing is. -> (changes, what cannot be)"""
    refused: list[Mistake] = []
    if before:
        for name, why in FIXED.items():
            if wanted.get(name, before[name]) != before[name]:
                refused.append(
                    Mistake(
                        ("campaign", name), f"{name} cannot be changed: {why}", str(before[name])
                    )
                )
        if wanted.get("state") == "draft" and before["state"] != "draft":
            problem = f"the campaign is {before['state']}: it has been opened and is no draft again"
            refused.append(Mistake(("campaign", "state"), problem, "open, paused or closed"))
    if "people" in wanted:
        wanted = {**wanted, "people": resolved(before.get("people", []), wanted["people"])}
        refused += people_refused(before.get("people", []), wanted["people"])
    keys = [key for key in CAMPAIGN if key.name not in NOT_COMPARED | {"slug"}]
    return differences(before, wanted, keys, "campaign"), refused


def resolved(
    before: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The rows of people with user and pseudonym of those who are there, whichever was given."""
    by_user, by_pseudonym = (
        {row["user"]: row for row in before},
        {row["pseudonym"]: row for row in before},
    )
    mistakes = []
    for row in wanted:
        old = by_user.get(row["user"]) if row["user"] else by_pseudonym.get(row["pseudonym"])
        names = {name: row[name] or (old[name] if old else "") for name in ("user", "pseudonym")}
        mistakes.append({**row, **names})
    return mistakes


def people_refused(
    before: Sequence[Mapping[str, Any]], wanted: Sequence[Mapping[str, Any]]
) -> list[Mistake]:
    row_of_user, named = (
        {row["user"]: row for row in before},
        {row["pseudonym"]: row["user"] for row in before},
    )
    mistakes = []
    for number, row in enumerate(wanted):
        path, old = ("campaign", "people", number), row_of_user.get(row["user"])
        if not row["user"]:
            mistakes.append(
                Mistake(
                    (*path, "pseudonym"),
                    f"nobody here judges as {row['pseudonym']}",
                    "the sign-in name of whoever is to join",
                )
            )
        elif old is None and named.get(row["pseudonym"]):
            mistakes.append(
                Mistake(
                    (*path, "pseudonym"),
                    f"{row['pseudonym']} is somebody else",
                    "another pseudonym, or none",
                )
            )
        elif old is not None and old["role"] != row["role"]:
            mistakes.append(
                Mistake(
                    (*path, "role"),
                    f"{row['user']} is {old['role']} already, and a role stays what it is",
                    f'"{old["role"]}"',
                )
            )
        elif old is not None and row["pseudonym"] != old["pseudonym"]:
            reason = f"{row['user']} judges as {old['pseudonym']}, under which exports may be out"
            mistakes.append(Mistake((*path, "pseudonym"), reason, f'"{old["pseudonym"]}"'))
    return mistakes
