"""Forms of the campaign's settings: rules, scale, guidelines, invitations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core import limits
from annotation.core.gold_rules import GoldRule
from annotation.core.scale import FEWEST_GRADES, MOST_GRADES, SHAPES
from annotation.fields import MomentField, ProseField, check_future
from annotation.forms import DAYS_OFFERED
from annotation.models import Campaign, Membership
from annotation.services.people.tokens import USUAL_DAYS
from pooling.models import Pool


class CampaignPoolForm(forms.Form):
    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None, widget=forms.RadioSelect)
    settings = forms.BooleanField(required=False)  # take those that came with the pool

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["pool"]  # a field that has a queryset
        chosen.queryset = Pool.objects.filter(
            collection=campaign.collection, n_pairs__gt=0
        )  # one that is being built has none yet


class RulesForm(forms.ModelForm):
    deadline = MomentField(
        required=False,
        help_text=_(
            "In your time zone. After it only judgements made before it are taken, for the minutes of grace."
        ),
    )

    completion_url = forms.URLField(
        label=_("Completion address"),
        required=False,
        assume_scheme="https",
        help_text=_("Where annotators go at the end."),
    )

    gold_rule = forms.ChoiceField(
        label=_("A gold answer is right if it is"),
        choices=[
            (GoldRule.SIDE.value, _("on the same side of the lowest relevant grade")),
            (GoldRule.NEAR.value, _("within one grade")),
            (GoldRule.EXACT.value, _("exactly the known grade")),
        ],
        help_text=_(
            "Compared with the known grade, for gold and qualification. Results show the exact share as well."
        ),
    )

    class Meta:
        model = Campaign
        fields = [
            *[
                "name",
                "description",
                "judgements_per_pair",
                "target_per_annotator",
                "daily_limit",
                "continue_after_target",
                "deadline",
            ],
            *[
                "grace_minutes",
                "closing_hours",
                "threshold",
                "min_active_seconds",
                "pause_after_fast",
                "idle_seconds",
                "lease_minutes",
                "lease_window",
                "block_length",
                "band",
            ],
            *[
                "expected_seconds",
                "truncate_words",
                "spans",
                "spans_from",
                "rotate_text",
                "show_near_duplicates",
            ],
            *["gold_every", "min_common", "min_partners"],
            *[
                "thanks_text",
                "completion_code",
                "completion_url",
                "qualification_pass",
                "gold_rule",
            ],
        ]
        labels = {
            "judgements_per_pair": _("Judgements per pair"),
            "target_per_annotator": _("Target per annotator"),
            "daily_limit": _("Limit per annotator and day"),
            "continue_after_target": _("Annotators may go on after their target"),
            "grace_minutes": _("Minutes of grace"),
            "closing_hours": _("Hours of closing"),
            "threshold": _("Lowest relevant grade"),
            "min_active_seconds": _("Minimum active seconds"),
            "pause_after_fast": _("Pause after so many too fast"),
            "idle_seconds": _("Idle limit in seconds"),
            "lease_minutes": _("Lease minutes"),
            "lease_window": _("Pairs leased ahead"),
            "block_length": _("Pairs of one topic in a row"),
            "band": _("Priorities in a band"),
            "expected_seconds": _("Expected seconds per judgement"),
            "truncate_words": _("Show at most so many words"),
            "spans": _("Marking passages"),
            "spans_from": _("Required from grade"),
            "rotate_text": _("Rotate the text"),
            "show_near_duplicates": _("Show near-duplicates that were graded"),
            "gold_every": _("One gold pair in"),
            "min_common": _("Planned overlap: common pairs"),
            "min_partners": _("Planned overlap: with so many others"),
            "thanks_text": _("Words of thanks"),
            "completion_code": _("Completion code"),
            "qualification_pass": _("Qualification: share to get right"),
        }
        help_texts = {
            "judgements_per_pair": _(
                "How many different annotators grade each pair. TripJudge: 3."
            ),
            "daily_limit": _("Empty: none."),
            "target_per_annotator": _("0: no target."),
            "closing_hours": _(
                "So long before the deadline pairs that have judgements come first, whatever their priority."
            ),
            "threshold": _("Grades from this one up count as relevant on the two-grade scale."),
            "min_active_seconds": _(
                "Faster judgements are kept as raw data and count nowhere. TripJudge: 1."
            ),
            "pause_after_fast": _(
                "Then the annotator reads why and waits until you let go on. 0: nobody is paused by rule."
            ),
            "idle_seconds": _(
                "Stretches without a sign of life beyond this are not counted as active; it grows "
                "with the document's length."
            ),
            "lease_minutes": _(
                "How long a pair is reserved for the annotator who has it on screen."
            ),
            "lease_window": _(
                "How many wait in the browser, so that the next one is there at once."
            ),
            "block_length": _(
                "Then another topic is offered, where there is one in the same band of priorities."
            ),
            "band": _(
                "So many neighbouring priorities (ranks) are judged together, topic by topic. 1: "
                "strictly by priority, as TripJudge."
            ),
            "expected_seconds": _("For the cost preview. TripJudge: 48."),
            "truncate_words": _("Empty: the whole text. What was cut can be shown on demand."),
            "spans_from": _("The lowest grade for which a passage is asked for."),
            "rotate_text": _(
                "Start each annotator at another sentence, as FiRA does; positions are mapped back."
            ),
            "show_near_duplicates": _(
                "Where a document is very like one that the same annotator has graded in the "
                "topic, the page offers to read both side by side, with "
                "that own grade, never another annotator's. It makes grades of copies consistent, "
                "and no longer independent of each other."
            ),
            "gold_every": _("On average one gold or everyone pair in so many."),
            "min_common": _("Each annotator shares at least so many pairs …; 0: not planned."),
            "min_partners": _("… with at least so many others."),
            "completion_code": _("Shown to annotators who reached their target."),
            "qualification_pass": _("0: no qualification. 0.7: seven of ten qualification pairs."),
        }
        field_classes = {"description": ProseField, "thanks_text": ProseField}
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "thanks_text": forms.Textarea(attrs={"rows": 3}),
        }

    groups = [
        (
            _("The job"),
            [
                "name",
                "description",
                "judgements_per_pair",
                "threshold",
                "target_per_annotator",
                "daily_limit",
                "continue_after_target",
            ],
        ),
        (
            _("Time"),
            [
                "deadline",
                "grace_minutes",
                "closing_hours",
                "min_active_seconds",
                "pause_after_fast",
                "idle_seconds",
                "expected_seconds",
            ],
        ),
        (
            _("Reading"),
            ["truncate_words", "spans", "spans_from", "rotate_text", "show_near_duplicates"],
        ),
        (
            _("Who gets what"),
            [
                "lease_minutes",
                "lease_window",
                "block_length",
                "band",
                "gold_every",
                "min_common",
                "min_partners",
                "qualification_pass",
                "gold_rule",
            ],
        ),
        (_("At the end"), ["thanks_text", "completion_code", "completion_url"]),
    ]

    def grouped(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(str(title), [self[name] for name in names]) for title, names in self.groups]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, least in limits.MIN_VALUES.items():
            number: Any = self.fields[name]  # a field that has a least value
            number.min_value = least
            number.widget.attrs["min"] = least
        for name, most in limits.MAX_VALUES.items():
            self.fields[name].widget.attrs["max"] = most

    def clean_deadline(self) -> datetime | None:
        """One that is over stays where it is, and comes from nowhere: closing ends a campaign,
        too."""
        deadline, before = self.cleaned_data["deadline"], self.instance.deadline
        same = (
            deadline is not None
            and before is not None
            and deadline == before.replace(second=0, microsecond=0)
        )
        return before if same else check_future(deadline)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name, sentence in limits.find_problems(data):
            self.add_error(name, sentence)
        return data


class GradeForm(forms.Form):
    name = forms.CharField(max_length=60, required=False)
    explanation = ProseField(
        max_length=500, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    example = ProseField(
        max_length=1000,
        required=False,
        label=_("Examples"),
        help_text=_("one a line, with the reason"),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    shape = forms.ChoiceField(
        choices=[(shape, shape.capitalize()) for shape in SHAPES], required=False
    )


class BaseScale(forms.BaseFormSet):
    """Grades from the lowest up; rows without a name are left out."""

    def clean(self) -> None:
        names = [
            form.cleaned_data.get("name", "").strip()
            for form in self.forms
            if hasattr(form, "cleaned_data")
        ]
        named = [name for name in names if name]
        if not FEWEST_GRADES <= len(named) <= MOST_GRADES:
            raise forms.ValidationError(
                _("A scale has %(least)s to %(most)s grades.")
                % {"least": FEWEST_GRADES, "most": MOST_GRADES}
            )
        if len({name.casefold() for name in named}) < len(named):
            raise forms.ValidationError(_("Two grades have the same name."))
        if any(not name for name in names[: len(named)]):
            raise forms.ValidationError(
                _("Name the grades one after the other, from the lowest up, without a gap.")
            )

    def scale(self) -> list[dict[str, object]]:
        rows = [
            form.cleaned_data for form in self.forms if form.cleaned_data.get("name", "").strip()
        ]
        return [
            {
                "value": value,
                "name": row["name"].strip(),
                "explanation": row.get("explanation", "").strip(),
                "example": row.get("example", "").strip(),
                "shape": row.get("shape") or SHAPES[value],
            }
            for value, row in enumerate(rows)
        ]


ScaleFormSet = forms.formset_factory(
    GradeForm,
    formset=BaseScale,
    extra=0,
    min_num=MOST_GRADES,
    max_num=MOST_GRADES,
    validate_max=True,
)


class GuidelineForm(forms.Form):
    text = ProseField(
        label=_("Guidelines"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 22, "class": "mono"}),
        help_text=_("Markdown: # headings, - lists, **bold**, tables."),
    )
    note = forms.CharField(
        label=_("What changed"),
        max_length=300,
        required=False,
        help_text=_("Annotators see it when they must read the new version."),
    )
    consent_text = ProseField(
        label=_("Consent"),
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("Markdown. If given, annotators must agree before the first pair."),
    )


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        choices=[
            (Membership.Role.ANNOTATOR, _("Annotators")),
            (Membership.Role.MANAGER, _("A manager")),
            (Membership.Role.VIEWER, _("Viewers, who only see results")),
        ]
    )
    max_uses = forms.IntegerField(
        label=_("Good for so many people"),
        min_value=1,
        max_value=100_000,
        required=False,
        help_text=_("Empty: any number."),
    )
    expires_at = MomentField(
        label=_("Good until"), required=False, help_text=_("Empty: half a year.")
    )

    def clean_expires_at(self) -> datetime | None:
        return check_future(self.cleaned_data["expires_at"])


class ResultsLinkForm(forms.Form):
    name = forms.CharField(
        label=_("For whom"),
        max_length=100,
        help_text=_("Only managers see it, such as “steering group”."),
    )
    days = forms.ChoiceField(label=_("Ends after"), choices=DAYS_OFFERED, initial=USUAL_DAYS)


class NamesForm(forms.Form):
    file = forms.FileField(
        label=_("CSV file"),
        required=False,
        help_text=_("A column of names; or a header with name and email."),
    )
    names = forms.CharField(
        label=_("… or type them"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "mono"}),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if bool(data.get("file")) == bool((data.get("names") or "").strip()):
            raise forms.ValidationError(_("Give a file or type the names: one of the two."))
        if data.get("file") and data["file"].size > 2_000_000:
            raise forms.ValidationError(_("A file of names is smaller than 2 MB."))
        return data
