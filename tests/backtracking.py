"""A matcher for regular expressions that counts its steps and backtracks like Python's, for tests
of how the number of steps grows with the text.

`steps(pattern, text)` matches as `re.search` does, and `matches(...)` returns where, so that a test
can compare it with `re`. `attacks(pattern)` returns texts that make the pattern slow: the text
before a repetition, the repeated text many times, and an end that does not match.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
SAMPLES = [*"aZ0 \t\n-_.,:;#<>[](){}/\\'\"=@*+?&|~^$%!`", "é", "日", "\u00a0", "\x00", "\u200b"]
Go = Callable[[int], int | None]


class TooManySteps(Exception):
    pass


class Matcher:
    """The match of one pattern against one text. steps: how often a part of the pattern was tried
    at a position."""

    def __init__(self, pattern: str | bytes, flags: int, text: str, limit: int) -> None:
        parsed = parser.parse(
            pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern, flags
        )
        self.items, self.flags, self.text, self.limit = (
            list(parsed),
            parsed.state.flags,
            text,
            limit,
        )
        self.steps, self.groups = 0, {}

    def search(self) -> tuple[int, int] | None:
        for begin in range(len(self.text) + 1):
            if (end := self.match(self.items, 0, begin, lambda at: at)) is not None:
                return begin, end
        return None

    def match(self, items: list[Any], index: int, at: int, go: Go) -> int | None:
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps
        if index == len(items):
            return go(at)
        op, given = items[index]

        def rest(place: int) -> int | None:
            return self.match(items, index + 1, place, go)

        if op in REPEATS:
            return self._repeat(op, given, at, rest)
        if op is codes.BRANCH:
            ends = (self.match(list(branch), 0, at, rest) for branch in given[1])
            return next((end for end in ends if end is not None), None)
        if op is codes.SUBPATTERN:
            number, _, _, inner = given

            def close(place: int) -> int | None:
                before = self.groups.get(number)
                self.groups[number] = (at, place)
                if (end := rest(place)) is None:
                    self.groups[number] = before
                return end

            return self.match(list(inner), 0, at, close)
        if op in (codes.ASSERT, codes.ASSERT_NOT):
            holds = self._around(given, at) == (op is codes.ASSERT)
            return rest(at) if holds else None
        if op is codes.ATOMIC_GROUP:
            end = self.match(list(given), 0, at, lambda place: place)
            return None if end is None else rest(end)
        if op is codes.GROUPREF:
            span = self.groups.get(given)
            said = None if span is None else self.text[span[0] : span[1]]
            return (
                rest(at + len(said))
                if said is not None and self.text.startswith(said, at)
                else None
            )
        if op is codes.AT:
            return rest(at) if self._is_at(given, at) else None
        return (
            rest(at + 1) if at < len(self.text) and self.takes(op, given, self.text[at]) else None
        )

    def _repeat(self, op: Any, given: Any, at: int, rest: Go) -> int | None:
        least, most, inner = given
        body = list(inner)
        if len(body) == 1 and body[0][0] in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            return self._run(op, least, most, body[0], at, rest)

        def further(n: int, place: int) -> int | None:
            def again(end: int) -> int | None:
                return None if end == place and n >= least else further(n + 1, end)

            more = n < most if most is not codes.MAXREPEAT else True
            if n < least:
                return self.match(body, 0, place, again)
            if op is codes.MIN_REPEAT:
                end = rest(place)
                return end if end is not None or not more else self.match(body, 0, place, again)
            end = self.match(body, 0, place, again) if more else None
            return end if end is not None else rest(place)

        return further(0, at)

    def _run(self, op: Any, least: int, most: Any, one: Any, at: int, rest: Go) -> int | None:
        """Match a repetition of one character. Its steps are counted without a call for each."""
        bound = len(self.text) if most is codes.MAXREPEAT else min(len(self.text), at + most)
        end = at
        while end < bound and self.takes(*one, self.text[end]):
            end += 1
            self.steps += 1
        if end - at < least:
            return None
        places = (
            range(at + least, end + 1) if op is codes.MIN_REPEAT else range(end, at + least - 1, -1)
        )
        if op is codes.POSSESSIVE_REPEAT:
            places = range(end, end + 1)
        return next((end for place in places if (end := rest(place)) is not None), None)

    def takes(self, op: Any, given: Any, character: str) -> bool:
        same = {character, character.lower(), character.upper()} if self.flags & 2 else {character}
        if op is codes.ANY:
            return character != "\n" or bool(self.flags & 16)
        if op is codes.LITERAL:
            return any(ord(one) == given for one in same if len(one) == 1)
        if op is codes.NOT_LITERAL:
            return all(ord(one) != given for one in same if len(one) == 1)
        assert op is codes.IN, op
        wanted = given[0][0] is not codes.NEGATE
        inside = any(
            self._in(kind, what, one)
            for kind, what in given
            for one in same
            if len(one) == 1 and kind is not codes.NEGATE
        )
        return inside == wanted

    @staticmethod
    def _in(kind: Any, what: Any, one: str) -> bool:
        if kind is codes.LITERAL:
            return ord(one) == what
        if kind is codes.RANGE:
            return bool(what[0] <= ord(one) <= what[1])
        name = str(what).removeprefix("CATEGORY_").removeprefix("NOT_")
        holds = {
            "DIGIT": one.isdecimal(),
            "SPACE": one.isspace(),
            "WORD": one.isalnum() or one == "_",
        }[name]
        return holds != ("NOT_" in str(what))

    def _around(self, given: Any, at: int) -> bool:
        direction, inner = given
        if direction > 0:
            return self.match(list(inner), 0, at, lambda place: place) is not None
        width = inner.getwidth()[0]
        return (
            at >= width
            and self.match(list(inner), 0, at - width, lambda place: place if place == at else None)
            is not None
        )

    def _is_at(self, what: Any, at: int) -> bool:
        text, lines = self.text, bool(self.flags & 8)
        if what in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            return at == 0 or (lines and what is codes.AT_BEGINNING and text[at - 1] == "\n")
        if what is codes.AT_END_STRING:
            return at == len(text)
        if what is codes.AT_END:
            return (
                at == len(text)
                or (at == len(text) - 1 and text[at] == "\n")
                or (lines and text[at] == "\n")
            )
        before, after = (
            0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
            for place in (at - 1, at)
        )
        return (before != after) == (what is codes.AT_BOUNDARY)


def steps(pattern: str | bytes, flags: int, text: str, *, limit: int = 10**6) -> int:
    """Return how many steps a search takes. Raises TooManySteps beyond the limit."""
    sys.setrecursionlimit(20_000)
    matcher = Matcher(pattern, flags, text, limit)
    matcher.search()
    return matcher.steps


def attacks(pattern: str | bytes, flags: int) -> Iterator[tuple[str, str, str]]:
    """Return (begin, repeated text, end) for each unbounded repetition of the pattern, with several
    texts of each and several ends."""
    matcher = Matcher(pattern, flags, "", 0)
    for before, body, after in _repetitions(matcher, matcher.items, ""):
        texts = {
            _example(matcher, body),
            *(_example(matcher, body, skip) for skip in range(1, 4)),
        } - {""}
        for text in texts:
            for end in ("", "\x00", "\n", after[:-1] + "\x00"):
                yield before, text, end


def _repetitions(
    matcher: Matcher, items: list[Any], before: str
) -> Iterator[tuple[str, list[Any], str]]:
    """Return each repetition of more than ten as (example of the text before, repeated part,
    example of the text after)."""
    for index, (op, given) in enumerate(items):
        after = _example(matcher, items[index + 1 :])
        inner: list[list[Any]] = []
        if op in REPEATS:
            _, most, body = given
            inner = [list(body)]
            if most is codes.MAXREPEAT or most > 10:
                yield before, list(body), after
        elif op is codes.BRANCH:
            inner = [list(branch) for branch in given[1]]
        elif op is codes.SUBPATTERN:
            inner = [list(given[3])]
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            inner = [list(given[1])]
        for part in inner:
            for begin, body, end in _repetitions(matcher, part, before):
                yield begin, body, end + after
        before += _example(matcher, [items[index]])


def _example(matcher: Matcher, items: list[Any], skip: int = 0) -> str:
    """Return a text that matches the items. skip: number of other texts to pass over, if a set of
    characters has as many."""
    out = ""
    for op, given in items:
        if op in REPEATS:
            out += _example(matcher, list(given[2]), skip) * max(given[0], min(1, given[1]))
        elif op is codes.BRANCH:
            out += _example(matcher, list(given[1][skip % len(given[1])]), skip)
        elif op is codes.SUBPATTERN:
            out += _example(matcher, list(given[3]), skip)
        elif op is codes.ATOMIC_GROUP:
            out += _example(matcher, list(given), skip)
        elif op is codes.LITERAL:
            out += chr(given)
        elif op in (codes.NOT_LITERAL, codes.ANY, codes.IN):
            first = (
                [
                    chr(what if kind is codes.LITERAL else what[0])
                    for kind, what in given
                    if kind in (codes.LITERAL, codes.RANGE)
                ]
                if op is codes.IN
                else []
            )
            fitting = [one for one in [*first, *SAMPLES] if matcher.takes(op, given, one)]
            out += fitting[skip % len(fitting)] if fitting else ""
    return out
