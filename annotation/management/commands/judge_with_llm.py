"""`assay llm judge PAIRS`: label the pairs of a file with a language model at a chat-completions
endpoint."""

from __future__ import annotations

import hashlib
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from annotation.core.llm_prompts import (
    TEMPLATES,
    Grade,
    PromptInput,
    PromptTemplate,
    make_template,
)
from annotation.llm.answer_store import AnswerStore
from annotation.llm.asking import (
    LabellingPlan,
    LabellingReport,
    PairToJudge,
    answer_key,
    collect_labels,
    estimate_cost,
    label_pairs,
)
from annotation.llm.chat_endpoint import Endpoint
from assay.cli.base import (
    BadInput,
    FileCommand,
    ProgressLine,
    parse_fraction,
    parse_positive,
    write_text_atomically,
)
from assay.formats.documents import DocumentRecord, read_documents
from assay.formats.pool import read_pool
from assay.formats.prel import read_prel
from assay.formats.streams import iterate_lines
from assay.formats.topics import TopicRecord, read_topics
from assay.number_words import format_count
from assay.tabular import Table, to_text

KEY_VARIABLE = "ASSAY_LLM_KEY"
SCALE = (
    Grade(0, "Irrelevant", "Has nothing to do with the query."),
    Grade(1, "Related", "Is about the same subject but does not answer the query."),
    Grade(
        2, "Partly relevant", "Answers part of the query, or the answer is hidden in other text."
    ),
    Grade(3, "Relevant", "Answers the query."),
)


class Command(FileCommand):
    help = (
        "Label the pairs of a file with an LLM judge. The command records every call, and "
        "resumes after an interruption."
    )
    makes_data_file = True
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "pairs",
            metavar="PAIRS",
            help="pool, sampled pool or qrels file whose pairs are labelled",
        )
        parser.add_argument(
            "--topics",
            required=True,
            metavar="FILE",
            help="topic file with the texts of the topics",
        )
        parser.add_argument(
            "--documents",
            required=True,
            nargs="+",
            metavar="FILE",
            help="document files with the texts of the documents",
        )
        parser.add_argument(
            "--endpoint",
            required=True,
            type=parse_endpoint_url,
            metavar="URL",
            help="base URL of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1",
        )
        parser.add_argument("--model", required=True, metavar="NAME", help="name of the model")
        parser.add_argument(
            "--store",
            required=True,
            metavar="FILE",
            help="file that stores the answers, one per line; give the same file to resume",
        )
        parser.add_argument(
            "--key-variable",
            default=KEY_VARIABLE,
            metavar="NAME",
            help=f"environment variable that holds the API key (default: {KEY_VARIABLE})",
        )
        parser.add_argument(
            "--prompt",
            default="grade",
            metavar="NAME|FILE",
            help="prompt: grade (default), reasons, or a file with $query, $scale and $document",
        )
        parser.add_argument(
            "--grade",
            action="append",
            type=parse_grade,
            metavar="VALUE=NAME",
            help="value and name of a grade; repeat the option for each grade, lowest first (default: four grades)",
        )
        parser.add_argument(
            "--guidelines",
            metavar="FILE",
            help="file with the guidelines, which the LLM judge receives unchanged",
        )
        parser.add_argument(
            "--samples",
            type=parse_positive,
            default=1,
            metavar="K",
            help="answers per pair; the most frequent grade becomes the label (default: 1)",
        )
        parser.add_argument(
            "--temperature",
            type=parse_fraction,
            default=0.0,
            metavar="T",
            help="sampling temperature from 0 to 1 (default: 0)",
        )
        parser.add_argument(
            "--max-tokens",
            dest="most_tokens",
            type=parse_positive,
            default=400,
            metavar="N",
            help="maximum tokens per answer (default: 400)",
        )
        parser.add_argument(
            "--timeout",
            type=parse_positive,
            default=60,
            metavar="S",
            help="timeout of a call in seconds (default: 60)",
        )
        parser.add_argument(
            "--threads",
            type=parse_positive,
            default=4,
            metavar="N",
            help="concurrent calls (default: 4)",
        )
        parser.add_argument(
            "--attempts",
            type=parse_positive,
            default=4,
            metavar="N",
            help="attempts per answer before it is skipped (default: 4)",
        )
        parser.add_argument(
            "--pause",
            type=parse_seconds,
            default=1.0,
            metavar="S",
            help="seconds before the first retry, doubled for each further retry (default: 1)",
        )
        parser.add_argument(
            "--per-minute", type=parse_positive, metavar="N", help="maximum calls per minute"
        )
        parser.add_argument(
            "--price-in",
            type=parse_seconds,
            default=0.0,
            metavar="P",
            help="price per million input tokens",
        )
        parser.add_argument(
            "--price-out",
            type=parse_seconds,
            default=0.0,
            metavar="P",
            help="price per million output tokens",
        )
        parser.add_argument(
            "--max-cost",
            dest="most_cost",
            type=parse_seconds,
            metavar="P",
            help="maximum total cost; the command stops before exceeding it",
        )
        parser.add_argument(
            "--estimate", action="store_true", help="show the estimated cost without making calls"
        )

    def compute(
        self,
        *,
        pairs: str,
        topics: str,
        documents: list[str],
        store: str,
        output: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        plan = self.plan(options)
        wanted = self.pairs(pairs, topics, documents)
        expected = estimate_cost(wanted, plan)
        result: dict[str, Any] = {
            "pairs": len(wanted),
            "samples": plan.samples,
            "model": plan.endpoint.model,
            "estimate": expected._asdict(),
            "prompt": {
                "name": plan.template.name,
                "version": plan.template.version,
                "digest": plan.template.digest,
            },
        }
        if options["estimate"]:
            return result
        if plan.most_cost is not None and not (plan.price_in or plan.price_out):
            raise BadInput("--max-cost requires --price-in and --price-out")
        with AnswerStore(store, plan.setting()) as answers:
            with ProgressLine("answers", expected.calls) as progress:
                report = label_pairs(wanted, plan, answers, on_answer=progress.step)
            return result | self.write_labels(wanted, plan, answers, report, output)

    def plan(self, options: dict[str, Any]) -> LabellingPlan:
        parameters = {"temperature": options["temperature"], "max_tokens": options["most_tokens"]}
        endpoint = Endpoint(
            options["endpoint"],
            options["model"],
            os.environ.get(options["key_variable"], ""),
            float(options["timeout"]),
            parameters,
        )
        scale = tuple(options["grade"] or SCALE)
        values = [grade.value for grade in scale]
        if len(values) < 2 or values != sorted(set(values)):
            raise BadInput(
                "--grade must be given for at least two grades, lowest first, each value once"
            )
        guidelines = (
            Path(options["guidelines"]).read_text(encoding="utf-8") if options["guidelines"] else ""
        )
        same = {
            name: options[name]
            for name in (
                "samples",
                "threads",
                "attempts",
                "per_minute",
                "price_in",
                "price_out",
                "most_cost",
                "pause",
            )
        }
        return LabellingPlan(
            endpoint, get_prompt_template(options["prompt"]), scale, guidelines, **same
        )

    def pairs(self, path: str, topics: str, documents: Sequence[str]) -> list[PairToJudge]:
        wanted = read_pairs(path)
        texts = {topic.topic: topic for topic in read_topics(topics)}
        needed = {document for _, document in wanted}
        record_of = {
            one.document: one
            for file in documents
            for one in read_documents(file)
            if one.document in needed
        }
        if lacking := [
            topic for topic in dict.fromkeys(topic for topic, _ in wanted) if topic not in texts
        ]:
            raise BadInput(f"{topics} has no topic {format_first(lacking)}, which {path} uses")
        if lacking := sorted(needed - set(record_of)):
            raise BadInput(f"document {format_first(lacking)} is missing from the document files")
        return [
            PairToJudge(topic, document, make_prompt_input(texts[topic], record_of[document]))
            for topic, document in wanted
        ]

    def write_labels(
        self,
        pairs: Sequence[PairToJudge],
        plan: LabellingPlan,
        store: AnswerStore,
        report: LabellingReport,
        output: str | None,
    ) -> dict[str, Any]:
        setting = plan.setting()
        keys = {
            answer_key(setting, pair, sample) for pair in pairs for sample in range(plan.samples)
        }
        rows = [row for key, row in store.answers.items() if key in keys]
        labels = collect_labels(pairs, plan, store)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        lines_of_labels = [
            f"{topic} 0 {document} {grade}\n" for (topic, document), grade in sorted(labels.items())
        ]
        digest = hashlib.sha256("".join(lines_of_labels).encode("utf-8")).hexdigest()
        if output:
            with write_text_atomically(output) as out:
                prompt = f"{plan.template.name} {plan.template.version} ({plan.template.digest})"
                out.write(
                    f"# LLM labels, not human labels: {plan.endpoint.model}, prompt "
                    f"{prompt}, {plan.samples} samples, {made}, sha256 {digest}\n"
                )
                out.writelines(lines_of_labels)
        sums = {name: sum(row[name] for row in rows) for name in ("tokens_in", "tokens_out")}
        counted = Counter(row["outcome"] for row in rows)
        return {
            "answers": len(rows),
            "outcomes": {name: counted.get(name, 0) for name in ("graded", "refused", "malformed")},
            "calls": {
                "now": report.calls,
                "ever": sum(store.asked.get(key, 0) for key in keys),
                "lost": report.lost,
            },
            "troubles": dict(report.troubles),
            "unanswered": report.unanswered,
            "stopped": report.stopped,
            "labels": {
                str(grade.value): sum(label == grade.value for label in labels.values())
                for grade in plan.scale
            },
            "without_label": len(pairs) - len(labels),
            "tokens": {"in": sums["tokens_in"], "out": sums["tokens_out"]},
            "cost": plan.price(sums["tokens_in"], sums["tokens_out"]),
            "made": made,
            "digest": digest,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        before = result["estimate"]
        parts = [
            f"{result['model']}: {format_count(result['pairs'], 'pair')}, {result['samples']} answers per pair, "
            f"prompt {result['prompt']['name']} {result['prompt']['version']}",
            f"Estimated: {format_count(before['calls'], 'call')}, {format_count(before['tokens_in'], 'token')} sent and "
            f"{before['tokens_out']:,} received, cost {before['cost']:.2f}",
        ]
        if "answers" not in result:
            return "\n".join([*parts, "No calls were made."])
        calls, tokens = result["calls"], result["tokens"]
        parts.append(
            f"Counted: {format_count(calls['ever'], 'call')} ({calls['now']:,} now), "
            f"{format_count(tokens['in'], 'token')} sent and {tokens['out']:,} received, cost {result['cost']:.2f}"
        )
        rows = [*result["outcomes"].items(), *result["troubles"].items()]
        rows += [
            ("calls lost in earlier interrupted runs", calls["lost"]),
            ("missing answers", result["unanswered"]),
        ]
        parts.append(
            to_text(
                Table(
                    "calls",
                    "Answers and calls",
                    ["outcome", "number"],
                    [[name, number] for name, number in rows],
                )
            )
        )
        parts.append(
            to_text(
                Table(
                    "labels",
                    "Labels",
                    ["grade", "pairs"],
                    [
                        *([grade, number] for grade, number in result["labels"].items()),
                        ["no label", result["without_label"]],
                    ],
                )
            )
        )
        if result["stopped"]:
            parts.append(f"Stopped: {result['stopped']}.")
        parts.append(
            "These are LLM labels, which cannot replace human labels in comparisons of systems. "
            "`assay llm compare` shows what they add to human labels."
        )
        return "\n\n".join(parts)


def make_prompt_input(topic: TopicRecord, document: DocumentRecord) -> PromptInput:
    return PromptInput(
        topic.text, topic.narrative or topic.description, document.title, document.text
    )


def format_first(names: Sequence[str]) -> str:
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def read_pairs(path: str) -> list[tuple[str, str]]:
    """Return the pairs of a pool, a sampled pool (five columns) or qrels, without duplicates."""
    first = next(
        (
            text.split()
            for _, text in iterate_lines(path, name=path)
            if text.strip() and not text.startswith("#")
        ),
        [],
    )
    if len(first) == 5 and first[1] == "0":
        qrels = read_prel(path).qrels
        return [
            (topic, d.decode("utf-8"))
            for k, topic in enumerate(qrels.topics)
            for d in qrels.documents[qrels.rows(k)].tolist()
        ]
    return [(pair.topic, pair.document) for pair in read_pool(path)]


def get_prompt_template(text: str) -> PromptTemplate:
    if text in TEMPLATES:
        return TEMPLATES[text]
    try:
        return make_template(Path(text).read_text(encoding="utf-8"), Path(text).stem)
    except FileNotFoundError:
        raise BadInput(f"--prompt {text}: neither {' nor '.join(TEMPLATES)} nor a file") from None
    except ValueError as error:
        raise BadInput(f"{text}: {error}") from None


def parse_grade(text: str) -> Grade:
    value, _, name = text.partition("=")
    if not value.isdecimal() or not name.strip():
        raise ArgumentTypeError(
            f"{text!r}: expected VALUE=NAME or VALUE=NAME: EXPLANATION, such as 2=Relevant"
        )
    title, _, explanation = name.partition(":")
    return Grade(int(value), title.strip(), explanation.strip())


def parse_endpoint_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ArgumentTypeError(
            f"{text!r}: expected an address such as http://127.0.0.1:11434/v1, without credentials"
        )
    return text


def parse_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise ArgumentTypeError(f"{text!r} is not a number of at least 0")
    return value
