"""What the commands that write files of a campaign share: which campaign, and which judgements make its labels."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.core.management.base import CommandParser

from analysis.core.aggregation import METHODS
from analysis.judged_files import duration
from analysis.selectors.exports import Choices
from analysis.services import exports
from annotation.models import Campaign
from annotation.services.errors import CampaignError
from pooling.commandline import BadInput, FileCommand, positive


def add_campaign_options(parser: CommandParser) -> None:
    """--campaign, --method, --threshold, --min-judgements, --min-seconds, --no-gold, --exclude."""
    parser.add_argument("--campaign", required=True, metavar="SLUG")
    parser.add_argument("--method", choices=list(METHODS), default="majority", help="default majority, with the lowest-grade rule")
    parser.add_argument("--threshold", type=positive, metavar="GRADE", help="lowest relevant grade (default the campaign's)")
    parser.add_argument("--min-judgements", type=positive, default=2, metavar="N", help="a pair has a label from so many on (default 2)")
    parser.add_argument(
        "--min-seconds", type=duration, default=0.0, metavar="S", help="leave out faster judgements, beyond the campaign's limit"
    )
    parser.add_argument("--no-gold", action="store_true", help="leave out the judgements of gold pairs")
    parser.add_argument("--exclude", nargs="*", default=[], metavar="PSEUDONYM", help="leave out these annotators")


def campaign_named(slug: str) -> Campaign:
    found = Campaign.objects.select_related("collection", "pool").filter(slug=slug).first()
    if found is None:
        raise BadInput(f"there is no campaign {slug!r}")
    return found


def choices_of(campaign: Campaign, options: Mapping[str, Any]) -> Choices:
    """The options as choices; BadInput where the campaign has no such grade or annotator."""
    found = Choices.of({**options, "with_gold": not options["no_gold"]})
    if wrong := exports.check(campaign, found):
        raise BadInput(" ".join(wrong))
    return found


@contextmanager
def whole_bytes(path: str) -> Iterator[BinaryIO]:
    """A file that appears whole under its name when the block ends, or not at all; - is standard output."""
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as out:
            yield cast(BinaryIO, out)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class ExportCommand(FileCommand):
    """Writes one export to --output, or to standard output where neither --output nor --json is given."""

    makes_data_file = True
    takes_seed = False

    def export(self, name: str, campaign: Campaign, wanted: exports.Wanted, output: str | None, *, json: bool) -> int:
        """-> lines written, without the header's"""
        export = exports.EXPORTS[name]
        try:
            prepared = exports.prepared(export, campaign, wanted)
        except CampaignError as error:
            raise BadInput(str(error)) from None
        self.text = ""
        lines = sum(1 for line in prepared if not line.startswith(b"#"))
        prepared.seek(0)
        if output and output != "-":
            with whole_bytes(output) as out:
                while block := prepared.read(1 << 20):
                    out.write(block)
            self.text = f"{lines} lines in {output}"
        elif not json:
            self.text = prepared.read().decode("utf-8").removesuffix("\n")
        exports.note_export(campaign, None, export, wanted)
        return lines

    def table(self, result: dict[str, Any], **options: Any) -> str:
        return self.text
