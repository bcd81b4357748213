"""The export page of a campaign with its files, recipes and releases, and the import of
releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from analysis.judgements.campaign_sample import is_sampled
from analysis.judgements.labels import LabelChoices, Labels, cached_labels, make_labels
from analysis.judgements.live import get_snapshot
from analysis.models import Recipe, Release
from analysis.publishing import (
    engines,
    exports,
    import_job,
    payment,
    recipe_rankings,
    recipes,
)
from analysis.publishing.forms import ExportOptionsForm, RecipeForm, ReleaseForm
from analysis.publishing.release.checks import (
    IncompleteRelease,
    find_missing,
    read_campaign_facts,
)
from analysis.publishing.release.parts import ReleasePlan
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign
from annotation.permissions import can_create, get_managed_campaign, get_person
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.natural_order import natural_sort_key
from pooling import tasks
from pooling.models import Job
from pooling.platform.jobs import Refused
from pooling.platform.listing import ListPage
from pooling.platform.page_files import render_page
from pooling.platform.sentences import as_sentence
from pooling.selectors.jobs import make_job_view

MAIN_EXPORTS = {True: ("prels", "prels-binary"), False: ("qrels", "qrels-binary")}
"""The two recommended files by whether the pool is sampled."""
EXPORT_GROUPS = (
    (gettext_lazy("Evaluation"), ("qrels", "qrels-binary", "beir")),
    (gettext_lazy("Sampled or prioritised pool"), ("sample", "batches")),
    (
        gettext_lazy("Labels and judgements"),
        ("labels", "judgements", "excluded", "adjudications", "feedback"),
    ),
    (gettext_lazy("Topics and pool"), ("pool", "topics", "topics-removed")),
    (
        gettext_lazy("For other tools"),
        (
            "fira",
            "quepid-book",
            "quepid-ratings",
            "quepid-snapshot",
            "quepid-detailed",
            "quepid-general",
            "crowd-kit",
        ),
    ),
    (gettext_lazy("For search engines"), ("opensearch", "rank-eval", "ltr", "label-csv")),
)


@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    form = ExportOptionsForm(request.GET or None, campaign=campaign)
    return _render_page(
        request,
        campaign,
        form,
        RecipeForm(campaign=campaign, prefix="recipe"),
        status=400 if form.errors else 200,
    )


def _group_exports(
    campaign: Campaign, query: str, choices: LabelChoices
) -> list[tuple[str, list[Any]]]:
    """Return the available files grouped by title, without the two recommended ones."""
    main = MAIN_EXPORTS[is_sampled(campaign)]
    offered = {
        name: export
        for name, export in exports.available_exports(campaign).items()
        if name not in main
    }
    groups = [
        (
            str(title),
            [_export_context(offered[name], query, choices) for name in names if name in offered],
        )
        for title, names in EXPORT_GROUPS
    ]
    return [(title, files) for title, files in groups if files]


def _main_files(
    campaign: Campaign, choices: LabelChoices, query: str, labels: Labels
) -> list[dict[str, object]]:
    """Return the two recommended files, each with one line about its content."""
    graded, binary = (exports.EXPORTS[name] for name in MAIN_EXPORTS[is_sampled(campaign)])
    scale = campaign.scale_of(choices.question)
    least = choices.min_relevant or scale.min_relevant
    names = {grade["value"]: grade["name"] for grade in scale.grades}
    words = [
        _("One label per pair, grades 0 to %(highest)s, TREC format.") % {"highest": max(names)}
        if not is_sampled(campaign)
        else graded.words,
        _("Relevant means “%(grade)s” or better.") % {"grade": names[least]},
    ]
    if choices == LabelChoices() and not is_sampled(campaign):
        words[1] = _("%(n)s of %(all)s labels are relevant: “%(grade)s” or better.") % {
            "n": f"{labels.n_relevant:,}",
            "all": f"{labels.n_labels:,}",
            "grade": names[least],
        }
    return [
        _export_context(export, query, choices)
        | {"words": said, "name": export.filename(campaign, choices)}
        for export, said in zip((graded, binary), words, strict=True)
    ]


def _describe_labels(labels: Labels, n_pairs: int) -> dict[str, str]:
    """Describe how many labels there are, and how many pairs have none."""
    missing = max(n_pairs - labels.n_labels, 0)
    return {
        "headline": ngettext(
            "%(n)s label is ready to download.",
            "%(n)s labels are ready to download.",
            labels.n_labels,
        )
        % {"n": f"{labels.n_labels:,}"}
        if labels.n_labels
        else _("There are no labels yet."),
        "missing": ngettext(
            "%(n)s of %(all)s pairs has no label yet.",
            "%(n)s of %(all)s pairs have no label yet.",
            missing,
        )
        % {"n": f"{missing:,}", "all": f"{n_pairs:,}"}
        if missing
        else "",
    }


def _render_page(
    request: HttpRequest,
    campaign: Campaign,
    form: ExportOptionsForm,
    recipe_form: RecipeForm,
    *,
    status: int = 200,
) -> HttpResponse:
    chosen = request.GET if form.is_bound and form.is_valid() else {}
    query = urlencode(
        [(name, value) for name in chosen for value in request.GET.getlist(name) if value]
    )
    choices = form.choices() if form.is_bound and form.is_valid() else LabelChoices()
    live = get_snapshot(campaign)
    labels = cached_labels(campaign, live) if choices.is_primary else make_labels(campaign, choices)
    recipes_shown = _recipe_contexts(campaign)
    context = {
        "campaign": campaign,
        "tab": "export",
        "form": form,
        "recipe_form": recipe_form,
        "recipes": recipes_shown,
        "releases": sorted(
            (release for recipe in recipes_shown for release in recipe["built"]),
            key=lambda release: release.created_at,
            reverse=True,
        ),
        "said": choices.words(),
        **_describe_labels(labels, len(live.pairs)),
        "main_files": _main_files(campaign, choices, query, labels),
        "groups": _group_exports(campaign, query, choices),
        "engine_addresses": list(settings.ENGINE_ENDPOINTS),
        "release_missing": find_missing(
            read_campaign_facts(
                campaign, ReleasePlan(), labels=labels if choices.is_primary else None
            )
        ),
    }
    return render_page(request, "analysis/export.html", context, status=status)


def _export_context(export: exports.Export, query: str, choices: LabelChoices) -> dict[str, object]:
    """Return the template context of an exported file. Options about a further question do not
    apply to files of grades."""
    applies = export.heeds and (choices.is_primary or "question" in export.heeds)
    return {
        "export": export,
        "query": f"?{query}" if query and applies else "",
        "sends": export.name in engines.METHODS,
    }


def _recipe_contexts(campaign: Campaign) -> list[dict[str, Any]]:
    with_releases = list(
        campaign.recipes.prefetch_related(
            Prefetch("releases", Release.objects.order_by("-created_at"))
        )
    )
    last: dict[int, Job] = {}
    jobs = Job.objects.filter(kind=recipes.BUILD_JOB, campaign_id=campaign.pk).select_related(
        "collection", "created_by"
    )
    for job in jobs.order_by("created_at"):
        last[job.parameters["recipe"]] = job
    return [_recipe_context(recipe, last.get(recipe.pk)) for recipe in with_releases]


def _recipe_context(recipe: Recipe, job: Job | None) -> dict[str, Any]:
    """Return the template context of a recipe: its settings as text, its releases newest first, and
    its last job unless it succeeded."""
    plan = recipes.make_release_plan(recipe)
    return {
        "pk": recipe.pk,
        "name": recipe.name,
        "words": [
            *plan.choices.words(),
            *(["with texts"] if plan.documents else []),
            *(["with notes"] if plan.notes else []),
            *(["with runs"] if plan.runs else []),
            *(["with click qrels"] if plan.clicks else []),
        ],
        "built": list(recipe.releases.all()),
        "work": make_job_view(job) if job is not None and job.state != Job.State.DONE else None,
        "same": bool(job is not None and job.report.get("same_as_before")),
    }


@login_required
@require_safe
def file(request: HttpRequest, slug: str, name: str) -> HttpResponse | FileResponse:
    """Download one exported file. Invalid choices show the page with errors."""
    campaign = get_managed_campaign(request, slug)
    export = exports.find_export(name)
    if export is None:
        raise Http404("Unknown export.")
    form = ExportOptionsForm(request.GET, campaign=campaign)
    if not form.is_valid():
        return _render_page(
            request, campaign, form, RecipeForm(campaign=campaign, prefix="recipe"), status=400
        )
    try:
        prepared = exports.prepare_export(export, campaign, form.export_options())
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign-export", slug)
    if request.method == "GET":
        exports.log_export(campaign, request.user, export, form.export_options())
    return file_response(
        prepared, export.filename(campaign, form.export_options().choices), export.content_type
    )


@login_required
@require_POST
def send_file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Request a job that sends a file to a search engine, and show its page. Invalid choices show
    the page with errors."""
    campaign = get_managed_campaign(request, slug)
    form = ExportOptionsForm(request.GET, campaign=campaign)
    if not form.is_valid():
        return _render_page(
            request, campaign, form, RecipeForm(campaign=campaign, prefix="recipe"), status=400
        )
    address = request.POST.get("address", "")
    try:
        job = engines.request_sending(
            campaign, name, form.choices(), address=address, user=request.user
        )
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign-export", slug)
    tasks.send(job)
    return redirect("job", job.pk)


@login_required
@require_safe
def payment_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Download hours and judgements of each annotator, with names. With `rate` and `per`, payments
    are included."""
    campaign = get_managed_campaign(request, slug)
    try:
        rate = payment.PayRate.parse(request.GET.get("rate", ""), request.GET.get("per", ""))
    except CampaignError as error:
        messages.error(request, str(error))
        return redirect("campaign-people", slug)
    response = HttpResponse(
        payment.export_payment_text(campaign, rate, actor=get_person(request)),
        content_type="text/csv; charset=utf-8",
    )
    response["Content-Disposition"] = str(
        content_disposition_header(as_attachment=True, filename=payment.payment_filename(campaign))
    )
    return response


@login_required
@require_POST
def new_recipe(request: HttpRequest, slug: str) -> HttpResponse:
    """Save a new recipe. With the action `build`, also build a release with it."""
    campaign = get_managed_campaign(request, slug)
    form = RecipeForm(request.POST, campaign=campaign, prefix="recipe")
    if form.is_valid():
        try:
            recipe = recipes.save_recipe(campaign, form.plan(), user=request.user)
            if request.POST.get("action") == "build":
                tasks.send(recipes.request_release(recipe, user=request.user))
        except IncompleteRelease:
            return redirect("campaign-recipe", slug, recipe.pk)
        except CampaignError as error:
            form.add_error(None, str(error))
        else:
            if request.POST.get("action") != "build":
                messages.success(request, _("Saved recipe %(name)s.") % {"name": recipe.name})
            return redirect(f"{reverse('campaign-export', args=[slug])}#releases")
    return _render_page(request, campaign, ExportOptionsForm(campaign=campaign), form, status=400)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def recipe(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show what a release with the recipe would lack. A POST builds the release or deletes the
    recipe."""
    campaign = get_managed_campaign(request, slug)
    recipe = get_object_or_404(campaign.recipes.select_related("campaign__collection"), pk=pk)
    if request.method != "POST":
        return _render_recipe(request, recipe)
    try:
        if request.POST.get("action") == "delete":
            recipes.delete_recipe(recipe, user=request.user)
            messages.success(request, _("Deleted recipe %(name)s.") % {"name": recipe.name})
        else:
            anyway = request.POST.get("anyway") == "1"
            tasks.send(recipes.request_release(recipe, user=request.user, anyway=anyway))
    except IncompleteRelease:
        return redirect("campaign-recipe", slug, pk)
    except CampaignError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('campaign-export', args=[slug])}#releases")


def _render_recipe(request: HttpRequest, recipe: Recipe) -> HttpResponse:
    plan = recipes.make_release_plan(recipe)
    context = {
        "campaign": recipe.campaign,
        "tab": "export",
        "recipe": recipe,
        "words": plan.choices.words(),
        "missing": find_missing(read_campaign_facts(recipe.campaign, plan)),
    }
    return render_page(request, "analysis/recipe.html", context)


@login_required
@require_safe
def release(request: HttpRequest, slug: str, pk: int) -> FileResponse:
    """Download the zip file of a release."""
    campaign = get_managed_campaign(request, slug)
    release = get_object_or_404(
        Release.objects.select_related("recipe__campaign"), pk=pk, recipe__campaign=campaign
    )
    if request.method == "GET":
        record_event(
            campaign,
            get_person(request),
            AuditAction.EXPORTED,
            f"release {release.recipe.name}",
            digest=release.digest,
        )
    return file_response(
        release.file.open("rb"),
        f"{recipes.release_file_name(release.recipe)}-{release.digest[:12]}.zip",
        exports.ZIP,
    )


def _selected_recipes(request: HttpRequest, campaign: Campaign) -> tuple[Recipe, Recipe] | None:
    """Return the two recipes named in the address, if both belong to the campaign."""
    recipe_of_row = {str(recipe.pk): recipe for recipe in campaign.recipes.all()}
    first, second = (
        recipe_of_row.get(request.GET.get("first", "")),
        recipe_of_row.get(request.GET.get("second", "")),
    )
    return None if first is None or second is None or first == second else (first, second)


def _redirect_to_difference(request: HttpRequest, slug: str) -> HttpResponse:
    messages.error(request, _("Choose two different recipes."))
    return redirect("campaign-export", slug)


@login_required
@require_safe
def difference(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the labels that differ between two recipes on the current judgements, and the
    correlation of the system rankings."""
    campaign = get_managed_campaign(request, slug)
    two = _selected_recipes(request, campaign)
    if two is None:
        return _redirect_to_difference(request, slug)
    first, second = two
    live = get_snapshot(campaign)
    plans = [recipes.make_release_plan(one).choices for one in (first, second)]
    depends_on = recipe_rankings.comparison_marks(campaign, live)
    name = ("comparison of recipes", (first.pk, second.pk))
    change = live.derived(
        name,
        lambda: recipes.compare_recipes(campaign, *plans, rows=live.rows),
        depends_on=depends_on,
    )
    job, new = recipe_rankings.get_newest_comparison(campaign, first, second, live)
    if new is not None:
        tasks.send(new)
    context = {
        "campaign": campaign,
        "tab": "export",
        "first": first,
        "second": second,
        "words": [plan.words() for plan in plans],
        "difference": change,
        "changes": _changes_page(request, campaign, change.changes, part="changes"),
        "alone": _changes_page(request, campaign, change.alone, part="alone", prefix="alone-"),
        "n_alone": change.only_first + change.only_second,
        "work": make_job_view(job) if job is not None and job.state != Job.State.DONE else None,
        "compared": job.report | {"current": job.parameters["marks"][:2] == depends_on[:2]}
        if job is not None and job.state == Job.State.DONE
        else None,
    }
    return render_page(request, "analysis/export_difference.html", context)


def _changes_page(
    request: HttpRequest,
    campaign: Campaign,
    changes: Sequence[recipes.RelabelledPair],
    *,
    part: str,
    prefix: str = "",
) -> ListPage:
    """Return a page of the pairs with different labels under two recipes, each with its row ID."""
    shown = ListPage(
        request,
        changes,
        search=lambda change: f"{change.topic} {change.document}",
        sort={
            "topic": lambda change: natural_sort_key(change.topic),
            "document": lambda change: natural_sort_key(change.document),
            "first": lambda change: change.labels[0].grade if change.labels[0] else None,
            "second": lambda change: change.labels[1].grade if change.labels[1] else None,
        },
        prefix=prefix,
        part=part,
    )
    shown.show(recipes.add_pair_ids(campaign, list(shown)))
    return shown


@login_required
@require_safe
def difference_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Download all pairs with different labels under two recipes, as CSV."""
    campaign = get_managed_campaign(request, slug)
    two = _selected_recipes(request, campaign)
    if two is None:
        return _redirect_to_difference(request, slug)
    first, second = two
    change = recipes.compare_recipes(
        campaign, *(recipes.make_release_plan(one).choices for one in (first, second)), most=None
    )
    response = HttpResponse(
        recipes.format_difference_csv(change), content_type="text/csv; charset=utf-8"
    )
    name = f"{campaign.slug}-{slugify(first.name)}-and-{slugify(second.name)}.csv"
    response["Content-Disposition"] = str(
        content_disposition_header(as_attachment=True, filename=name)
    )
    return response


@csrf_exempt  # _import_form checks the CSRF token, because the check reads the large body
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_release(request: HttpRequest) -> HttpResponse:
    """Import a release, or judgements made in another tool. The upload is kept until the job has
    read it."""
    if not can_create(request):
        raise PermissionDenied(
            _("You can't create collections and campaigns. Ask an administrator for permission.")
        )
    return _import_form(request)


@csrf_protect
def _import_form(request: HttpRequest) -> HttpResponse:
    form = ReleaseForm(request.POST, request.FILES) if request.method == "POST" else ReleaseForm()
    if request.method == "POST" and form.is_valid():
        try:
            said = {key: form.cleaned_data[key] for key in ("name", "scale", "min_relevant")}
            job = import_job.queue_import(
                form.cleaned_data["release"],
                user=request.user,
                judged=said,
                anyway=form.cleaned_data.get("anyway", False),
            )
        except Refused as error:
            form.add_error("release", as_sentence(error))
        else:
            tasks.send(job)
            return redirect("job", job.pk)
    return render_page(
        request, "analysis/import.html", {"form": form}, status=400 if form.errors else 200
    )


def file_response(content: object, filename: str, content_type: str) -> FileResponse:
    charset = "" if content_type == exports.ZIP else "; charset=utf-8"
    return FileResponse(
        content, as_attachment=True, filename=filename, content_type=content_type + charset
    )
