"""Verdicts on whether run B is better than run A (Lin et al., SIGIR 2021, section 5), each with its
reasons.

    better                 B wins the topics that only one run answers and has the smaller ESL on
                           topics that both answer
    significantly better   the same, and both differences are significant
    do no harm             B significantly answers more topics without significantly increasing ESL,
                           or significantly decreases ESL without significantly leaving more topics
                           unanswered

Choices beyond the paper: alpha is 0.05. Answered topics are compared with the exact binomial test
(which the paper proposes), and ESL with Wilcoxon's signed-rank test or the paired t-test. A test
supports a direction only if its own statistic points there. If the signed ranks decide and disagree
with the means in direction, the verdict is None unless both directions give the same, and the
reasons report both facts. If no topic is answered by both runs, no ESL is smaller or significant.
The same verdicts are given with RR instead of ESL. A correction multiplies p-values before they are
compared with alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from assay.comparison.outcomes import AnsweredMeans, RunComparison
from assay.comparison.significance import (
    CORRECTION_NAMES,
    MIN_VERDICT_TOPICS,
    TEST_SCALES,
    adjust_p_values,
    no_verdict_reason,
)
from assay.number_words import format_count
from assay.significant_digits import format_p, format_p_equals

ALPHA = 0.05
TESTS = {"wsr": "the signed-rank test", "t": "the t-test"}
P_VALUES = ("mrr_wrs", "mrr_wsr", "mrr_t", "binomial", "esl_wsr", "esl_t", "rr_wsr", "rr_t")
DECIMALS = 12
"""Decimals to which means are rounded before they are compared."""


@dataclass(frozen=True)
class Verdict:
    """The three verdicts on whether run B is better than run A. None means no verdict: there are
    too few topics, or means and signed ranks disagree in direction and give different verdicts."""

    @property
    def is_open(self) -> bool:
        return None in (self.better, self.significantly_better, self.do_no_harm)

    better: bool | None
    significantly_better: bool | None
    do_no_harm: bool | None


NO_VERDICT = Verdict(None, None, None)


@dataclass(frozen=True)
class JudgedComparison:
    """The verdict on a comparison of two runs, by expected search length (ESL) and by reciprocal
    rank (RR).

    because: sentences, the facts in the order of the argument. disagreements: sentences on
    disagreements between tests or measures, or empty. corrected: p-values that were compared with
    alpha, by the names in P_VALUES, NaN if undefined. correction, family: method of the correction
    and size of the family. mirrored: the verdict on A against B, by ESL.
    """

    verdict: Verdict
    by_rr: Verdict
    mirrored: Verdict
    because: list[str]
    disagreements: list[str]
    corrected: dict[str, float]
    correction: str
    family: int


@dataclass(frozen=True)
class VerdictEvidence:
    """The facts on which a verdict rests. Directions are 1 if B is better, -1 if A is, and 0 for
    neither or undefined.

    ranking: direction of the means on topics that both answer. tested: direction of the statistic
    of the test that decides there.
    """

    answers: int
    answers_significant: bool
    ranking: int
    tested: int
    ranking_significant: bool

    @property
    def is_contradictory(self) -> bool:
        """Return whether the means and the test that decides disagree in direction."""
        return self.ranking * self.tested < 0

    def mirror(self) -> VerdictEvidence:
        """Return the evidence with runs A and B swapped."""
        return replace(self, answers=-self.answers, ranking=-self.ranking, tested=-self.tested)

    def verdict(self) -> Verdict:
        if self.is_contradictory:
            readings = [
                replace(self, ranking=side, tested=side).verdict()
                for side in (self.ranking, self.tested)
            ]
            by_means, by_test = (asdict(reading) for reading in readings)
            return Verdict(
                **{
                    name: by_means[name] if by_means[name] == by_test[name] else None
                    for name in by_means
                }
            )
        better = self.answers == 1 and self.ranking == 1
        more_answers = self.answers == 1 and self.answers_significant
        fewer_answers = self.answers == -1 and self.answers_significant
        better_ranking = self.ranking == 1 and self.ranking_significant
        worse_ranking = -1 in (self.ranking, self.tested) and self.ranking_significant
        return Verdict(
            better=better,
            significantly_better=more_answers and better_ranking,
            do_no_harm=(more_answers and not worse_ranking)
            or (better_ranking and not fewer_answers),
        )


def judge_comparisons(
    comparisons: Sequence[RunComparison],
    *,
    alpha: float = ALPHA,
    decide: str = "wsr",
    correction: str = "none",
    family: int | None = None,
) -> list[JudgedComparison]:
    """Return the verdicts on comparisons that form one family. Each kind of test is corrected over
    the list.

    decide: "wsr" or "t", the test for topics that both runs answer. correction: "none",
    "bonferroni" or "holm". family: its size, if larger than the list.
    """
    if decide not in TESTS:
        raise ValueError(f"unknown test {decide!r}; choose from {', '.join(TESTS)}")
    columns = {
        name: adjust_p_values(
            [p_values(comparison)[name] for comparison in comparisons], correction, family=family
        )
        for name in P_VALUES
    }
    size = len(comparisons) if family is None else family
    judged = []
    for i, comparison in enumerate(comparisons):
        corrected = {name: float(column[i]) for name, column in columns.items()}
        judged.append(_judge_comparison(comparison, corrected, alpha, decide, correction, size))
    return judged


def p_values(comparison: RunComparison) -> dict[str, float]:
    """Return the raw p-values that are corrected, by the names in P_VALUES."""
    return {
        "mrr_wrs": comparison.mrr.wrs,
        "mrr_wsr": comparison.mrr.wsr,
        "mrr_t": comparison.mrr.t,
        "binomial": comparison.binomial,
        "esl_wsr": comparison.esl.wsr,
        "esl_t": comparison.esl.t,
        "rr_wsr": comparison.rr.wsr,
        "rr_t": comparison.rr.t,
    }


def _judge_comparison(
    comparison: RunComparison,
    p: dict[str, float],
    alpha: float,
    decide: str,
    correction: str,
    family: int,
) -> JudgedComparison:
    answers = VerdictEvidence(
        answers=(comparison.b_only > comparison.a_only) - (comparison.b_only < comparison.a_only),
        answers_significant=p["binomial"] < alpha,
        ranking=0,
        tested=0,
        ranking_significant=False,
    )
    esl, rr = (mean_direction(means) for means in (comparison.esl, comparison.rr))
    esl_by, rr_by = (
        deciding_test(means, comparison.both, decide) for means in (comparison.esl, comparison.rr)
    )
    esl_tested = esl if esl_by == "t" else sign_or_zero(comparison.esl.signed_ranks)
    rr_tested = rr if rr_by == "t" else sign_or_zero(comparison.rr.signed_ranks)
    by_esl = replace(
        answers, ranking=-esl, tested=-esl_tested, ranking_significant=p[f"esl_{esl_by}"] < alpha
    )
    by_rr = replace(
        answers, ranking=rr, tested=rr_tested, ranking_significant=p[f"rr_{rr_by}"] < alpha
    )
    few = no_verdict_reason(comparison.topics)
    because = verdict_reasons(comparison, by_esl, p, esl_by, correction)
    return JudgedComparison(
        verdict=NO_VERDICT if few else by_esl.verdict(),
        by_rr=NO_VERDICT if few else by_rr.verdict(),
        mirrored=NO_VERDICT if few else by_esl.mirror().verdict(),
        because=[*because, f"no verdict: {few}"] if few else because,
        disagreements=describe_disagreements(comparison, by_esl, by_rr, p, alpha, correction),
        corrected=p,
        correction=correction,
        family=family,
    )


def deciding_test(means: AnsweredMeans, n: int, decide: str) -> str:
    """Return the test that decides over n topics that both answer: the t-test only if it is defined
    and there are enough topics for a verdict, otherwise the signed-rank test, which is exact there.
    """
    return "t" if decide == "t" and n >= MIN_VERDICT_TOPICS and means.t == means.t else "wsr"


def mean_direction(means: AnsweredMeans) -> int:
    """Return 1 if B's mean is larger, -1 if A's is, 0 if neither or undefined."""
    return sign_or_zero(round(means.b - means.a, DECIMALS))


def sign_or_zero(number: float) -> int:
    """Return 1, -1, or 0 for zero and NaN."""
    return (number > 0) - (number < 0)


def verdict_reasons(
    comparison: RunComparison,
    facts: VerdictEvidence,
    corrected: Mapping[str, float],
    decide: str,
    correction: str,
) -> list[str]:
    """Return the facts as sentences with raw p-values, followed by the corrected ones if there is a
    correction."""

    def p(name: str) -> str:
        after = CORRECTION_NAMES[correction]
        if correction != "none":
            after = f"after {after} {format_p(corrected[name])}"
        return f"{format_p_equals(p_values(comparison)[name])}, {after}"

    a_only, b_only = comparison.a_only, comparison.b_only
    winner = {1: "B wins", -1: "A wins", 0: "neither wins"}[facts.answers]
    said = [
        f"{winner} the topics that only one run answers: A {a_only}, B {b_only} of "
        f"{comparison.topics}, {significance_word(facts.answers_significant)} by the binomial "
        f"test ({p('binomial')})"
    ]
    if comparison.both == 0:
        return [*said, "no topic is answered by both runs, so search lengths cannot be compared"]
    if facts.is_contradictory:
        return [
            *said,
            describe_contradiction(
                "mean search length", comparison.esl, "longer", p(f"esl_{decide}"), facts
            ),
        ]
    shorter = {
        1: "B has the smaller mean search length",
        -1: "A has the smaller mean search length",
        0: "mean search lengths are equal",
    }
    said.append(
        f"{shorter[facts.ranking]} on the {format_count(comparison.both, 'topic')} that both answer: A "
        f"{comparison.esl.a:.4g}, B {comparison.esl.b:.4g}, "
        f"{significance_word(facts.ranking_significant)} by {TESTS[decide]} ({p(f'esl_{decide}')})"
    )
    return said


def describe_contradiction(
    what: str, means: AnsweredMeans, higher: str, p: str, facts: VerdictEvidence
) -> str:
    """Return the sentence for a comparison in which the means favour one run and the signed ranks
    the other."""
    favoured = {1: "B", -1: "A"}
    return (
        "on the topics that both answer, means and signed ranks point in different "
        f"directions, so there is no verdict: by {what} {favoured[facts.ranking]} is ahead (A "
        f"{means.a:.4g}, B {means.b:.4g}), by the signed ranks {favoured[facts.tested]} is (A "
        f"is {higher} on {format_count(means.a_higher, 'topic')}, B on {means.b_higher}; {p})"
    )


def significance_word(is_significant: bool) -> str:
    return "significant" if is_significant else "not significant"


def describe_disagreements(
    comparison: RunComparison,
    by_esl: VerdictEvidence,
    by_rr: VerdictEvidence,
    p: Mapping[str, float],
    alpha: float,
    correction: str,
) -> list[str]:
    """Describe disagreements: between tests about significance, between a test and the means about
    direction, and between ESL and RR."""
    by = f"({CORRECTION_NAMES[correction]})"
    if no_verdict_reason(comparison.topics):
        return []
    said = []
    of_mrr = {
        "the rank-sum test": p["mrr_wrs"] < alpha,
        TESTS["wsr"]: p["mrr_wsr"] < alpha,
        TESTS["t"]: p["mrr_t"] < alpha,
    }
    of_mrr = {
        test: is_found
        for test, is_found in of_mrr.items()
        if test != TESTS["t"] or p["mrr_t"] == p["mrr_t"]
    }
    if len(set(of_mrr.values())) == 2:
        find, miss = (
            " and ".join(test for test, better in of_mrr.items() if better == wanted)
            for wanted in (True, False)
        )
        said.append(
            f"mean RR of all topics: the difference is significant by {find} but not by {miss} {by}"
        )
    for key, name in (("esl", "ESL"), ("rr", "RR")):
        verdicts = {test: p[f"{key}_{test}"] < alpha for test in TESTS}
        if verdicts["wsr"] != verdicts["t"] and p[f"{key}_t"] == p[f"{key}_t"]:
            yes, no = ("wsr", "t") if verdicts["wsr"] else ("t", "wsr")
            said.append(
                f"{name}: the difference is significant by {TESTS[yes]} but not by {TESTS[no]} {by}"
            )
        means: AnsweredMeans = getattr(comparison, key)
        if means.signed_ranks * mean_direction(means) < 0 and verdicts["wsr"]:
            said.append(f"{name}: the signed-rank test and the means point in different directions")
    if by_esl.ranking * by_rr.ranking < 0:
        ahead = {1: "B", -1: "A"}
        said.append(
            f"if both answer, {ahead[by_esl.ranking]} is ahead by ESL and {ahead[by_rr.ranking]} by RR"
        )
    if by_esl.ranking_significant != by_rr.ranking_significant:
        yes, no = ("ESL", "RR") if by_esl.ranking_significant else ("RR", "ESL")
        said.append(f"if both answer, the difference is significant by {yes} but not by {no} {by}")
    esl, rr = by_esl.verdict(), by_rr.verdict()
    for field, words in (
        ("better", "better"),
        ("significantly_better", "significantly better"),
        ("do_no_harm", "do no harm"),
    ):
        if None not in (getattr(esl, field), getattr(rr, field)) and getattr(esl, field) != getattr(
            rr, field
        ):
            holds, fails = ("ESL", "RR") if getattr(esl, field) else ("RR", "ESL")
            said.append(f"the verdict {words} holds by {holds} but not by {fails}")
    return said


def to_json(comparison: RunComparison, judged: JudgedComparison) -> dict[str, Any]:
    """Return one table row with the field names of the command's JSON output. Outcomes are shares
    of all topics, p-values are raw."""
    mrr = comparison.mrr
    row: dict[str, Any] = {
        "mrr": {
            "a": mrr.a,
            "b": mrr.b,
            "difference": mrr.difference,
            **{test: getattr(mrr, test) for test in TESTS_OF_MRR},
        },
        "outcomes": {outcome: comparison.share(outcome) for outcome in OUTCOMES},
        "outcome_topics": {outcome: getattr(comparison, outcome) for outcome in OUTCOMES},
        "esl": _means_json(comparison.esl),
        "rr": _means_json(comparison.rr),
        "binomial": comparison.binomial,
        "corrected": judged.corrected,
        "verdict": {
            **asdict(judged.verdict),
            "because": judged.because,
            "by_rr": asdict(judged.by_rr),
            "disagreements": judged.disagreements,
        },
        "correction": judged.correction,
        "family_size": judged.family,
        "topics": comparison.topics,
        "wsr_method": {
            "mrr": mrr.wsr_method,
            "esl": comparison.esl.wsr_method,
            "rr": comparison.rr.wsr_method,
        },
        "scales": {test: TEST_SCALES[test] for test in TESTS_OF_MRR},
    }
    undefined = {}
    if comparison.both == 0:
        undefined = {
            "esl": "no topic is answered by both runs",
            "rr": "no topic is answered by both runs",
        }
    for key, verdict in (("verdict", judged.verdict), ("verdict by RR", judged.by_rr)):
        if verdict.is_open:
            undefined[key] = (
                no_verdict_reason(comparison.topics)
                or "means and signed ranks point in different directions"
            )
    return {**row, "undefined": undefined} if undefined else row


OUTCOMES = ("neither", "a_only", "b_only", "both")
TESTS_OF_MRR = ("wrs", "wrs_tie_corrected", "wsr", "t")


def _means_json(means: AnsweredMeans) -> dict[str, float]:
    return {"a": means.a, "b": means.b, "wsr": means.wsr, "t": means.t}
