"""Catalogues of gettext, as far as these need it: no comments but the places, nothing fuzzy.

The format: https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html and MO-Files.html
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass

FIELD = re.compile(r"^(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?|#:)\s*(.*)$")


IN = "\x04"
"""Between a context and the message, as in a .mo file."""


@dataclass(frozen=True)
class Entry:
    """One message. texts: its translation, or one for each plural form of the language; empty where
    there is none."""

    singular: str
    plural: str
    texts: list[str]
    places: list[str]


def read(text: str) -> list[Entry]:
    """The messages of a .po file without its head. ValueError for a line that is none of the
    format, or that is fuzzy."""
    entries = []
    for block in re.split(r"\n\s*\n", text.strip()):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            match = FIELD.match(line)
            if line.startswith("#,"):
                raise ValueError(f"a translation that somebody has to look at: {block}")
            if line.startswith("#:"):
                fields["#:"] = f"{fields.get('#:', '')} {line[2:].strip()}".strip()
            elif match:
                name = match[1]
                fields[name] = json.loads(match[2])
            elif line.startswith('"') and name:
                fields[name] += json.loads(line)
            elif not line.startswith("#"):
                raise ValueError(f"no line of a .po file: {line}")
        if fields.get("msgid"):
            texts = [value for key, value in fields.items() if key.startswith("msgstr")]
            context = f"{fields['msgctxt']}{IN}" if "msgctxt" in fields else ""
            entries.append(
                Entry(
                    context + fields["msgid"],
                    fields.get("msgid_plural", ""),
                    texts,
                    fields.get("#:", "").split(),
                )
            )
    return entries


def _head(code: str, plurals: str) -> str:
    return (
        f"Language: {code}\nMIME-Version: 1.0\nContent-Type: text/plain; "
        f"charset=UTF-8\nContent-Transfer-Encoding: 8bit\nPlural-Forms: {plurals}\n"
    )


def _quoted(name: str, text: str) -> str:
    return f"{name} {json.dumps(text, ensure_ascii=False)}"


def written(entries: Iterable[Entry], code: str, plurals: str) -> str:
    """The .po file. plurals: the rule of the language, as gettext writes it."""
    blocks = [
        'msgid ""\nmsgstr ""\n'
        + "\n".join(
            json.dumps(line + "\n", ensure_ascii=False)
            for line in _head(code, plurals).splitlines()
        )
    ]
    for one in entries:
        context, _, message = one.singular.rpartition(IN)
        lines = [
            *(f"#: {place}" for place in one.places),
            *([_quoted("msgctxt", context)] if context else []),
            _quoted("msgid", message),
        ]
        if one.plural:
            lines += [
                _quoted("msgid_plural", one.plural),
                *(_quoted(f"msgstr[{n}]", text) for n, text in enumerate(one.texts)),
            ]
        else:
            lines.append(_quoted("msgstr", one.texts[0]))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def compiled(entries: Iterable[Entry], code: str, plurals: str) -> bytes:
    """The .mo file of what is translated: always the same bytes for the same messages."""
    texts = {b"": _head(code, plurals).encode()}
    for one in entries:
        if all(one.texts):
            key = f"{one.singular}\0{one.plural}" if one.plural else one.singular
            texts[key.encode()] = "\0".join(one.texts).encode()
    keys = sorted(texts)
    begin = 28 + 16 * len(keys)
    tables: list[list[int]] = [[], []]
    content = b""
    for side, strings in enumerate(([*keys], [texts[key] for key in keys])):
        for string in strings:
            tables[side] += [len(string), begin + len(content)]
            content += string + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0)
    return head + struct.pack(f"<{4 * len(keys)}I", *tables[0], *tables[1]) + content
