"""Create or change a collection and its pool as declared in a file (pooling.core.collection_file):
plan first, then apply with the services that the pages use.

    plan = plan_collection(said.collection, said.pool, folder="study")   # changes, and refusals
    collection, pool = apply_plan(plan, user=user)                       # in the caller's transaction
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.core.files.base import File
from django.db import connection
from django.utils.translation import gettext as _

from assay.formats.battles import read_document_battles
from assay.formats.ir_metadata import find_metadata
from assay.formats.pool import read_pool, sort_pool
from assay.formats.qrels import load_qrels, read_qrels, write_qrels
from assay.formats.runs import read_run
from assay.formats.topics import read_topics
from assay.number_words import format_count
from assay.pools.pool_kinds import PoolKind
from assay.pools.topic_checks import join_information_need
from pooling.core.collection_file import COLLECTION
from pooling.core.declaration import Change, Mistake, format_value, list_changes
from pooling.models import Collection, Job, Pool
from pooling.platform import jobs
from pooling.platform.jobs import Refused
from pooling.selectors.collection_description import describe_collection, describe_pool
from pooling.services import collections, pool_pairs, pools, sampling, topics, uploads
from pooling.services.battle_pools import create_battle_pool, list_battles
from pooling.services.making import make_parameters
from pooling.services.renaming import rename_pool
from pooling.services.runs import describe_run, get_runs_by_tag, load_rankings

DESCRIPTION_KEYS = ("name", "description", "n_documents", "text_format")


class PlannedImport(NamedTuple):
    """A file to import. options: those of its kind."""

    kind: str
    path: str
    options: dict[str, Any]


@dataclass
class CollectionPlan:
    """The planned changes of a collection and its pool. collection, pool: None if they are to be
    created. imports: files in order of import."""

    declared: Mapping[str, Any]
    declared_pool: Mapping[str, Any]
    folder: str | None
    collection: Collection | None
    pool: Pool | None
    changes: list[Change] = field(default_factory=list)
    refused: list[Mistake] = field(default_factory=list)
    imports: list[PlannedImport] = field(default_factory=list)
    stray_files: list[str] = field(default_factory=list)
    """Storage names of files written before a failure, to which no row will refer."""

    def refuse(self, path: tuple[str | int, ...], problem: str, expected: str) -> None:
        self.refused.append(Mistake(path, problem, expected))

    def change(self, table: str, name: str, before: Any, after: Any, words: str) -> None:
        self.changes.append(Change(table, name, before, after, words))

    def imports_kind(self, kind: str) -> bool:
        return any(one.kind == kind for one in self.imports)

    @property
    def is_slow(self) -> bool:
        """Return whether applying the declaration imports files or changes the pool, which may
        create pairs. If so, it may take too long for a request or a dry run."""
        return bool(self.imports) or any(change.table == "pool" for change in self.changes)

    def file(self, name: str, path: tuple[str | int, ...]) -> str | None:
        """Return the path of a file that the declaration names. If it does not exist, add a refusal
        and return None."""
        if self.folder is None:
            self.refuse(
                path,
                f"file {name} cannot be read here",
                "no files; upload each file to the collection instead",
            )
            return None
        whole_path = os.path.join(self.folder, name)
        if not os.path.isfile(whole_path):
            self.refuse(
                path, f"there is no file {name}", "a path relative to the folder of this file"
            )
            return None
        return whole_path


def plan_collection(
    declared: Mapping[str, Any], declared_pool: Mapping[str, Any], *, folder: str | None
) -> CollectionPlan:
    """Plan the changes of a collection and its pool. folder: base of relative paths, or None if
    there are no files. Raises FormatError for a file that cannot be read."""
    collection = Collection.objects.filter(slug=declared["slug"]).first()
    pool = (
        collection.pools.filter(name=declared_pool["name"]).first()
        if collection is not None and declared_pool
        else None
    )
    plan = CollectionPlan(declared, declared_pool, folder, collection, pool)
    stored = describe_collection(collection) if collection is not None else {}
    if collection is None:
        plan.change(
            "collection",
            "slug",
            None,
            declared["slug"],
            f"create the collection {declared['slug']}",
        )
        if not declared.get("name"):
            plan.refuse(
                ("collection",),
                f"there is no collection with the slug {declared['slug']}, and a new one needs a name",
                'name = "..."',
            )
    _plan_topics(plan)
    _plan_documents(plan)
    for kind in ("runs", "qrels"):
        _plan_rows(plan, stored, kind)
    _plan_description(plan, stored)
    _plan_decisions(plan, stored)
    if declared_pool:
        _plan_pool(plan)
    return plan


def _plan_description(plan: CollectionPlan, stored: Mapping[str, Any]) -> None:
    plan.changes += list_changes(
        stored,
        plan.declared,
        [key for key in COLLECTION if key.name in DESCRIPTION_KEYS],
        "collection",
    )
    for name in plan.declared.get("managers", []):
        if name not in stored.get("managers", []):
            plan.change("collection", "managers", None, name, f"managers: {name}: new")


def _plan_topics(plan: CollectionPlan) -> None:
    known: dict[str, tuple[str, str, str]] = {}
    if plan.collection is not None:
        rows = plan.collection.topics.values_list("topic_id", "text", "description", "narrative")
        known = {
            topic_id: (text, description, narrative)
            for topic_id, text, description, narrative in rows
        }
    for number, name in enumerate(plan.declared.get("topics", [])):
        place = ("collection", "topics", number)
        path = plan.file(name, place)
        if path is None:
            continue
        read = read_topics(path, name=name)
        other = [
            one.topic
            for one in read
            if one.topic in known and known[one.topic] != (one.text, one.description, one.narrative)
        ]
        new = [one.topic for one in read if one.topic not in known]
        if other:
            problem = (
                f"{name} differs from the collection in {format_count(len(other), 'topic')}: "
                f"{', '.join(other[:5])}"
            )
            plan.refuse(place, problem, "the same texts; delete topics to replace them")
        elif new and len(new) < len(read):
            plan.refuse(
                place,
                f"{name} mixes {format_count(len(new), 'new topic')} with existing ones",
                "a separate file for the new topics",
            )
        elif new:
            plan.imports.append(PlannedImport("topics", path, {}))
            plan.change(
                "collection",
                "topics",
                None,
                name,
                f"topics: import {name} ({format_count(len(new), 'topic')})",
            )


def _plan_documents(plan: CollectionPlan) -> None:
    for number, name in enumerate(plan.declared.get("documents", [])):
        path = plan.file(name, ("collection", "documents", number))
        if path is None:
            continue
        with open(path, "rb") as source:
            digest = file_digest(source, "sha256").hexdigest()
        if (
            plan.collection is None
            or not plan.collection.document_files.filter(digest=digest).exists()
        ):
            plan.imports.append(PlannedImport("documents", path, {}))
            plan.change(
                "collection",
                "documents",
                None,
                name,
                f"documents: import {name} ({os.path.getsize(path):,} bytes)",
            )


IMPORT_KINDS = {"runs": ("run", "tag"), "qrels": ("qrels", "name")}
"""Key in the file -> (kind of upload, field that identifies a row)."""


def _plan_rows(plan: CollectionPlan, stored: Mapping[str, Any], name: str) -> None:
    kind, identity = IMPORT_KINDS[name]
    row_of = {row[identity]: row for row in stored.get(name, [])}
    (key,) = [key for key in COLLECTION if key.name == name]
    for number, row in enumerate(plan.declared.get(name, [])):
        place, old = ("collection", name, number), row_of.get(row[identity])
        path = plan.file(row["file"], (*place, "file")) if row["file"] else None
        if kind == "run" and path is not None and not row["description"]:
            row = {**row, "description": find_metadata(path)}
        if old is not None:
            same = {part: row[part] for part in ("file", "order", "lenient") if part in row}
            changes = list_changes({name: [{**old, **same}]}, {name: [row]}, [key], "collection")
            plan.changes += changes
            if kind == "qrels" and changes:
                plan.refuse(
                    (*place, "kind"),
                    f"qrels {row['name']} already exist with kind {old['kind']}",
                    "the same kind, or another name",
                )
            if path is not None and not COMPARISONS[kind](plan.collection, row, path):
                problem = f"{row['file']} differs from {row[identity]} in the collection"
                plan.refuse(
                    (*place, "file"),
                    problem,
                    f"another {identity}; or delete the existing {kind} first",
                )
        elif path is not None:
            options = {part: value for part, value in row.items() if part != "file" and value}
            plan.imports.append(
                PlannedImport(
                    kind,
                    path,
                    {
                        part: value.isoformat() if part == "submitted_on" else value
                        for part, value in options.items()
                    },
                )
            )
            plan.change(
                "collection", name, None, row, f"{name}: import {row['file']} as {row[identity]}"
            )
        elif not row["file"]:
            plan.refuse(
                place,
                f"the collection has no {kind} {row[identity]}",
                'file = "..." to import it',
            )


def _is_same_run(collection: Collection, row: Mapping[str, Any], path: str) -> bool:
    one = read_run(path, name=row["file"], lenient=row["lenient"], order=row["order"])
    other = load_rankings(collection.runs.get(tag=row["tag"]))
    return one.topics == other.topics and all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("offsets", "documents", "scores")
    )


def _is_same_qrels(collection: Collection, row: Mapping[str, Any], path: str) -> bool:
    one, other = (
        read_qrels(path, name=row["file"]),
        load_qrels(collection.qrels.get(name=row["name"]).columns.path),
    )
    texts = []
    for qrels in (one, other):
        texts.append(io.StringIO())
        write_qrels(qrels, texts[-1])
    return texts[0].getvalue() == texts[1].getvalue()


COMPARISONS: dict[str, Callable[[Any, Mapping[str, Any], str], bool]] = {
    "run": _is_same_run,
    "qrels": _is_same_qrels,
}


def _plan_decisions(plan: CollectionPlan, stored: Mapping[str, Any]) -> None:
    declared, level = plan.declared, plan.declared.get("topic_check")
    keys = [replace(key, whole=level is None) for key in COLLECTION if key.name == "removed"]
    plan.changes += list_changes(stored, declared, keys, "collection")
    plan.changes += [
        Change("collection", "kept", None, one, f"kept: {one}: new")
        for one in declared.get("kept", [])
        if one not in stored.get("kept", [])
    ]
    if plan.collection is None or plan.imports_kind("topics"):
        if level:
            plan.change(
                "collection",
                "topic_check",
                None,
                level,
                f"topic_check: remove what the topic check proposes at level {level}",
            )
        return
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("collection", "removed", n, "topic"), row["topic"])
        for n, row in enumerate(declared.get("removed", []))
    ]
    named += [
        (("collection", "kept", n), topic) for n, topic in enumerate(declared.get("kept", []))
    ]
    known = set(plan.collection.topics.values_list("topic_id", flat=True))
    for path, topic in named:
        if topic not in known:
            plan.refuse(
                path,
                f"topic {topic} is not in the collection",
                "the ID of a topic in the collection",
            )
    if level:
        decided = {row["topic"] for row in declared.get("removed", [])} | set(
            declared.get("kept", [])
        )
        for topic, reason in _propose_removals(plan.collection, level).items():
            if topic not in decided:
                plan.change(
                    "collection",
                    "topic_check",
                    None,
                    topic,
                    f"topic_check: remove {topic}: {reason}",
                )


def _propose_removals(collection: Collection, level: str) -> dict[str, str]:
    """Return topic -> reason for undecided topics that the check at this level would remove."""
    rows = list(
        collection.topics.filter(removed_reason="")
        .order_by("position")
        .values_list("topic_id", "text", "description", "narrative", "decided_at")
    )
    needs = {
        topic_id: join_information_need(description, narrative)
        for topic_id, _, description, narrative, _ in rows
    }
    proposals = topics.propose_removals(
        [(topic_id, text) for topic_id, text, *_ in rows], level, needs
    )
    return {
        topic_id: proposals[topic_id][0]
        for topic_id, *_, decided in rows
        if topic_id in proposals and decided is None
    }


OF_BATCHES, OF_SAMPLES = ("goal", "batch", "audit"), ("strata", "stages", "llm_judge")
STRATA_FIXED_REASON = "its strata are already sampled"
BATTLES_FIXED_REASON = "its battles are already drawn"
FIXED_REASONS = {
    "seed": "the order of its pairs is already drawn",
    "strata": STRATA_FIXED_REASON,
    "llm_judge": STRATA_FIXED_REASON,
    "rounds": BATTLES_FIXED_REASON,
    "repeated": BATTLES_FIXED_REASON,
} | dict.fromkeys(OF_BATCHES, "its batches are already planned")
"""Keys of a pool that cannot change after its creation -> reason."""


def _describe_new_pool(declared: Mapping[str, Any]) -> str:
    for name in ("pairs", "battles"):
        if name in declared:
            return f" from {declared[name]}"
    if "rounds" in declared:
        return f", battles in {format_count(declared['rounds'], 'round')}"
    return f", depth {declared.get('depth')}"


def _plan_pool(plan: CollectionPlan) -> None:
    declared, pool = plan.declared_pool, plan.pool
    path = plan.file(declared["pairs"], ("pool", "pairs")) if "pairs" in declared else None
    battles = plan.file(declared["battles"], ("pool", "battles")) if "battles" in declared else None
    if pool is None:
        plan.change(
            "pool",
            "name",
            None,
            declared["name"],
            f"pool: create {declared['name']}" + _describe_new_pool(declared),
        )
        if not {"pairs", "depth", "rounds", "battles"} & set(declared):
            plan.refuse(
                ("pool",),
                f"there is no pool {declared['name']}",
                "depth, pairs, rounds or battles, to create it",
            )
        if path is not None:
            read_pool(path, name=declared["pairs"])
        if battles is not None:
            read_document_battles(battles, name=declared["battles"])
        return
    if battles is not None:
        given = {one[:3] for one in read_document_battles(battles, name=declared["battles"])}
        if given != {one[:3] for one in list_battles(pool)}:
            plan.refuse(
                ("pool", "battles"),
                f"{declared['battles']} does not contain the battles of {pool.name}",
                "the same battles, or another name for a new pool",
            )
        return
    if path is not None:
        if (
            pool_pairs.digest_pool(sort_pool(read_pool(path, name=declared["pairs"])))
            != pool.digest
        ):
            plan.refuse(
                ("pool", "pairs"),
                f"{declared['pairs']} does not contain the pairs of {pool.name}",
                "the same pairs, or another name for a new pool",
            )
        return
    stored = describe_pool(pool)
    for name, why in FIXED_REASONS.items():
        if name in declared and declared[name] != stored.get(name):
            plan.refuse(
                ("pool", name),
                f"{name} of {pool.name} cannot be changed: {why}",
                format_value(stored.get(name)),
            )
    if "depth" in declared and declared["depth"] != stored.get("depth"):
        if pool.kind == PoolKind.SAMPLED or declared["depth"] < (
            stored.get("depth") or pool.least_depth
        ):
            plan.refuse(
                ("pool", "depth"),
                f"{pool.name} is {pool.words}, and its depth cannot be changed to {declared['depth']}",
                format_value(stored.get("depth")),
            )
        plan.change(
            "pool",
            "depth",
            stored.get("depth"),
            declared["depth"],
            f"pool: extend {pool.name} from depth {stored.get('depth')} to {declared['depth']}",
        )
    if new := [tag for tag in declared.get("runs", []) if tag not in stored.get("runs", [])]:
        plan.change(
            "pool",
            "runs",
            stored.get("runs"),
            declared["runs"],
            f"pool: extend {pool.name} with {', '.join(new)}",
        )
    if "runs" in declared and (
        gone := [tag for tag in stored.get("runs", []) if tag not in declared["runs"]]
    ):
        plan.refuse(
            ("pool", "runs"),
            f"{pool.name} has pairs of {', '.join(gone)}, and runs cannot be removed from a pool",
            "all of its runs",
        )
    stages, drawn = declared.get("stages", []), stored.get("stages", [])
    if stages[: len(drawn)] != drawn and "stages" in declared:
        plan.refuse(
            ("pool", "stages"),
            f"{pool.name} is already sampled at stages {format_value(drawn)}",
            "these stages, then further ones",
        )
    for share in stages[len(drawn) :]:
        plan.change(
            "pool", "stages", drawn, stages, f"pool: sample {pool.name} up to {100 * share:g}%"
        )


def apply_plan(plan: CollectionPlan, *, user: Any) -> tuple[Collection, Pool | None]:
    """Apply the plan in the caller's transaction.

    Raises Refused or FormatError if a change turns out to be impossible. The caller then rolls back
    and deletes `plan.stray_files`.
    """
    collection = plan.collection
    files = set(collections.list_files(collection)) if collection is not None else set()
    try:
        collection = _create_or_describe(plan, user)
        for one in plan.imports:
            _import_file(plan, collection, one, user)
        for change in plan.changes:
            if (change.table, change.name) == ("collection", "runs") and change.before is not None:
                row = change.after
                describe_run(
                    collection.runs.get(tag=row["tag"]),
                    **{
                        name: row[name]
                        for name in ("group", "description", "submitted_on", "baseline")
                    },
                )
        _apply_decisions(plan, collection, user)
        pool = _create_pool(plan, collection, user) if plan.declared_pool else None
        waiting = (
            collection.jobs.filter(kind="fetch documents", state=Job.State.QUEUED)
            if plan.folder is not None
            else ()
        )
        for fetch in waiting:
            jobs.run_to_end(fetch)
    except BaseException:
        if collection is not None and not connection.needs_rollback:
            plan.stray_files += set(collections.list_files(collection)) - files
        raise
    return collection, pool


def _create_or_describe(plan: CollectionPlan, user: Any) -> Collection:
    """Create the collection, or change its description."""
    declared, collection = plan.declared, plan.collection
    names = {change.name for change in plan.changes if change.table == "collection"}
    if collection is None:
        given = {name: declared[name] for name in DESCRIPTION_KEYS if name in declared}
        collection = collections.create_collection(user=user, slug=declared["slug"], **given)
    elif names & set(DESCRIPTION_KEYS):
        collections.describe_collection(
            collection,
            **{name: declared.get(name, getattr(collection, name)) for name in DESCRIPTION_KEYS},
        )
    for change in plan.changes:
        if (change.table, change.name) == ("collection", "managers"):
            collections.add_manager(collection, change.after)
    return collection


def _import_file(
    plan: CollectionPlan, collection: Collection, one: PlannedImport, user: Any
) -> None:
    with open(one.path, "rb") as source:
        name = Path(one.path).name
        upload = uploads.store_upload(
            collection, kind=one.kind, file=File(source, name=name), name=name, user=user
        )
    plan.stray_files.append(upload.file.name)
    job = jobs.run_to_end(
        uploads.request_import(upload, mode="import", options=one.options, user=user)
    )
    if not job.report.get("stored"):
        raise Refused(f"{upload.name}: {'; '.join(job.report['hold'])}")


def _apply_decisions(plan: CollectionPlan, collection: Collection, user: Any) -> None:
    rows = dict(collection.topics.values_list("topic_id", "pk"))
    decisions: dict[int, str] = {}
    reasons: dict[int, str] = {}
    for change in plan.changes:
        if change.table != "collection" or change.name not in ("removed", "kept"):
            continue
        topic = change.after if change.name == "kept" else (change.after or change.before)["topic"]
        if topic not in rows:
            raise Refused(_("Topic %(topic)s is not in the collection.") % {"topic": topic})
        decisions[rows[topic]] = (
            "keep"
            if change.name == "kept"
            else "remove"
            if change.after
            else decisions.get(rows[topic], "open")
        )
        if change.name == "removed" and change.after:
            reasons[rows[topic]] = change.after["reason"]
    if decisions:
        topics.decide_topics(collection, decisions, user=user, reasons=reasons)
    if any((change.table, change.name) == ("collection", "topic_check") for change in plan.changes):
        jobs.run_to_end(
            topics.request_check(collection, level=plan.declared["topic_check"], user=user)
        )
        topics.decide_all_topics(collection, decision="remove", user=user)


def _create_battle_pool(plan: CollectionPlan, collection: Collection, user: Any) -> None:
    declared = plan.declared_pool
    given = {name: declared[name] for name in ("rounds", "repeated", "seed") if name in declared}
    if "battles" in declared:
        path = os.path.join(plan.folder or "", declared["battles"])
        given = {
            "battles": read_document_battles(path, name=declared["battles"]),
            "source": declared["battles"],
        }
    elif "runs" in declared:
        given["runs"] = get_runs_by_tag(collection, declared["runs"])
    else:
        given["runs"] = list(collection.runs.all())
    create_battle_pool(collection, name=declared["name"], user=user, **given)


def _create_pool(plan: CollectionPlan, collection: Collection, user: Any) -> Pool:
    declared, pool = plan.declared_pool, plan.pool
    if pool is None and "pairs" in declared:
        _import_file(
            plan,
            collection,
            PlannedImport(
                "set",
                os.path.join(plan.folder or "", declared["pairs"]),
                {"name": declared["name"]},
            ),
            user,
        )
    elif pool is None and ("battles" in declared or "rounds" in declared):
        _create_battle_pool(plan, collection, user)
    elif pool is None:
        kind = (
            PoolKind.ORDERED
            if set(OF_BATCHES) & set(declared)
            else PoolKind.SAMPLED
            if set(OF_SAMPLES) & set(declared)
            else PoolKind.DEPTH
        )
        making = make_parameters(
            kind,
            **{name: declared[name] for name in (*OF_BATCHES, *OF_SAMPLES) if name in declared},
            collection=collection,
            user=user,
        )
        runs = (
            get_runs_by_tag(collection, declared["runs"])
            if "runs" in declared
            else list(collection.runs.all())
        )
        given = {
            "depth": declared["depth"],
            "seed": declared.get("seed", 0),
            "name": declared["name"],
        }
        jobs.run_to_end(
            pools.request_pool(collection, runs=runs, making=making, user=user, **given)
        )
    else:
        changed = {change.name for change in plan.changes if change.table == "pool"}
        if changed & {"depth", "runs"}:
            jobs.run_to_end(
                pools.request_extension(
                    pool,
                    runs=get_runs_by_tag(collection, declared.get("runs", [])),
                    depth=declared.get("depth"),
                    user=user,
                )
            )
        for share in declared.get("stages", [])[len(pool.stage_shares) :]:
            jobs.run_to_end(sampling.request_stage(pool, share, user=user))
            pool.refresh_from_db()
        pool.refresh_from_db()
        if pool.name != declared["name"]:
            rename_pool(pool, declared["name"], user=user)
    return collection.pools.get(name=declared["name"])
