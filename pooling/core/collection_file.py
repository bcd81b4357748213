"""Keys of the file that declares a collection and a pool, and checks of its values that need no
database."""

from __future__ import annotations

from assay.pools.pool_kinds import MAX_AUDIT, MAX_IN_BATCH
from pooling.core.declaration import Key

RUN = (
    Key("tag", "text", "Tag of the run in the collection.", required=True),
    Key("file", "file", "File to import.", default=""),
    Key("group", "text", "Group that submitted the run.", default=""),
    Key("description", "text", "Description of the run.", default=""),
    Key("submitted_on", "day", 'Submission date for leaderboards; "" for none.', none=""),
    Key("baseline", "flag", "Whether the run is a baseline of the organisers.", default=False),
    Key(
        "order",
        "text",
        "Order of documents: by score or by the rank column.",
        choices=("score", "rank"),
        default="score",
    ),
    Key(
        "lenient",
        "flag",
        "Ignore extra columns, and accept files of three or four columns.",
        default=False,
    ),
)
QRELS = (
    Key("name", "text", "Name of the qrels in the collection.", required=True),
    Key("file", "file", "File to import.", default=""),
    Key(
        "kind",
        "text",
        "Whether the labels come from judgements or from clicks.",
        choices=("judged", "clicks"),
        default="judged",
    ),
)
REMOVED = (
    Key("topic", "text", "Topic ID.", required=True),
    Key("reason", "text", "Reason for the removal.", default="by hand"),
)
COLLECTION = (
    Key("slug", "text", "Slug of the collection to change or create.", required=True),
    Key("name", "text", "Name of the collection. Required for a new collection."),
    Key("description", "text", "Description of the collection."),
    Key(
        "n_documents",
        "whole",
        "Number of documents in the whole collection; 0 if unknown.",
        least=0,
        none=0,
    ),
    Key(
        "text_format",
        "text",
        "Format of document texts on the judging page.",
        choices=("plain", "markdown"),
    ),
    Key("managers", "texts", "Usernames of managers. Unlisted managers do not change."),
    Key("topics", "files", "Topic files."),
    Key("documents", "files", "Document files."),
    Key("runs", "rows", "Runs. Unlisted runs do not change.", row=RUN, identity=("tag",)),
    Key("qrels", "rows", "Qrels. Unlisted qrels do not change.", row=QRELS, identity=("name",)),
    Key(
        "topic_check",
        "text",
        "Remove undecided topics that the topic check proposes at this level.",
        choices=("exact", "punctuation", "suspect"),
    ),
    Key(
        "removed",
        "rows",
        (
            "Removed topics with reasons. Without topic_check the list is complete: other removed "
            "topics are restored."
        ),
        row=REMOVED,
        identity=("topic",),
    ),
    Key("kept", "texts", "IDs of topics to keep regardless of the topic check."),
)
POOL = (
    Key(
        "name",
        "text",
        "Name of the pool to change or create.",
        required=True,
    ),
    Key(
        "depth",
        "whole",
        "Depth of the pool. A greater depth extends the pool.",
        least=1,
        most=1000,
    ),
    Key(
        "runs",
        "texts",
        "Tags of the pooled runs. Default for a new pool: all runs. Additional runs extend the pool.",
    ),
    Key("seed", "whole", "Seed of the order and of samples.", least=0),
    Key(
        "goal",
        "text",
        "Goal of a prioritised pool: relevant documents of any topic, or an equal share per topic.",
        choices=("relevant", "equal"),
    ),
    Key("batch", "whole", "Pairs per batch of a prioritised pool.", least=1, most=MAX_IN_BATCH),
    Key(
        "audit",
        "number",
        "Share of each batch that is drawn at random as audit sample.",
        least=0,
        most=MAX_AUDIT,
    ),
    Key("strata", "text", "Strata of a sampled pool.", choices=("rank", "votes", "llm")),
    Key(
        "llm_judge",
        "text",
        "Frozen LLM judge whose grades form the strata, as campaign/judge.",
    ),
    Key(
        "stages",
        "numbers",
        "Share of the pool that is sampled at the end of each stage. Additional shares draw further stages.",
    ),
    Key("pairs", "file", "File that lists the pairs of the pool, instead of depth and runs."),
    Key("rounds", "whole", "Rounds of a pool of battles between the runs.", least=1, most=100),
    Key(
        "repeated",
        "number",
        "Share of battles shown again with exchanged sides (default: 0.1).",
        least=0,
        most=1,
    ),
    Key(
        "battles",
        "file",
        "File of a pool of battles: rows `topic a b`, instead of rounds and runs.",
    ),
)
FILE_KEYS = {"topics", "documents", "file", "pairs", "battles", "order", "lenient"}
"""Keys that describe how something is imported. They are not part of the current state."""
