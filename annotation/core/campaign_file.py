"""Campaign files: read a campaign from TOML or JSON into plain values, and write it again.

    described = parse_campaign_file({"collection": {...}, "pool": {...}, "campaign": {...}})
    make_document(described)

`parse_campaign_file` raises CampaignMistakes if the file is invalid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from annotation.core import limits
from annotation.core.control_pairs import (
    format_grades,
    is_scale_uncertain,
    map_grades,
    suggest_grades,
)
from annotation.core.gold_rules import GoldRule
from annotation.core.panel_events import PANEL_DEFAULTS
from annotation.core.preferences import Task
from annotation.core.publication import Author, Publication
from annotation.core.scale import SHAPES, Scale
from annotation.core.webhook_messages import SUBSCRIBED_EVENTS, MessageForm
from assay.labels.annotator_types import AnnotatorType
from pooling.core.collection_file import COLLECTION, POOL
from pooling.core.declaration import (
    Change,
    Key,
    Mistake,
    Path,
    list_changes,
    plain_table,
    read_table,
)

MAX_EXAMPLE_ROWS = 10
STATES = ("draft", "open", "paused", "closed")
GRADE = (
    Key("value", "whole", "Value of the grade.", least=0, most=999, required=True),
    Key("name", "text", "Name shown to annotators.", required=True),
    Key("explanation", "text", "When to give this grade.", default=""),
    Key("example", "text", "Examples, one per line.", default=""),
    Key(
        "shape",
        "text",
        "Shape of the sign that is shown in the colour of the grade.",
        choices=SHAPES,
        default="disc",
    ),
)
FURTHER_QUESTION = (
    Key("key", "text", "Key of the question in files, such as understandability.", required=True),
    Key("title", "text", "Title shown to annotators.", required=True),
    Key("prompt", "text", "Question shown above the buttons.", required=True),
    Key(
        "scale",
        "rows",
        "Values of the scale, lowest first.",
        row=GRADE,
        identity=("value",),
        required=True,
    ),
    Key("min_relevant", "whole", "Lowest value that counts as 1 in binary labels.", required=True),
    Key("required", "flag", "Whether an answer is required.", default=True),
    Key(
        "asked_from",
        "whole",
        "Lowest grade after which the question is asked. If left out, it is always asked.",
    ),
)
GOLD = (
    Key("topic", "text", "Topic ID.", required=True),
    Key("document", "text", "Document ID.", required=True),
    Key(
        "kind",
        "text",
        "Kind of control pair.",
        choices=("gold", "everyone", "qualification"),
        default="gold",
    ),
    Key("grade", "whole", "Known grade. Calibration pairs (everyone) have none.", least=0),
    Key(
        "explanation",
        "text",
        "Explanation shown after a qualification answer.",
        default="",
    ),
)
GOLD_GRADES = (
    Key("file_grade", "whole", "Grade in the rows of gold.", required=True),
    Key(
        "grade",
        "whole",
        "Corresponding grade of the scale. If left out, rows with the file grade are ignored.",
        least=0,
    ),
)
PERSON = (
    Key(
        "user",
        "text",
        "Username. Optional if the pseudonym exists in the campaign.",
        default="",
    ),
    Key(
        "role",
        "text",
        "Role in the campaign.",
        choices=("manager", "annotator", "viewer"),
        default="annotator",
    ),
    Key(
        "pseudonym",
        "text",
        "Pseudonym in exports. Default: the next free pseudonym.",
        default="",
    ),
    Key(
        "status",
        "text",
        "Status of the person.",
        choices=("active", "paused", "excluded"),
        default="active",
    ),
    Key("reason", "text", "Reason for a pause or exclusion.", default=""),
)
INVITATION = (
    Key("name", "text", "Name of the invited person, if the link is for one person.", default=""),
    Key("email", "text", "Email address of the invited person.", default=""),
    Key(
        "role",
        "text",
        "Role of people who accept.",
        choices=("annotator", "manager", "viewer"),
        default="annotator",
    ),
    Key("max_uses", "whole", "Maximum uses; 0 for no limit.", least=0, none=0),
    Key("expires_at", "moment", 'Expiry date and time; "" for none.', none=""),
)


INVITATIONS = Key(
    "invitations",
    "rows",
    "Invitation links. Unlisted links do not change.",
    row=INVITATION,
    identity=("name", "email", "role", "max_uses", "expires_at"),
)

WEBHOOK = (
    Key("name", "text", "Name of the webhook, unique within the campaign.", required=True),
    Key(
        "url",
        "text",
        "Address that receives the events. Exports contain `…` for its path, which can be a secret. "
        "Keep it to leave the address unchanged.",
        required=True,
    ),
    Key(
        "form",
        "text",
        "Signed JSON (standard), or one sentence for Slack and Teams (text).",
        choices=tuple(form.value for form in MessageForm),
        default=MessageForm.STANDARD.value,
    ),
    Key(
        "events",
        "texts",
        "Names of events. Default: all.",
        default=[event.value for event in SUBSCRIBED_EVENTS],
    ),
    Key("site", "text", "Address of this installation, for links in messages.", required=True),
)
WEBHOOKS = Key(
    "webhooks",
    "rows",
    "Webhooks, each with a new secret. Unlisted webhooks do not change.",
    row=WEBHOOK,
    identity=("name",),
)
PANEL_CODES = ("done_code", "failed_code", "declined_code", "full_code")
PANEL = (
    Key("name", "text", "Name of the panel.", default=PANEL_DEFAULTS["name"]),
    Key("is_open", "flag", "Whether new guests are admitted.", default=PANEL_DEFAULTS["is_open"]),
    Key("places", "whole", "Maximum number of guests.", least=1, most=100_000, required=True),
    Key("judgements", "whole", "Judgements per guest.", least=1, most=1_000_000, required=True),
    Key("reward", "number", "Payment per guest, without currency.", least=0, most=1e6),
    Key("min_hourly_pay", "number", "Minimum hourly pay.", least=0, most=1e6),
    *(
        Key(name, "text", f"Code: {outcome}. Default: unchanged, or a random code.", default="")
        for name, outcome in zip(
            PANEL_CODES,
            ("finished", "failed the qualification test", "no consent", "campaign full"),
            strict=True,
        )
    ),
    *(
        Key(name, "text", help, default=PANEL_DEFAULTS[name])
        for name, help in (
            ("return_address", "Address at the panel; `CODE` is replaced by the completion code."),
            ("participant_parameter", "Parameter of the link with the participant's ID."),
            ("submission_parameter", "Parameter with the submission's ID; empty if there is none."),
        )
    ),
)


def _publication_keys() -> Iterator[Key]:
    """Return the keys of Publication and of its authors."""
    for f in fields(Publication):
        if f.name == "authors":
            row = tuple(
                Key(a.name, "text", a.metadata["help"], default="", required=a.name == "name")
                for a in fields(Author)
            )
            help = f.metadata["help"]
            yield Key(f.name, "rows", help, default=[], row=row)
        else:
            yield Key(f.name, "text", f.metadata["help"], default="")


PUBLICATION = tuple(_publication_keys())


def _number_key(name: str, kind: str, help: str, *, none: int | None = None) -> Key:
    most = limits.MAX_VALUES.get(name, 2**31 - 1 if kind == "whole" else None)
    return Key(name, kind, help, least=limits.MIN_VALUES.get(name, 0), most=most, none=none)


SETTINGS = (
    Key("name", "text", "Name shown to annotators."),
    Key("description", "text", "Description of the campaign."),
    Key(
        "task",
        "text",
        "Whether annotators grade documents or compare two side by side. Cannot be changed.",
        choices=tuple(task.value for task in Task),
    ),
    Key("scale", "rows", "Grades, lowest first.", row=GRADE, identity=("value",), whole=True),
    _number_key("min_relevant", "whole", "Minimum relevant grade."),
    Key(
        "further_questions",
        "rows",
        "Questions asked after the grade, at most four.",
        row=FURTHER_QUESTION,
        identity=("key",),
        whole=True,
        ordered=True,
    ),
    _number_key("judgements_per_pair", "whole", "Judgements per pair, each by another annotator."),
    _number_key(
        "target_per_annotator",
        "whole",
        "Target number of judgements per annotator; 0 for no target.",
    ),
    _number_key(
        "daily_limit", "whole", "Maximum judgements per annotator and day; 0 for no limit.", none=0
    ),
    Key("continue_after_target", "flag", "Whether annotators can continue after their target."),
    Key("deadline", "moment", 'End of judging; "" for no deadline.', none=""),
    _number_key(
        "grace_minutes",
        "whole",
        "Minutes after the deadline in which answers given before it are accepted.",
    ),
    _number_key(
        "closing_hours",
        "whole",
        "Number of hours before the deadline in which partly judged pairs come first.",
    ),
    _number_key(
        "min_active_seconds",
        "number",
        "Minimum active time in seconds. Faster judgements are not counted.",
    ),
    _number_key(
        "pause_after_fast",
        "whole",
        "Judgements below the minimum time after which an annotator is paused; 0 for never.",
    ),
    _number_key(
        "idle_seconds", "whole", "Inactivity timeout in seconds. Longer gaps are idle time."
    ),
    _number_key(
        "expected_seconds", "number", "Expected seconds per judgement, for previews of cost."
    ),
    _number_key("lease_minutes", "whole", "Minutes for which a pair on screen stays assigned."),
    _number_key(
        "lease_window",
        "whole",
        "Number of pairs assigned ahead. Annotators can choose 10 to judge offline.",
    ),
    _number_key("block_length", "whole", "Consecutive pairs of one topic."),
    _number_key(
        "band",
        "whole",
        "Number of neighbouring priorities judged together; 1 for strict order.",
    ),
    _number_key(
        "truncate_words", "whole", "Words of a document shown at first; 0 for all.", none=0
    ),
    Key(
        "spans",
        "text",
        "Whether annotators mark passages.",
        choices=("off", "optional", "required"),
    ),
    _number_key("spans_from", "whole", "Lowest grade that requires a passage."),
    Key(
        "rotate_text", "flag", "Start the text at another sentence for each annotator, as in FiRA."
    ),
    Key(
        "show_near_duplicates",
        "flag",
        "Show the grade that the annotator gave to a very similar document.",
    ),
    _number_key("gold_every", "whole", "Average number of pairs per gold or calibration pair."),
    _number_key(
        "min_common",
        "whole",
        "Planned overlap: pairs shared by two annotators; 0 for none.",
    ),
    _number_key("min_partners", "whole", "Planned overlap: number of other annotators."),
    Key(
        "consent_text",
        "text",
        "Consent text in Markdown, shown before the first pair. Empty for none.",
    ),
    Key("thanks_text", "text", "Text shown at the end."),
    Key(
        "completion_code",
        "text",
        "Code shown when the target is reached. Default for a new campaign: a random code.",
    ),
    Key("completion_url", "text", "Address that annotators are sent to at the end."),
    _number_key(
        "qualification_pass",
        "number",
        "Share of qualification pairs to answer correctly; 0 for no test.",
    ),
    Key(
        "gold_rule",
        "text",
        (
            "When a gold or qualification answer counts as right: same side of `min_relevant`, "
            "within one grade, or the known grade."
        ),
        choices=tuple(rule.value for rule in GoldRule),
    ),
    Key(
        "publication",
        "table",
        "Publication metadata for releases. The table is complete: omitted keys become empty.",
        row=PUBLICATION,
    ),
)
CAMPAIGN = (
    Key("slug", "text", "Slug of the campaign to change or create.", required=True),
    *SETTINGS,
    _number_key("seed", "whole", "Seed of random choices. Cannot be changed."),
    Key(
        "annotator_type",
        "text",
        "Annotator type. Cannot be changed.",
        choices=tuple(kind.value for kind in AnnotatorType),
    ),
    Key(
        "guidelines",
        "text",
        "Guidelines in Markdown. A changed text is a new version, which annotators must read.",
    ),
    Key("guidelines_file", "file", "File with the guidelines, instead of the text."),
    Key("guidelines_note", "text", "Summary of the changes in a new version."),
    Key(
        "gold",
        "rows",
        "Control pairs. The list is complete: other pairs become ordinary.",
        row=GOLD,
        identity=("topic", "document"),
        whole=True,
    ),
    Key(
        "gold_file",
        "file",
        "File of control pairs (topic, document, grade; or qrels), instead of the list.",
    ),
    Key(
        "gold_grades",
        "rows",
        (
            "Mapping of gold grades to the scale. Required if a grade is not on "
            "the scale, or if none is its highest."
        ),
        row=GOLD_GRADES,
        identity=("file_grade",),
    ),
    Key(
        "people",
        "rows",
        "People with existing accounts. Unlisted people do not change.",
        row=PERSON,
        identity=("user", "pseudonym"),
    ),
    INVITATIONS,
    Key(
        "panel",
        "table",
        "Guests from Prolific or another panel. The table is complete: omitted keys get their "
        "defaults. The webhook secret does not change.",
        row=PANEL,
    ),
    WEBHOOKS,
    Key("state", "text", "State of the campaign.", choices=STATES),
    Key("paused_reason", "text", "Reason shown to annotators during a pause."),
)
TABLE_KEYS = {"collection": COLLECTION, "pool": POOL, "campaign": CAMPAIGN}
FIXED_REASONS = {
    "task": "its pairs and answers depend on it",
    "seed": "random choices already depend on it",
    "annotator_type": "existing judgements would change their annotator type",
}
UNCOMPARED_KEYS = {"guidelines_note", "guidelines_file", "gold_file", "gold_grades"}


@dataclass(frozen=True)
class CampaignDescription:
    """The contents of a campaign file, by table and key. Keys that the file omits are absent."""

    collection: dict[str, Any] = field(default_factory=dict)
    pool: dict[str, Any] = field(default_factory=dict)
    campaign: dict[str, Any] = field(default_factory=dict)


class CampaignMistakes(Exception):
    """All errors in a campaign file."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("; ".join(format_mistake(one) for one in mistakes))
        self.mistakes = mistakes


def format_mistake(mistake: Mistake) -> str:
    return f"{format_path(mistake.path)}: {mistake.problem}, expected {mistake.expected}"


def format_path(path: Path) -> str:
    """Format a path as in an expression: campaign.people[2].role."""
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in path
    ).removeprefix(".")


def parse_campaign_file(content: Any) -> CampaignDescription:
    """Read a campaign file from its parsed values. Raises CampaignMistakes with every error that
    can be found without the database."""
    if not isinstance(content, Mapping):
        raise CampaignMistakes(
            [Mistake(("document",), "not a table", "tables collection, pool and campaign")]
        )
    mistakes = [
        Mistake(
            (str(name),), f"unknown table {str(name)[:60]!r}", f"one of {', '.join(TABLE_KEYS)}"
        )
        for name in content
        if name not in TABLE_KEYS
    ]
    tables: dict[str, dict[str, Any]] = {}
    for name, keys in TABLE_KEYS.items():
        tables[name], wrong = (
            read_table(content[name], keys, (name,)) if name in content else ({}, [])
        )
        mistakes += wrong
    if "collection" not in content:
        mistakes.append(
            Mistake(("collection",), "missing table collection", "[collection] with its slug")
        )
    if not mistakes:
        mistakes = find_contradictions(CampaignDescription(**tables))
    if mistakes:
        raise CampaignMistakes(mistakes)
    return CampaignDescription(**tables)


def find_contradictions(description: CampaignDescription) -> list[Mistake]:
    campaign, mistakes = description.campaign, []
    for name in ("guidelines", "gold"):
        if name in campaign and f"{name}_file" in campaign:
            mistakes.append(
                Mistake(
                    ("campaign", f"{name}_file"),
                    f"{name} and {name}_file are both given",
                    "one of them",
                )
            )
    mistakes += [
        Mistake(("campaign", name), text.rstrip("."), "another value")
        for name, text in limits.find_problems(campaign)
    ]
    mistakes += [
        Mistake(("campaign", "publication", *path), problem, expected)
        for path, problem, expected in Publication.read(
            campaign.get("publication", {})
        ).find_problems()
    ]
    if "guidelines" in campaign and not campaign["guidelines"].strip():
        mistakes.append(
            Mistake(
                ("campaign", "guidelines"), "guidelines are empty", "a text, or no key guidelines"
            )
        )
    for number, row in enumerate(campaign.get("gold", [])):
        if (row["grade"] is None) != (row["kind"] == "everyone"):
            mistakes.append(
                Mistake(
                    ("campaign", "gold", number),
                    f"{row['kind']} pair with{'out' if row['grade'] is None else ''} a grade",
                    "a grade, except for kind everyone",
                )
            )
    for number, row in enumerate(campaign.get("people", [])):
        if not row["user"] and not row["pseudonym"]:
            mistakes.append(
                Mistake(
                    ("campaign", "people", number),
                    "neither user nor pseudonym",
                    "a username, or the pseudonym of a member",
                )
            )
        if (row["status"] == "active") == bool(row["reason"]):
            problem = f"status {row['status']} of {row['user'] or row['pseudonym']}"
            mistakes.append(
                Mistake(
                    ("campaign", "people", number),
                    problem,
                    "a reason if paused or excluded, otherwise none",
                )
            )
    for number, row in enumerate(campaign.get("webhooks", [])):
        if not row["events"] or set(row["events"]) - set(SUBSCRIBED_EVENTS):
            mistakes.append(
                Mistake(
                    ("campaign", "webhooks", number, "events"),
                    f"events = {', '.join(row['events']) or 'none'}",
                    f"one or more of {', '.join(SUBSCRIBED_EVENTS)}",
                )
            )
    batches, sample = (
        [name for name in names if name in description.pool]
        for names in (("goal", "batch", "audit"), ("strata", "stages", "llm_judge"))
    )
    if description.pool.get("pairs") and (
        {"depth", "runs"} & set(description.pool) or batches or sample
    ):
        mistakes.append(
            Mistake(
                ("pool", "pairs"),
                "pairs of a file together with keys for a pool of runs",
                "one or the other",
            )
        )
    if batches and sample:
        mistakes.append(
            Mistake(
                ("pool", batches[0]),
                f"{batches[0]} (prioritised pool) together with {' and '.join(sample)} (sampled pool)",
                "one or the other",
            )
        )
    if campaign.get("paused_reason") and campaign.get("state") != "paused":
        mistakes.append(
            Mistake(
                ("campaign", "paused_reason"),
                "a pause reason for a campaign that is not paused",
                'state = "paused"',
            )
        )
    return mistakes


def map_gold_to_scale(campaign_values: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """Return the table with its gold grades mapped to the scale. Raises CampaignMistakes if the
    mapping of a grade is missing."""
    given = {row["grade"] for row in campaign_values.get("gold", []) if row["grade"] is not None}
    counts_as = {row["file_grade"]: row["grade"] for row in campaign_values.get("gold_grades", [])}
    if "gold" not in campaign_values or (not counts_as and not is_scale_uncertain(given, scale)):
        return dict(campaign_values)
    if unsaid := given - set(counts_as):
        problem = (
            f"the known grades are {format_grades(given)}, but the scale is "
            f"{format_grades(scale.values)}"
        )
        suggested = suggest_grades(given, scale)
        rows = ", ".join(
            f"{{ file_grade = {grade}, grade = {suggested.get(grade, '...')} }}"
            for grade in sorted(unsaid)[:MAX_EXAMPLE_ROWS]
        )
        raise CampaignMistakes(
            [
                Mistake(
                    ("campaign", "gold"),
                    problem,
                    f"what each known grade counts as, for example gold_grades = [{rows}]",
                )
            ]
        )
    if off := {grade for grade in counts_as.values() if grade is not None} - set(scale.values):
        raise CampaignMistakes(
            [
                Mistake(
                    ("campaign", "gold_grades"),
                    f"grade {min(off)}",
                    f"a grade of the scale, {format_grades(scale.values)}",
                )
            ]
        )
    return {**campaign_values, "gold": map_grades(campaign_values["gold"], counts_as)}


def make_document(description: CampaignDescription, *, as_text: bool = False) -> dict[str, Any]:
    """Convert a campaign description to the values of a TOML file or, with `as_text`, of JSON.
    `parse_campaign_file` accepts the result."""
    tables = {
        "collection": description.collection,
        "pool": description.pool,
        "campaign": description.campaign,
    }
    return {
        name: plain_table(values, TABLE_KEYS[name], as_text=as_text)
        for name, values in tables.items()
        if values
    }


def plan_campaign_changes(
    stored: Mapping[str, Any], declared: Mapping[str, Any]
) -> tuple[list[Change], list[Mistake]]:
    """Plan the changes from a stored campaign to the declared one.

    stored: the stored values, {} if the campaign does not exist. Returns (changes, errors), where
    errors are the changes that are not possible.
    """
    refused: list[Mistake] = []
    if stored:
        for name, why in FIXED_REASONS.items():
            if declared.get(name, stored[name]) != stored[name]:
                refused.append(
                    Mistake(
                        ("campaign", name), f"{name} cannot be changed: {why}", str(stored[name])
                    )
                )
        if declared.get("state") == "draft" and stored["state"] != "draft":
            problem = f"the campaign is {stored['state']}: it cannot become a draft again"
            refused.append(Mistake(("campaign", "state"), problem, "open, paused or closed"))
    if "people" in declared:
        declared = {
            **declared,
            "people": resolve_people(stored.get("people", []), declared["people"]),
        }
        refused += find_invalid_people(stored.get("people", []), declared["people"])
    keys = [key for key in CAMPAIGN if key.name not in UNCOMPARED_KEYS | {"slug"}]
    return list_changes(stored, declared, keys, "campaign"), refused


def resolve_people(
    stored: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the declared rows of people, with a missing username or pseudonym filled in from the
    existing member."""
    by_user, by_pseudonym = (
        {row["user"]: row for row in stored},
        {row["pseudonym"]: row for row in stored},
    )
    mistakes = []
    for row in declared:
        old = by_user.get(row["user"]) if row["user"] else by_pseudonym.get(row["pseudonym"])
        names = {name: row[name] or (old[name] if old else "") for name in ("user", "pseudonym")}
        mistakes.append({**row, **names})
    return mistakes


def find_invalid_people(
    stored: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]]
) -> list[Mistake]:
    row_of_user, named = (
        {row["user"]: row for row in stored},
        {row["pseudonym"]: row["user"] for row in stored},
    )
    mistakes = []
    for number, row in enumerate(declared):
        path, old = ("campaign", "people", number), row_of_user.get(row["user"])
        if not row["user"]:
            mistakes.append(
                Mistake(
                    (*path, "pseudonym"),
                    f"no member has the pseudonym {row['pseudonym']}",
                    "the username of the new member",
                )
            )
        elif old is None and named.get(row["pseudonym"]):
            mistakes.append(
                Mistake(
                    (*path, "pseudonym"),
                    f"pseudonym {row['pseudonym']} belongs to another member",
                    "another pseudonym, or none",
                )
            )
        elif old is not None and old["role"] != row["role"]:
            mistakes.append(
                Mistake(
                    (*path, "role"),
                    f"{row['user']} is already {old['role']}, and roles cannot be changed",
                    f'"{old["role"]}"',
                )
            )
        elif old is not None and row["pseudonym"] != old["pseudonym"]:
            reason = (
                f"{row['user']} has the pseudonym {old['pseudonym']}, which exports may contain"
            )
            mistakes.append(Mistake((*path, "pseudonym"), reason, f'"{old["pseudonym"]}"'))
    return mistakes
