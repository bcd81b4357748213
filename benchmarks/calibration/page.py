"""Text of docs/evidence/calibration.md around its tables."""

from __future__ import annotations

from collections.abc import Iterable


def format_markdown_table(header: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    )


PAGE_TEXT = """# Calibration of intervals, tests and flags

This page shows by simulation whether confidence intervals cover the true value in 95% of cases, and whether tests and flags err as rarely as they
claim. There are {trials} trials per row, so a share near .95 is known to about {error:.3f}. `make calibration` writes the page (seed {seed}); with
1,000 trials it takes about ten minutes on two cores.

| column | meaning |
|---|---|
| covered | share of the intervals shown that contain the true value |
| shown | share of trials in which an interval is shown; in the others, Assay shows the reason |
| baseline | coverage of the simple method in all trials: the percentile bootstrap, unless stated otherwise |
| BCa | coverage of the bias-corrected and accelerated bootstrap (Efron 1987), over the same units |

If intervals are shown in few trials only, these are trials of a special kind (for example with agreement on the rare grade), and *covered* refers to
them. The rules are in [agreement](../reference/methods/agreement.md), [rankings](../reference/methods/rankings.md),
[bootstrap](../reference/methods/bootstrap.md), [systems](../reference/methods/systems.md) and [monitoring](../reference/methods/watching.md).

## Krippendorff's alpha

Each pair has three judgements. *Topic effect* is the share of a pair's relevance that belongs to its topic: a fifth if weak, 60% if strong. *Five
unequal* are annotators from .6 standard deviations too strict to .6 too lenient, three of them per pair. *Own shift by topic*: each annotator adds a
random amount per topic (standard deviation .7) to all its pairs. Topics of unequal size are given by their numbers of pairs.

The interval shown is the jackknife over topics on Fisher's z, with Student's t and the degrees of freedom of the effective number of topics; over
pairs if all belong to one topic. It is refused with fewer than 10 topics, with topics worth fewer than 5 of equal size, and with fewer than 60 if
more than 80% of the grades are the same. With 10 topics or topics of unequal size, BCa covers less than the jackknife.

{alphas}

## Kappa of one annotator

Kappa is computed against the label by the others, unweighted on two grades and linearly weighted on four. Topic effect, own shift and the interval
are those of alpha.

{kappas}

## Tau-b between two rankings

Systems are .15 to 3 standard deviations of a score apart, in equal steps. The noise of the two qrels is shared by .3 or .8. There are 200 samples of
topics.

Resampled topics add noise to rankings that are noisy already, so the percentiles lie too low. BCa mistakes this bias for one of the estimate and
moves the wrong way. The jackknife on Fisher's z covers with 30 systems and a tau well below 1; with few systems, or near 1, it is far too short. No
method covers a true tau of 1 with ten systems or more. Assay therefore shows percentiles if few pairs of systems are in doubt, and the undecided
pairs otherwise.

{taus}

## The rank of a system

The true means are evenly spaced, with a standard deviation given in standard deviations of a score (*apart*). The columns give the share of systems
whose true rank is in the interval, the share for the truly best system, and the mean number of ranks in the interval. *baseline* is the 2.5 and 97.5
percentiles of the rank over samples of topics. *now* is the set of ranks that paired t-tests against all others, with Holm correction, leave open.

A rank is a whole number, so no interval covers in exactly 95% of cases. *unlike*: means fall from .111 in steps of .001; half of the systems have
nearly the same score on every topic, the other half 1 on few topics and 0 elsewhere. With fewer than 30 topics, t would call some of them different,
so every rank is left open.

{ranks}

## Means of systems

The intervals are for the mean score of one system over new topics. *everywhere*: Student's t, always shown. The next columns are what `evaluate
--intervals` shows: from 30 topics on, with at least ten topics off the most frequent value, by t, extended by Hall's (1992) transformation for skewed
scores ([measures](../reference/methods/measures.md#confidence-intervals-of-means)).
The skewness of the sample can't decide whether an interval is shown, because
samples without the rare topics look harmless.

Scores are as under [tests](#tests-of-a-difference). *few topics score*: the tenth power of a uniform value, so a few topics make up the mean.
*answered in 5%*: 1 on one topic in twenty, else 0. *RR*: 1 to 1/10 on some topics, else 0. ±: a normal spread with this standard deviation.

An event on one topic in 25 is missing from 29% of samples of 30 topics and from 13% of 50. If the other topics have nearly one value, no interval can
know of it, as the last rows show.

{means}

## Differences of systems

The first columns give intervals of the mean difference by Student's t and by BCa (500 samples), always shown. The next columns give the intervals
that Assay shows, according to the rule for [means](#means-of-systems). The last columns give the interval of the effect size by the noncentral t
distribution. *exponential* and *lognormal* (of a normal with standard deviation 1.5) are skewed differences. *gain* and *lose*: the difference is 0
on all other topics unless stated otherwise.

If few topics make up the difference, t and BCa cover far less than .95, and no interval is shown; wins, ties and losses are shown instead. The
interval of the effect size is too wide for skewed differences, and too narrow for lognormal ones.

{spreads}

## Tests of a difference

The table gives the share of pairs of equal systems that are called different at .05. Half of the variance belongs to the topics. *nDCG@10* is skewed,
*RR* is one over a rank up to 10 or 0, and *P@10* has tenths, with many ties. Signed-rank and randomisation tests are exact if few topics allow only
few p-values, and then err in less than 5%. The rank-sum test is unpaired and has almost no power on paired runs. The last column is the rule of an
earlier version of `bootstrap`.

*unlike*: equal means of unlike runs, one with nearly .1 on every topic, one with 1 on a tenth of the topics. No test of few topics handles such
means: signed-rank and sign tests ask which run is ahead on most topics, and t and randomisation miss the rare topics.

{tests}

## Families of tests

The table gives the family-wise error rate: the share of families of equal systems, all pairs tested, in which some pair is called different at .05.

{families}

## Verdicts of the comparison by the first relevant document

Equal runs, with ranks exchanged on each topic. The table gives the share of comparisons in which either run gets the verdict, without a correction.

{verdicts}

## The end of a campaign

Campaigns with 100 judgements per working day start on any day of the week and are forecast during working hours, after the given number of working
days, with the given number of days of work missing. *days wide* is the median width of the 95% prediction interval, and *ended later* the share of
campaigns that end after it.

In *sessions* and the kinds below it, annotators work in sessions of 20 to 40 judgements, on average 3.3 per working day, with idle weekends unless
stated otherwise. *kick-off*: the first day has 4 to 12 times as many. *holiday*: one working day is idle, before the forecast or within five working
days after it. *fade-out*: the pace falls by 5% per working day. *late burst*: one of the two working days before, or five days after, has twice as
many. *few annotators*: three, each on three of five days.

In the kinds above *sessions*, judgements are independent (Poisson by hour) and all days are alike. The forecast can't know that after a few days, so
it covers more than it claims. Campaigns rarely end late unless they fade out, because the late end allows for a fading pace.

{ends}

## The flag "agrees no better than chance"

The table gives the share of annotators with this flag, of ten per campaign; a quarter as many campaigns as trials above. *baseline*: a fixed bound,
the interval below .1. With topics, 60% of a pair's relevance belongs to its topic, and each annotator adds a random amount per topic (standard
deviation .5) to all its pairs.

{accused}

## Effective sample-size gain

The gain that `llm rank` reports is 1 / (1 - ρ²), with the correlation ρ of human labels and LLM labels on relevant or not, and an interval over
topics. *Seen alike*: correlation of what both see, on a normal scale. *Topic effect*: the share of a pair's relevance, and of the judge's error, that
belongs to the topic. The interval shown is the jackknife over topics of ρ on Fisher's z, with the rules of alpha. *baseline*: percentiles over
topics.

{worths}
"""
