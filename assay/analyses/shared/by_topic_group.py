"""Repeat an analysis within each group of topics (`--topic-groups FILE`).

class Command(TopicGroupCommand, CampaignCommand):   # first; read qrels by `read_one_qrels`
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from assay.cli.base import BadInput, FileCommand

FILES_WRITTEN = ("output", "export", "export_qrels")
"""Options that write files. They apply only to the analysis of all topics."""


class TopicGroupCommand(FileCommand):
    """Base of commands that accept --topic-groups.

    only_these: topics that qrels are restricted to when they are read, or None for all.
    topics_read: topics of the first qrels before the restriction.
    """

    only_these: frozenset[str] | None = None
    topics_read: list[str] | None = None

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--topic-groups",
            metavar="FILE",
            help=(
                "file that assigns topics to groups (tab-separated topic and group); results are "
                "also reported per group"
            ),
        )

    def compute_result(self, options: dict[str, Any]) -> dict[str, Any]:
        path = options["topic_groups"]
        if path is None:
            return super().compute_result(options)
        if options.get("sampled"):
            raise BadInput(
                "--topic-groups cannot be used with a sampled pool, whose inclusion probabilities apply only to all topics together"
            )
        if "-" in [
            value
            for option in options.values()
            for value in (option if isinstance(option, list) else [option])
            if isinstance(value, str)
        ]:
            raise BadInput(
                "--topic-groups reads the files once per group, but standard input (-) can be read only once"
            )
        result = super().compute_result(options)
        if self.topics_read is None:
            raise BadInput("--topic-groups needs qrels that contain the topics of the groups")
        from assay.analyses.shared.topic_groups import (
            read_topic_groups,
        )  # reads tables, which only this option needs

        groups = read_topic_groups(self, path, self.topics_read)
        if not groups:
            raise BadInput(f"{path}: none of its topics is in the qrels; check the topic IDs")
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
                    parts[name] = super().compute_result(within)
                except BadInput as error:
                    parts[name], undefined[name] = None, str(error)
        finally:
            self.only_these = None
            self.warn = warn  # type: ignore[method-assign]
        return {**result, "by_group": parts} | (
            {"undefined": {**result.get("undefined", {}), **undefined}} if undefined else {}
        )

    def format_output(self, result: dict[str, Any], options: dict[str, Any]) -> str:
        parts = result.get("by_group")
        if parts is None:
            return super().format_output(result, options)
        whole = {key: value for key, value in result.items() if key != "by_group"}
        said = [super().format_output(whole, options)]
        for name, part in parts.items():
            text = (
                result["undefined"][name] if part is None else super().format_output(part, options)
            )
            said.append(f"topics of {name}\n\n{text}")
        return "\n\n".join(said)
