"""Forms for creating a campaign on one page and for adding control pairs from qrels or a file."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from annotation.core.control_pairs import suggest_grades
from annotation.core.limits import MAX_VALUES
from annotation.core.presets import PREFERENCES, PRESETS, Preset
from annotation.core.scale import Scale
from annotation.fields import MomentField, check_future
from annotation.selectors.example_pairs import choose_example_pairs
from annotation.services.campaigns.campaign_files import format_gold_table, read_gold_file
from annotation.services.campaigns.control_pairs import (
    MAX_FROM_FILE,
    GradesInDoubt,
    find_doubt,
    qrels_to_rows,
)
from assay.formats.errors import FormatError
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Pool, Qrels
from pooling.platform.requests import parse_row_id

MAX_FILE_BYTES = 8_000_000
"""Maximum size of a file of control pairs in bytes."""


ALL_PRESETS = {**PRESETS, PREFERENCES.key: PREFERENCES}
"""PRESETS, and that for pools of battles."""
PREFILLED = ("judgements_per_pair", "target_per_annotator")
"""Fields that show the values of the preset."""
KEPT_FIELDS = (
    "name",
    "collection",
    "pool",
    "preset",
    "values_of",
    *PREFILLED,
    "deadline",
    "with_link",
)
"""Fields that are kept while the user uploads files for a new campaign."""
MAX_KEPT_CHARACTERS = 2_000_000
"""Maximum number of characters of the rows that the page keeps while it asks for their grades."""


class PoolChoiceField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.collection.name}{f', {obj.n_pairs:,} pairs' if obj.n_pairs else ', being built'})"


class QrelsChoiceField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.name} ({obj.collection.name}, {obj.n_rows:,} pairs)"


class KnownPairsFields(forms.Form):
    """Fields for control pairs, shared by both forms. doubt: why the user must map the grades, empty
    if not needed. unreadable: why the file can't be read, while the page checks it."""

    doubt = ""
    unreadable = ""
    file_needed = False

    qrels = QrelsChoiceField(
        Qrels.objects.none(),
        label=_("Known grades"),
        required=False,
        empty_label=_("None, or from a file"),
        help_text=_("Qrels from this collection."),
    )
    known_file = forms.FileField(
        label=_("File"),
        required=False,
        help_text=_(
            "Qrels, or a table with the columns topic, document and grade. The columns kind "
            "and explanation are optional."
        ),
    )
    # rows of a file uploaded earlier, kept while the page asks for their grades
    known_text = forms.CharField(required=False, strip=False)
    n_gold = forms.IntegerField(
        label=_("Gold questions"),
        min_value=0,
        max_value=MAX_FROM_FILE,
        required=False,
        help_text=_(
            "Number of pairs with a known grade, mixed unmarked into every annotator's sequence."
        ),
    )
    n_qualification = forms.IntegerField(
        label=_("Qualification questions"),
        min_value=0,
        max_value=MAX_FROM_FILE,
        required=False,
        help_text=_(
            "Number of pairs judged before the first real pair, with an explanation after each answer. The known grade becomes the label."
        ),
    )

    def clean_known_file(self) -> Any:
        file = self.cleaned_data["known_file"]
        if file and file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(
                _("The file must be at most %(most)s bytes.") % {"most": f"{MAX_FILE_BYTES:,}"}
            )
        return file

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows with known grades from the uploaded file or, without a file, from the
        selected qrels. Raises FormatError if the file cannot be read."""
        file, text, qrels = (
            self.cleaned_data.get(name) for name in ("known_file", "known_text", "qrels")
        )
        if not file and not text:
            return qrels_to_rows(qrels) if qrels else []
        with tempfile.NamedTemporaryFile() as kept:
            for piece in file.chunks() if file else [(text or "").encode()]:
                kept.write(piece)
            kept.flush()
            return read_gold_file(kept.name, file.name if file else "the file")

    def counts_as(self) -> dict[int, int | None] | None:
        """Return the mapping from the rows' grades to grades of the scale, or None if the page did
        not ask for it."""
        given = {
            name.removeprefix("grade_"): value
            for name, value in self.data.items()
            if name.startswith("grade_")
        }
        chosen = {
            int(grade): value
            for grade, value in given.items()
            if re.fullmatch(r"-?[0-9]{1,18}", grade) and value
        }
        return {
            grade: int(value) if re.fullmatch(r"[0-9]{1,3}", value) else None
            for grade, value in chosen.items()
        } or None

    def ask_for_grades(self, doubt: GradesInDoubt, *, keep_rows: bool = True) -> None:
        """Prepare the form to ask for a mapping of each grade to the scale. keep_rows: include the
        rows of the uploaded file, because browsers do not send a file twice."""
        chosen = suggest_grades(doubt.grades, doubt.scale) | (self.counts_as() or {})
        self.grades_asked = [(grade, chosen.get(grade), grade in chosen) for grade in doubt.grades]
        self.scale_asked = [(grade["value"], grade["name"]) for grade in doubt.scale.grades]
        self.doubt = str(doubt)
        if not keep_rows:
            self.rows_kept = ""
        elif self.cleaned_data.get("known_file"):
            text = format_gold_table(self.rows())
            self.rows_kept = text if len(text.encode()) <= MAX_KEPT_CHARACTERS else ""
            self.file_needed = not self.rows_kept
        else:
            self.rows_kept = self.cleaned_data.get("known_text") or ""


class KnownPairsForm(KnownPairsFields):
    """Form that adds control pairs to an existing campaign."""

    replace = forms.BooleanField(
        label=_("Replace existing control pairs"),
        required=False,
        help_text=_("Existing control pairs of the imported types become ordinary pairs."),
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["qrels"]
        chosen.queryset = collection.qrels.select_related("collection")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not any(data.get(name) for name in ("qrels", "known_file", "known_text")):
            raise forms.ValidationError(_("Choose qrels or a file with known grades."))
        return data


class NewCampaignForm(KnownPairsFields):
    """Form that creates a campaign on one page. Without `way`, name and collection are sufficient
    and the other settings follow step by step."""

    name = forms.CharField(
        max_length=200, help_text=_("Shown to annotators. Example: “Health queries 2026”.")
    )
    collection = forms.ModelChoiceField(
        Collection.objects.none(), help_text=_("The topics, documents and runs to judge.")
    )
    pool = PoolChoiceField(
        Pool.objects.none(),
        required=False,
        empty_label=_("The only pool"),
        help_text=_("The pairs to judge."),
    )
    preset = forms.ChoiceField(
        label=_("Preset"),
        choices=[(preset.key, preset.title) for preset in ALL_PRESETS.values()],
        required=False,
        widget=forms.RadioSelect,
    )
    judgements_per_pair = forms.IntegerField(
        label=_("Judgements per pair"),
        min_value=1,
        max_value=MAX_VALUES["judgements_per_pair"],
        required=False,
        help_text=_("Number of different annotators who grade each pair."),
    )
    target_per_annotator = forms.IntegerField(
        label=_("Target per annotator"),
        min_value=0,
        max_value=MAX_VALUES["target_per_annotator"],
        required=False,
        help_text=_("Number of judgements. Enter 0 for no target."),
    )
    # the preset whose values the page shows
    values_of = forms.CharField(required=False, widget=forms.HiddenInput)
    deadline = MomentField(
        required=False, help_text=_("In your time zone. Leave empty for no deadline.")
    )
    with_link = forms.BooleanField(
        label=_("Create an invitation link"),
        required=False,
        help_text=_("The link and its code appear in the People step."),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = (
            Collection.objects.all()
            if user.is_superuser
            else Collection.objects.filter(managers=user)
        )
        choices: dict[str, Any] = self.fields
        choices["collection"].queryset = mine
        choices["pool"].queryset = (
            Pool.objects.filter(collection__in=mine)
            .select_related("collection")
            .order_by("-created_at")
        )
        if mine.annotate(n_pools=Count("pools")).filter(n_pools__gt=1).exists():
            choices["pool"].empty_label = _("Choose a pool")
        choices["qrels"].queryset = (
            Qrels.objects.filter(collection__in=mine)
            .select_related("collection")
            .order_by("-created_at")
        )

    @staticmethod
    def beginning(user: User, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Return the form's initial values: requested pool or collection, its name, and the
        preset's values. parameters: requested values by field name."""
        mine = (
            Collection.objects.all()
            if user.is_superuser
            else Collection.objects.filter(managers=user)
        )
        number = parameters.get("pool", "")
        pool = (
            Pool.objects.filter(collection__in=mine, pk=parse_row_id(number))
            .select_related("collection")
            .first()
        )
        number = parameters.get("collection", "")
        collection = mine.filter(pk=parse_row_id(number)).first()
        if pool and collection and pool.collection_id != collection.pk:
            pool = None
        if pool:
            collection = pool.collection
        elif collection:
            pools = list(collection.pools.filter(n_pairs__gt=0)[:2])
            pool = pools[0] if len(pools) == 1 else None
        preset = PRESETS.get(parameters.get("preset", "")) or next(iter(PRESETS.values()))
        if pool and pool.kind == PoolKind.BATTLES:
            preset = PREFERENCES
        texts = {
            name: value
            for name, value in parameters.items()
            if name.startswith(("guidelines-", "example-"))
        }
        return texts | {
            "pool": pool,
            "collection": collection,
            "name": parameters.get("name") or (collection.name if collection else ""),
            "preset": preset.key,
            "values_of": preset.key,
            "deadline": parameters.get("deadline") or None,
            "with_link": "values_of" not in parameters or bool(parameters.get("with_link")),
            **{name: _shown_value(parameters, name, preset) for name in PREFILLED},
        }

    @property
    def is_preferences(self) -> bool:
        pool = self.chosen_pool
        return pool is not None and pool.kind == PoolKind.BATTLES

    @property
    def offered_presets(self) -> list[Preset]:
        return [PREFERENCES] if self.is_preferences else list(PRESETS.values())

    @property
    def chosen_preset(self) -> Preset:
        """Return the selected preset, or that of preferences for a pool of battles."""
        if self.is_preferences:
            return PREFERENCES
        return PRESETS.get(self["preset"].value() or "") or next(iter(PRESETS.values()))

    def check_known_grades(self) -> None:
        """Ask for a mapping if the chosen qrels or file may have another scale than the preset. The
        browser keeps the file."""
        self.full_clean()
        settings = self.chosen_preset.settings
        try:
            doubt = find_doubt(self.rows(), Scale(settings["scale"], settings["min_relevant"]))
        except FormatError as error:
            self.unreadable = str(error)
        else:
            if doubt:
                self.ask_for_grades(doubt, keep_rows=False)

    @property
    def chosen_pool(self) -> Pool | None:
        value = str(self["pool"].value() or "")
        choices: Any = self.fields["pool"]
        pool: Pool | None = choices.queryset.filter(pk=parse_row_id(value)).first()
        return pool

    def kept_values(self) -> dict[str, str]:
        """Return the values that the user has entered, except files and unchanged guidelines."""
        unchanged = {f"guidelines-{one.key}": one.guidelines for one in ALL_PRESETS.values()}
        return {
            name: value
            for name, value in self.data.items()
            if name in KEPT_FIELDS
            or name.startswith("example-")
            or (name in unchanged and "\n".join(value.splitlines()) != unchanged[name].rstrip("\n"))
        }

    def examples(self) -> list[dict[str, Any]]:
        """Return the example pairs of the chosen pool with the grades and reasons that the user
        entered."""
        pool = self.chosen_pool
        given = self.data or self.initial
        return [
            {
                "pair": pair,
                "grade": given.get(f"example-{pair.entry}-grade", ""),
                "reason": given.get(f"example-{pair.entry}-reason", ""),
            }
            for pair in (
                choose_example_pairs(pool)
                if pool and pool.n_pairs and not self.is_preferences
                else ()
            )
        ]

    def guidelines_with_examples(self, preset: Preset) -> str:
        """Return the guidelines for this preset and, below them, the graded example pairs."""
        names = {str(grade["value"]): grade["name"] for grade in preset.settings["scale"]}
        shown = [
            f"**“{one['pair'].query}”, document “{' '.join(one['pair'].title.split())}”.** "
            f"*{names[one['grade']]}*{_reason_after_colon(one['reason'])}"
            for one in self.examples()
            if one["grade"] in names
        ]
        text = self.get_guidelines(preset).rstrip()
        return "\n\n".join([text, f"## {_('Examples')}", *shown]) if shown else text

    def get_guidelines(self, preset: Preset) -> str:
        """Return the guidelines for this preset as shown on the page: the user's edited text,
        otherwise the preset's."""
        given = (self.data or self.initial).get(f"guidelines-{preset.key}")
        return preset.guidelines if given is None else "\n".join(str(given).splitlines())

    @property
    def creates_immediately(self) -> bool:
        return self.data.get("way") == "once"

    def clean_deadline(self) -> datetime | None:
        return check_future(self.cleaned_data["deadline"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        shown = PRESETS.get(data.get("values_of", ""))
        if shown and shown.key != data.get("preset"):  # without JavaScript, values stay
            for name in PREFILLED:
                if data.get(name) == shown.settings[name]:
                    data[name] = None
        collection, pool = data.get("collection"), data.get("pool")
        if not self.creates_immediately or collection is None:
            return data
        if pool is None:
            pools = list(collection.pools.filter(n_pairs__gt=0)[:2])
            if len(pools) != 1:
                self.add_error(
                    "pool",
                    _("Choose one of the collection's pools.")
                    if pools
                    else _(
                        "This collection has no pool yet. Create one first, or continue "
                        "step by step."
                    ),
                )
            else:
                data["pool"] = pools[0]
        elif pool.collection_id != collection.pk:
            self.add_error(
                "pool",
                _("This pool belongs to another collection. Choose a pool of this collection."),
            )
        if data.get("qrels") and data["qrels"].collection_id != collection.pk:
            self.add_error(
                "qrels",
                _("These qrels belong to another collection. Choose qrels of this collection."),
            )
        if (data.get("n_gold") or data.get("n_qualification")) and not any(
            data.get(name) for name in ("qrels", "known_file", "known_text")
        ):
            self.add_error("qrels", _("Choose qrels or a file with known grades."))
        return data

    def call_arguments(self) -> dict[str, Any]:
        """Return the arguments for `start_campaign`. Raises FormatError if the file of control
        pairs cannot be read."""
        data = self.cleaned_data
        names = ("judgements_per_pair", "target_per_annotator", "deadline")
        preset = PRESETS.get(data["preset"]) or next(iter(PRESETS.values()))
        if data["pool"].kind == PoolKind.BATTLES:
            preset = PREFERENCES
        return {
            "preset": preset,
            "guidelines": self.guidelines_with_examples(preset),
            **{name: data[name] for name in ("name", "collection", "pool", "with_link")},
            "settings": {name: data[name] for name in names if data[name] is not None},
            "control_rows": self.rows(),
            "counts_as": self.counts_as(),
            "n_gold": data["n_gold"] or 0,
            "n_qualification": data["n_qualification"] or 0,
        }


def _shown_value(parameters: Mapping[str, str], name: str, preset: Preset) -> Any:
    """Return the value that the user entered, otherwise the preset's value. An unchanged value of
    the previous preset does not count as entered."""
    typed, before = parameters.get(name, ""), ALL_PRESETS.get(parameters.get("values_of", ""))
    if typed == "" or (before and typed == str(before.settings[name])):
        return preset.settings[name]
    return typed


def _reason_after_colon(reason: str) -> str:
    flat = " ".join(reason.split())
    return f": {flat}" if flat else "."
