"""Sending of labels to a search engine: the bytes of an export, to an address that the operator has
configured (ASSAY_ENGINE_ENDPOINTS)."""

from __future__ import annotations

import http.client
import os
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from analysis.judgements.labels import LabelChoices
from analysis.publishing.exports import Export, ExportOptions, find_export, prepare_export
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused
from pooling.platform.outgoing import OutgoingRequest

SEND_JOB = "send labels"
METHODS = {"opensearch": "PUT", "rank-eval": "POST", "ltr": "POST", "label-csv": "POST"}
"""Name of each export for search engines -> the request method that the engine expects."""
TIMEOUT_SECONDS = 60.0
ANSWER_CHARACTERS = 2000


@dataclass(frozen=True)
class EngineAnswer:
    """A search engine's response to uploaded labels. text: the beginning of the response body.
    n_bytes: size of the upload."""

    status: int
    text: str
    n_bytes: int


def check_sending(name: str, address: str) -> Export:
    """Return the export with this name. Raises CampaignError if it is not meant for search engines,
    or if the address is not configured."""
    export = find_export(name)
    if export is None or name not in METHODS:
        raise CampaignError(
            _(
                "This file can't be sent to a search engine. Choose a file listed under “For "
                "search engines”."
            )
        )
    if address not in settings.ENGINE_ENDPOINTS:
        raise CampaignError(
            _(
                "Address not configured. The operator of this installation can add it to "
                "ASSAY_ENGINE_ENDPOINTS."
            )
        )
    return export


def request_sending(
    campaign: Campaign, name: str, choices: LabelChoices, *, address: str, user: Any
) -> Job:
    """Create the job that sends an export to a search engine. Raises CampaignError as
    `check_sending` does."""
    export = check_sending(name, address)
    parameters = {"export": name, "choices": choices.as_json(), "address": address}
    return jobs.enqueue(
        SEND_JOB,
        parameters,
        label=f"Send {export.filename(campaign, choices)} to {address}",
        user=user,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


@jobs.register_job_kind(SEND_JOB, unit="files")
def send_labels_job(work: ClaimedJob) -> dict[str, Any]:
    """Send an export to a search engine and store the response as facts of the job."""
    campaign = Campaign.objects.select_related("collection").get(pk=work.campaign_id)
    asked = work.parameters
    try:
        answer = send_labels(
            campaign,
            asked["export"],
            LabelChoices.from_json(asked["choices"]),
            address=asked["address"],
            user=work.job.created_by,
        )
    except CampaignError as error:
        raise Refused(str(error)) from None
    return {"facts": {"status": answer.status, "bytes": answer.n_bytes, "answer": answer.text}}


def send_labels(
    campaign: Campaign, name: str, choices: LabelChoices, *, address: str, user: Any
) -> EngineAnswer:
    """Send an export to a search engine and record it in the audit log. Raises CampaignError if the
    export cannot be created, or if the engine does not accept it."""
    export = check_sending(name, address)
    with prepare_export(export, campaign, ExportOptions(choices)) as file:
        body = file.read()
    headers = {"Content-Type": f"{export.content_type}; charset=utf-8", "User-Agent": "Assay"}
    variable = settings.ENGINE_ENDPOINTS[address]
    if value := os.environ.get(variable, "") if variable else "":
        headers["Authorization"] = value
    request = OutgoingRequest(address, body, headers, method=METHODS[name], timeout=TIMEOUT_SECONDS)
    try:
        answer = request.send()
    except (OSError, http.client.HTTPException) as error:
        raise CampaignError(
            _("No answer from %(address)s: %(error)s. Check the engine before you send again.")
            % {"address": address, "error": error or type(error).__name__}
        ) from None
    text = answer.describe_body(ANSWER_CHARACTERS).strip()
    if not answer.is_success:
        raise CampaignError(
            _("%(address)s answered with status %(status)s: %(text)s")
            % {"address": address, "status": answer.status, "text": text}
        )
    record_event(
        campaign,
        user,
        AuditAction.EXPORTED,
        export.filename(campaign, choices),
        choices=", ".join(choices.words()),
        sent_to=address,
    )
    return EngineAnswer(answer.status, text, len(body))
