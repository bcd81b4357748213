"""Describe a collection and a pool as their declaration file does (pooling.core.collection_file)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from assay.atomic_files import write_text_atomically
from assay.formats.pool import HEADER_LINE, format_pool_line
from assay.formats.qrels import load_qrels, write_qrels
from assay.formats.runs import read_run, write_run
from assay.pools.pool_kinds import PoolKind
from pooling.models import Collection, Pool
from pooling.selectors.pools import iterate_table
from pooling.selectors.topics import iterate_topic_lines
from pooling.services.runs import load_rankings


def describe_collection(collection: Collection) -> dict[str, Any]:
    """Describe a collection without the files it was imported from."""
    rows = list(
        collection.topics.order_by("position").values_list(
            "topic_id", "removed_reason", "decided_at"
        )
    )
    return {
        "slug": collection.slug,
        "name": collection.name,
        "description": collection.description,
        "n_documents": collection.n_documents,
        "text_format": collection.text_format,
        "managers": list(
            collection.managers.order_by("username").values_list("username", flat=True)
        ),
        "runs": [
            {
                "tag": run.tag,
                "file": "",
                "group": run.group,
                "description": run.description,
                "submitted_on": run.submitted_on,
                "baseline": run.baseline,
                "order": "score",
                "lenient": False,
            }
            for run in collection.runs.order_by("tag")
        ],
        "qrels": [
            {"name": one.name, "file": "", "kind": one.kind}
            for one in collection.qrels.order_by("name")
        ],
        "removed": [{"topic": topic, "reason": reason} for topic, reason, _ in rows if reason],
        "kept": [topic for topic, reason, decided in rows if decided is not None and not reason],
    }


def describe_pool(pool: Pool) -> dict[str, Any]:
    """Describe a pool. A pool of pairs from a file is described by its name only."""
    settings: dict[str, Any] = {"name": pool.name}
    if pool.kind == PoolKind.GIVEN or (pool.kind == PoolKind.BATTLES and pool.source):
        return settings
    if pool.kind == PoolKind.BATTLES:
        runs = list(pool.runs.order_by("tag").values_list("tag", flat=True))
        return settings | {"runs": runs, "seed": pool.seed, **pool.parameters}
    settings |= {
        "depth": pool.depth,
        "runs": list(pool.runs.order_by("tag").values_list("tag", flat=True)),
        "seed": pool.seed,
    }
    if pool.kind == PoolKind.SAMPLED:
        settings |= {"strata": pool.parameters["strata"], "stages": pool.stage_shares}
        if llm_judge := pool.parameters.get("llm_judge"):
            settings["llm_judge"] = llm_judge["judge"]
    if pool.kind == PoolKind.ORDERED:
        settings |= {name: pool.parameters[name] for name in ("goal", "batch", "audit")}
    return settings


def write_files(
    collection: Collection, pool: Pool | None, folder: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the files of a collection and pool from which equal ones can be created.

    Returns (keys of the collection, keys of the pool) with paths.
    """
    written: dict[str, Any] = {"topics": [], "documents": [], "runs": [], "qrels": []}
    taken = {"topics.jsonl", "pairs.tsv", "battles.tsv", "campaign.toml"}
    if collection.topics.exists():
        with write_text_atomically(str(folder / "topics.jsonl")) as out:
            out.writelines(iterate_topic_lines(collection))
        written["topics"].append("topics.jsonl")
    for file in collection.document_files.order_by("created_at", "pk"):
        name = unused_file_name(file.name, taken)
        shutil.copyfile(file.file.path, folder / name)
        written["documents"].append(name)
    described = describe_collection(collection)
    for run, row in zip(collection.runs.order_by("tag"), described["runs"], strict=True):
        path, rankings = folder / unused_file_name(f"{run.tag}.run", taken), load_rankings(run)
        with write_text_atomically(str(path)) as out:
            write_run(rankings, out)
        by_score = np.array_equal(read_run(str(path)).documents, rankings.documents)
        written["runs"].append({**row, "file": path.name, "order": "score" if by_score else "rank"})
    for one, row in zip(collection.qrels.order_by("name"), described["qrels"], strict=True):
        path = folder / unused_file_name(f"{one.name}.qrels", taken)
        with write_text_atomically(str(path)) as out:
            write_qrels(load_qrels(one.columns.path), out)
        written["qrels"].append({**row, "file": path.name})
    of_pool: dict[str, Any] = {}
    if pool is not None and pool.kind == PoolKind.GIVEN:
        with write_text_atomically(str(folder / "pairs.tsv")) as out:
            out.write(HEADER_LINE)
            rows = pool.entries.order_by("position", "pk").values_list(
                "topic__topic_id", "docno", "best_rank", "priority", "contributions", "everyone"
            )
            for topic, docno, rank, priority, runs, everyone in rows:
                line = format_pool_line(topic, docno, rank, priority, sorted(runs.items()))
                out.write(
                    line.replace(f"\t{rank}\t{priority}\t", f"\t{rank}\tall\t")
                    if everyone
                    else line
                )
        of_pool["pairs"] = "pairs.tsv"
    if pool is not None and pool.kind == PoolKind.BATTLES and pool.source:
        with write_text_atomically(str(folder / "battles.tsv")) as out:
            out.writelines(iterate_table(pool))
        of_pool["battles"] = "battles.tsv"
    return written, of_pool


def unused_file_name(name: str, taken: set[str]) -> str:
    """Return an unused file name with letters that every system supports, unique regardless of
    case, and mark it as used."""
    plain = (
        "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)[
            -80:
        ].lstrip(".")
        or "file"
    )
    lower = {one.lower() for one in taken}
    free_name = next(
        one
        for number in range(1, len(taken) + 2)
        if (one := plain if number == 1 else f"{number}-{plain}").lower() not in lower
    )
    taken.add(free_name)
    return free_name
