"""Form of a new webhook."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.webhook_messages import MessageForm, WebhookEvent
from annotation.services.webhooks import find_address_problem

EVENT_LABELS = {
    WebhookEvent.CAMPAIGN_OPENED: _("Campaign opened"),
    WebhookEvent.CAMPAIGN_CLOSED: _("Campaign closed"),
    WebhookEvent.DEADLINE_AT_RISK: _("Deadline at risk"),
    WebhookEvent.DEPTH_COMPLETE: _("Depth complete"),
    WebhookEvent.ALL_JUDGED: _("All judged"),
    WebhookEvent.ANNOTATOR_FLAGGED: _("Annotator flagged"),
    WebhookEvent.QUESTION_ASKED: _("Question asked"),
    WebhookEvent.RELEASE_BUILT: _("Release built"),
}
TEST_LABEL = _("Test")


class WebhookForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("Example: “team channel”."))
    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.URLInput,
        help_text=_("The address that your chat or program shows for incoming webhooks."),
    )
    form = forms.ChoiceField(
        label=_("Message"),
        choices=[
            (MessageForm.STANDARD.value, _("Signed JSON, for programs")),
            (MessageForm.TEXT.value, _("One sentence, for Slack and Teams")),
        ],
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[(event.value, label) for event, label in EVENT_LABELS.items()],
        initial=[event.value for event in EVENT_LABELS],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one event.")},
    )

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        if problem := find_address_problem(url):
            raise forms.ValidationError(problem)
        return url

    def get_events(self) -> list[WebhookEvent]:
        return [WebhookEvent(name) for name in self.cleaned_data["events"]]
