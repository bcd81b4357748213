"""A release goes out and comes in again: the same qrels, the same judgements; hostile ones leave
nothing behind."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from analysis.judgements.labels import LabelChoices
from analysis.publishing.recipes import make_release_plan
from analysis.publishing.release import reading, version_1
from analysis.publishing.release.importing import _ReleaseImport, import_release
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.reading import open_release
from analysis.publishing.release.writing import write_release
from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, Feedback, Judgement, LlmJudge, Membership, Pair
from annotation.selectors import llm_judges as selectors
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle, restoring
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from annotation.services.llm_judges import judges
from annotation.services.people import exclusion, participation
from assay.formats.errors import FormatError
from config.verification import check_in_snapshot, find_faults
from pooling.models import Collection, Job, Pool
from pooling.platform.jobs import run_job
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.exported import examples_campaign, pair_of, with_everything
from tests.analysis.publishing.test_releases import built, parts
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.databases import undone
from tests.pooling.conftest import bring_in

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("import of a release")]


def make_it() -> Campaign:
    campaign = with_everything(examples_campaign())
    campaign.collection.topics.create(
        topic_id="t9", text="Query  number 1", position=9, removed_reason="duplicate", same_as="t1"
    )
    submission.adjudicate_pair(pair_of(campaign, "t1", "d1"), 3, reason="clear", actor=None)
    Pair.objects.filter(pk=pair_of(campaign, "t2", "d2").pk).update(
        kind="gold", gold_grade=1, gold_explanation="See the second sentence."
    )
    for pseudonym, score, words in (
        ("A001", "GOOD", "Too  long\nand dull"),
        ("A003", "DONT_LIKE_IT", ""),
    ):
        participation.save_feedback(
            campaign.memberships.get(pseudonym=pseudonym), score=score, text=words
        )
    lifecycle.close_campaign(campaign)
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


@pytest.fixture(scope="module")
def released(django_db_setup, django_db_blocker) -> dict[str, Any]:
    """The bytes of a release, its slug and slots; of the campaign itself nothing is left in the
    database."""
    with django_db_blocker.unblock(), undone():
        campaign = make_it()
        data = built(
            campaign,
            ReleasePlan("first", LabelChoices(min_judgements=2), documents=True, notes=True),
        )
        found = {"data": data, "slug": campaign.slug, "slots": slots_of(campaign)}
    return found


@pytest.fixture
def release(released, tmp_path) -> Path:
    """In an empty installation."""
    path = tmp_path / "release.zip"
    path.write_bytes(released["data"])
    return path


def slots_of(campaign: Campaign) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (p.entry.topic.topic_id, p.entry.docno): (p.needed, p.counted)
        for p in campaign.pairs.select_related("entry__topic")
    }


def changed(
    path: Path, name: str, change: Callable[[bytes], bytes] | None, *, mended: bool = True
) -> Path:
    """The release with one part changed (None: left out); mended: with checksums that are right
    again."""
    found = parts(path.read_bytes())
    if change is None:
        del found[name]
    else:
        found[name] = change(found.get(name, b""))
    if mended:
        del found["SHA256SUMS"]
        found["SHA256SUMS"] = "".join(
            f"{hashlib.sha256(data).hexdigest()}  {n}\n" for n, data in found.items()
        ).encode()
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(target, "w") as archive:
        for n, data in found.items():
            archive.writestr(n, data)
    return target


def as_in_0_1_0(data: bytes) -> bytes:
    """annotators.tsv with a column `simulated`: the third annotator is."""
    rows = [line.split("\t") for line in data.decode().splitlines()]
    for row in rows[1:]:
        row[3] = "1" if row[0] == "A003" else "0"
    return "".join(
        "\t".join(row) + "\n" for row in [[*rows[0][:3], "simulated", *rows[0][4:]], *rows[1:]]
    ).encode()


def test_a_release_of_0_1_0_says_whether_an_annotator_was_simulated(release):
    campaign = import_release(
        changed(release, "annotators.tsv", as_in_0_1_0), name="old.zip", user=make_user()
    )
    kinds = dict(
        campaign.memberships.filter(role="annotator").values_list("pseudonym", "annotator_type")
    )
    assert len(kinds) == 8
    assert {name for name, kind in kinds.items() if kind == "simulated"} == {"A003"}
    assert set(kinds.values()) == {"human", "simulated"}


def test_a_pool_of_0_1_0_is_a_depth_pool(release):
    """campaign.json said name, depth, seed and pairs of it, and nothing else."""

    def earlier(data: bytes) -> bytes:
        about = json.loads(data)
        about["pool"] = {
            name: about["pool"][name] for name in ("name", "depth", "seed", "pairs", "created_at")
        }
        return json.dumps(about).encode()

    pool = import_release(
        changed(release, "campaign.json", earlier), name="old.zip", user=make_user()
    ).pool
    assert (pool.kind, pool.depth, pool.words, pool.parameters, pool.level_word) == (
        "depth",
        10,
        "depth 10",
        {},
        "rank",
    )


def test_a_release_from_before_the_rule_for_gold_keeps_counting_the_exact_grade(release):
    def earlier(data: bytes) -> bytes:
        about = json.loads(data)
        assert about["campaign"]["settings"].pop("gold_rule") == "side"
        return json.dumps(about).encode()

    assert import_release(release, name="now.zip", user=make_user()).gold_rule == "side"
    assert (
        import_release(
            changed(release, "campaign.json", earlier), name="old.zip", user=make_user()
        ).gold_rule
        == "exact"
    )


def test_a_release_written_before_this_version_comes_in_with_its_labels_and_llm_judges() -> None:
    path = Path(__file__).parents[2] / "data" / "release-before-0.2.0.zip"
    found = parts(path.read_bytes())
    campaign = import_release(path, name="old.zip", user=make_user())
    assert campaign.pairs.count() == len(found["pairs.tsv"].splitlines()) - 1
    assert (
        LlmJudge.objects.filter(campaign=campaign).count()
        == len(json.loads(found["machines.json"]))
        == 2
    )
    members = dict(campaign.memberships.filter(role="annotator").values_list("pseudonym", "status"))
    assert members.pop("A006") == Membership.Status.EXCLUDED
    assert set(members.values()) == {Membership.Status.ACTIVE}
    assert campaign.memberships.get(pseudonym="A006").status_reason == "answers at random"
    assert campaign.recipes.get().choices["judges"] == ["human", "simulated"]


def test_names_of_version_1_in_the_manifest_are_translated() -> None:
    about = {
        "campaign": {"settings": {"threshold": 2}},
        "recipe": {"judges": ["machine"], "threshold": 1, "take_back": ["*"]},
        "pool": {"parameters": {"strata": "machine", "machine": {"judge": "a/b"}}},
    }
    version_1.translate_manifest(about)
    assert about == {
        "campaign": {"settings": {"min_relevant": 2}},
        "recipe": {"judges": ["llm"], "min_relevant": 1, "include_excluded": ["*"]},
        "pool": {"parameters": {"strata": "llm", "llm_judge": {"judge": "a/b"}}},
    }


def with_llm_judges() -> Campaign:
    """A campaign with two frozen LLM judges, one asked at an endpoint and one from a file, and one
    that is not frozen."""
    campaign = make_it()
    pairs = list(campaign.pool.entries.values_list("topic__topic_id", "docno"))
    for name, grade in (("first", 1), ("second", 2), ("open", 0)):
        rows = [FileLabel(topic, document, grade, "why", None, False) for topic, document in pairs]
        llm_judge = judges.create_judge_from_file(
            campaign,
            name=name,
            model=f"model {name}",
            labels=rows,
            file_name=f"{name}.txt",
            related="T1",
            actor=None,
        )
        if name == "first":
            asked = {
                "source": "endpoint",
                "prompt_name": "grade",
                "prompt_text": "$query $document",
                "samples": 3,
                "guidelines": "Read.",
                "file_name": "",
            }
            LlmJudge.objects.filter(pk=llm_judge.pk).update(
                **asked, parameters={"temperature": 0.5}, endpoint="http://127.0.0.1:1/v1"
            )
        if name != "open":
            judges.freeze_judge(llm_judge, actor=None)
    return campaign


@pytest.fixture(scope="module")
def released_with_llm_judges(django_db_setup, django_db_blocker) -> bytes:
    with django_db_blocker.unblock(), undone():
        data = built(
            with_llm_judges(),
            ReleasePlan("first", LabelChoices(min_judgements=2), documents=True, notes=True),
        )
    return data


@pytest.fixture
def release_with_llm_judges(released_with_llm_judges, tmp_path) -> Path:
    path = tmp_path / "llm-judges.zip"
    path.write_bytes(released_with_llm_judges)
    return path


def test_llm_judges_come_back_frozen_with_their_labels_and_go_out_as_they_came(
    release_with_llm_judges,
):
    made = import_release(release_with_llm_judges, name="release.zip", user=make_user("importer"))
    first, second = made.llm_judges.order_by("name")
    assert (first.source, first.prompt_text, first.samples, first.parameters) == (
        "endpoint",
        "$query $document",
        3,
        {"temperature": 0.5},
    )
    assert (second.source, second.file_name, second.related) == ("file", "second.txt", "T1")
    assert set(selectors.get_labels(first).values()) == {1}
    assert len(selectors.get_labels(first)) == made.pool.n_pairs
    with pytest.raises(CampaignError, match="frozen"):
        judges.request_run(first, user=None)
    assert not made.memberships.filter(annotator_type="llm").exists()
    out = io.BytesIO()
    write_release(made, make_release_plan(made.recipes.get()), out)
    assert out.getvalue() == release_with_llm_judges.read_bytes()


@pytest.mark.parametrize(
    ("part", "old", "new", "said"),
    [
        (
            "llm-labels.tsv",
            "first\tt1\td1\t1",
            "first\tt1\td1\t2",
            "the labels of first do not match its digest",
        ),
        (
            "llm-labels.tsv",
            "first\tt1\td1\t1",
            "nobody\tt1\td1\t1",
            "unknown LLM judge 'nobody', expected one listed in the release",
        ),
        (
            "llm-labels.tsv",
            "first\tt1\td1\t1",
            "first\tt99\td1\t1",
            "unknown topic 't99', expected one in topics.jsonl",
        ),
        (
            "llm-labels.tsv",
            "first\tt1\td1\t1",
            "first\tt1\td1\t1\nfirst\tt1\td1\t1",
            "duplicate label by 'first' for topic 't1', document 'd1', expected one label per pair",
        ),
        ("llm-labels.tsv", "first\tt1\td1\t1", "first\tt1\td1\tx", "grade 'x'"),
        ("llm-judges.json", '"name": "second"', '"name": "first"', "duplicate LLM judge 'first'"),
        ("llm-judges.json", '"frozen_at": "2', '"frozen_at": "x2', "is not a date and time"),
    ],
)
def test_llm_judge_labels_that_are_not_those_that_were_frozen_leave_nothing_behind(
    release_with_llm_judges, part, old, new, said
):
    assert said in error_of(changed(release_with_llm_judges, part, replaced(old, new)))


def test_an_llm_judge_among_the_annotators_takes_no_slot(release):
    """The first annotator of the release called an LLM judge: its judgements stay, its slots are free,
    and the counters agree."""

    def llm_judge(data: bytes) -> bytes:
        rows = [line.split("\t") for line in data.decode().splitlines()]
        rows[1][3] = "llm"
        return "".join("\t".join(row) + "\n" for row in rows).encode()

    plain = import_release(release, name="release.zip", user=make_user())
    before, pseudonym = (
        slots_of(plain),
        plain.memberships.filter(role="annotator").order_by("pseudonym").first().pseudonym,
    )
    mine = {
        (one.pair.entry.topic.topic_id, one.pair.entry.docno)
        for one in Judgement.objects.filter(
            pair__campaign=plain, membership__pseudonym=pseudonym, current=True, status="counted"
        )
    }
    campaign = campaigns_of_llm_judge(release, llm_judge)
    after = slots_of(campaign)
    assert mine
    assert {pair for pair in before if before[pair][1] != after[pair][1]} == mine
    assert all(before[pair][1] - after[pair][1] == 1 for pair in mine)
    assert [
        fault for fault in check_invariants(campaign) if "count" in fault and "started" not in fault
    ] == []


def campaigns_of_llm_judge(release: Path, change: Callable[[bytes], bytes]) -> Campaign:
    """Restored by the services, since labels without that annotator are no more those of the
    release."""
    with open_release(changed(release, "annotators.tsv", change), name="release.zip") as opened:
        importing = _ReleaseImport(opened, None, lambda what, n: None, [])
        importing._verify_qrels = lambda campaign: None  # type: ignore[method-assign]
        return importing.run()


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return change


def error_of(path: Path) -> str:
    """What the import says; and nothing was written."""
    before = [model.objects.count() for model in (Collection, Campaign, Judgement, User, Pool)]
    with pytest.raises(FormatError) as caught:
        import_release(path, name="release.zip", user=None)
    assert [
        model.objects.count() for model in (Collection, Campaign, Judgement, User, Pool)
    ] == before
    return str(caught.value)


def test_an_imported_release_builds_the_same_release_byte_for_byte(released, release):
    manager = make_user("importer")
    made = import_release(release, name="release.zip", user=manager)
    assert (made.slug, made.state, made.collection.n_documents) == (released["slug"], "closed", 3)
    made.refresh_from_db()
    assert made.newest_guideline == 1  # as the judging page looks it up
    out = io.BytesIO()
    write_release(made, make_release_plan(made.recipes.get()), out)
    again, before = parts(out.getvalue()), parts(release.read_bytes())
    assert {name for name in before if again[name] != before[name]} == set()
    assert out.getvalue() == release.read_bytes()


def test_what_annotators_said_comes_back_with_them(release):
    made = import_release(release, name="release.zip", user=make_user("importer"))
    given = Feedback.objects.filter(membership__campaign=made).order_by("membership__pseudonym")
    assert [(one.membership.pseudonym, one.score, one.text) for one in given] == [
        ("A001", "GOOD", "Too long and dull"),
        ("A003", "DONT_LIKE_IT", ""),
    ]


def test_annotators_come_back_as_pseudonyms_that_nobody_can_sign_in_to(release):
    manager = make_user("importer")
    made = import_release(release, name="release.zip", user=manager)
    people = made.memberships.filter(role="annotator").select_related("user")
    assert sorted(m.pseudonym for m in people) == [f"A{n:03d}" for n in range(1, 9)]
    assert not any(m.user.is_active or m.user.has_usable_password() for m in people)
    excluded = people.get(pseudonym="A006")
    assert (excluded.status, excluded.status_reason) == (
        Membership.Status.EXCLUDED,
        "answers at random",
    )
    assert made.memberships.get(user=manager).role == Membership.Role.MANAGER
    assert made.collection.managers.get() == manager


def test_revisions_slots_gold_and_adjudications_are_as_they_were(released, release):
    made = import_release(release, name="release.zip", user=None)
    assert slots_of(made) == released["slots"]
    revised = Judgement.objects.filter(
        pair=pair_of(made, "t1", "d3"), membership__pseudonym="A001"
    ).order_by("revision")
    assert [(j.revision, j.current, j.grade) for j in revised] == [
        (1, False, 0),
        (2, False, 3),
        (3, True, 0),
    ]
    assert len({j.lease_id for j in revised}) == 1
    gold = pair_of(made, "t2", "d2")
    assert (gold.kind, gold.gold_grade, gold.gold_explanation) == (
        "gold",
        1,
        "See the second sentence.",
    )
    ruled = pair_of(made, "t1", "d1")
    assert (ruled.adjudicated_grade, ruled.adjudicated_reason) == (3, "clear")
    assert made.collection.topics.get(topic_id="t9").removed_reason == "duplicate"


def test_everything_that_the_import_keeps_agrees_with_itself(release):
    import_release(release, name="release.zip", user=make_user("importer"))
    assert [fault.sentence for fault in find_faults(fix=False)] == []


def test_pairs_that_nobody_could_judge_come_back_as_such(tmp_path):
    """Of d1 an annotator said so; of d3 one who was excluded, and another judged it too fast."""
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=1)
    ada, liar = make_annotator(campaign), make_annotator(campaign)
    judge(ada, None, cannot_reason="document")
    judge(ada, 2)
    judge(liar, None, cannot_reason="query")
    exclusion.exclude_annotator(liar, reason="random clicks", actor=None)
    assert judge(ada, 1, active_ms=10).status == "too fast"
    lifecycle.close_campaign(campaign)
    (path := tmp_path / "release.zip").write_bytes(
        built(campaign, ReleasePlan("first", LabelChoices(), documents=True))
    )
    made = import_release(path, name="release.zip", user=None)
    for one in (campaign, made):
        rows = one.pairs.order_by("position").values_list(
            "entry__docno", "unjudgeable", "needed", "counted", "open_slots", "started"
        )
        assert list(rows) == [
            ("d1", True, 0, 0, 0, False),
            ("d2", False, 1, 1, 0, True),
            ("d3", False, 1, 0, 1, False),
        ]
    assert check_in_snapshot(made) == ([], [])


def test_a_release_without_texts_gets_them_from_a_document_file_that_comes_later(
    release, settings, tmp_path
):
    """Until then it says which pairs have none."""
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path
    made = import_release(
        changed(release, "documents.jsonl", None),
        name="release.zip",
        user=(manager := make_user("importer")),
    )
    pairs = made.pool.entries.values_list("topic__topic_id", "docno")
    assert (len(pairs), made.pool.missing_documents) == (6, 6)
    assert set(made.pairs.values_list("without_text", flat=True)) == {True}
    assert [fault.sentence for fault in find_faults(fix=False)] == []
    texts = "".join(f'{{"_id": "d{n}", "text": "text {n}"}}\n' for n in (1, 2))
    assert (
        bring_in(made.collection, "documents", texts, name="docs.jsonl", user=manager).state
        == "done"
    )
    for job in Job.objects.filter(kind="fetch documents", state="queued"):
        run_job(job.pk)
    made.pool.refresh_from_db()
    of_third = sum(docno == "d3" for _, docno in pairs)
    assert made.pool.missing_documents == of_third == 2
    assert set(made.pairs.filter(without_text=True).values_list("entry__docno", flat=True)) == {
        "d3"
    }
    assert made.pool.entries.filter(docno="d1", document__text="text 1").count() == 2


def test_beside_the_original_the_import_gets_addresses_of_its_own(release):
    first, made = (import_release(release, name="release.zip", user=None) for _ in range(2))
    assert made.slug == f"{first.slug}-2"
    assert made.collection.slug == f"{first.collection.slug}-2"
    out = io.BytesIO()
    write_release(made, ReleasePlan(), out)
    assert parts(out.getvalue())["qrels.txt"] == parts(release.read_bytes())["qrels.txt"]


def test_the_commands_take_a_campaign_from_one_installation_to_another(released, release, tmp_path):
    file, qrels = str(tmp_path / "r.zip"), tmp_path / "q.txt"
    result = run("import_campaign", str(release))
    assert (result["topics"], result["pairs"], result["annotators"]) == (3, 6, 8)
    result = run(
        "export_campaign",
        "--force",
        "--campaign",
        result["campaign"],
        "--recipe",
        "first",
        "--output",
        file,
    )
    about = json.loads(parts(released["data"])["campaign.json"])
    assert (result["content_sha256"], result["as_of"]) == (about["content_sha256"], about["as_of"])
    assert result["sha256"] == hashlib.sha256(Path(file).read_bytes()).hexdigest()
    assert Path(file).read_bytes() == released["data"]
    run("export_qrels", "--campaign", released["slug"], "--output", str(qrels))
    assert qrels.read_bytes() == parts(released["data"])["qrels.txt"]
    assert refused("import_campaign", str(tmp_path / "absent.zip"))[0] == 2
    assert refused("import_campaign", file, "--user", "nobody")[0] == 2


NEEDED = [
    "SHA256SUMS",
    "adjudications.tsv",
    "annotators.tsv",
    "campaign.json",
    "gold.tsv",
    "judgements.tsv",
    "pairs.tsv",
    "pool.tsv",
    "qrels-binary.txt",
    "qrels.txt",
    "qualification.tsv",
    "topics.jsonl",
]


@pytest.mark.parametrize("part", NEEDED)
def test_a_missing_part_is_named(release, part):
    path = changed(release, part, None, mended=part != "SHA256SUMS")
    assert f"missing parts: {part}" in error_of(path)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "guidelines/../x.md",
        "C:\\x",
        "evil.py",
        "qrels.txt/../../x",
    ],
)
def test_a_part_with_a_path_or_name_of_its_own_is_refused(release, name):
    assert "only files that belong to a release" in error_of(changed(release, name, lambda _: b"x"))


def test_a_part_that_was_changed_on_the_way_is_found_by_its_checksum(release):
    path = changed(release, "judgements.tsv", replaced("A001", "A002"), mended=False)
    assert "the checksum differs" in error_of(path)


def test_a_part_that_the_list_of_checksums_leaves_out_is_named(release):
    lines = parts(release.read_bytes())["SHA256SUMS"].splitlines(keepends=True)
    without = b"".join(line for line in lines if not line.endswith(b"  judgements.tsv\n"))
    path = changed(release, "SHA256SUMS", lambda _: without, mended=False)
    assert len(without) < sum(map(len, lines))
    assert "missing checksum of judgements.tsv" in error_of(path)


def test_judgements_that_do_not_give_the_qrels_are_refused(release):
    assert "differ from those that the release" in error_of(
        changed(release, "qrels.txt", replaced("t2 0 d3 1", "t2 0 d3 2"))
    )
    assert "differ from those that the release" in error_of(
        changed(release, "adjudications.tsv", replaced("\t3\t", "\t0\t"))
    )


def test_what_unpacks_to_too_much_is_refused_before_it_is_read(release, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 5000)
    assert "when unpacked" in error_of(release)


def test_a_bomb_in_a_part_that_is_read_whole_is_refused(release, monkeypatch):
    monkeypatch.setattr(reading, "MAX_TEXT_BYTES", 100_000)
    assert "at most 100,000 bytes" in error_of(
        changed(release, "qrels.txt", lambda data: data + b"#" * 200_000)
    )


@pytest.mark.parametrize(
    ("part", "old", "new", "said"),
    [
        ("judgements.tsv", "\t2\tPartly answers", "\t7\tPartly answers", "grade '7'"),
        ("judgements.tsv", "\tcounted\t", "\tgreat\t", "status 'great'"),
        ("judgements.tsv", "\tA001\t", "\tA099\t", "A099"),
        ("judgements.tsv", "\tt1\td1\t", "\tt1\td7\t", "t1 d7 is not in the campaign"),
        ("judgements.tsv", "2026-03-02T", "yesterday ", "not a date and time"),
        ("judgements.tsv", "campaign\tqid", "qid\tcampaign", "unexpected header"),
        ("judgements.tsv", "\t20000\t", "\t-1\t", "active_ms '-1'"),
        ("pairs.tsv", "t1\td1", "t9\td9", "not in the pool"),
        ("pairs.tsv", "\tnormal\t", "\todd\t", "kind 'odd'"),
        ("pool.tsv", "t1\td1", "t7\td1", "unknown topic"),
        ("topics.jsonl", '"id": "t1"', '"id": "t2"', "duplicate topic"),
        ("topics.jsonl", '"position": 1', '"position": "first"', "topics.jsonl:1"),
        ("annotators.tsv", "A002", "A001", "duplicate pseudonym"),
        (
            "feedback.tsv",
            "Good",
            "Splendid",
            "feedback.tsv:2: invalid answer 'Splendid', expected one of Very good",
        ),
        ("feedback.tsv", "A003", "A999", "feedback.tsv:4: unknown annotator 'A999'"),
        ("feedback.tsv", "A003", "A001", "feedback.tsv:4: empty or duplicate answer"),
        ("campaign.json", '"version": 2', '"version": 3', "version 3"),
        (
            "campaign.json",
            '"method": "majority"',
            '"method": "magic"',
            "unknown recipe",
        ),
        (
            "campaign.json",
            '"judgements_per_pair": 5',
            '"judgements_per_pair": "five"',
            "cannot be stored",
        ),
        ("campaign.json", '"value": 1', '"value": "one"', "whole number"),
        ("campaign.json", "{", "[", "invalid JSON"),
        ("documents.jsonl", '"_id": "d1"', '"_id": 1', "not a document"),
        ("gold.tsv", "\t1\t", "\t9\t", "grade '9'"),
    ],
)
def test_what_is_wrong_in_a_part_is_said_with_its_place_and_nothing_is_kept(
    release, part, old, new, said
):
    assert said in error_of(changed(release, part, replaced(old, new)))


def test_a_deeply_nested_description_is_refused(release):
    assert "invalid JSON" in error_of(changed(release, "campaign.json", lambda _: b"[" * 100_000))


def test_what_is_no_zip_and_what_is_cut_off_are_refused(release, tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 nothing")
    assert "damaged" in error_of(tmp_path / "x.zip")
    (tmp_path / "y.zip").write_bytes(release.read_bytes()[:-200])
    assert "damaged" in error_of(tmp_path / "y.zip")
    (tmp_path / "z.zip").write_bytes(b"")
    assert "damaged" in error_of(tmp_path / "z.zip")


def test_a_hostile_address_becomes_a_harmless_one(release):
    slug = json.loads(parts(release.read_bytes())["campaign.json"])["campaign"]["slug"]
    path = changed(
        release, "campaign.json", replaced(f'"slug": "{slug}"', '"slug": "../admin/ x<script>"')
    )
    assert import_release(path, name="release.zip", user=None).slug == "admin-xscript"


def test_a_part_twice_and_an_encrypted_part_are_refused(release):
    data = bytearray(release.read_bytes())
    with (
        zipfile.ZipFile(release, "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("qrels.txt", "t1 0 d1 3\n")
    assert "duplicate part names" in error_of(release)
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1  # the flag of encryption in the first entry of the directory
    release.write_bytes(bytes(data))
    assert "encrypted" in error_of(release)


def test_a_part_that_says_it_is_smaller_than_it_is_is_refused(release):
    data = bytearray(release.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (3).to_bytes(4, "little")  # its unpacked size
    release.write_bytes(bytes(data))
    assert "damaged" in error_of(release)


def test_the_number_of_judgements_reported_is_the_whole_one(release, monkeypatch):
    monkeypatch.setattr(restoring, "AT_ONCE", 2)
    reported: dict[str, int] = {}
    made = import_release(
        release, name="release.zip", user=None, step=lambda what, n: reported.update({what: n})
    )
    assert reported["judgements"] == Judgement.objects.filter(pair__campaign=made).count() > 2
