"""Names of retrieval measures as values.

The canonical names are those of ir-measures (MacAvaney, Macdonald and Ounis 2022): `AP`, `nDCG@10`,
`RR@10`, `P@10`, `R@100`, `Rprec`, `Bpref`, `Judged@10`, `Success@5`. Two forms are written
differently here: `-J` before the cutoff is the condensed form (`nDCG-J@5`, which ir-measures calls
`nDCG(judged_only=True)@5`), and `nDCG-exp` is nDCG with the gain 2^grade - 1
(`nDCG(dcg='exp-log2')`). A measure may bring its own relevance level, `AP(rel=2)`. The names of
trec_eval and other usual spellings are read too, and `define` adds measures. How each is computed stands in `evaluation`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple


class MeasureFamily(NamedTuple):
    """One kind of measure. cutoff: "none", "optional" or "required"; uses_level: binary, so that a
    relevance level matters.

    sampled: an estimate from a pool of which a random sample is judged (`estimates`), not a value
    under qrels. divisible: also computed on sub-collections (`sampled`). function: of a measure
    that `define` has added, None for those of `evaluation`."""

    cutoff: str
    uses_level: bool
    title: str
    sampled: bool = False
    divisible: bool = True
    function: Callable[..., float] | None = None


FAMILIES = {
    "AP": MeasureFamily("optional", True, "average precision"),
    "nDCG": MeasureFamily("optional", False, "normalised discounted cumulative gain, gain = grade"),
    "nDCG-exp": MeasureFamily(
        "optional", False, "normalised discounted cumulative gain, gain = 2^grade - 1"
    ),
    "DCG": MeasureFamily("optional", False, "discounted cumulative gain, gain = grade"),
    "NCG": MeasureFamily(
        "required", False, "normalised cumulative gain, gain = grade, no discount"
    ),
    "RR": MeasureFamily("optional", True, "reciprocal rank"),
    "ERR": MeasureFamily("optional", False, "expected reciprocal rank"),
    "P": MeasureFamily("required", True, "precision"),
    "R": MeasureFamily("required", True, "recall"),
    "Rprec": MeasureFamily("none", True, "precision at the number of relevant documents"),
    "Bpref": MeasureFamily("none", True, "binary preference"),
    "Judged": MeasureFamily("required", False, "share of judged documents"),
    "Success": MeasureFamily("required", True, "1 where a relevant document is found"),
    "RBP": MeasureFamily("optional", True, "rank-biased precision with its persistence, RBP(0.8)"),
    "infAP": MeasureFamily(
        "none",
        True,
        "average precision inferred from one random sample of the pool (grade -1: not drawn)",
        divisible=False,
    ),
    "HT-P": MeasureFamily(
        "required", True, "precision, estimated from a sampled pool", sampled=True
    ),
    "HT-DCG": MeasureFamily(
        "required", False, "discounted cumulative gain, estimated from a sampled pool", sampled=True
    ),
    "HT-nDCG": MeasureFamily(
        "required", False, "nDCG, estimated from a sampled pool", sampled=True
    ),
    "HT-AP": MeasureFamily(
        "none",
        True,
        "average precision, estimated from a sampled pool by pairs of documents",
        sampled=True,
    ),
    "xinfAP": MeasureFamily(
        "none", True, "average precision inferred from a stratified sample", sampled=True
    ),
    "infNDCG": MeasureFamily(
        "optional",
        False,
        "nDCG as NIST's sample_eval infers it, for comparison with TREC",
        sampled=True,
    ),
}

DEFAULT_CUTOFF = 10
"""The cutoff of default measures."""
DEFAULT_PERSISTENCE = 0.8
"""The default of ir-measures, which therefore leaves it out of its names."""
DISCOUNTED_GAINS = {"log2": "nDCG", "exp-log2": "nDCG-exp"}
"""Families by the parameter `dcg` of ir-measures."""
ALIASES = {
    "map": "AP",
    "map-cut": "AP",
    "ndcg-cut": "nDCG",
    "ndcg-burges": "nDCG-exp",
    "mrr": "RR",
    "recip-rank": "RR",
    "precision": "P",
    "recall": "R",
    "r-prec": "Rprec",
    "r-precision": "Rprec",
    "j": "Judged",
    "hit": "Success",
    "hit-rate": "Success",
}
"""Families by the names of trec_eval, ranx and papers: lower case, hyphens for underscores."""

NAME_PATTERN = re.compile(
    r"(?P<family>[A-Za-z][A-Za-z_-]*?)(?:\((?P<options>[^()]*)\))?(?P<condensed>-[Jj])?"
    r"(?:[@_.](?P<cutoff>\d+))?"
)
"""nDCG-J@10 and AP(rel=2)@100; with trec_eval's separators also P_10 and P.10."""


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


def parse_measure(name: object) -> Measure:
    """The measure of this name, in any known spelling: a text, or an object whose `str()` is one,
    as the measures of ir-measures are.

    Raises UnknownMeasure, which says what is wrong and what there is."""
    if isinstance(name, Measure):
        return name
    name = str(name)
    match = NAME_PATTERN.fullmatch(name)
    family = None if match is None else _families_by_name().get(_fold_name(match["family"]))
    if match is not None and family is None:
        load_entry_points()
        family = _families_by_name().get(_fold_name(match["family"]))
    if match is None or family is None:
        raise UnknownMeasure(f"no measure is called {name!r}; {_suggest_names(name)}")
    measure = Measure(
        family,
        cutoff=None if match["cutoff"] is None else int(match["cutoff"]),
        condensed=match["condensed"] is not None,
    )
    for option in (match["options"] or "").split(","):
        if option.strip():
            measure = _apply_option(measure, option.strip(), name)
    rule = FAMILIES[family].cutoff
    if measure.cutoff is None and rule == "required":
        raise UnknownMeasure(f"{name!r} needs a cutoff, for example {name}@10")
    if measure.cutoff is not None and rule == "none":
        raise UnknownMeasure(f"{name!r} has a cutoff, but {family} has none")
    if measure.cutoff == 0:
        raise UnknownMeasure(f"the cutoff of {name!r} is 0, but ranks start at 1")
    if family == "RBP" and measure.persistence is None:
        if measure.level is None:
            raise UnknownMeasure(
                f"{name!r} needs a persistence between 0 and 1, for example RBP(0.8)"
            )
        return replace(measure, persistence=DEFAULT_PERSISTENCE)
    return measure


def define(name: str, function: Callable[..., float]) -> None:
    """Add a measure of your own. `name` and `name@k` are then measures like any other.

    function(qrels, run) -> the value of one topic. qrels: int (n_judged), the grades of the topic's
    judged documents, in no order that matters. run: int (n_retrieved), the grade of the document at
    each rank, -1 where it is not judged; `name@k` passes the first k. A parameter called `level`
    gets the lowest relevant grade. A topic that the run does not have is 0.

    The same name again replaces the function. Packages offer measures by entry points of the group
    `assay.measures`, a name for a function. ValueError for a name that has another meaning."""
    match = NAME_PATTERN.fullmatch(name)
    if match is None or match["family"] != name:
        raise ValueError(f"{name!r} cannot name a measure: expected letters, - and _")
    family = FAMILIES.get(name)
    if (family is None or family.function is None) and _fold_name(name) in _families_by_name():
        raise ValueError(f"{name!r} already means {_families_by_name()[_fold_name(name)]}")
    FAMILIES[name] = MeasureFamily(
        "optional",
        "level" in inspect.signature(function).parameters,
        " ".join((function.__doc__ or name).split()),
        divisible=False,
        function=function,
    )


@cache
def load_entry_points() -> None:
    """Define the measures that installed packages offer; a name that is taken stays what it is."""
    from importlib.metadata import entry_points  # only an unknown name needs it

    for one in entry_points(group="assay.measures"):
        if _fold_name(one.name) not in _families_by_name():
            define(one.name, one.load())


def split_condition(text: str) -> tuple[str, str]:
    """(name, rest) of NAME=MEASURE,...; the name may hold a measure with its level, such as
    `RR(rel=2)@10 NIST`: what stands in parentheses does not end it."""
    split = re.match(r"((?:[^=(]|\([^()]*\))*)=", text)
    name, _, rest = text.partition("=") if split is None else (split[1], "=", text[split.end() :])
    return name, rest


def parse_measures(names: Any) -> list[Measure]:
    """Measures of a text with names between blanks or commas, of one measure, or of several in any
    iterable; each once, in the order given."""
    if isinstance(names, str):
        words = re.findall(r"(?:\([^()]*\)|[^\s,(])+", names)
    else:
        words = list(names) if isinstance(names, Iterable) else [names]
    measures = list(dict.fromkeys(parse_measure(word) for word in words))
    if not measures:
        raise UnknownMeasure(f"no measure is named; there are {', '.join(list_known_names())}")
    return measures


def format_measure_names(names: Any) -> str:
    """Whatever `parse_measures` takes as a text of canonical names."""
    return " ".join(map(str, parse_measures(names)))


def limit_cutoffs(measures: Iterable[Measure], depth: int | None) -> list[Measure]:
    """Default measures for a pool judged to rank `depth`: a cutoff of 10 becomes `depth` if that is
    less, since deeper ranks are unjudged."""
    cutoff = DEFAULT_CUTOFF if depth is None else max(1, min(depth, DEFAULT_CUTOFF))
    return list(
        dict.fromkeys(
            replace(one, cutoff=cutoff) if one.cutoff == DEFAULT_CUTOFF else one for one in measures
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


def list_known_names() -> list[str]:
    """The form of every name, `k` standing for a cutoff."""
    forms = {"none": "{0}", "optional": "{0} {0}@k", "required": "{0}@k"}
    shown = {"RBP": "RBP(p)"}
    names = " ".join(
        forms[family.cutoff].format(shown.get(name, name)) for name, family in FAMILIES.items()
    ).split()
    return [*names, "each also with -J before the cutoff (nDCG-J@5, AP-J)"]


def _fold_name(name: str) -> str:
    return name.casefold().replace("_", "-")


def _families_by_name() -> dict[str, str]:
    """Family by every name of it."""
    return ALIASES | {_fold_name(family): family for family in FAMILIES}


def _apply_option(measure: Measure, option: str, name: str) -> Measure:
    """The measure with one of the options between brackets, in the spelling of ir-measures."""
    key, _, value = (part.strip() for part in option.rpartition("="))
    value = value.strip("'\"")
    family = measure.family
    is_grade = value.isdecimal() and int(value) >= 1
    if key == "rel" and is_grade and FAMILIES[family].uses_level:
        return replace(measure, level=int(value))
    if key == "judged_only" and value in ("True", "False"):
        return replace(measure, condensed=value == "True")
    if key in ("", "p") and family == "RBP" and re.fullmatch(r"0?\.\d+", value):
        if 0 < float(value) < 1:
            return replace(measure, persistence=float(value))
    elif key == "max_rel" and is_grade and family == "ERR":
        return replace(measure, highest=int(value))
    elif key == "dcg" and value in DISCOUNTED_GAINS and family == "nDCG":
        return replace(measure, family=DISCOUNTED_GAINS[value])
    raise UnknownMeasure(
        f"{option!r} in {name!r} is unknown; there are rel=N (N at least 1, for binary measures), "
        "judged_only=True, the persistence of RBP (0 < p < 1), max_rel=N of ERR (the highest grade "
        "of the scale) and dcg='exp-log2' of nDCG"
    )


def _suggest_names(name: str) -> str:
    """The end of the message on an unknown name: the nearest names, and all there are."""
    import difflib  # only a mistake needs it

    stem, *rest = re.split(r"[@(]|[_.](?=\d)", name)
    cutoff = next((int(text) for text in reversed(rest) if text.isdecimal()), 0) or DEFAULT_CUTOFF
    families = _families_by_name()
    close = difflib.get_close_matches(
        _fold_name(stem).removesuffix("-j"), families, n=3, cutoff=0.6
    )
    near = []
    for family in dict.fromkeys(families[one] for one in close):
        rule = FAMILIES[family].cutoff
        has_cutoff = rule == "required" or (rest and rule == "optional")
        shown = f"RBP({DEFAULT_PERSISTENCE})" if family == "RBP" else family
        near.append(f"{shown}@{cutoff}" if has_cutoff else shown)
    there_are = f"there are {', '.join(list_known_names())}"
    return f"did you mean {' or '.join(near)}? T{there_are[1:]}" if near else there_are
