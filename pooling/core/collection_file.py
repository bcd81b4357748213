"""What a file says of a collection and a pool: keys, and what of it can be told wrong without
looking at what is there."""

from __future__ import annotations

from assay.pools.pool_kinds import MOST_AUDIT, MOST_IN_BATCH
from pooling.core.declared import Key

RUN = (
    Key("tag", "text", "The run's tag in the collection.", required=True),
    Key("file", "file", "The file that it is brought from.", default=""),
    Key("group", "text", "Who submitted it.", default=""),
    Key("description", "text", "What it is.", default=""),
    Key("submitted_on", "day", 'Its date on leaderboards; "" for none.', none=""),
    Key("baseline", "flag", "Made by the organisers.", default=False),
    Key(
        "order",
        "text",
        "The file's order: by score, or by the rank column.",
        choices=("score", "rank"),
        default="score",
    ),
    Key(
        "lenient",
        "flag",
        "Ignore extra columns, take files of three or four columns.",
        default=False,
    ),
)
QRELS = (
    Key("name", "text", "What they are called in the collection.", required=True),
    Key("file", "file", "The file that they are brought from.", default=""),
    Key(
        "kind",
        "text",
        "Made from judgements or from clicks.",
        choices=("judged", "clicks"),
        default="judged",
    ),
)
REMOVED = (
    Key("topic", "text", "Its id.", required=True),
    Key("reason", "text", "Why it is removed.", default="by hand"),
)
COLLECTION = (
    Key(
        "slug", "text", "Its address: the collection that is meant, or that is made.", required=True
    ),
    Key("name", "text", "What people read; needed for a new one."),
    Key("description", "text", "What it is."),
    Key(
        "n_documents",
        "whole",
        "Documents of the whole collection, not only of pools; 0 where it is not known.",
        least=0,
        none=0,
    ),
    Key(
        "text_format",
        "text",
        "How its documents are set on the judging page.",
        choices=("plain", "markdown"),
    ),
    Key("managers", "texts", "Sign-in names of those who may change it. Others stay."),
    Key("topics", "files", "Files of topics."),
    Key("documents", "files", "Files of documents."),
    Key("runs", "rows", "Runs. Others stay.", row=RUN, identity=("tag",)),
    Key("qrels", "rows", "Qrels. Others stay.", row=QRELS, identity=("name",)),
    Key(
        "topic_check",
        "text",
        "Remove what the check of topics proposes at this level and nobody has decided.",
        choices=("exact", "punctuation", "suspect"),
    ),
    Key(
        "removed",
        "rows",
        (
            "Topics that are removed, with the reason. Without topic_check the list is whole: another "
            "topic that is removed comes back."
        ),
        row=REMOVED,
        identity=("topic",),
    ),
    Key("kept", "texts", "Ids of topics that are kept whatever the check proposes."),
)
POOL = (
    Key(
        "name",
        "text",
        "Its name in the collection: the pool that is meant, or that is made.",
        required=True,
    ),
    Key(
        "depth",
        "whole",
        "Ranks of each run that it holds; a greater one extends it.",
        least=1,
        most=1000,
    ),
    Key(
        "runs",
        "texts",
        "Tags of its runs (left out: all of the collection when it is made); further ones extend it.",
    ),
    Key("seed", "whole", "Of its order and draws.", least=0),
    Key(
        "goal",
        "text",
        "Of a pool in batches, relevant first: whatever topic, or of each the same share.",
        choices=("relevant", "equal"),
    ),
    Key("batch", "whole", "Of a pool in batches: pairs of each.", least=1, most=MOST_IN_BATCH),
    Key(
        "audit",
        "number",
        "Of a pool in batches: share of each that is drawn at random.",
        least=0,
        most=MOST_AUDIT,
    ),
    Key("strata", "text", "Of a sampled pool.", choices=("rank", "votes", "machine")),
    Key(
        "machine",
        "text",
        "With strata of a machine: the frozen judge by whose grades they are made, as campaign/judge.",
    ),
    Key(
        "stages",
        "numbers",
        "Of a sampled pool: shares of it by the end of each stage; further ones are drawn.",
    ),
    Key("pairs", "file", "A file that names its pairs, in place of depth and runs."),
)
FILE_KEYS = {"topics", "documents", "file", "pairs", "order", "lenient"}
"""What only says how something is brought: no part of what is there."""
