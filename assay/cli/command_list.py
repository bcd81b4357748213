"""The list of commands by group, with the help of each.

A command is a module of `assay/analyses` or of a `management/commands` folder of the server that
has a class Command. COMMAND_GROUPS maps names to modules. The help is read from the source text, so
that listing the commands imports none of them and a command on files starts without Django. Other
packages add commands through entry points of the group `assay.analyses`.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from assay.cli.server import INSTALL_HINT, PACKAGE, PACKAGES, SERVER_FOLDER, is_installed

COMMAND_GROUPS = {
    "Evaluate systems": {
        "evaluate": "evaluate",
        "leaderboard": "leaderboard",
        "unjudged": "unjudged",
        "facets score": "score_facets",
    },
    "Score generated answers": {
        "answers support": "score_support",
        "answers nuggets": "score_nuggets",
        "answers rubrics": "score_rubrics",
    },
    "Compare": {
        "compare systems": "compare_systems",
        "compare runs": "compare_runs",
        "compare rankings": "compare_rankings",
        "compare preferences": "compare_preferences",
        "compare labels": "label_overlap",
    },
    "Check reliability": {
        "check bootstrap": "bootstrap",
        "check halves": "split_half",
        "check stability": "stability",
        "check reusability": "reusability",
        "check submissions": "submissions",
    },
    "Plan": {
        "plan study": "plan_study",
        "plan stopping": "stopping_advice",
        "simulate campaign": "simulate_campaign",
    },
    "Labels and agreement": {
        "aggregate": "aggregate",
        "agreement": "agreement",
        "judgements stats": "campaign_stats",
        "judgements import": "import_judgements",
        "judgements export": "export_judgements",
        "clicks convert": "click_qrels",
    },
    "LLM judges": {
        "llm judge": "judge_with_llm",
        "llm compare": "compare_llm_judges",
        "llm rank": "rank_llm_judges",
    },
    "Pools and topics": {
        "pool build": "build_pool",
        "pool sample": "sample_pool",
        "pool battles": "draw_battles",
        "pool create": "make_pool",
        "topics check": "check_topics",
    },
    "Collections": {
        "collection create": "create_collection",
        "import set": "import_set",
        "import topics": "import_topics",
        "import documents": "import_documents",
        "import runs": "import_run",
        "import qrels": "import_qrels",
    },
    "Campaigns": {
        "campaign": "campaign",
        "audit campaigns": "audit_campaigns",
        "simulate annotators": "simulate_annotators",
        "demo": "make_demo",
    },
    "Accounts": {
        "account create": "create_account",
        "token create": "create_token",
        "creators": "creators",
    },
    "Publish": {
        "study": "study",
        "export labels": "export_labels",
        "export qrels": "export_qrels",
        "export send": "send_labels",
        "export payment": "export_payment",
        "release check": "check_release",
        "release export": "export_campaign",
        "release import": "import_campaign",
        "release judge": "judge_run",
        "release merge": "merge_labels",
    },
    "Server": {
        "up": "up",
        "worker": "worker",
        "doctor": "doctor",
        "backup": "backup",
        "restore": "restore",
        "verify": "verify",
        "move": "move",
        "drain": "drain",
    },
}
"""{group: {name of the command: its module}}. A name must not be the first word of another one."""
COMMAND_MODULES = {
    name: module for group in COMMAND_GROUPS.values() for name, module in group.items()
}
ENTRY_POINT_GROUP = "assay.analyses"
"""Group of entry points that add commands."""
FILE_COMMAND_BASES = {
    "FileCommand",
    "PiecewiseCommand",
    "CampaignCommand",
    "TopicGroupCommand",
    "AnswerCommand",
}
"""Base classes of commands that do not need Django at the start."""


class CommandHelp(NamedTuple):
    """Description of a command, from its file. module: its dotted name. help: one sentence.
    on_files: whether the command runs without Django."""

    name: str
    module: str
    help: str
    on_files: bool


def find_command_files() -> dict[str, Path]:
    """Return {name: file} in alphabetical order, with the server's commands only if it is
    installed."""
    files = [
        *(PACKAGE / "analyses").glob("*.py"),
        *(
            path
            for app in (PACKAGES if is_installed() else ())
            for path in (SERVER_FOLDER / app / "management" / "commands").glob("*.py")
        ),
    ]
    return {
        path.stem: path
        for path in sorted(files, key=lambda path: path.stem)
        if not path.stem.startswith("_")
    }


def read_command_help(path: Path) -> CommandHelp:
    """Read the help of a command from its source file."""
    bases: set[str] = set()
    text = ""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == "Command":
            bases = {ast.unparse(base) for base in node.bases}
            for inner in node.body:
                if isinstance(inner, ast.Assign) and ast.unparse(inner.targets[0]) == "help":
                    text = str(ast.literal_eval(inner.value))
    return CommandHelp(
        path.stem, module_name(path), text, bool(bases) and bases <= FILE_COMMAND_BASES
    )


def module_name(path: Path) -> str:
    """Return the dotted name of a command's module."""
    home = PACKAGE.parent if path.is_relative_to(PACKAGE / "analyses") else SERVER_FOLDER
    return ".".join(path.relative_to(home).with_suffix("").parts)


def load_command(name: str) -> Any:
    """Import a command's module and return the command. The server's commands need Django to be set
    up first."""
    path = find_command_files().get(name)
    if path is None:
        return find_plugin_commands()[name].load()()
    return importlib.import_module(module_name(path)).Command()


def find_plugin_commands() -> dict[str, Any]:
    """Return entry points of other packages by name. This reads all installed packages."""
    return {
        one.name: one
        for one in entry_points(group=ENTRY_POINT_GROUP)
        if one.name not in COMMAND_MODULES.values()
    }


def find_command(argv: Sequence[str]) -> tuple[str, str, list[str]] | None:
    """Return (name, module, arguments) of a command line, or None if it does not begin with a
    command.

    A name of two words takes precedence over its first word. The name of the module and hyphens
    instead of spaces are accepted as well.
    """
    files = find_command_files()
    for n in (2, 1):
        name = " ".join(argv[:n])
        if len(argv) >= n and COMMAND_MODULES.get(name) in files:
            return name, COMMAND_MODULES[name], list(argv[n:])
    if not argv:
        return None
    first = argv[0].replace("-", "_")
    if first in files:
        return command_name(first), first, list(argv[1:])
    if argv[0] in find_plugin_commands():
        return argv[0], argv[0], list(argv[1:])
    return None


def command_name(module: str) -> str:
    """Return the name under which a module's command is run."""
    return next(
        (name for name, its_module in COMMAND_MODULES.items() if its_module == module), module
    )


def suggest_commands(argv: Sequence[str]) -> list[str]:
    """Return names that begin with the first word, or else similar ones."""
    first = argv[0] if argv else ""
    files = find_command_files()
    known = [name for name, module in COMMAND_MODULES.items() if module in files]
    same = [name for name in known if name.split()[0] == first]
    return (
        same
        or get_close_matches(" ".join(argv[:2]), known, 3)
        or get_close_matches(first, known, 3)
    )


EXTRA_COMMANDS = {
    "completion SHELL": "Print the completion script for bash, zsh or fish.",
    "help COMMAND": "Show the arguments and options of a command.",
    "version": "Show the version of this program.",
    "migrate, shell, ...": "Run a Django command; `assay help --django` lists them.",
}


def format_command_list() -> str:
    """Return all commands by group, one per line."""
    files = find_command_files()
    groups = {
        title: {
            name: read_command_help(files[module]).help
            for name, module in group.items()
            if module in files
        }
        for title, group in COMMAND_GROUPS.items()
    }
    groups["Added by other packages"] = {
        name: str(load_command(name).help) for name in find_plugin_commands()
    }
    groups["More"] = EXTRA_COMMANDS
    width = max(len(name) for group in groups.values() for name in group)
    parts = ["usage: assay COMMAND ..."]
    for title, group in groups.items():
        if group:
            parts += ["", f"{title}:"]
            parts += [f"  {name:<{width}}  {text}" for name, text in group.items()]
    if not is_installed():
        parts += ["", f"The server is not installed here. To install it: {INSTALL_HINT}"]
    return "\n".join(parts)
