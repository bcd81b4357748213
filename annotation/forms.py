"""Forms of the account and people pages. They validate the syntax of the input, and the services
validate its meaning."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import get_user_model, password_validation
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.models import Scope
from annotation.services.people import attempts
from annotation.services.people.messages import is_console_backend
from annotation.services.people.tokens import DAYS, USUAL_DAYS


class SignInForm(forms.Form):
    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    password = forms.CharField(
        label=_("Password"), widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )


class LinkForm(forms.Form):
    email = forms.EmailField(
        label=_("Email address"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class RegisterForm(forms.Form):
    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_(
            "Only you and the campaign's managers see this name. Published data uses a pseudonym."
        ),
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    email = forms.EmailField(
        label=_("Email address"),
        required=False,
        help_text=_("Lets you sign in with an emailed link instead of your password."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = forms.CharField(
        label=_("Password"),
        help_text=_("Use at least 10 characters."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "minlength": "10"}),
    )

    def full_clean(self) -> None:
        """Validate the form and focus the first invalid field, which may be below the fold on a
        small screen."""
        super().full_clean()
        wrong = next((name for name in self.fields if name in self.errors), None)
        if wrong:
            self.fields[wrong].widget.attrs["autofocus"] = True

    def clean_username(self) -> str:
        name = self.cleaned_data["username"]
        if get_user_model().objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(
                _("This username is taken. If it is yours, sign in. Otherwise choose another one.")
            )
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("password"):
            user = get_user_model()(username=data.get("username", ""), email=data.get("email", ""))
            try:
                password_validation.validate_password(data["password"], user)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return data


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )


class AccountOwner:
    """Proof that the signed-in user is the account's owner and not someone at an unattended
    browser. came_now: the session has just begun."""

    def __init__(self, user: User, *, came_now: bool) -> None:
        self.user, self.came_now, self.has_password = user, came_now, user.has_usable_password()

    def check(self, password: str) -> None:
        """Raise ValidationError unless the password is correct or, for accounts without a password,
        the sign-in is recent."""
        if not self.has_password:
            if not self.came_now:
                raise forms.ValidationError(
                    _(
                        "Your account has no password. Sign out, sign in again, and make this change within ten minutes."
                    )
                )
            return
        attempt = attempts.PasswordAttempt(self.user)
        if attempt.is_refused():
            raise forms.ValidationError(
                _("Too many failed attempts. Wait five minutes and try again.")
            )
        if not self.user.check_password(password):
            attempt.record_failure()
            raise forms.ValidationError(_("The current password is wrong."))
        attempt.record_success()


class AccountForm(forms.Form):
    """Settings of an account. owner: proof of ownership that a change of the email address
    requires, because sign-in links are sent there. None if not required."""

    email = forms.EmailField(label=_("Email address"), required=False)
    password = forms.CharField(
        label=_("Current password"),
        required=False,
        help_text=_(
            "Required only if you change the email address, because sign-in links are sent to it."
        ),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        help_text=_("Deadlines and times are shown in this time zone."),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", _("Browser language")), *settings.LANGUAGES],
    )
    to_do_mail = forms.BooleanField(
        label=_("Email me the to-do list"),
        required=False,
        help_text=_(
            "You get at most one email per day, and only if something needs your attention."
        ),
    )

    def __init__(self, *args: Any, owner: AccountOwner | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        if owner is None or not owner.has_password:
            del self.fields["password"]
        names = sorted(
            name
            for name in zoneinfo.available_timezones()
            if "/" in name and not name.startswith(("Etc/", "SystemV/", "posix/", "right/"))
        )
        if is_console_backend():
            unsent = (
                "No mail server is set (ASSAY_EMAIL_HOST): the list is only printed to the "
                "worker's console."
            )
            self.fields["to_do_mail"].help_text = unsent
        zone: Any = self.fields["time_zone"]  # a field with choices
        zone.choices = [("", "UTC"), *[(name, name.replace("_", " ")) for name in names]]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if (
            self.owner is not None
            and given.get("email", self.initial["email"]) != self.initial["email"]
        ):
            try:
                self.owner.check(given.get("password", ""))
            except forms.ValidationError as error:
                self.add_error("password" if self.owner.has_password else "email", error)
        if given.get("to_do_mail") and not given.get("email") and "email" not in self.errors:
            self.add_error("email", _("Enter an email address to receive the to-do list."))
        return given


class PasswordForm(forms.Form):
    current = forms.CharField(
        label=_("Current password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    new = forms.CharField(
        label=_("New password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "minlength": "10"}),
    )

    def __init__(self, owner: AccountOwner, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        if not owner.has_password:
            del self.fields["current"]

    def clean_current(self) -> str:
        self.owner.check(self.cleaned_data["current"])
        return str(self.cleaned_data["current"])

    def clean_new(self) -> str:
        if not self.owner.has_password:
            self.owner.check("")
        password_validation.validate_password(self.cleaned_data["new"], self.owner.user)
        return str(self.cleaned_data["new"])


DAYS_OFFERED = [
    (days, format_lazy(ngettext_lazy("{n} day", "{n} days", days), n=days)) for days in DAYS
]


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        help_text=_("Purpose of the token, such as “export script”."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("Permissions"),
        choices=Scope.choices,
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one permission.")},
    )
    days = forms.ChoiceField(label=_("Expires after"), choices=DAYS_OFFERED, initial=USUAL_DAYS)
