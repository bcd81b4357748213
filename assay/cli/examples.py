"""An example of each command, which ends its help.

Tests run the examples of commands on files with small files of these names, and parse the others.
"""

from __future__ import annotations

EXAMPLES = {
    "evaluate": 'qrels.txt bm25.run dense.run --measures "AP nDCG@10"',
    "leaderboard": "--scores leaderboard.csv",
    "unjudged": "qrels.txt new.run --pool-runs bm25.run dense.run",
    "facets score": "qrels.txt clicks.qrels bm25.run dense.run --min-facet 1",
    "answers support": "answers.jsonl support.tsv",
    "answers nuggets": "nuggets.jsonl assignments.tsv --scores nuggets.scores",
    "answers rubrics": "rubrics.jsonl verdicts.tsv",
    "compare systems": "qrels.txt bm25.run dense.run --measures nDCG@10",
    "compare runs": "qrels.txt bm25.run dense.run",
    "compare rankings": "bm25.run dense.run new.run --qrels judged=qrels.txt --qrels clicks=clicks.qrels",
    "compare preferences": "battles.tsv --adjust position",
    "compare labels": "--judged qrels.txt --clicks dctr=clicks.qrels",
    "check bootstrap": "qrels.txt bm25.run dense.run --measures nDCG@10 --trials 200",
    "check halves": "qrels.txt bm25.run dense.run --splits 10",
    "check stability": "qrels.txt bm25.run dense.run new.run --element topics --pairs 5",
    "check reusability": "qrels.txt bm25.run dense.run --depth 5",
    "check submissions": "submissions.csv",
    "plan study": "qrels.txt bm25.run dense.run --measures nDCG@10 --difference 0.05",
    "plan stopping": "qrels.txt bm25.run dense.run",
    "simulate campaign": "qrels.txt bm25.run dense.run --depth 5",
    "aggregate": "judgements.csv --method majority --output labels.txt",
    "agreement": "judgements.csv",
    "judgements stats": "judgements.csv",
    "judgements import": "judgements.csv --user ada",
    "judgements export": "--campaign news --output judgements.csv",
    "clicks convert": "clicks.tsv --click-model dctr --output clicks.qrels",
    "llm judge": (
        "pool.tsv --topics topics.tsv --documents documents.jsonl --model llama3"
        " --endpoint http://127.0.0.1:11434/v1 --store answers.jsonl --output labels.qrels"
    ),
    "llm compare": "sampled.prel bm25.run dense.run --llm-labels llama3=llm.qrels",
    "llm rank": "qrels.txt --llm-labels llama3=llm.qrels",
    "pool build": "bm25.run dense.run --depth 10 --output pool.tsv",
    "pool sample": "bm25.run dense.run --depth 10 --output sampled.prel",
    "pool battles": "answers.jsonl --rounds 2 --output battles-to-judge.tsv",
    "pool create": "--collection news --depth 20",
    "topics check": "topics.tsv",
    "collection create": 'News --description "News articles of 2025"',
    "import set": "beir-folder --new News --user ada",
    "import topics": "topics.tsv --collection news --user ada",
    "import documents": "documents.jsonl --collection news --user ada",
    "import runs": "bm25.run dense.run --collection news --user ada",
    "import qrels": "qrels.txt --collection news --user ada",
    "campaign": "apply campaign.toml --user ada",
    "audit campaigns": "news",
    "simulate annotators": "--campaign news --truth qrels.txt --direct",
    "demo": "",
    "account create": "ada --email ada@example.org --creator",
    "token create": "ada --scope read manage --expires 30",
    "creators": "add ada",
    "study": "comparison study.toml --output results",
    "export labels": "qrels.txt --topics topics.tsv --target opensearch --output judgments.json",
    "export qrels": "--campaign news --output qrels.txt",
    "export send": "--campaign news --to https://search.example.org/_plugins/_search_relevance/judgments",
    "export payment": "--campaign news --rate 12.50",
    "release check": "news.zip",
    "release export": "--campaign news --output news.zip",
    "release import": "news.zip --user ada",
    "release judge": "news.zip new.run --depth 10 --documents documents.jsonl --user ada",
    "release merge": "top-up-of-new --output merged.qrels --sources sources.tsv",
    "up": "--port 8001",
    "worker": "--processes 4",
    "doctor": "",
    "backup": "backup-monday",
    "restore": "backup-monday",
    "verify": "--fix",
    "move": "postgresql://assay@127.0.0.1:5432/assay",
    "drain": "",
}
"""{name of the command: its arguments}."""


def example_text(name: str) -> str | None:
    """Return the last paragraph of a command's help, or None."""
    if name not in EXAMPLES:
        return None
    return f"Example: assay {name} {EXAMPLES[name]}".rstrip()
