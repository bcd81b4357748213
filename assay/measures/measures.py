"""Names of retrieval measures as values.

The names are those of ir-measures (MacAvaney, Macdonald and Ounis 2022): `AP`, `nDCG@10`, `RR@10`,
`P@10`, `R@100`, `Rprec`, `Bpref`, `Judged@10`, `Success@5`. Two forms are written differently here:
`-J` before the cutoff is the condensed form (`nDCG-J@5`, which ir-measures calls
`nDCG(judged_only=True)@5`), and `nDCG-exp` is nDCG with the gain 2^grade - 1. A measure may bring
its own relevance level, `AP(rel=2)`. How each is computed stands in `evaluation`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple


class Family(NamedTuple):
    """One kind of measure. cutoff: "none", "optional" or "required"; uses_level: binary, so that a
    relevance level matters.

    sampled: an estimate from a pool of which a random sample is judged (`estimates`), not a value
    under qrels. divisible: also computed on sub-collections (`sampled`)."""

    cutoff: str
    uses_level: bool
    title: str
    sampled: bool = False
    divisible: bool = True


FAMILIES = {
    "AP": Family("optional", True, "average precision"),
    "nDCG": Family("optional", False, "normalised discounted cumulative gain, gain = grade"),
    "nDCG-exp": Family(
        "optional", False, "normalised discounted cumulative gain, gain = 2^grade - 1"
    ),
    "DCG": Family("optional", False, "discounted cumulative gain, gain = grade"),
    "NCG": Family("required", False, "normalised cumulative gain, gain = grade, no discount"),
    "RR": Family("optional", True, "reciprocal rank"),
    "ERR": Family("optional", False, "expected reciprocal rank"),
    "P": Family("required", True, "precision"),
    "R": Family("required", True, "recall"),
    "Rprec": Family("none", True, "precision at the number of relevant documents"),
    "Bpref": Family("none", True, "binary preference"),
    "Judged": Family("required", False, "share of judged documents"),
    "Success": Family("required", True, "1 where a relevant document is found"),
    "RBP": Family("optional", True, "rank-biased precision with its persistence, RBP(0.8)"),
    "infAP": Family(
        "none",
        True,
        "average precision inferred from one random sample of the pool (grade -1: not drawn)",
        divisible=False,
    ),
    "HT-P": Family("required", True, "precision, estimated from a sampled pool", sampled=True),
    "HT-DCG": Family(
        "required", False, "discounted cumulative gain, estimated from a sampled pool", sampled=True
    ),
    "HT-nDCG": Family("required", False, "nDCG, estimated from a sampled pool", sampled=True),
    "HT-AP": Family(
        "none",
        True,
        "average precision, estimated from a sampled pool by pairs of documents",
        sampled=True,
    ),
    "xinfAP": Family(
        "none", True, "average precision inferred from a stratified sample", sampled=True
    ),
    "infNDCG": Family(
        "optional",
        False,
        "nDCG as NIST's sample_eval infers it, for comparison with TREC",
        sampled=True,
    ),
}

USUAL_CUTOFF = 10
"""The cutoff of default measures."""
OTHER_NAMES = {
    "map": "AP",
    "ndcg": "nDCG",
    "mrr": "RR",
    "recip_rank": "RR",
    "precision": "P",
    "recall": "R",
    "j": "Judged",
    "bpref": "Bpref",
    "r-prec": "Rprec",
    "hit": "Success",
}
"""What others call them, for the hint in the error message only."""

PATTERN = re.compile(
    r"(?P<family>nDCG-exp|HT-[A-Za-z]+?|[A-Za-z_]+?)(?:\((?P<options>[^()]*)\))?(?P<condensed>-J)?(?:@(?P<cutoff>\d+))?"
)


class UnknownMeasure(ValueError):
    """A name that is no measure; the message says which there are."""


@dataclass(frozen=True)
class Measure:
    """One measure; `str()` gives its name, which `parse_measure` reads back.

    cutoff: only the first so many ranks count; None: all. condensed: unjudged documents are taken
    out of the ranking first (Sakai 2007), then the cutoff; the recall base stays. level: the lowest
    relevant grade; None: that of the evaluation. persistence: of rank-biased precision, the chance
    of going on to the next rank; None for all other measures. highest: of expected reciprocal rank,
    the highest grade of the scale; None: the highest of the qrels, and for all other measures."""

    family: str
    cutoff: int | None = None
    condensed: bool = False
    level: int | None = None
    persistence: float | None = None
    highest: int | None = None

    def __str__(self) -> str:
        options = [f"{Decimal(repr(self.persistence)):f}"] if self.persistence is not None else []
        options += [f"rel={self.level}"] if self.level is not None else []
        options += [f"max_rel={self.highest}"] if self.highest is not None else []
        between = f"({','.join(options)})" if options else ""
        return (
            self.family
            + between
            + ("-J" if self.condensed else "")
            + ("" if self.cutoff is None else f"@{self.cutoff}")
        )


def parse_measure(name: str) -> Measure:
    """The measure of this name. Raises UnknownMeasure, which says what is wrong and what there
    is."""
    match = PATTERN.fullmatch(name)
    if match is None or match["family"] not in FAMILIES:
        raise UnknownMeasure(
            f"no measure is called {name!r}{_hint(name)}; there are {', '.join(known_names())}"
        )
    family = match["family"]
    level, condensed, persistence, highest = _options(name, family, match["options"])
    cutoff = None if match["cutoff"] is None else int(match["cutoff"])
    rule = FAMILIES[family].cutoff
    if cutoff is None and rule == "required":
        raise UnknownMeasure(f"{name!r} needs a cutoff, for example {name}@10")
    if cutoff is not None and rule == "none":
        raise UnknownMeasure(f"{name!r} has a cutoff, but {family} has none")
    if cutoff == 0:
        raise UnknownMeasure(f"the cutoff of {name!r} is 0, but ranks start at 1")
    if family == "RBP" and persistence is None:
        raise UnknownMeasure(f"{name!r} needs a persistence between 0 and 1, for example RBP(0.8)")
    return Measure(
        family, cutoff, condensed or match["condensed"] is not None, level, persistence, highest
    )


def name_of_condition(text: str) -> tuple[str, str]:
    """(name, rest) of NAME=MEASURE,...; the name may hold a measure with its level, such as
    `RR(rel=2)@10 NIST`: what stands in parentheses does not end it."""
    split = re.match(r"((?:[^=(]|\([^()]*\))*)=", text)
    name, _, rest = text.partition("=") if split is None else (split[1], "=", text[split.end() :])
    return name, rest


def parse_measures(names: str | Iterable[str]) -> list[Measure]:
    """Measures of a list of names, or of a text with names between blanks or commas; each once, in
    the order given."""
    words = re.findall(r"(?:\([^()]*\)|[^\s,(])+", names) if isinstance(names, str) else list(names)
    measures = list(dict.fromkeys(parse_measure(word) for word in words))
    if not measures:
        raise UnknownMeasure(f"no measure is named; there are {', '.join(known_names())}")
    return measures


def at_judged_depth(measures: Iterable[Measure], depth: int | None) -> list[Measure]:
    """Default measures for a pool judged to rank `depth`: a cutoff of 10 becomes `depth` if that is
    less, since deeper ranks are unjudged."""
    cutoff = USUAL_CUTOFF if depth is None else max(1, min(depth, USUAL_CUTOFF))
    return list(
        dict.fromkeys(
            replace(one, cutoff=cutoff) if one.cutoff == USUAL_CUTOFF else one for one in measures
        )
    )


def refuse_estimates(measures: Iterable[Measure]) -> None:
    """UnknownMeasure for one that is estimated from a sampled pool: plain qrels do not tell by what
    chance a pair was drawn."""
    if estimates := [str(measure) for measure in measures if FAMILIES[measure.family].sampled]:
        raise UnknownMeasure(
            f"{', '.join(estimates)}: estimated from a sampled pool (evaluate PREL RUN... --sampled), not under qrels"
        )


def refuse_indivisible(measures: Iterable[Measure]) -> None:
    """UnknownMeasure for one that is not computed on sub-collections."""
    refuse_estimates(measures := list(measures))
    if whole := [str(measure) for measure in measures if not FAMILIES[measure.family].divisible]:
        there_are = ", ".join(
            name for name, family in FAMILIES.items() if family.divisible and not family.sampled
        )
        raise UnknownMeasure(
            f"{', '.join(whole)}: not computed on parts of a collection; there are {there_are}"
        )


def known_names() -> list[str]:
    """The form of every name, `k` standing for a cutoff."""
    forms = {"none": "{0}", "optional": "{0} {0}@k", "required": "{0}@k"}
    shown = {"RBP": "RBP(p)"}
    names = " ".join(
        forms[family.cutoff].format(shown.get(name, name)) for name, family in FAMILIES.items()
    ).split()
    return [*names, "each also with -J before the cutoff (nDCG-J@5, AP-J)"]


def _options(
    name: str, family: str, text: str | None
) -> tuple[int | None, bool, float | None, int | None]:
    """What stands between brackets, in the spelling of ir-measures. -> (relevance level, condensed,
    persistence, highest grade)"""
    level, condensed, persistence, highest = None, False, None, None
    for option in (text or "").split(","):
        key, _, value = (part.strip() for part in option.rpartition("="))
        if key == "rel" and value.isdecimal() and int(value) >= 1 and FAMILIES[family].uses_level:
            level = int(value)
        elif key == "judged_only" and value in ("True", "False"):
            condensed = value == "True"
        elif (
            family == "RBP"
            and key in ("", "p")
            and re.fullmatch(r"0?\.\d+", value)
            and 0 < float(value) < 1
        ):
            persistence = float(value)
        elif family == "ERR" and key == "max_rel" and value.isdecimal() and int(value) >= 1:
            highest = int(value)
        elif option.strip():
            there_are = (
                "rel=N (N at least 1, for binary measures), judged_only=True, the persistence of RBP (0 < p < 1), "
                "and max_rel=N of ERR (the highest grade of the scale)"
            )
            raise UnknownMeasure(
                f"{option.strip()!r} in {name!r} is unknown; there are {there_are}"
            )
    return level, condensed, persistence, highest


def _hint(name: str) -> str:
    stem = re.split(r"[@(]", name)[0].removesuffix("-J").removesuffix("-j")
    folded = {family.casefold(): family for family in FAMILIES} | OTHER_NAMES
    import difflib  # only a mistake needs it

    close = difflib.get_close_matches(stem.casefold(), folded, n=1, cutoff=0.6)
    if not close:
        return ""
    return f" (perhaps {folded[close[0]]})"
