"""Forms of the campaign settings: rules, scale, guidelines and invitations."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

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
    settings = forms.BooleanField(required=False)  # use the settings that came with the pool

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["pool"]  # a field with a queryset
        # a pool that is being built has no pairs yet
        chosen.queryset = Pool.objects.filter(collection=campaign.collection, n_pairs__gt=0)


class SettingsGroup(NamedTuple):
    """A group of advanced settings. changed: labels of fields that differ from their default.
    has_errors: whether a value in the group was refused."""

    title: str
    fields: list[forms.BoundField]
    changed: list[str]
    has_errors: bool


class RulesForm(forms.ModelForm):
    deadline = MomentField(
        required=False,
        help_text=_(
            "In your time zone. Judgements made before the deadline are still accepted "
            "during the grace period."
        ),
    )

    completion_url = forms.URLField(
        label=_("Completion URL"),
        required=False,
        assume_scheme="https",
        help_text=_("Link shown to annotators when they have finished."),
    )

    gold_rule = forms.ChoiceField(
        label=_("Correct gold answers"),
        choices=[
            (GoldRule.SIDE.value, _("On the same side of the minimum relevant grade")),
            (GoldRule.NEAR.value, _("Within one grade of the known grade")),
            (GoldRule.EXACT.value, _("Exactly the known grade")),
        ],
        help_text=_(
            "Which answers to gold and qualification questions count as correct. Results also "
            "show the share of exact matches."
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
                "min_relevant",
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
            "daily_limit": _("Daily limit per annotator"),
            "continue_after_target": _("Annotators may continue after their target"),
            "grace_minutes": _("Grace period (minutes)"),
            "closing_hours": _("Final phase (hours before deadline)"),
            "min_relevant": _("Minimum relevant grade"),
            "min_active_seconds": _("Minimum active time (seconds)"),
            "pause_after_fast": _("Pause after too-fast judgements"),
            "idle_seconds": _("Inactivity timeout (seconds)"),
            "lease_minutes": _("Reservation time (minutes)"),
            "lease_window": _("Pairs loaded ahead"),
            "block_length": _("Topic block (pairs)"),
            "band": _("Rank window (ranks)"),
            "expected_seconds": _("Expected seconds per judgement"),
            "truncate_words": _("Shorten documents to (words)"),
            "spans": _("Passages"),
            "spans_from": _("Passage required from grade"),
            "rotate_text": _("Rotate document text"),
            "show_near_duplicates": _("Point out near-duplicates"),
            "gold_every": _("Control pair frequency (one in …)"),
            "min_common": _("Annotation overlap (pairs)"),
            "min_partners": _("Annotation overlap (other annotators)"),
            "thanks_text": _("Thank-you message"),
            "completion_code": _("Completion code"),
            "qualification_pass": _("Qualification pass mark (0 to 1)"),
        }
        help_texts = {
            "judgements_per_pair": _(
                "Number of different annotators who grade each pair. The TripJudge study used 3."
            ),
            "daily_limit": _("Leave empty for no limit."),
            "target_per_annotator": _("Enter 0 for no target."),
            "closing_hours": _(
                "In the final phase, partly judged pairs are assigned first, whatever their rank."
            ),
            "min_relevant": _("This grade and all higher grades count as relevant."),
            "min_active_seconds": _(
                "Faster judgements are stored but not counted. The TripJudge study used 1 second."
            ),
            "pause_after_fast": _(
                "After this many too-fast judgements, annotators are paused and see the reason "
                "until you resume them. Enter 0 to turn this off."
            ),
            "idle_seconds": _(
                "Inactivity beyond this limit is not counted as active time. The limit grows "
                "with the length of the document."
            ),
            "lease_minutes": _(
                "Time for which a pair is reserved for the annotator who has it on screen."
            ),
            "lease_window": _(
                "Number of pairs loaded in advance, so that the next one appears at once. "
                "Annotators who want to judge offline can load up to 10."
            ),
            "block_length": _(
                "After this many pairs of a topic, annotators switch to another topic in the "
                "same rank window, if there is one."
            ),
            "band": _(
                "Number of neighbouring ranks that are judged together, topic by topic. Enter "
                "1 to judge strictly by rank, as in the TripJudge study."
            ),
            "expected_seconds": _(
                "Used to estimate costs. In the TripJudge study, a judgement took 48 seconds."
            ),
            "truncate_words": _(
                "Leave empty to show the full text. Annotators can expand shortened documents."
            ),
            "spans_from": _("The lowest grade that requires a marked passage."),
            "rotate_text": _(
                "Each annotator starts reading at a different sentence, as in the FiRA study. "
                "Marked passages still refer to the original text. Short texts become hard to "
                "follow."
            ),
            "show_near_duplicates": _(
                "If annotators have already graded a very similar document for the topic, they can "
                "see both side by side with their own grade. Grades of copies become consistent, "
                "but no longer independent."
            ),
            "gold_every": _(
                "On average, one of this many pairs is a gold question or calibration pair."
            ),
            "min_common": _(
                "Minimum number of pairs that two annotators share to count as overlapping. "
                "Enter 0 to plan no overlap."
            ),
            "min_partners": _(
                "Each annotator shares that many pairs with at least this number of others."
            ),
            "completion_code": _("Shown to annotators when they reach their target."),
            "qualification_pass": _(
                "For example, 0.7 requires seven of ten correct answers. "
                "Enter 0 for no qualification test."
            ),
        }
        field_classes = {"description": ProseField, "thanks_text": ProseField}
        widgets = {
            "description": forms.Textarea(attrs={"rows": 3}),
            "thanks_text": forms.Textarea(attrs={"rows": 3}),
        }

    usual = (
        *("name", "deadline", "judgements_per_pair", "target_per_annotator"),
        *("min_relevant", "spans", "gold_every", "qualification_pass"),
    )
    advanced = (
        (
            _("Time"),
            [
                "daily_limit",
                "continue_after_target",
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
            ["truncate_words", "spans_from", "rotate_text", "show_near_duplicates"],
        ),
        (
            _("Assignment"),
            [
                "lease_minutes",
                "lease_window",
                "block_length",
                "band",
                "min_common",
                "min_partners",
                "gold_rule",
            ],
        ),
        (
            _("Texts for annotators"),
            ["description", "thanks_text", "completion_code", "completion_url"],
        ),
    )

    def usual_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.usual]

    def advanced_groups(self) -> list[SettingsGroup]:
        return [
            SettingsGroup(
                str(title),
                fields := [self[name] for name in names],
                [str(field.label) for field in fields if self._differs_from_default(field.name)],
                any(field.errors for field in fields),
            )
            for title, names in self.advanced
        ]

    def _differs_from_default(self, name: str) -> bool:
        if name == "completion_code":  # created at random
            return False
        return bool(getattr(self.instance, name) != getattr(Campaign(), name))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, least in limits.MIN_VALUES.items():
            number: Any = self.fields[name]  # a field with a minimum
            number.min_value = least
            number.widget.attrs["min"] = least
        for name, most in limits.MAX_VALUES.items():
            self.fields[name].widget.attrs["max"] = most
        grades = [(grade["value"], grade["name"]) for grade in self.instance.scale]
        for name, choices in (("min_relevant", grades[1:]), ("spans_from", grades)):
            self.fields[name].widget = forms.Select(choices=choices)

    def clean_deadline(self) -> datetime | None:
        """Return the deadline. An unchanged past deadline is accepted, but a new one must be in the
        future. A campaign is ended by closing it."""
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
        help_text=_("One per line, with the reason."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    shape = forms.ChoiceField(
        choices=[(shape, shape.capitalize()) for shape in SHAPES], required=False
    )


class BaseScale(forms.BaseFormSet):
    """Formset of a scale's grades, lowest first. Rows without a name are ignored."""

    def clean(self) -> None:
        names = [
            form.cleaned_data.get("name", "").strip()
            for form in self.forms
            if hasattr(form, "cleaned_data")
        ]
        named = [name for name in names if name]
        if not FEWEST_GRADES <= len(named) <= MOST_GRADES:
            raise forms.ValidationError(
                _("A scale must have %(least)s to %(most)s grades.")
                % {"least": FEWEST_GRADES, "most": MOST_GRADES}
            )
        if len({name.casefold() for name in named}) < len(named):
            raise forms.ValidationError(
                _("Two grades have the same name. Give each grade a different name.")
            )
        if any(not name for name in names[: len(named)]):
            raise forms.ValidationError(
                _("Name the grades in order from the lowest up, without gaps.")
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
        help_text=_("Markdown: # heading, - list, **bold**, tables."),
    )
    note = forms.CharField(
        label=_("What changed"),
        max_length=300,
        required=False,
        help_text=_("Annotators see this note when they must read the new version."),
    )
    consent_text = ProseField(
        label=_("Consent"),
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_(
            "Markdown. If you enter a text, annotators must agree to it before their first pair."
        ),
    )


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        choices=[
            (Membership.Role.ANNOTATOR, _("Annotator")),
            (Membership.Role.MANAGER, _("Manager")),
            (Membership.Role.VIEWER, _("Viewer (results only)")),
        ]
    )
    max_uses = forms.IntegerField(
        label=_("Maximum uses"),
        min_value=1,
        max_value=100_000,
        required=False,
        help_text=_("Leave empty for no limit."),
    )
    expires_at = MomentField(
        label=_("Expires"), required=False, help_text=_("Default: six months.")
    )

    def clean_expires_at(self) -> datetime | None:
        return check_future(self.cleaned_data["expires_at"])


class ResultsLinkForm(forms.Form):
    name = forms.CharField(
        label=_("Recipient"),
        max_length=100,
        help_text=_("Only managers see this name. Example: “steering group”."),
    )
    days = forms.ChoiceField(label=_("Expires after"), choices=DAYS_OFFERED, initial=USUAL_DAYS)


class NamesForm(forms.Form):
    file = forms.FileField(
        label=_("CSV file"),
        required=False,
        help_text=_("One column of names, or two columns with the header name, email."),
    )
    names = forms.CharField(
        label=_("Names, one per line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "mono"}),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if bool(data.get("file")) == bool((data.get("names") or "").strip()):
            raise forms.ValidationError(_("Choose a file or enter the names, not both."))
        if data.get("file") and data["file"].size > 2_000_000:
            raise forms.ValidationError(_("The file of names must be smaller than 2 MB."))
        return data
