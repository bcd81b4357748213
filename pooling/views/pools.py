"""Pages of pools: preview with cost, building, a pool with its provenance, extension, download."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from assay.formats.sets import format_settings
from assay.pools.pool_kinds import PoolKind
from pooling import permissions, tasks
from pooling.forms import CostForm, ExtendForm, PoolForm, StageForm
from pooling.models import Collection, Pool, PoolEntry
from pooling.platform.jobs import Refused
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.sentences import as_sentence
from pooling.selectors import collections as selectors
from pooling.selectors import jobs as job_selectors
from pooling.selectors import pools as pool_selectors
from pooling.services import ordering, pool_extension, pool_preview, renaming, sampling
from pooling.services import pools as services
from pooling.services.making import MAKING_KEYS, make_parameters


def pools_page(request: HttpRequest, collection: Collection) -> ListPage:
    """List the collection's pools, newest first."""
    return ListPage(
        request,
        selectors.get_pools(collection),
        search=("name", "source"),
        sort={
            "name": "name",
            "how": ("kind", "depth"),
            "runs": "n_runs",
            "pairs": "n_pairs",
            "missing": "missing_documents",
            "made": "created_at",
        },
        default="-made",
        part="pools",
    )


def pairs_page(request: HttpRequest, pool: Pool) -> ListPage:
    """List the pairs of a pool, best first."""
    which = {"missing": PoolEntry.LACKS_TEXT, "everyone": Q(everyone=True), "waits": Q(stage=None)}
    words = [("missing", _("without text"))]
    if pool.source:
        words.append(("everyone", _("calibration")))
    if pool.is_staged:
        words.append(("waits", _("not drawn yet")))
    return ListPage(
        request,
        pool_selectors.get_entries(pool),
        search=("=topic__topic_id", "topic__text", "docno"),
        sort={
            "topic": (Length("topic__topic_id"), "topic__topic_id", "position"),  # sort 2 before 10
            "document": "docno",
            "rank": ("best_rank", "position"),
            "priority": ("stage" if pool.is_staged else "priority", "position"),
        },
        choices=[
            RowFilter("show", _("Show"), words, lambda rows, value: rows.filter(which[value]))
        ],
        per_page=10,
        part="pairs",
        wide=True,
    )


@login_required
@require_safe
def index(request: HttpRequest, slug: str) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    activity = selectors.get_activity(collection, n_recent=0)
    context = {
        "collection": collection,
        "tab": "pools",
        "pools": pools_page(request, collection),
        "activity": activity,
    }
    return render_page(request, "pooling/pools.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose runs and depth of a new pool. A POST requests a preview. With action=build, it creates
    the pool, and with action=campaign, it also opens the form of a campaign on it."""
    collection = permissions.get_managed_collection(request, slug)
    form = PoolForm(
        request.POST or None,
        collection=collection,
        judges=sampling.list_frozen_judges(collection, request.user),
    )
    if form.is_valid():
        given = form.cleaned_data
        action = request.POST.get("action")
        ask = (
            services.request_pool
            if action in ("build", "campaign")
            else pool_preview.request_preview
        )
        try:
            making = make_parameters(
                given["kind"],
                **{name: given[name] for name in MAKING_KEYS},
                collection=collection,
                user=request.user,
            )
            job = ask(
                collection,
                runs=list(given["runs"]),
                depth=given["depth"],
                seed=given["seed"] or 0,
                name=given["name"],
                making=making,
                user=request.user,
            )
            tasks.send(job)
            if action == "campaign":  # the form is available once the pool is built
                return redirect(reverse("campaign-new") + f"?pool={job.parameters['pool']}")
            if ask is services.request_pool:
                return redirect("pool", slug, job.parameters["pool"])
            return redirect("pool-preview", slug, job.pk)
        except Refused as error:
            form.add_error(None, as_sentence(error))
    context = {
        "collection": collection,
        "tab": "pools",
        "form": form,
        "runs": selectors.get_runs(collection),
        "chosen": set(form["runs"].value() or []) | {str(pk) for pk in form["runs"].value() or []},
        "n_kept": collection.topics.filter(removed_reason="").count(),
        "n_topics": collection.topics.count(),
        "undecided": collection.topics.filter(decided_at=None).exclude(proposal="").count(),
    }
    return render_page(
        request, "pooling/pool_new.html", context, status=400 if form.errors else 200
    )


@login_required
@require_safe
def preview(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the size and cost of a pool from the finished preview job."""
    collection = permissions.get_managed_collection(request, slug)
    job = get_object_or_404(collection.jobs, pk=pk, kind="preview pool")
    cost = CostForm(request.GET if "judgements" in request.GET else None)
    valid = cost.is_valid()
    judgements, seconds = (
        (cost.cleaned_data["judgements"], cost.cleaned_data["seconds"]) if valid else (3, 48.0)
    )
    figures = (
        pool_selectors.make_figures(job.report, judgements=judgements, seconds=seconds)
        if job.state == job.State.DONE
        else None
    )
    ways = pool_selectors.list_pooling_options(job.report, judgements=judgements, seconds=seconds)
    context = {
        "collection": collection,
        "tab": "pools",
        "job": job,
        "work": job_selectors.make_job_view(job),
        "cost_form": cost,
        "judgements": judgements,
        "seconds": seconds,
        "found": figures,
        "chosen": next((way for way in ways if way.chosen), figures and figures.depths[-1]),
        "stages": pool_selectors.list_stages(job.report, judgements=judgements, seconds=seconds),
        "audit_percent": round(100 * job.report.get("making", {}).get("audit", 0), 6),
        "every_depth": pool_selectors.pairs_by_depth(job.report),
        "ways": ways,
    }
    return render_page(request, "pooling/pool_preview.html", context)


@login_required
@require_safe
def pool(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    collection = permissions.get_managed_collection(request, slug)
    pool = get_object_or_404(collection.pools.select_related("created_by"), pk=pk)
    work = pool_selectors.get_last_job(pool)
    extension = pool_extension.get_last_extension(pool) if not pool.source else None
    context = {
        "collection": collection,
        "tab": "pools",
        "pool": pool,
        "is_battles": pool.kind == PoolKind.BATTLES,
        "runs": pool.runs.all(),
        "job": work.job if work else None,
        "work": work,
        "found": pool_selectors.make_figures(
            {"by_depth": pool.by_depth, "facts": {"pairs": pool.n_pairs}, **pool.coverage}
        )
        if pool.built_at
        else None,
        "pairs": pairs_page(request, pool),
        "n_everyone": pool.entries.filter(everyone=True).count() if pool.source else 0,
        "suggestion": format_settings(pool.suggested),
        "extend_form": ExtendForm(pool=pool),
        "stage_form": StageForm() if pool.kind == PoolKind.SAMPLED else None,
        "batches": pool_selectors.list_planned_batches(pool),
        "stages": pool_selectors.list_drawn_stages(pool),
        "extension": extension,
        "n_extension": extension.report.get("facts", {}).get("new pairs", 0)
        if extension is not None
        else 0,
    }
    return render_page(request, "pooling/pool.html", context)


@login_required
@require_POST
def change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a pool. action: preview, extend, stage, batch, undo-extension, rename, fetch, build or
    delete."""
    collection = permissions.get_managed_collection(request, slug)
    pool = get_object_or_404(collection.pools, pk=pk)
    action = request.POST.get("action")
    try:
        if action == "delete":
            services.delete_pool(pool)
            messages.success(request, _("Deleted the pool %(name)s.") % {"name": pool.name})
            return redirect("collection-pools", slug)
        if action == "rename":
            renamed = renaming.rename_pool(pool, request.POST.get("name", ""), user=request.user)
            messages.success(request, _("Renamed the pool to %(name)s.") % {"name": renamed.name})
            return redirect("pool", slug, pk)
        if action in ("extend", "preview"):
            form = ExtendForm(request.POST, pool=pool)
            if not form.is_valid():
                raise Refused(
                    "; ".join(
                        f"{name}: {' '.join(map(str, errors))}"
                        for name, errors in form.errors.items()
                    )
                )
            ask = (
                services.request_extension
                if action == "extend"
                else pool_extension.request_extension_preview
            )
            job = ask(
                pool,
                runs=list(form.cleaned_data["runs"]),
                depth=form.cleaned_data["depth"],
                user=request.user,
            )
        elif action == "stage":
            share = StageForm(request.POST)
            if not share.is_valid():
                raise Refused(
                    _("Enter the share of the pool as a percentage above 0 and up to 100.")
                )
            job = sampling.request_stage(
                pool, share.cleaned_data["percent"] / 100, user=request.user
            )
        elif action == "batch":
            job = ordering.request_batch(pool, user=request.user)
        elif action == "undo-extension":
            job = pool_extension.request_undo_extension(pool, user=request.user)
        elif action == "fetch":
            job = services.request_documents(pool, user=request.user)
        elif action == "build":
            job = services.request_rebuild(pool, user=request.user)
        else:
            raise Refused(_("Unknown action."))
        tasks.send(job)
        if action == "preview":
            return redirect("pool-extension", slug, pk, job.pk)
    except Refused as error:
        messages.error(request, as_sentence(error))
    return redirect("pool", slug, pk)


@login_required
@require_safe
def extension(request: HttpRequest, slug: str, pk: int, job_pk: int) -> HttpResponse:
    """Show the result and cost of an extension from the finished preview job, with the button that
    requests it."""
    collection = permissions.get_managed_collection(request, slug)
    pool = get_object_or_404(collection.pools, pk=pk)
    job = get_object_or_404(
        collection.jobs, pk=job_pk, kind="preview extension", parameters__pool=pk
    )
    costs = [
        {
            **row,
            "end": [at and parse_datetime(at) for at in row["end"]],
            "deadline": row["deadline"] and parse_datetime(row["deadline"]),
        }
        for row in job.report.get("campaigns", [])
    ]
    context = {
        "collection": collection,
        "tab": "pools",
        "pool": pool,
        "job": job,
        "work": job_selectors.make_job_view(job),
        "costs": costs,
    }
    return render_page(request, "pooling/pool_extension.html", context)


@login_required
@require_safe
def table(request: HttpRequest, slug: str, pk: int) -> StreamingHttpResponse:
    """Return the pool's file: topic, document, best_rank, priority, runs, best pairs first."""
    collection = permissions.get_managed_collection(request, slug)
    pool = get_object_or_404(collection.pools, pk=pk)
    response = StreamingHttpResponse(
        pool_selectors.iterate_table(pool), content_type="text/tab-separated-values; charset=utf-8"
    )
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{collection.slug}-pool-{pool.pk}.tsv"'
    )
    return response
