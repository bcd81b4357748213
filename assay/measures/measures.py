"""Names of retrieval measures as values.

The canonical names are those of ir-measures (MacAvaney, Macdonald and Ounis 2022): `AP`, `nDCG@10`,
`RR@10`, `P@10`, `R@100`, `Rprec`, `Bpref`, `Judged@10`, `Success@5`. Two forms differ: `-J` before
the cutoff is the condensed form (`nDCG-J@5`, in ir-measures `nDCG(judged_only=True)@5`), and
`nDCG-exp` is nDCG with the gain 2^grade - 1 (`nDCG(dcg='exp-log2')`). A measure may specify its own
minimum relevant grade, `AP(rel=2)`. Names of trec_eval and other usual spellings are accepted, and
`define` adds measures. `evaluation` computes them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple


class MeasureFamily(NamedTuple):
    """A family of measures.

    cutoff: "none", "optional" or "required". uses_min_relevant: binary, so that the minimum
    relevant grade matters. sampled: an estimate from a pool of which a random sample is judged
    (`estimates`), not a value under qrels. divisible: also computed on sub-collections
    (`on_subcollections`). function: the function of a measure added by `define`, None for those of
    `evaluation`.
    """

    cutoff: str
    uses_min_relevant: bool
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
    "J": MeasureFamily("required", False, "judged documents divided by the cutoff"),
    "Success": MeasureFamily("required", True, "1 if a relevant document is found"),
    "RBP": MeasureFamily("optional", True, "rank-biased precision with its persistence, RBP(0.8)"),
    "Compat": MeasureFamily(
        "none",
        False,
        "compatibility with preferences (grades), with its persistence, Compat(0.95)",
        divisible=False,
    ),
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
"""Cutoff of the default measures."""
DEFAULT_PERSISTENCE = {"RBP": 0.8, "Compat": 0.95}
"""Default persistence in ir-measures, which omits it in names, by family."""
DISCOUNTED_GAINS = {"log2": "nDCG", "exp-log2": "nDCG-exp"}
"""Families by the value of the parameter `dcg` of ir-measures."""
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
    "hit": "Success",
    "hit-rate": "Success",
}
"""Families by names of trec_eval, ranx and papers, in lower case with hyphens for underscores."""

NAME_PATTERN = re.compile(
    r"(?P<family>[A-Za-z][A-Za-z_-]*?)(?:\((?P<options>[^()]*)\))?(?P<condensed>-[Jj])?"
    r"(?:[@_.](?P<cutoff>\d+))?"
)
"""Matches nDCG-J@10 and AP(rel=2)@100, and with trec_eval's separators P_10 and P.10."""


class UnknownMeasure(ValueError):
    """Error for an unknown name of a measure. The message lists the known names."""


@dataclass(frozen=True)
class Measure:
    """A measure. `str()` returns its name, which `parse_measure` reads.

    cutoff: number of ranks that count, or None for all. condensed: unjudged documents are removed
    from the ranking before the cutoff (Sakai 2007), while the recall base stays the same.
    min_relevant: minimum relevant grade, or None for that of the evaluation. persistence: of
    rank-biased precision, the probability of continuing to the next rank, or None for other
    measures. highest: of expected reciprocal rank, the highest grade of the scale, or None for the
    highest grade of the qrels and for other measures. ascending_ties: of compatibility, documents
    with equal scores are ordered by ascending ID, not in trec_eval's order.
    """

    family: str
    cutoff: int | None = None
    condensed: bool = False
    min_relevant: int | None = None
    persistence: float | None = None
    highest: int | None = None
    ascending_ties: bool = False

    def __str__(self) -> str:
        options = [f"{Decimal(repr(self.persistence)):f}"] if self.persistence is not None else []
        options += [f"rel={self.min_relevant}"] if self.min_relevant is not None else []
        options += [f"max_rel={self.highest}"] if self.highest is not None else []
        options += ["ties=ascending"] if self.ascending_ties else []
        between = f"({','.join(options)})" if options else ""
        return (
            self.family
            + between
            + ("-J" if self.condensed else "")
            + ("" if self.cutoff is None else f"@{self.cutoff}")
        )


def parse_measure(name: object) -> Measure:
    """Return the measure with this name in any known spelling.

    name: a text, or an object whose `str()` is one, such as the measures of ir-measures. Raises
    UnknownMeasure with the problem and the known names.
    """
    if isinstance(name, Measure):
        return name
    name = str(name)
    match = NAME_PATTERN.fullmatch(name)
    family = None if match is None else _families_by_name().get(_fold_name(match["family"]))
    if match is not None and family is None:
        load_entry_points()
        family = _families_by_name().get(_fold_name(match["family"]))
    if match is None or family is None:
        raise UnknownMeasure(f"unknown measure {name!r}; {_suggest_names(name)}")
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
        raise UnknownMeasure(f"{name} needs a cutoff, for example {name}@10")
    if measure.cutoff is not None and rule == "none":
        raise UnknownMeasure(f"{name!r} has a cutoff, but {family} does not take one")
    if measure.cutoff == 0:
        raise UnknownMeasure(f"the cutoff of {name!r} is 0, but ranks start at 1")
    if family in DEFAULT_PERSISTENCE and measure.persistence is None:
        usual = DEFAULT_PERSISTENCE[family]
        if family == "RBP" and measure.min_relevant is None:
            raise UnknownMeasure(
                f"{name!r} needs a persistence between 0 and 1, for example RBP({usual})"
            )
        return replace(measure, persistence=usual)
    return measure


def define(name: str, function: Callable[..., float]) -> None:
    """Add a measure. `name` and `name@k` can then be used like any other measure.

    function(qrels, run) returns the value for one topic. qrels: int (n_judged), the grades of the
    topic's judged documents in arbitrary order. run: int (n_retrieved), the grade of the document
    at each rank, -1 for unjudged. `name@k` passes the first k. A parameter called `level` receives
    the minimum relevant grade. Topics that the run does not have score 0.

    Defining a name again replaces the function. Packages provide measures by entry points of the
    group `assay.measures`, which map a name to a function. Raises ValueError for a name with
    another meaning.
    """
    match = NAME_PATTERN.fullmatch(name)
    if match is None or match["family"] != name:
        raise ValueError(f"{name!r} is not a valid measure name: expected letters, - and _")
    family = FAMILIES.get(name)
    if (family is None or family.function is None) and _fold_name(name) in _families_by_name():
        raise ValueError(f"{name!r} is already the name of {_families_by_name()[_fold_name(name)]}")
    FAMILIES[name] = MeasureFamily(
        "optional",
        "level" in inspect.signature(function).parameters,
        " ".join((function.__doc__ or name).split()),
        divisible=False,
        function=function,
    )


@cache
def load_entry_points() -> None:
    """Define the measures of installed packages. Existing names keep their meaning."""
    from importlib.metadata import entry_points  # needed only for unknown names

    for one in entry_points(group="assay.measures"):
        if _fold_name(one.name) not in _families_by_name():
            define(one.name, one.load())


def split_condition(text: str) -> tuple[str, str]:
    """Split NAME=MEASURE,... into (name, rest). The name may itself contain a measure with
    parameters, such as `RR(rel=2)@10 NIST`, because an equals sign in parentheses does not end
    it."""
    split = re.match(r"((?:[^=(]|\([^()]*\))*)=", text)
    name, _, rest = text.partition("=") if split is None else (split[1], "=", text[split.end() :])
    return name, rest


def parse_measures(names: Any) -> list[Measure]:
    """Return the measures in a text of names separated by spaces or commas, one measure, or an
    iterable of measures, each once and in order."""
    if isinstance(names, str):
        words = re.findall(r"(?:\([^()]*\)|[^\s,(])+", names)
    else:
        words = list(names) if isinstance(names, Iterable) else [names]
    measures = list(dict.fromkeys(parse_measure(word) for word in words))
    if not measures:
        raise UnknownMeasure(f"no measure given; choose from {', '.join(list_known_names())}")
    return measures


def format_measure_names(names: Any) -> str:
    """Return the canonical names, in one text, of whatever `parse_measures` accepts."""
    return " ".join(map(str, parse_measures(names)))


def limit_cutoffs(measures: Iterable[Measure], depth: int | None) -> list[Measure]:
    """Lower the cutoff 10 of default measures to `depth` for shallower pools, because deeper ranks
    are unjudged."""
    cutoff = DEFAULT_CUTOFF if depth is None else max(1, min(depth, DEFAULT_CUTOFF))
    return list(
        dict.fromkeys(
            replace(one, cutoff=cutoff) if one.cutoff == DEFAULT_CUTOFF else one for one in measures
        )
    )


def refuse_estimates(measures: Iterable[Measure]) -> None:
    """Raise UnknownMeasure for estimates from a sampled pool, because plain qrels lack the
    inclusion probabilities."""
    if estimates := [str(measure) for measure in measures if FAMILIES[measure.family].sampled]:
        raise UnknownMeasure(
            f"{', '.join(estimates)}: available only for a sampled pool (evaluate PREL RUN... --sampled), not for qrels"
        )


def refuse_indivisible(measures: Iterable[Measure]) -> None:
    """Raise UnknownMeasure for a measure that is not computed on sub-collections."""
    refuse_estimates(measures := list(measures))
    if whole := [str(measure) for measure in measures if not FAMILIES[measure.family].divisible]:
        there_are = ", ".join(
            name for name, family in FAMILIES.items() if family.divisible and not family.sampled
        )
        raise UnknownMeasure(
            f"{', '.join(whole)}: not available for parts of a collection; choose from {there_are}"
        )


def list_known_names() -> list[str]:
    """Return the form of every name, with `k` for a cutoff."""
    forms = {"none": "{0}", "optional": "{0} {0}@k", "required": "{0}@k"}
    shown = {family: f"{family}(p)" for family in DEFAULT_PERSISTENCE}
    names = " ".join(
        forms[family.cutoff].format(shown.get(name, name)) for name, family in FAMILIES.items()
    ).split()
    return [*names, "each also with -J before the cutoff (nDCG-J@5, AP-J)"]


def _fold_name(name: str) -> str:
    return name.casefold().replace("_", "-")


def _families_by_name() -> dict[str, str]:
    """Return the measure family by folded name or alias."""
    return ALIASES | {_fold_name(family): family for family in FAMILIES}


def _apply_option(measure: Measure, option: str, name: str) -> Measure:
    """Return the measure with one option in parentheses applied, in the spelling of ir-measures."""
    key, _, value = (part.strip() for part in option.rpartition("="))
    value = value.strip("'\"")
    family = measure.family
    is_grade = value.isdecimal() and int(value) >= 1
    if key == "rel" and is_grade and FAMILIES[family].uses_min_relevant:
        return replace(measure, min_relevant=int(value))
    if key == "judged_only" and value in ("True", "False"):
        return replace(measure, condensed=value == "True")
    if key in ("", "p") and family in DEFAULT_PERSISTENCE and re.fullmatch(r"0?\.\d+", value):
        if 0 < float(value) < 1:
            return replace(measure, persistence=float(value))
    elif key == "ties" and value == "ascending" and family == "Compat":
        return replace(measure, ascending_ties=True)
    elif key == "max_rel" and is_grade and family == "ERR":
        return replace(measure, highest=int(value))
    elif key == "dcg" and value in DISCOUNTED_GAINS and family == "nDCG":
        return replace(measure, family=DISCOUNTED_GAINS[value])
    raise UnknownMeasure(
        f"unknown parameter {option!r} in {name!r}; choose from rel=N (N at least 1, for "
        "binary measures), judged_only=True, the persistence of RBP and Compat (0 < p < 1), ties=ascending of "
        "Compat, max_rel=N of ERR (the highest grade of the scale) and dcg='exp-log2' of nDCG"
    )


def _suggest_names(name: str) -> str:
    """Return the end of the message on an unknown name: similar names, and all names."""
    import difflib  # needed only for errors

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
        usual = DEFAULT_PERSISTENCE.get(family)
        shown = family if usual is None else f"{family}({usual})"
        near.append(f"{shown}@{cutoff}" if has_cutoff else shown)
    known = f"choose from {', '.join(list_known_names())}"
    return f"did you mean {' or '.join(near)}? C{known[1:]}" if near else known
