"""`--topic-groups FILE`: the same analysis within each group of topics, too (METHODS 14).

class Command(ByTopicGroup, OfCampaign):        # first; qrels are read by `one_qrels`
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from assay.cli.base import BadInput, FileCommand

FILES_WRITTEN = ("output", "export", "export_qrels")
"""Options of files that are of the whole only."""


class ByTopicGroup(FileCommand):
    """only_these: the topics to which qrels are cut when they are read; None: all. topics_read:
    those of the first qrels, uncut."""

    only_these: frozenset[str] | None = None
    topics_read: list[str] | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--topic-groups",
            metavar="FILE",
            help="topic and group, tab-separated: the same within each group of topics, too",
        )

    def answered(self, options: dict[str, Any]) -> dict[str, Any]:
        path = options["topic_groups"]
        if path is None:
            return super().answered(options)
        if options.get("sampled"):
            raise BadInput(
                "--topic-groups is for judged qrels; the probabilities of a sampled pool are those of all its topics"
            )
        if "-" in [
            value
            for given in options.values()
            for value in (given if isinstance(given, list) else [given])
            if isinstance(value, str)
        ]:
            raise BadInput(
                "--topic-groups reads the files once for each group: standard input (-) can be read only once"
            )
        result = super().answered(options)
        if self.topics_read is None:
            raise BadInput("--topic-groups needs qrels, whose topics it divides")
        from assay.analyses.shared.topic_groups import (
            read_topic_groups,
        )  # with a reader of tables, which only this option needs

        groups = read_topic_groups(self, path, self.topics_read)
        if not groups:
            raise BadInput(f"{path}: none of its topics is in the qrels")
        parts: dict[str, Any] = {}
        undefined: dict[str, str] = {}
        within = {key: None if key in FILES_WRITTEN else value for key, value in options.items()}
        warn = self.warn
        self.warn = lambda message: None  # type: ignore[method-assign]  # said of the whole
        try:
            for name, members in groups.items():
                self.only_these = frozenset(
                    topic
                    for topic, belongs in zip(self.topics_read, members.tolist(), strict=True)
                    if belongs
                )
                try:
                    parts[name] = super().answered(within)
                except BadInput as error:
                    parts[name], undefined[name] = None, str(error)
        finally:
            self.only_these = None
            self.warn = warn  # type: ignore[method-assign]
        return {**result, "by_group": parts} | (
            {"undefined": {**result.get("undefined", {}), **undefined}} if undefined else {}
        )

    def shown(self, result: dict[str, Any], options: dict[str, Any]) -> str:
        parts = result.get("by_group")
        if parts is None:
            return super().shown(result, options)
        whole = {key: value for key, value in result.items() if key != "by_group"}
        said = [super().shown(whole, options)]
        for name, part in parts.items():
            text = result["undefined"][name] if part is None else super().shown(part, options)
            said.append(f"topics of {name}\n\n{text}")
        return "\n\n".join(said)
