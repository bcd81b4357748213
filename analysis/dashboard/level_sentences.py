"""Sentences about the levels of a pool, written out for each kind of level so that they can be
translated.

word: the pool's name for its levels (`Campaign.level_word`): rank, batch, stage or priority. In a
campaign without a pool it is level.
"""

from __future__ import annotations

from django.utils.translation import gettext as _


def name_levels(word: str) -> str:
    """Return the translated name of the pool's levels."""
    return {
        "rank": _("rank"),
        "batch": _("batch"),
        "stage": _("stage"),
        "priority": _("priority"),
    }.get(word, _("level"))


def describe_complete_levels(word: str, number: int) -> str:
    """Say down to which level all pairs are complete. number: the last complete level, 0 if none
    is."""
    complete, incomplete = {
        "rank": (_("Complete to rank %(n)s."), _("The first rank is not complete.")),
        "batch": (_("Complete to batch %(n)s."), _("The first batch is not complete.")),
        "stage": (_("Complete to stage %(n)s."), _("The first stage is not complete.")),
        "priority": (_("Complete to priority %(n)s."), _("The first priority is not complete.")),
    }.get(word, (_("Complete to level %(n)s."), _("The first level is not complete.")))
    return complete % {"n": f"{number:,}"} if number else incomplete


def describe_levels_by_deadline(word: str, number: int) -> str:
    """Say down to which level all pairs will be complete at the deadline. number: the last complete
    level, 0 if none will be."""
    complete, incomplete = {
        "rank": (
            _("Judging will be complete up to rank %(n)s by the deadline."),
            _("The first rank will not be complete by the deadline."),
        ),
        "batch": (
            _("Judging will be complete up to batch %(n)s by the deadline."),
            _("The first batch will not be complete by the deadline."),
        ),
        "stage": (
            _("Judging will be complete up to stage %(n)s by the deadline."),
            _("The first stage will not be complete by the deadline."),
        ),
        "priority": (
            _("Judging will be complete up to priority %(n)s by the deadline."),
            _("Pairs with priority 1 will not all be judged by the deadline."),
        ),
    }.get(
        word,
        (
            _("Judging will be complete up to level %(n)s by the deadline."),
            _("The first level will not be complete by the deadline."),
        ),
    )
    return complete % {"n": f"{number:,}"} if number else incomplete


def describe_last_level(word: str, number: int) -> str:
    """Return a sentence that says at which level judging stops."""
    says = {
        "rank": _("Judging stops at rank %(n)s."),
        "batch": _("Judging stops at batch %(n)s."),
        "stage": _("Judging stops at stage %(n)s."),
        "priority": _("Judging stops at priority %(n)s."),
    }.get(word, _("Judging stops at level %(n)s."))
    return says % {"n": f"{number:,}"}


def describe_changed_last_level(word: str, number: int) -> str:
    """Return a sentence that confirms that judging stops at this level from now on."""
    says = {
        "rank": _("Judging now stops at rank %(n)s."),
        "batch": _("Judging now stops at batch %(n)s."),
        "stage": _("Judging now stops at stage %(n)s."),
        "priority": _("Judging now stops at priority %(n)s."),
    }.get(word, _("Judging now stops at level %(n)s."))
    return says % {"n": f"{number:,}"}


def name_stop(word: str, number: int) -> str:
    """Return the name of the planning option that stops judging at this level."""
    says = {
        "rank": _("Stop at rank %(n)s"),
        "batch": _("Stop at batch %(n)s"),
        "stage": _("Stop at stage %(n)s"),
        "priority": _("Stop at priority %(n)s"),
    }.get(word, _("Stop at level %(n)s"))
    return says % {"n": f"{number:,}"}


def describe_level_order(word: str, percent_out_of_order: int) -> str:
    """Say how often a pair is judged before another of a better level, as a percentage of
    judgements."""
    in_order, out_of_order = {
        "rank": (
            _("Pairs at better ranks are always judged first."),
            _("In %(n)s%% of judgements, a pair is judged before another pair at a better rank."),
        ),
        "batch": (
            _("Pairs of earlier batches are always judged first."),
            _(
                "In %(n)s%% of judgements, a pair is judged before another pair in an earlier "
                "batch."
            ),
        ),
        "stage": (
            _("Pairs of earlier stages are always judged first."),
            _(
                "In %(n)s%% of judgements, a pair is judged before another pair in an earlier "
                "stage."
            ),
        ),
        "priority": (
            _("Pairs with a higher priority are always judged first."),
            _(
                "In %(n)s%% of judgements, a pair is judged before another pair with a higher "
                "priority."
            ),
        ),
    }.get(
        word,
        (
            _("Pairs at better levels are always judged first."),
            _("In %(n)s%% of judgements, a pair is judged before another pair at a better level."),
        ),
    )
    return out_of_order % {"n": percent_out_of_order} if percent_out_of_order else in_order


def name_heat_map(word: str) -> str:
    """Return the title of the chart of judgements by topic and level."""
    return {
        "rank": _("Judgements by topic and rank"),
        "batch": _("Judgements by topic and batch"),
        "stage": _("Judgements by topic and stage"),
        "priority": _("Judgements by topic and priority"),
    }.get(word, _("Judgements by topic and level"))
