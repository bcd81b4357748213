"""Forms of a campaign's publication metadata. Their fields and help texts are derived from
annotation.core.publication."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.publication import Author, Publication
from annotation.fields import ProseField

LABELS = {
    "title": gettext_lazy("Title"),
    "version": gettext_lazy("Version"),
    "doi": gettext_lazy("DOI"),
    "license_judgements": gettext_lazy("Licence of the judgements"),
    "license_topics": gettext_lazy("Licence of the topics"),
    "license_documents": gettext_lazy("Licence of the document texts"),
    "language": gettext_lazy("Language"),
    "citation": gettext_lazy("Citation"),
    "contact": gettext_lazy("Contact"),
    "funding": gettext_lazy("Funding"),
    "ethics": gettext_lazy("Ethics review"),
    "annotators": gettext_lazy("Annotators"),
    "training": gettext_lazy("Training"),
    "payment": gettext_lazy("Payment"),
    "consent": gettext_lazy("Consent"),
    "intended_use": gettext_lazy("Intended use"),
    "limits": gettext_lazy("Known limits"),
    "name": gettext_lazy("Name"),
    "orcid": gettext_lazy("ORCID"),
    "affiliation": gettext_lazy("Affiliation"),
    "authors": gettext_lazy("Authors"),
}
PROSE = {
    *("citation", "funding", "ethics", "annotators", "training"),
    *("payment", "consent", "intended_use", "limits"),
}
"""Fields of several lines."""
COMMON_LICENSES = ("CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC0-1.0", "ODC-By-1.0", "MIT")
MAX_AUTHORS = 500
SPARE_AUTHORS = 3
"""Number of empty rows of the form. Without scripts, all of them are shown."""


def _make_field(f: Field[Any]) -> forms.CharField:
    about: dict[str, Any] = {
        "label": LABELS[f.name],
        "help_text": f.metadata["help"],
        "required": False,
    }
    if f.name in PROSE:
        return ProseField(**about, widget=forms.Textarea(attrs={"rows": 3}))
    attributes = {"list": "licenses"} if f.name.startswith("license_") else {}
    return forms.CharField(**about, widget=forms.TextInput(attrs=attributes))


@dataclass(frozen=True)
class FieldGroup:
    """Form fields under a common heading. is_prose: whether all of them have several lines."""

    title: str
    fields: list[forms.BoundField]
    is_prose: bool

    @property
    def has_errors(self) -> bool:
        return any(field.errors for field in self.fields)


class PublicationForm(forms.Form):
    """Form of the publication metadata, except the authors."""

    groups = (
        (gettext_lazy("Data set"), ("title", "version", "language", "doi", "contact")),
        (
            gettext_lazy("Licences"),
            ("license_judgements", "license_topics", "license_documents"),
        ),
        (
            gettext_lazy("How it was made"),
            ("annotators", "training", "payment", "consent", "ethics", "funding"),
        ),
        (gettext_lazy("Use"), ("intended_use", "limits", "citation")),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for f in fields(Publication):
            if f.name != "authors":
                self.fields[f.name] = _make_field(f)

    def field_groups(self) -> list[FieldGroup]:
        return [
            FieldGroup(str(title), [self[name] for name in names], set(names) <= PROSE)
            for title, names in self.groups
        ]


class AuthorForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for f in fields(Author):
            self.fields[f.name] = _make_field(f)


AuthorFormSet = forms.formset_factory(
    AuthorForm,
    extra=SPARE_AUTHORS,
    max_num=MAX_AUTHORS,
    absolute_max=MAX_AUTHORS + SPARE_AUTHORS,
    validate_max=True,
)


class PublicationForms:
    """The metadata form together with the formset of authors. Empty rows are ignored.

    data: the submitted values, None to show the stored metadata.
    """

    def __init__(self, data: Any, publication: Publication) -> None:
        values = {
            f.name: getattr(publication, f.name) for f in fields(Publication) if f.name != "authors"
        }
        self.main = PublicationForm(data, initial=values)
        self.authors = AuthorFormSet(
            data, prefix="authors", initial=[vars(author) for author in publication.authors]
        )

    def read(self) -> Publication | None:
        """Return the metadata, or None if a value is invalid. Errors are added to the fields."""
        if not (self.main.is_valid() and self.authors.is_valid()):
            return None
        rows = [form for form in self.authors.forms if any(form.cleaned_data.values())]
        publication = Publication.read(
            {**self.main.cleaned_data, "authors": [form.cleaned_data for form in rows]}
        )
        problems = publication.find_problems()
        for path, problem, expected in problems:
            form: forms.Form = self.main
            name = str(path[0])
            if path[0] == "authors":
                form, name = rows[int(path[1])], str([*path, "name"][2])
            form.add_error(
                name,
                _("%(problem)s. Enter %(expected)s.")
                % {"problem": problem[:1].upper() + problem[1:], "expected": expected},
            )
        return None if problems else publication
