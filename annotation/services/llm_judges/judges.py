"""LLM judges of a campaign: creation, labelling, import of labels, freezing and deletion
(docs/reference/methods/sampling.md).

    judge = create_judge(campaign, wanted, actor=user)
    job = request_run(judge, user=user)               skips answered pairs
    freeze_judge(judge, actor=user)                   prevents further changes
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.core.audit_actions import AuditAction
from annotation.core.llm_prompts import TEMPLATES, Grade, PromptTemplate, make_template
from annotation.llm.asking import LabellingPlan
from annotation.llm.chat_endpoint import Endpoint
from annotation.llm.database_store import DatabaseStore
from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, LlmJudge, LlmLabel
from annotation.selectors import llm_judges as selectors
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError, ContradictionError
from assay.cli.base import BadInput
from pooling.models import Job
from pooling.platform import jobs
from pooling.platform.jobs import ClaimedJob, Refused

BATCH_SIZE = 2000


@dataclass(frozen=True)
class CallLimits:
    """Limits of an LLM judge's calls. threads: parallel calls. attempts: calls per answer before it
    is left for the next run. timeout: seconds. price_in, price_out: price per million tokens."""

    threads: int = 4
    attempts: int = 4
    timeout: int = 60
    per_minute: int | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    most_cost: float | None = None


@dataclass(frozen=True)
class JudgeOptions:
    """Options of a new LLM judge. prompt: name of a built-in template, or a custom text. related:
    tags or groups of runs built with this model."""

    name: str
    model: str
    endpoint: str
    prompt: str = "grade"
    temperature: float = 0.0
    most_tokens: int = 400
    samples: int = 1
    limits: CallLimits = field(default_factory=CallLimits)
    related: str = ""


def _refuse_preferences(campaign: Campaign) -> None:
    if campaign.is_preferences:
        raise CampaignError(
            _("LLM judges are not available in preference campaigns because they assign grades.")
        )


def create_judge(campaign: Campaign, options: JudgeOptions, *, actor: User | None) -> LlmJudge:
    """Create an LLM judge with the campaign's current scale and guidelines. Raises
    CampaignError."""
    _refuse_preferences(campaign)
    known: dict[str, str] = settings.LLM_ENDPOINTS
    if options.endpoint not in known:
        raise CampaignError(
            _(
                "Endpoint not configured. The operator of this installation can add it to "
                "ASSAY_LLM_ENDPOINTS."
            )
        )
    if options.limits.most_cost is not None and not (
        options.limits.price_in or options.limits.price_out
    ):
        raise ContradictionError(
            _(
                "A cost limit requires prices per million tokens. Enter the prices, or remove "
                "the limit."
            )
        )
    template = _get_template(options.prompt)
    guideline = campaign.guidelines.last()
    judge = LlmJudge(
        campaign=campaign,
        name=options.name.strip(),
        model=options.model.strip(),
        endpoint=options.endpoint,
        key_variable=known[options.endpoint],
        prompt_name=template.name,
        prompt_version=template.version,
        prompt_text=template.text,
        scale=[
            {name: grade.get(name, "") for name in ("value", "name", "explanation")}
            for grade in campaign.scale
        ],
        guidelines=guideline.text if guideline else "",
        parameters={"temperature": options.temperature, "max_tokens": options.most_tokens},
        samples=options.samples,
        limits=asdict(options.limits),
        related=options.related.strip(),
        created_by=actor,
    )
    return _save_judge(judge, actor)


def _save_judge(judge: LlmJudge, actor: User | None) -> LlmJudge:
    if not judge.name or not judge.model:
        raise ContradictionError(_("Enter a name and a model for the LLM judge."))
    try:
        with transaction.atomic():
            judge.save(force_insert=True)
            record_event(
                judge.campaign,
                actor,
                AuditAction.CREATED_AN_LLM_JUDGE,
                judge.name,
                model=judge.model,
                source=judge.source,
            )
    except IntegrityError:
        raise CampaignError(
            _("This campaign already has an LLM judge named %(judge)s. Choose another name.")
            % {"judge": judge.name}
        ) from None
    return judge


def _get_template(prompt: str) -> PromptTemplate:
    if prompt in TEMPLATES:
        return TEMPLATES[prompt]
    try:
        return make_template(prompt, "own")
    except ValueError as error:
        raise ContradictionError(
            _("The prompt can't be used: %(error)s.") % {"error": error}
        ) from None


def create_judge_from_file(
    campaign: Campaign,
    *,
    name: str,
    model: str,
    labels: Iterable[FileLabel],
    file_name: str,
    related: str = "",
    actor: User | None,
) -> LlmJudge:
    """Create an LLM judge with all labels of a file. Raises CampaignError if a label is invalid.
    Labels for pairs outside the pool are ignored."""
    _refuse_preferences(campaign)
    rows: dict[tuple[int, str], FileLabel] = {}
    values = set(campaign.grades.values)
    pairs = selectors.PoolPairFinder(campaign)
    for label in labels:
        if (place := pairs.find_position(label)) is None:
            continue
        if label.grade not in values:
            scale = ", ".join(map(str, sorted(values)))
            says = _(
                "%(file_name)s%(where)s: grade %(grade)s is not on the campaign's scale "
                "(%(scale)s). No labels were stored."
            )
            raise CampaignError(
                says
                % {
                    "file_name": file_name,
                    "where": label.where,
                    "grade": label.grade,
                    "scale": scale,
                }
            )
        if rows.setdefault(place, label).grade != label.grade:
            says = _(
                "%(file_name)s%(where)s: the pair appears twice with different grades. No "
                "labels were stored."
            )
            raise CampaignError(says % {"file_name": file_name, "where": label.where})
    if not rows:
        says = _(
            "%(file_name)s: no row matches a pair of the campaign's pool. Check the topic and "
            "document IDs. No labels were stored."
        )
        raise CampaignError(says % {"file_name": file_name})
    with transaction.atomic():
        judge = _save_judge(
            LlmJudge(
                campaign=campaign,
                name=name.strip(),
                model=model.strip(),
                source=LlmJudge.Source.FILE,
                file_name=file_name[:255],
                scale=list(campaign.scale),
                related=related.strip(),
                created_by=actor,
            ),
            actor,
        )
        made = (
            LlmLabel(
                judge=judge,
                topic_id=topic,
                docno=document,
                state=LlmLabel.State.GRADED,
                grade=label.grade,
                answer=label.reason,
            )
            for (topic, document), label in rows.items()
        )
        LlmLabel.objects.bulk_create(made, batch_size=BATCH_SIZE)
    return judge


def make_plan(judge: LlmJudge) -> LabellingPlan:
    """Return the judge's labelling plan. The key is read from the environment here and is not
    stored."""
    limits = CallLimits(**judge.limits)
    key = os.environ.get(judge.key_variable, "") if judge.key_variable else ""
    endpoint = Endpoint(judge.endpoint, judge.model, key, float(limits.timeout), judge.parameters)
    template = PromptTemplate(judge.prompt_name, judge.prompt_version, judge.prompt_text)
    scale = tuple(
        Grade(grade["value"], grade["name"], grade.get("explanation", "")) for grade in judge.scale
    )
    return LabellingPlan(
        endpoint,
        template,
        scale,
        judge.guidelines,
        samples=judge.samples,
        threads=limits.threads,
        attempts=limits.attempts,
        per_minute=limits.per_minute,
        price_in=limits.price_in,
        price_out=limits.price_out,
        most_cost=limits.most_cost,
        name=f"{judge.pk} of {judge.campaign.slug}",
    )


def request_run(judge: LlmJudge, *, user: Any) -> Job:
    """Queue the job that requests missing answers. Each judge has at most one active job."""
    with transaction.atomic():
        _lock_editable(judge)
        if judge.source != LlmJudge.Source.ENDPOINT:
            raise CampaignError(
                _("The labels of %(judge)s come from a file, so there is no model to call.")
                % {"judge": judge.name}
            )
        if judge.endpoint not in settings.LLM_ENDPOINTS:
            raise CampaignError(
                _(
                    "The judge's endpoint is no longer configured. The operator of this "
                    "installation can add it to ASSAY_LLM_ENDPOINTS."
                )
            )
        if selectors.estimate_judge_cost(judge).calls == 0:
            raise CampaignError(
                _(
                    "There are no pairs to label: the campaign has no pool, no pair has a "
                    "text, or all pairs already have an answer."
                )
            )
        label = f"{judge.name} judges {judge.campaign.name}"
        campaign = judge.campaign
        return jobs.enqueue(
            selectors.LLM_JUDGE_JOB,
            {"llm_judge": judge.pk},
            label=label,
            user=user,
            collection=campaign.collection,
            campaign_id=campaign.pk,
        )


def _lock_editable(judge: LlmJudge) -> None:
    """Lock the judge inside a transaction. Concurrent changes wait for each other. Raises
    CampaignError if the judge is frozen or a job is active."""
    locked = LlmJudge.objects.select_for_update().filter(pk=judge.pk).first()
    if locked is None:
        raise CampaignError(_("The LLM judge was deleted."))
    if locked.frozen_at is not None:
        raise CampaignError(
            _("%(judge)s is frozen. Its labels can't be changed or deleted.")
            % {"judge": locked.name}
        )
    if selectors.get_last_job(locked, active=True) is not None:
        raise CampaignError(
            _("%(judge)s is running. Wait until it has finished, or cancel it.")
            % {"judge": locked.name}
        )


@jobs.register_job_kind(selectors.LLM_JUDGE_JOB, unit="answers", resumes=True)
def run_judge(work: ClaimedJob) -> dict[str, Any]:
    """Run the job that requests an LLM judge's missing answers. Returns a report with facts
    (answers, calls …) and warnings."""
    judge = (
        LlmJudge.objects.select_related("campaign__pool", "campaign__collection")
        .filter(pk=work.parameters["llm_judge"])
        .first()
    )
    if judge is None:
        raise Refused(_("The LLM judge was deleted."))
    pairs = selectors.get_pairs_to_judge(judge)
    topics = dict(judge.campaign.collection.topics.values_list("topic_id", "pk"))
    try:
        outcome = DatabaseStore(judge, make_plan(judge), work, topics).run(pairs)
    except BadInput as error:
        raise Refused(
            _("%(error)s. The answers received so far are kept.") % {"error": error}
        ) from None
    counts = selectors.count_answers(judge)
    facts = {
        "calls now": outcome.calls,
        "calls lost with a worker": outcome.lost,
        **counts.outcomes,
        **dict(outcome.troubles),
    }
    warnings = [f"stopped: {outcome.stopped}"] if outcome.stopped else []
    if outcome.unanswered:
        warnings.append(f"{outcome.unanswered:,} answers are missing; resume to request them again")
    with work.completion_transaction() as report:
        report.update(facts=facts, warnings=warnings)
    return report


def freeze_judge(judge: LlmJudge, *, actor: User | None) -> LlmJudge:
    """Freeze an LLM judge: its labels, model and prompt can no longer change, and date and digest
    are stored. Raises CampaignError without a label, or while a job is active."""
    with transaction.atomic():
        _lock_editable(judge)
        labels = selectors.get_labels(judge)
        if not labels:
            raise CampaignError(
                _("%(judge)s has no labels yet, so there is nothing to freeze.")
                % {"judge": judge.name}
            )
        judge.frozen_at, judge.digest = timezone.now(), selectors.compute_labels_digest(labels)
        judge.labels.filter(
            state=LlmLabel.State.ASKED
        ).delete()  # calls without an answer are not part of the frozen labels
        judge.save(update_fields=["frozen_at", "digest"])
        record_event(
            judge.campaign,
            actor,
            AuditAction.FROZE_AN_LLM_JUDGE,
            judge.name,
            labels=len(labels),
            digest=judge.digest,
        )
    return judge


def delete_judge(judge: LlmJudge, *, actor: User | None) -> None:
    """Delete an LLM judge that is not frozen. Frozen ones are kept, because a sample may depend on
    them."""
    with transaction.atomic():
        _lock_editable(judge)
        record_event(
            judge.campaign,
            actor,
            AuditAction.DELETED_AN_LLM_JUDGE,
            judge.name,
            model=judge.model,
        )
        LlmLabel.objects.filter(judge=judge).delete()
        judge.delete()
