"""The text of docs/evidence/calibration.md around its tables."""

from __future__ import annotations

from collections.abc import Iterable


def format_markdown_table(header: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    )


PAGE_TEXT = """# Calibration of intervals, tests and flags

Use this page to judge how far you can trust Assay's confidence intervals, tests and flags. It shows by simulation how often 95% confidence intervals
contain the true value, and how often tests and flags are wrong.

Each row of a table summarises {trials} simulated trials, so a share near .95 has a standard error of about {error:.3f}. `make calibration` computes
the results and writes this page (seed {seed}). With 1,000 trials, the command takes about ten minutes on two cores.

Most tables have the following columns.

| column | meaning |
|---|---|
| covered | share of the displayed intervals that contain the true value |
| shown | share of trials in which Assay displays an interval; in the other trials, it displays the reason |
| baseline | coverage of a simple method in all trials: the percentile bootstrap, unless stated otherwise |
| BCa | coverage of the bias-corrected and accelerated bootstrap (Efron 1987) over the same units, in all trials |

If Assay displays an interval in only a few trials, these trials are not typical. For example, they may be the trials in which annotators agreed on a
rare grade. *covered* then describes only these trials.

These pages define the rules for displaying intervals: [agreement](../reference/methods/agreement.md), [rankings](../reference/methods/rankings.md),
[bootstrap](../reference/methods/bootstrap.md), [systems](../reference/methods/systems.md) and [monitoring](../reference/methods/watching.md).

## Krippendorff's alpha

Each pair has three judgements. The table varies the following settings.

- *topics x pairs*: number of topics, and pairs per topic; for topics of unequal size, the number of pairs of each topic
- *topic effect*: share of a pair's relevance that it has in common with the other pairs of its topic: 20% (weak) or 60% (strong)
- *five unequal*: five annotators; three of them judge each pair. The strictest is .6 standard deviations too strict, and the most lenient is .6
  standard deviations too lenient
- *own shift by topic*: each annotator judges all pairs of a topic too strictly or too leniently by a random amount (standard deviation .7)

Assay displays the jackknife interval over topics on Fisher's z, with Student's t and the degrees of freedom that correspond to the effective number
of topics. If all pairs belong to one topic, Assay uses the jackknife over pairs. Assay does not display an interval with fewer than 10 topics, with
an effective number of topics below 5, or with an effective number below 60 if more than 80% of the grades are equal. With 10 topics, or topics of
unequal size, the coverage of BCa is lower than that of the jackknife.

{alphas}

## Kappa of one annotator

Kappa compares one annotator with the label that results from the other annotators' judgements. Kappa is unweighted on two grades and linearly
weighted on four grades. The topic effect, the own shift and the interval are defined as in the section on alpha. The column *own shift* contains the
standard deviation of the shift by topic.

{kappas}

## Tau-b between two rankings

The true scores of the systems are equally spaced, at distances of .15 to 3 standard deviations of a score. The errors of the two qrels have a
correlation of .3 or .8. The bootstrap uses 200 samples of topics.

- Resampling adds noise to rankings that are already noisy, so percentile intervals are too low.
- BCa treats this bias as a bias of the estimate, and shifts the interval in the wrong direction.
- The jackknife on Fisher's z reaches its coverage with 30 systems and a tau well below 1. With few systems, or a tau near 1, its intervals are far
  too short.
- With ten or more systems, no method covers a true tau of 1.

Assay therefore displays a percentile interval only if the order of just a few pairs of systems is in doubt. Otherwise, it lists the undecided pairs
of systems.

{taus}

## The rank of a system

The true means are equally spaced. *spread* is the standard deviation of these means, in standard deviations of a score. The table compares two kinds
of intervals:

- *baseline*: the 2.5th and 97.5th percentiles of the rank over samples of topics
- *Assay*: the ranks that paired t-tests against all other systems, with Holm correction, do not exclude

For each kind, the table gives the share of systems whose true rank is in the interval, this share for the truly best system only (*best*), and the
mean number of ranks in the interval (*ranks*). A rank is a whole number, so no interval can have a coverage of exactly 95%.

In the rows *unlike*, the systems have different distributions of scores. The means decrease from .111 in steps of .001. Half of the systems have
nearly the same score on every topic. The other systems score 1 on a few topics and 0 on all other topics. With fewer than 30 topics, the t-test would
call some of these systems different, so Assay does not exclude any rank.

{ranks}

## Means of systems

The table shows intervals of the mean score of one system over new topics.

- *always t*: coverage of Student's t interval in all trials
- *shown* and *covered*: the intervals of `evaluate --intervals`, which requires 30 topics, of which at least ten differ from the most frequent value.
  Hall's (1992) transformation extends the t-interval for skewed scores ([measures](../reference/methods/measures.md#confidence-intervals-of-means))

The rule does not use the skewness of the sample as a criterion, because samples without the rare topics look unproblematic.

The table includes the score distributions from the section on [tests](#tests-of-a-difference) and these distributions:

- *few topics score*: the tenth power of a uniform variable, so that a few topics determine the mean
- *answered in 5%*: 1 on 5% of the topics, and otherwise 0
- *RR* with a share: 1 to 1/10 on this share of the topics, and otherwise 0
- *±*: a normal distribution around the value, with this standard deviation

An event that occurs on 4% of the topics is missing from 29% of samples of 30 topics, and from 13% of samples of 50 topics. If the other topics have
nearly the same value, no interval can account for such an event, as the last rows show.

{means}

## Differences of systems

The table shows intervals of the mean difference between two systems.

- *t* and *BCa*: coverage of Student's t interval and of BCa (500 samples) in all trials
- *shown* and *covered*: the intervals that Assay displays, by the rule for [means](#means-of-systems)
- *effect size*: coverage of the interval of the effect size, which uses the noncentral t distribution

*exponential* and *lognormal* (of a normal variable with standard deviation 1.5) are skewed distributions of differences. In the rows with *gain* and
*loss*, the difference is 0 on all other topics unless stated otherwise.

If a few topics determine the mean difference, the coverage of t and BCa is far below .95. Assay then displays wins, ties and losses instead of an
interval. The interval of the effect size is too wide for most skewed differences, and too narrow for lognormal differences.

{spreads}

## Tests of a difference

The table shows the share of pairs of equal systems that a test calls different at the .05 level. Half of the variance of scores is between topics.
*nDCG@10* is skewed. *RR* is 1/rank for ranks up to 10, and otherwise 0. *P@10* is a multiple of 0.1, and has many ties.

With few topics, only a few p-values are possible, so the exact signed-rank and permutation tests are wrong in less than 5% of cases. The rank-sum
test is unpaired and has almost no power for paired runs. The last column shows the rule "beaten in 97.5% of bootstrap samples", which Assay does not
use.

In the rows *unlike*, the systems have the same mean but different distributions. One system scores nearly .1 on every topic, and the other system
scores 1 on a tenth of the topics. With few topics, no test controls its error rate in these rows. Signed-rank and sign tests ask which system is
better on most topics. The t-test and the permutation test fail because the rare topics are missing from the sample.

{tests}

## Family-wise error rate

Each test compares all pairs in a family of equal systems at the .05 level. The table shows the share of families in which the test calls at least one
pair different. *max* is the permutation test with the maximum statistic (randomised Tukey HSD).

{families}

## Verdicts by the first relevant document

The runs are equal, because the simulation exchanges their ranks at random on each topic. The table shows the share of comparisons in which one of the
runs gets the [verdict](../reference/methods/significance.md#verdicts), without correction.

{verdicts}

## The end of a campaign

The simulated campaigns have 100 judgements per working day and start on a random day of the week. The forecast is made during working hours, after a
given number of working days, when a given number of days of work is left.

- *days wide*: median width of the 95% prediction interval in days
- *ended later*: share of campaigns that end after the interval

In *sessions* and the rows below it, annotators work in sessions of 20 to 40 judgements, with 3.3 sessions per working day on average. Annotators do
not work at weekends, unless stated otherwise.

- *kick-off*: the first day has 4 to 12 times as many judgements
- *holiday*: one working day has no judgements, before the forecast or within five working days after it
- *fade-out*: the pace falls by 5% per working day
- *late burst*: one of the two working days before the forecast, or of the five after it, has twice as many judgements
- *few annotators*: there are three annotators, and each works on three of five days

In the rows above *sessions*, judgements are independent (Poisson distributed by hour), and all days are alike. A forecast after a few days cannot
detect this regularity, so its coverage is above 95%. Campaigns rarely end later than the interval unless they fade out, because the upper limit
allows for a falling pace.

{ends}

## The flag "agreement may be chance"

The table shows the share of campaigns in which a careful annotator has this flag. In the last two columns, one annotator grades at random and makes
28% of the judgements. The last column shows the share of campaigns in which this annotator has the flag. The number of simulated campaigns is a
quarter of the number of trials given above. Each pair has two judgements.

- *assigned*: every annotator judges pairs of every topic (evenly), or a third of the annotators make most of the judgements for each topic (by topic)
- *kappa*: mean kappa of the annotators with the others' label, with equal care
- *equal care*: all annotators are equally careful
- *differing care*: error variances of annotators differ by up to 20%. In addition, each annotator judges all pairs of a topic too strictly or too
  leniently by a random amount (standard deviation .5). The last two columns use these annotators

{accused}

## Effective sample-size gain

`llm rank` reports the gain 1 / (1 - ρ²), where ρ is the correlation between binary human and LLM labels, with a confidence interval over topics.

- *correlation*: correlation of the relevance that the annotator and the LLM judge perceive, on a normal scale
- *topic effect*: share of a pair's relevance, and of the LLM judge's error, that is the same for all pairs of the topic
- *baseline*: percentile interval of the bootstrap over topics

Assay computes the interval by the jackknife over topics for ρ on Fisher's z, and displays it under the same conditions as for alpha.

{worths}
"""
