"""A release taken in again: collection, topics, pool, and the campaign, closed, with its judgements. All of it or nothing.

What was imported has to give the archive's own qrels, byte for byte; else nothing is kept.
"""

from __future__ import annotations

import io
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.utils.text import slugify

from analysis.core.aggregation import METHODS
from analysis.models import Recipe
from analysis.selectors.exports import Choices, labels
from analysis.services.archive import PRIVATE
from analysis.services.archive_reading import Archive, JudgementRow, open_archive
from annotation.core import scale as scales
from annotation.models import Campaign, GuidelineVersion, Judgement, Lease, Membership, Pair
from annotation.services import campaigns, pairs
from annotation.services.audit import record
from annotation.services.campaigns import SETTINGS
from annotation.services.errors import CampaignError
from pooling.formats.errors import FormatError
from pooling.formats.pool import read_pool
from pooling.formats.qrels import write_qrels
from pooling.models import Collection, Document, Pool, PoolEntry, Topic

AT_ONCE = 500
Step = Callable[[str, int], object]


def import_archive(path: str | Path, *, name: str, user: User | None, step: Step = lambda what, n: None) -> Campaign:
    """The campaign of a release. user: becomes manager of campaign and collection. Addresses that are taken get a number.

    step: told what is done and how many. FormatError with the place of each problem; then nothing was written.
    """
    try:
        with open_archive(path, name=name) as archive, transaction.atomic():
            return _Import(archive, user, step).run()
    except (CampaignError, ValidationError, DataError, IntegrityError) as error:
        said = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        raise FormatError.single(name, None, f"it cannot be stored ({said[:300]})", "a release as this software builds it") from error


class _Import:
    """One import, in the order in which rows depend on each other. Nothing is updated after it was made: that would hold the
    database for longer."""

    def __init__(self, archive: Archive, user: User | None, step: Step) -> None:
        self.archive, self.user, self.step = archive, user, step
        self.topics: dict[str, Topic] = {}
        self.pairs: dict[tuple[str, str], Pair] = {}
        self.people: dict[str, Membership] = {}

    def run(self) -> Campaign:
        self.scale = self._scale()
        self.choices = self._choices()
        self._look_ahead()
        collection = self._collection()
        self._topics(collection)
        self._documents(collection)
        pool = self._pool(collection)
        self.campaign = self._campaign(collection, pool)
        self._guidelines()
        self._annotators()
        self._pairs(pool)
        n = self._judgements()
        self._prove()
        recipe = {name: bool(self.archive.about["recipe"].get(name)) for name in ("documents", "notes")}
        called = str(self.archive.about["recipe"].get("name") or "default")[:200]
        Recipe.objects.create(campaign=self.campaign, name=called, choices=self.choices.as_json() | recipe, created_by=self.user)
        record(self.campaign, self.user, "imported a release", self.archive.name, judgements=n, recipe=self.choices.words())
        return self.campaign

    def wrong(self, problem: str, expected: str, part: str = "campaign.json", line: int | None = None) -> FormatError:
        return self.archive.wrong(problem, expected, part=part, line=line)

    def _scale(self) -> set[int]:
        settings = self.archive.about["campaign"]["settings"]
        scale, threshold = settings.get("scale"), settings.get("threshold")
        if not isinstance(scale, list) or not all(isinstance(g, dict) for g in scale) or not isinstance(threshold, int):
            raise self.wrong("no scale or no threshold", "a list of grades, and the lowest relevant one")
        if found := scales.problems(scale, threshold=threshold):
            raise self.wrong(" ".join(found), "a scale that can be used")
        return set(scales.values(scale))

    def _choices(self) -> Choices:
        recipe = self.archive.about["recipe"]
        try:
            found = Choices.of(recipe)
            fine = (
                found.method in METHODS
                and isinstance(found.min_judgements, int)
                and found.min_judgements > 0
                and (found.threshold is None or found.threshold in self.scale)
                and isinstance(found.min_seconds, (int, float))
                and isinstance(found.with_gold, bool)
                and all(isinstance(name, str) for name in found.exclude)
            )
        except TypeError:
            fine = False
        if not fine:
            raise self.wrong("a recipe that this software does not know", f"a method of {', '.join(METHODS)} and its choices")
        return found

    def _look_ahead(self) -> None:
        """Slots that are filled, how far each annotator came and when the last one judged: known before the rows are made."""
        self.pair_rows = self.archive.pairs()
        special = {(row.topic, row.document) for row in self.pair_rows if row.kind == Pair.Kind.QUALIFICATION}
        newest = {}
        self.last: datetime | None = None
        for row in self.archive.judgements(self.scale):
            newest[row.topic, row.document, row.annotator] = row.standing
            self.last = max(self.last or row.judged_at, row.judged_at)
        self.started = {(topic, document) for topic, document, _ in newest}
        self.filled = Counter(
            (topic, document) for (topic, document, _), standing in newest.items() if standing == Judgement.Standing.COUNTED
        )
        self.came = Counter(
            who for (*pair, who), standing in newest.items() if tuple(pair) not in special and standing != Judgement.Standing.TOO_FAST
        )

    def _collection(self) -> Collection:
        about = self.archive.about["collection"]
        made = Collection(
            slug=free(str(about.get("slug") or "collection"), Collection), name=about.get("name") or "",
            description=about.get("description") or "",
            n_documents=about.get("n_documents"), created_by=self.user,
        )  # fmt: skip
        made.full_clean(exclude=["created_by"])
        made.save()
        if self.user is not None:
            made.managers.add(self.user)
        return made

    def _topics(self, collection: Collection) -> None:
        part = "topics.jsonl"
        for line, row in self.archive.objects(part):
            texts = {name: row.get(name) or "" for name in ("text", "description", "narrative", "proposal", "same_as", "removed_reason")}
            given: dict[str, Any] = {"topic_id": row.get("id"), "fields": row.get("fields") or {}, "position": row.get("position"), **texts}
            topic = Topic(collection=collection, **given)
            if topic.topic_id in self.topics or not all(isinstance(text, str) for text in (topic.topic_id, *texts.values())):
                raise self.wrong("a topic twice, or without id and text", "each topic once", part, line)
            try:
                topic.clean_fields(exclude=["collection"])
            except ValidationError as error:
                raise self.wrong("; ".join(error.messages), "a topic", part, line) from None
            self.topics[topic.topic_id] = topic
        Topic.objects.bulk_create(self.topics.values(), batch_size=AT_ONCE)
        self.step("topics", len(self.topics))

    def _documents(self, collection: Collection) -> None:
        self.documents: dict[str, int] = {}
        if not self.archive.has("documents.jsonl"):
            return
        batch: list[Document] = []
        for line, row in self.archive.objects("documents.jsonl"):
            docno, title, text, fields = row.get("_id"), row.get("title"), row.get("text"), row.get("fields") or {}
            if not isinstance(docno, str) or not isinstance(title, str) or not isinstance(text, str) or not isinstance(fields, dict):
                raise self.wrong("not a document", "_id, title and text", "documents.jsonl", line)
            if not docno or len(docno) > 255 or docno in self.documents:
                raise self.wrong("no id, one too long, or one twice", "each document once", "documents.jsonl", line)
            self.documents[docno] = 0
            batch.append(Document(collection=collection, docno=docno, title=title, text=text, fields=fields, n_words=len(text.split())))
            if len(batch) >= AT_ONCE:
                self._store(batch)
        self._store(batch)
        self.step("documents", len(self.documents))

    def _store(self, batch: list[Document]) -> None:
        self.documents |= {row.docno: row.pk for row in Document.objects.bulk_create(batch)}
        batch.clear()

    def _pool(self, collection: Collection) -> Pool:
        about = self.archive.about["pool"]
        with self.archive.part("pool.tsv") as file:
            read = read_pool(file, name=f"{self.archive.name}/pool.tsv")  # type: ignore[arg-type]
        created = _moment(about.get("created_at"), self)
        pool = Pool(
            collection=collection, name=about.get("name") or "pool", depth=about.get("depth"), seed=about.get("seed"), n_pairs=len(read)
        )
        pool.created_by, pool.built_at = self.user, created
        pool.by_depth = {str(depth): n for depth, n in read.by_depth().items()}
        pool.coverage = {"unique": {}, "overlap": {}, "contributed": {}}
        pool.full_clean(exclude=["collection", "created_by", "runs", "coverage"])
        pool.save()
        if created is not None:
            Pool.objects.filter(pk=pool.pk).update(created_at=created)
            pool.created_at = created
        if unknown := sorted(set(read.topics) - set(self.topics)):
            raise self.wrong(
                f"{len(unknown)} topics that topics.jsonl does not have, such as {unknown[0][:50]!r}",
                "topics of the collection",
                "pool.tsv",
            )
        PoolEntry.objects.bulk_create(
            (
                PoolEntry(
                    pool=pool, topic=self.topics[pair.topic], docno=pair.document, document_id=self.documents.get(pair.document),
                    best_rank=pair.best_rank, priority=pair.priority, position=position, contributions=dict(pair.runs),
                )
                for position, pair in enumerate(read)
            ),
            batch_size=AT_ONCE,
        )  # fmt: skip
        self.step("pairs of the pool", len(read))
        return pool

    def _campaign(self, collection: Collection, pool: Pool) -> Campaign:
        about = self.archive.about["campaign"]
        settings = {name: value for name, value in about["settings"].items() if name in SETTINGS - PRIVATE}
        trial = Campaign(collection=collection, slug="x", **settings)
        trial.clean_fields(exclude=["collection", "pool", "created_by", "slug"])  # turns dates that are text into dates
        settings = {name: getattr(trial, name) for name in settings}
        seed = about.get("seed")
        campaign = campaigns.create_campaign(
            collection=collection, actor=self.user, slug=free(str(about.get("slug") or "campaign"), Campaign),
            simulated=bool(about.get("simulated")), seed=seed if isinstance(seed, int) and abs(seed) < 2**62 else 0, **settings,
        )  # fmt: skip
        closed = _moment(about.get("closed_at"), self) or self.last
        campaign.pool, campaign.state = pool, Campaign.State.CLOSED
        campaign.opened_at, campaign.closed_at = _moment(about.get("opened_at"), self), closed
        campaign.save()
        return campaign

    def _guidelines(self) -> None:
        said = {g.get("number"): g for g in self.archive.about.get("guidelines", []) if isinstance(g, dict)}
        for number, text in self.archive.guidelines():
            about = said.get(number, {})
            version = GuidelineVersion.objects.create(
                campaign=self.campaign, number=number, text=text, note=str(about.get("note") or "")[:300]
            )
            if written := _moment(about.get("written_at"), self):
                GuidelineVersion.objects.filter(pk=version.pk).update(created_at=written)

    def _annotators(self) -> None:
        """Members under their pseudonyms, whose accounts nobody can sign in to."""
        rows = self.archive.annotators()
        if len({row.pseudonym for row in rows}) < len(rows):
            raise self.wrong("a pseudonym twice", "each annotator once", "annotators.tsv")
        nobody = make_password(None)
        names = [f"imported-{self.campaign.pk}-{number}" for number in range(1, len(rows) + 1)]
        users = User.objects.bulk_create(User(username=name, password=nobody, is_active=False) for name in names)
        members = [
            Membership(
                campaign=self.campaign, user=user, role=Membership.Role.ANNOTATOR, pseudonym=row.pseudonym, standing=row.standing,
                standing_reason=row.reason, simulated=row.simulated, n_counted=self.came[row.pseudonym],
            )
            for user, row in zip(users, rows, strict=True)
        ]  # fmt: skip
        theirs = {row.pseudonym for row in rows}
        importer = next(name for number in range(1, len(rows) + 2) if (name := f"importer {number}") not in theirs)
        self.campaign.memberships.filter(pseudonym__in=theirs).update(pseudonym=importer)
        self.people = {member.pseudonym: member for member in Membership.objects.bulk_create(members, batch_size=AT_ONCE)}
        self.step("annotators", len(self.people))

    def _pairs(self, pool: Pool) -> None:
        entries = {(entry.topic_id, entry.docno): entry for entry in pool.entries.all()}
        made: dict[tuple[str, str], Pair] = {}
        for row in self.pair_rows:
            topic = self.topics.get(row.topic)
            entry = entries.get((topic.pk, row.document)) if topic else None
            if entry is None or (row.topic, row.document) in made:
                raise self.wrong(
                    f"{row.topic[:50]} {row.document[:50]} twice, or not in the pool", "pairs of pool.tsv, each once", "pairs.tsv"
                )
            filled = self.filled[row.topic, row.document]
            made[row.topic, row.document] = Pair(
                campaign=self.campaign, entry=entry, topic_row=entry.topic_id, kind=row.kind, priority=entry.priority,
                position=entry.position, needed=row.needed, counted=filled, open_slots=row.needed - filled,
                started=(row.topic, row.document) in self.started,
            )  # fmt: skip
        for ruling in self.archive.gold(self.scale):
            pair = self._pair_of(made, ruling.topic, ruling.document, "gold.tsv")
            pair.gold_grade, pair.gold_explanation = ruling.grade, ruling.reason
        for ruling in self.archive.adjudications(self.scale):
            pair = self._pair_of(made, ruling.topic, ruling.document, "adjudications.tsv")
            pair.adjudicated_grade, pair.adjudicated_at, pair.adjudicated_reason = ruling.grade, ruling.decided_at, ruling.reason
        Pair.objects.bulk_create(made.values(), batch_size=AT_ONCE)
        self.pairs = made
        pairs.count_pairs(self.campaign)
        self.step("pairs", len(made))

    def _pair_of(self, made: dict[tuple[str, str], Pair], topic: str, document: str, part: str, line: int | None = None) -> Pair:
        pair = made.get((topic, document))
        if pair is None:
            raise self.wrong(f"{topic[:50]} {document[:50]} is no pair of the campaign", "a pair of pairs.tsv", part, line)
        return pair

    def _judgements(self) -> int:
        """Revisions of one annotator and pair stand together, ascending; the last is current."""
        n, group = 0, []  # type: ignore[var-annotated]
        batch: list[list[JudgementRow]] = []
        seen: set[tuple[str, str, str]] = set()
        for row in self.archive.judgements(self.scale):
            key = (row.topic, row.document, row.annotator)
            if group and key == (group[-1].topic, group[-1].document, group[-1].annotator):
                if row.revision <= group[-1].revision:
                    raise self.wrong("revisions that do not ascend", "each revision once, in order", "judgements.tsv", row.line)
                group.append(row)
                continue
            if key in seen:
                raise self.wrong("a pair of this annotator again", "its revisions one after the other", "judgements.tsv", row.line)
            seen.add(key)
            group = [row]
            batch.append(group)
            if len(batch) > AT_ONCE:
                n += self._store_judgements(batch[:-1])
                batch = batch[-1:]
                self.step("judgements", n)
        return n + self._store_judgements(batch)

    def _store_judgements(self, batch: Sequence[list[JudgementRow]]) -> int:
        leases = self._leases(batch)
        rows = []
        for group in batch:
            first = group[0]
            pair = self._pair_of(self.pairs, first.topic, first.document, "judgements.tsv", first.line)
            member = self.people.get(first.annotator)
            if member is None:
                raise self.wrong(f"annotator {first.annotator[:50]!r}", "one of annotators.tsv", "judgements.tsv", first.line)
            last = group[-1]
            for row in group:
                rows.append(
                    Judgement(
                        key=_key(self.campaign, row), pair=pair, membership=member, lease=leases.get(str(row.lease)), revision=row.revision,
                        current=row is last, grade=row.grade, cannot_reason=row.cannot_reason, note=row.note, spans=row.spans,
                        standing=row.standing, late=row.late, after_deadline=row.after_deadline,
                        active_ms=row.active_ms, idle_ms=row.idle_ms,
                        hidden_ms=row.hidden_ms, wall_ms=row.wall_ms, server_ms=row.server_ms, guideline_version=row.guideline_version,
                        device=row.device, served_at=row.served_at, judged_at=row.judged_at,
                    )
                )  # fmt: skip
        Judgement.objects.bulk_create(rows, batch_size=AT_ONCE)
        return len(rows)

    def _leases(self, batch: Sequence[list[JudgementRow]]) -> dict[str, Lease]:
        """Of the batch by token; tokens that this installation has already are passed over."""
        wanted = {str(row.lease): row for group in batch for row in reversed(group) if row.lease is not None}
        there = {str(token) for token in Lease.objects.filter(token__in=list(wanted)).values_list("token", flat=True)}
        made = []
        for token, row in wanted.items():
            pair, member = self.pairs.get((row.topic, row.document)), self.people.get(row.annotator)
            if token in there or pair is None or member is None:
                continue
            served = row.served_at or row.judged_at
            made.append(
                Lease(
                    token=token, pair=pair, membership=member, state=Lease.State.SUBMITTED, served_at=served, expires_at=served,
                    ended_at=row.judged_at, takes_slot=pair.kind == Pair.Kind.NORMAL,
                )
            )  # fmt: skip
        return {str(lease.token): lease for lease in Lease.objects.bulk_create(made, batch_size=AT_ONCE)}

    def _prove(self) -> None:
        """FormatError unless the judgements give the archive's qrels."""
        made = labels(self.campaign, self.choices)
        for part, grades in (("qrels.txt", "graded"), ("qrels-binary.txt", "binary")):
            text = io.StringIO()
            try:
                write_qrels(made.qrels(grades), text)
            except ValueError as error:
                raise self.wrong(str(error), "ids without white space", part) from None
            if self.archive.text(part) != text.getvalue():
                raise self.wrong(
                    "not what the judgements of the archive give under its recipe", "qrels that follow from the judgements", part
                )


def free(wanted: str, model: type[Collection] | type[Campaign]) -> str:
    """The address, with a number behind it where it is taken."""
    slug = slugify(wanted)[:70] or "imported"
    taken = set(model.objects.filter(slug__startswith=slug).values_list("slug", flat=True))
    return next(name for number in range(1, len(taken) + 2) if (name := slug if number == 1 else f"{slug}-{number}") not in taken)


def _moment(text: Any, doing: _Import) -> datetime | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        found = None
    if found is None or found.tzinfo is None:
        raise doing.wrong(f"{str(text)[:40]!r} is no date and time", "ISO 8601 in UTC")
    return found


def _key(campaign: Campaign, row: JudgementRow) -> Any:
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{campaign.pk} {row.topic} {row.document} {row.annotator} {row.revision}")
