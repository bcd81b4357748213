"""The words of docs/evidence/calibration.md around its tables."""

from __future__ import annotations

from collections.abc import Iterable


def markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    )


TEXT = """# Do intervals, tests and signs do what they say?

By simulation: {trials} trials a row, so that a share near .95 is known to about {error:.3f}; written by `make calibration`, seed {seed}. With 1,000 trials
that takes about ten minutes on two cores. Intervals
are of 95 %. *covered*: of the trials that show an interval, the share in which it holds the true value. *shown*: the share of trials that show one;
elsewhere the reason stands in its place. *before*: what was shown before this was simulated, everywhere: the percentile bootstrap, if nothing else is
said. *BCa*: the bias-corrected and accelerated bootstrap (Efron 1987), over the same units as what is shown now, for comparison. The rules are in
[agreement](../reference/methods/agreement.md), [rankings](../reference/methods/rankings.md), [bootstrap](../reference/methods/bootstrap.md),
[systems](../reference/methods/systems.md) and
[watching](../reference/methods/watching.md).

Where intervals are shown in few trials, those are trials of a kind (with agreement on the rare grade, say), and the share covered is that of this
kind.

## Krippendorff's alpha

Three judgements of each pair. *Topic effect*: what is the topic's of a pair's relevance, a fifth if weak, 60 % if strong. *Five unequal*: annotators
from .6 standard deviations too strict to .6 too lenient, three of them for each pair. *Own shift by topic*: each annotator adds to all pairs of a topic
what is drawn for that topic, with a standard deviation of .7. Topics of unequal size are given by their pairs. Shown: the jackknife over topics, on
Fisher's z, with Student's t, whose degrees of freedom are those of the effective number of topics; over pairs where all are of one topic. Refused:
fewer than 10 topics; topics worth fewer than 5 of equal size; fewer than 60 where more than 80 % of the grades are one and the same. BCa needs no z, for
it is the same on every scale; with 10 topics or topics of unequal size it covers less than the jackknife, and no more with rare grades.

{alphas}

## Kappa of a person

Against the label of the others; unweighted on two grades, linearly weighted on four. Topic effect, own shift and what is shown as for alpha: the
jackknife over topics, or over pairs where all are of one topic.

{kappas}

## Tau-b between two rankings

Systems .15 to 3 standard deviations of a score apart, in equal parts; the noise of the two qrels is shared by .3 or .8; 200 samples of topics.
Resampled topics add noise to rankings that carry noise already, so the percentiles lie too low. BCa takes this bias for one of the estimate and moves
the wrong way. The jackknife on Fisher's z (over topics, Student's t) covers with 30 systems and a tau well below 1; with few systems, or near 1, no
single topic turns a pair, and it is far too short. Nothing covers a true tau of 1 with ten systems or more. So the percentiles are shown where few
pairs are in doubt, and elsewhere the undecided pairs of systems.

{taus}

## The rank of a system

Systems' true means are drawn evenly, with a standard deviation of so many standard deviations of a score (*apart*). Shares of systems whose true rank
the interval holds, then of the truly best one, then how many ranks it holds on average. *before*: the 2.5 and 97.5 percentiles of the rank over
samples of topics; they are still told as what they are. *now*: the ranks left by paired t-tests against all others, corrected by Holm. A rank is a
whole number, and an order that is clear leaves one rank: no interval can cover it in just 95 %. It is made so wide for the system that stands at the
end of nearly equal ones, where the percentiles fail. *unlike*: means from .111 down in steps of .001, half of the systems with nearly the same score on every
topic, half with 1 on few topics and 0 elsewhere; with fewer than 30 topics t calls some of them different that are not, so that every rank is left open there.

{ranks}

## Means of systems

Intervals of the mean score of one system for new topics. *everywhere*: by Student's t, as if always shown. Then what `evaluate --intervals` shows:
from 30 topics on, with at least ten topics off the most frequent value, by t and, where scores are skewed, to where Hall's (1992) transformation
reaches further ([measures](../reference/methods/measures.md#conventions)). The skewness of the sample does not decide whether an interval is shown: samples
without the rare topics look harmless, and their intervals miss. Scores as under [tests](#tests-of-a-difference); *few topics score*: the tenth power
of an even share, so that a few topics bring all of the mean; *answered in 5 %*: 1 on one topic in twenty, else 0; *RR*: 1 to 1/10 on some topics,
else 0; ±: a normal spread of this standard deviation.

What happens on one topic in 25 is missing from 29 % of samples of 30 topics and from 13 % of 50. If the other topics have nearly one value, no
interval of these topics can know of it, as the last rows show. Where an interval is shown in less than a tenth of the trials, these are trials with
more rare topics than usual.

{means}

## Differences of systems

Intervals of the mean difference: by Student's t and by BCa (500 samples), as if always shown; then what is shown, by the rule of
[means](#means-of-systems). Last, the interval of the effect, the mean difference in standard deviations, by the noncentral t. *exponential*,
*lognormal* (of a normal with standard deviation 1.5): skewed differences. *gain*, *lose*: the difference is 0 on all other topics where nothing else
is said. Where few topics bring all of a difference, t and BCa cover far less than .95, and no interval is shown; so wins, ties and losses stand
beside it. The interval of the effect is too wide for skewed differences, and too narrow for lognormal ones.

{spreads}

## Tests of a difference

Share of pairs of equal systems that are called different at .05. Topics are hard and easy, half of the variance. *nDCG@10* is skewed, *RR* is one
over a rank up to 10 or 0, *P@10* has tenths, with many ties. Signed-rank and randomisation are exact where few topics allow only few p-values, and
then err less often than in 5 %; the rank-sum test is unpaired, and nearly powerless on paired runs. Last, the rule by which `bootstrap` called a run
worse before. *unlike*: equal means of unlike runs, one with nearly .1 on every topic, one with 1 on a tenth of the topics, else 0. No test of few topics tells
such means from different ones: signed-rank and sign tests ask which run is ahead on most topics, t and randomisation miss the rare topics.

{tests}

## Families of tests

Share of families of equal systems, all pairs tested, in which some pair is called different at .05.

{families}

## Verdicts of the comparison by the first relevant document

Equal runs, ranks exchanged on each topic; share of comparisons in which either run gets the verdict, without a correction.

{verdicts}

## The end of a campaign

Campaigns with 100 judgements per working day begin on any day of the week and are seen in their working hours, after so many working days. Then so many
days' judgements are missing, at the pace of that day. A quarter as many campaigns as trials above. *days wide*: the median width of the 95% prediction
interval. *ended later*: the share of campaigns that end after it.

In the first four kinds and in *fade-out, even* judgements are independent (Poisson by hour), and each day is like the other. The forecast cannot know that
after a few days. It assumes a usual day-to-day spread, a chance of an idle day and of a drift, and covers more than it says. In the other kinds annotators
work in sessions of 20 to 40 judgements, on average 3.3 per working day, with idle weekends. *kick-off*: the first day has 4 to 12 times as many. *holiday*:
one working day is idle, before the look or within five working days after it. *fade-out*: the pace falls by 5% per working day, before the look and after
it. *late burst*: on one of the two working days before or five days after the look there are twice as many. *few annotators*: three, each on three of five
days.

{ends}

## The sign "agrees no better than chance"

Share of annotators with it, of ten in each campaign; a quarter as many campaigns as trials above. *before*: the interval below .1. Of topics:
60 % of a pair's relevance is the topic's, and each annotator adds to all pairs of a topic what is drawn for it, with a standard deviation of .5.

{accused}

## What a machine's labels are worth

Of `rank_machines`: 1 / (1 - ρ²) of people's labels and the machine's, relevant or not, with an interval over topics. *Seen alike*: correlation of what both
see, on a normal scale; *topic effect*: what is the topic's of a pair's relevance and of the machine's error. Shown: the jackknife over topics of ρ on
Fisher's z, with the rules of alpha. *before*: percentiles over topics.

{worths}
"""
