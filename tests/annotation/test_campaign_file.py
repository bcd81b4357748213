"""A campaign as a file: applied twice it changes nothing, exported and applied elsewhere it is the
same, and each change is said."""

from __future__ import annotations

import io
import json
import re
import shutil
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotation.core.campaign_file import PANEL as PANEL_KEYS
from annotation.core.campaign_file import SETTINGS, TABLE_KEYS, parse_campaign_file
from annotation.core.panel_events import PANEL_DEFAULTS
from annotation.demo import campaign as demo
from annotation.demo.corpus import CorpusEntry
from annotation.demo.example import TO_JUDGE_SLUG
from annotation.demo.systems import tf_idf
from annotation.demo.topics import TOPICS
from annotation.forms_panel import PanelForm
from annotation.models import Campaign, GuestPanel, Pair, Webhook
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.campaign_files import CampaignFile
from annotation.services.campaigns.declaration import plan_campaign
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling
from annotation.services.people import accounts
from assay.formats.errors import FormatError
from pooling.core.declaration import find_line
from pooling.models import Collection, DocumentFile
from tests.builders import judge, make_annotator, make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db

CAMPAIGN = """
[collection]
slug = "small"
name = "Small"
n_documents = 4
managers = ["boss"]
topics = ["topics.tsv"]
documents = ["documents.jsonl"]
topic_check = "punctuation"
kept = ["8"]

[[collection.runs]]
tag = "A"
file = "a.run"
group = "Lab"
submitted_on = 2026-05-01

[[collection.runs]]
tag = "B"
file = "b.run"
baseline = true

[[collection.qrels]]
name = "clicks"
file = "clicks.txt"
kind = "clicks"

[pool]
name = "Top two"
depth = 2
seed = 7

[campaign]
slug = "autumn"
name = "Autumn"
judgements_per_pair = 2
daily_limit = 0
deadline = 2099-12-01T18:00:00+01:00
completion_code = "CODE"
seed = 5
guidelines_file = "guidelines.md"
gold_file = "gold.tsv"
state = "open"
scale = [
    { value = 0, name = "No" },
    { value = 1, name = "Somewhat", explanation = "A part." },
    { value = 2, name = "Yes" },
]
min_relevant = 1

[[campaign.people]]
user = "boss"
role = "manager"

[[campaign.people]]
user = "ada"
pseudonym = "A007"

[[campaign.invitations]]
name = "Grace"
email = "grace@example.org"
max_uses = 1
"""
FILES = {
    "topics.tsv": "051\tType 2 diabetes\n7\ttype 2  diabetes!\n8\tType 2: diabetes\n9\theart\n",
    "documents.jsonl": "".join(
        json.dumps({"_id": name, "title": name.upper(), "text": f"text of {name}"}) + "\n"
        for name in "abcd"
    ),
    "a.run": "051 Q0 a 1 9.5 A\n051 Q0 b 2 8 A\n9 Q0 a 1 3 A\n",
    "b.run": "051 Q0 b 1 9 x\n051 Q0 d 2 8 x\n9 Q0 c 1 3 x\n8 Q0 c 1 2 x\n",
    "clicks.txt": "051 0 a 1\n9 0 c 0\n",
    "guidelines.md": "# How\n\nRead the “query” first.\n",
    "gold.tsv": "topic\tdocument\tgrade\tkind\n051\tb\t2\tgold\n9\ta\t\teveryone\n",
}


@pytest.fixture
def folder(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    for name, text in {**FILES, "campaign.toml": CAMPAIGN}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("boss", "ada"):
        make_user(name)
    return tmp_path


def called(*words: str) -> dict:
    out = io.StringIO()
    call_command("campaign", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def applied(folder: Path, text: str | None = None, *words: str) -> list[str]:
    """-> the changes in words"""
    if text is not None:
        (folder / "campaign.toml").write_text(text, encoding="utf-8")
    return [
        change["words"]
        for change in called("apply", str(folder / "campaign.toml"), *(words or ["--yes"]))[
            "changes"
        ]
    ]


def refused(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        call_command("campaign", "apply", str(folder / "campaign.toml"), "--yes")
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return [line.replace(f"{folder}/", "") for line in said.err.splitlines()]


def test_a_file_makes_collection_pool_and_campaign_and_again_it_changes_nothing(folder):
    assert len(applied(folder)) > 20
    campaign = Campaign.objects.get(slug="autumn")
    assert (
        campaign.state,
        campaign.min_relevant,
        campaign.daily_limit,
        campaign.seed,
        campaign.annotator_type,
    ) == ("open", 1, None, 5, "human")
    assert [grade["name"] for grade in campaign.scale] == ["No", "Somewhat", "Yes"]
    # by hand: 7 repeats 051 but for punctuation, 8 does so, too, and is kept; top two of A and B:
    # 051 a b d, 9 a c, 8 c
    pairs = {
        (p.entry.topic.topic_id, p.entry.docno): (p.kind, p.gold_grade)
        for p in campaign.pairs.select_related("entry__topic")
    }
    assert pairs == {
        ("051", "a"): ("normal", None),
        ("051", "b"): ("gold", 2),
        ("051", "d"): ("normal", None),
        ("9", "a"): ("everyone", None),
        ("9", "c"): ("normal", None),
        ("8", "c"): ("normal", None),
    }
    assert not campaign.pairs.filter(without_text=True).exists()
    assert dict(campaign.memberships.values_list("user__username", "pseudonym")) == {
        "boss": "M01",
        "ada": "A007",
    }
    assert campaign.guidelines.get().text == FILES["guidelines.md"]
    assert dict(
        campaign.collection.topics.exclude(removed_reason="").values_list(
            "topic_id", "removed_reason"
        )
    ) == {"7": "duplicate"}
    n_events = campaign.audit.count()
    assert applied(folder) == []
    assert campaign.audit.count() == n_events


def test_the_ir_metadata_of_a_run_is_its_description_and_again_it_changes_nothing(folder):
    head = "# ir_metadata.start\n# method:\n#   automatic: true\n# ir_metadata.end\n"
    (folder / "a.run").write_text(head + FILES["a.run"], encoding="utf-8")
    applied(folder)
    run = Collection.objects.get(slug="small").runs.get(tag="A")
    assert run.description == "method:\n  automatic: true"
    assert applied(folder) == []


def test_exported_with_its_files_and_applied_to_an_empty_installation_it_gives_the_same_export(
    folder, tmp_path
):
    applied(folder)
    first = called("export", "autumn", "--files", "--output", str(tmp_path / "out"))["document"]
    Campaign.objects.all().delete()
    Collection.objects.get().pools.all().delete()
    Collection.objects.all().delete()
    assert not DocumentFile.objects.exists()
    called("apply", str(tmp_path / "out" / "campaign.toml"), "--yes")
    assert (
        called("export", "autumn", "--files", "--output", str(tmp_path / "again"))["document"]
        == first
    )
    assert (tmp_path / "again" / "campaign.toml").read_bytes() == (
        tmp_path / "out" / "campaign.toml"
    ).read_bytes()
    assert called("apply", str(tmp_path / "again" / "campaign.toml"), "--dry-run")["changes"] == []
    (tmp_path / "linked").mkdir()
    (tmp_path / "link").symlink_to("linked")
    called("export", "autumn", "--files", "--output", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "linked" / "campaign.toml").read_bytes() == (
        tmp_path / "again" / "campaign.toml"
    ).read_bytes()
    assert {name for table in first.values() for name in table} >= {
        "judgements_per_pair",
        "gold",
        "people",
        "invitations",
        "removed",
        "kept",
        "runs",
    }


def test_a_pool_in_planned_batches_is_made_by_its_goal_which_stays(folder, tmp_path, capsys):
    text = (
        (folder / "campaign.toml")
        .read_text()
        .replace("depth = 2\n", 'depth = 2\ngoal = "equal"\nbatch = 40\naudit = 0.15\n')
    )
    applied(folder, text)
    pool = Campaign.objects.get().pool
    assert (pool.kind, pool.parameters) == (
        "ordered",
        {"goal": "equal", "batch": 40, "audit": 0.15},
    )
    assert (
        called("export", "autumn", "--output", str(tmp_path / "out.toml"))["document"]["pool"][
            "goal"
        ]
        == "equal"
    )
    assert called("apply", str(tmp_path / "out.toml"), "--dry-run")["changes"] == []
    assert (
        "goal of Top two cannot be changed: its batches are already planned"
        in refused(folder, text.replace('"equal"', '"relevant"'), capsys)[0]
    )
    assert (
        "batch of Top two cannot be changed"
        in refused(folder, text.replace("batch = 40", "batch = 50"), capsys)[0]
    )
    assert "audit = 0.6" in refused(folder, text.replace("0.15", "0.6"), capsys)[0]
    assert (
        "goal (prioritised pool) together with strata (sampled pool)"
        in refused(folder, text.replace("seed = 7\n", 'strata = "rank"\n'), capsys)[0]
    )


def test_the_plain_export_of_what_is_there_changes_nothing(folder, tmp_path, capsys):
    applied(folder)
    called("export", "autumn", "--output", str(tmp_path / "plain.toml"))
    assert called("apply", str(tmp_path / "plain.toml"), "--yes")["changes"] == []
    call_command("campaign", "export", "autumn")
    assert capsys.readouterr().out == (tmp_path / "plain.toml").read_text()
    assert called("export", "small", "--collection-only")["document"].keys() == {
        "collection",
        "pool",
    }


CHANGES = [
    ("judgements_per_pair = 2", "judgements_per_pair = 3", ["judgements_per_pair: 2 → 3"]),
    ("daily_limit = 0", "daily_limit = 40", ["daily_limit: none → 40"]),
    ('name = "Yes"', 'name = "Surely"', ["scale: 2: name “Yes” → “Surely”"]),
    (
        'state = "open"',
        'state = "paused"\npaused_reason = "Lunch"',
        ["state: “open” → “paused”", "paused_reason: none → “Lunch”"],
    ),
    ('state = "open"', 'state = "closed"', ["state: “open” → “closed”"]),
    (
        'user = "ada"',
        'user = "ada"\nstatus = "paused"\nreason = "On leave"',
        ["people: ada A007: status “active” → “paused”, reason none → “On leave”"],
    ),
    (
        'user = "ada"\npseudonym',
        'status = "excluded"\nreason = "Clicks"\npseudonym',
        ["people: ada A007: status “active” → “excluded”, reason none → “Clicks”"],
    ),
    (
        'gold_file = "gold.tsv"',
        'gold = [{ topic = "051", document = "b", grade = 1 }]\ngold_grades = [{ file_grade = 1, grade = 1 }]',
        ["gold: 051 b: grade 2 → 1", "gold: 9 a: no longer listed"],
    ),
    (
        'guidelines_file = "guidelines.md"',
        'guidelines = "Other"',
        ["guidelines: “# How…” (4 lines) → “Other”"],
    ),
    ('group = "Lab"', 'group = "Team"', ["runs: A: group “Lab” → “Team”"]),
    ("depth = 2", "depth = 3", ["pool: extend Top two from depth 2 to 3"]),
    (
        'topic_check = "punctuation"\nkept = ["8"]',
        'removed = [{ topic = "9", reason = "odd" }]',
        ["removed: 9: new (reason “odd”)", "removed: 7: no longer listed"],
    ),
    (
        'email = "grace@example.org"',
        'email = "grace@example.com"',
        ["invitations: Grace grace@example.com annotator 1: new"],
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "words"), CHANGES, ids=[new.split("\n")[0][:40] for _, new, _ in CHANGES]
)
def test_each_change_is_said_before_it_is_made_and_is_there_afterwards(folder, old, new, words):
    applied(folder)
    assert old in CAMPAIGN
    changed = CAMPAIGN.replace(old, new)
    assert applied(folder, changed, "--dry-run") == words
    assert applied(folder, changed, "--dry-run") == words  # nothing was changed
    assert applied(folder, changed) == words
    assert applied(folder, changed) == []


WRONG = [
    (
        "judgements_per_pair = 2",
        "judgements_per_pair = 0",
        "campaign.judgements_per_pair: judgements_per_pair = 0, expected at least 1 and at most 50",
    ),
    (
        "judgements_per_pair = 2",
        "judgement_per_pair = 2",
        "campaign.judgement_per_pair: unknown key 'judgement_per_pair', expected 'judgements_per_pair'",
    ),
    (
        "deadline = 2099-12-01T18:00:00+01:00",
        "deadline = 2099-12-01T18:00:00",
        (
            "campaign.deadline: deadline = '2099-12-01 18:00:00', expected a date and time with "
            "time zone, such as 2026-12-01T18:00:00+01:00"
        ),
    ),
    (
        'file = "b.run"',
        'file = "c.run"',
        "collection.runs[1].file: there is no file c.run, expected a path relative to the folder of this file",
    ),
    (
        'user = "ada"',
        'user = "adb"',
        (
            "campaign.people[1].user: there is no account with the username adb, expected an "
            "existing account, or an invitation instead"
        ),
    ),
    (
        'name = "Somewhat"',
        "name = 3",
        "campaign.scale[1].name: name = '3', expected text in quotation marks",
    ),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG, ids=[new for _, new, _ in WRONG])
def test_a_wrong_file_is_refused_with_line_and_way_out_and_nothing_is_made(
    folder, capsys, old, new, words
):
    changed = CAMPAIGN.replace(old, new)
    number = next(number for number, line in enumerate(changed.split("\n"), 1) if new in line)
    assert refused(folder, changed, capsys) == [f"campaign.toml:{number}: {words}"]
    assert not Collection.objects.exists()


def test_a_file_that_is_not_toml_or_whose_run_cannot_be_read_is_told_with_its_line(folder, capsys):
    last = CAMPAIGN.count("\n") + 1
    for wrong in ("x = \n", 'x = "never ended'):
        assert refused(folder, CAMPAIGN + wrong, capsys)[0].startswith(
            f"campaign.toml:{last}: invalid TOML"
        )
    (folder / "a.run").write_text("051 Q0 a 1 9.5 A\n051 Q0 b\n", encoding="utf-8")
    [first] = refused(folder, CAMPAIGN, capsys)
    assert first.startswith("a.run:2: 3 columns, expected 6 columns")
    assert not Collection.objects.exists()
    assert [
        path for path in (folder / "media").rglob("*") if path.is_file()
    ] == []  # what was brought before it is gone again


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('state = "open"', 'state = "draft"', "it cannot become a draft again"),
        ("seed = 5", "seed = 6", "seed cannot be changed: random choices already depend on it"),
        ("depth = 2", "depth = 1", "Top two is depth 2, and its depth cannot be changed to 1"),
        (
            'pseudonym = "A007"',
            'pseudonym = "A008"',
            "ada has the pseudonym A007, which exports may contain",
        ),
        (
            'role = "manager"',
            'role = "annotator"',
            "boss is already manager, and roles cannot be changed",
        ),
        (
            '    { value = 2, name = "Yes" },\n',
            "",
            "Grade 2 can't be removed from the scale because judgements use it.",
        ),
        (
            "completion_code",
            'completion_url = "nowhere"\ncompletion_code',
            "campaign.completion_url: Enter a valid URL",
        ),
    ],
)
def test_what_cannot_be_changed_is_refused_before_anything_is_written(
    folder, capsys, old, new, words
):
    applied(folder)
    campaign = Campaign.objects.get()
    judge(campaign.memberships.get(user__username="ada"), 2)
    changed = (
        CAMPAIGN.replace(old, new)
        .replace('gold_file = "gold.tsv"\n', "")
        .replace('name = "Autumn"', 'name = "Other"')
    )
    told = refused(folder, changed, capsys)
    assert any(words in line for line in told), told
    assert Campaign.objects.get().name == "Autumn"


def test_a_changed_run_file_is_refused_for_the_rankings_are_there(folder, capsys):
    applied(folder)
    (folder / "a.run").write_text(FILES["a.run"].replace("9.5", "7.5"), encoding="utf-8")
    [line] = refused(folder, CAMPAIGN, capsys)
    assert "a.run differs from A in the collection" in line


def test_nobody_to_ask_means_nothing_is_done(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        call_command("campaign", "apply", str(folder / "campaign.toml"))
    assert ended.value.code == 2
    assert "add --yes to apply, or --dry-run to list" in capsys.readouterr().err
    assert not Collection.objects.exists()


def test_what_the_file_does_not_name_is_told_and_pruned_only_where_nothing_hangs_on_it(folder):
    applied(folder)
    campaign = Campaign.objects.get()
    bob, eve = (make_annotator(campaign, name) for name in ("bob", "eve"))
    judge(bob, 2)
    held = scheduling.claim_pair(eve)
    assert held is not None
    people_named = (
        '[[campaign.people]]\nuser = "boss"\nrole = "manager"\n\n[[campaign.people]]\nuser = '
        '"ada"\npseudonym = "A007"\n'
    )
    shorter = CAMPAIGN.replace(people_named, people_named.partition("\n\n")[0] + "\n").replace(
        'name = "Grace"\nemail = "grace', 'name = "Ann"\nemail = "ann'
    )
    shorter = shorter.replace(
        '[[collection.runs]]\ntag = "B"\nfile = "b.run"\nbaseline = true\n', ""
    )
    (folder / "campaign.toml").write_text(shorter, encoding="utf-8")
    told = called("apply", str(folder / "campaign.toml"), "--yes")
    assert [change["words"] for change in told["changes"]] == [
        "invitations: Ann ann@example.org annotator 1: new"
    ]
    assert told["unnamed"] == [
        "runs: B: kept",
        f"people: bob {bob.pseudonym}: kept (1 judgement)",
        f"people: eve {eve.pseudonym}: kept (no judgements; removed with prune)",
        "people: ada A007: kept (no judgements; removed with prune)",
        "invitations: Grace grace@example.org annotator 1: kept (withdrawn with prune)",
    ]
    open_slots = Pair.objects.get(pk=held.pair_id).open_slots
    pruned = called("apply", str(folder / "campaign.toml"), "--yes", "--prune")
    assert [change["words"] for change in pruned["changes"]] == [
        f"people: eve {eve.pseudonym}: removed (no judgements)",
        "people: ada A007: removed (no judgements)",
        "invitations: Grace grace@example.org annotator 1: withdrawn",
    ]
    assert pruned["unnamed"] == [
        "runs: B: kept",
        f"people: bob {bob.pseudonym}: kept (1 judgement)",
    ]
    assert sorted(campaign.memberships.values_list("user__username", flat=True)) == ["bob", "boss"]
    assert (
        Pair.objects.get(pk=held.pair_id).open_slots == open_slots + 1
    )  # what eve had on screen is free again
    assert list(campaign.invitations.filter(revoked_at=None).values_list("name", flat=True)) == [
        "Ann"
    ]
    assert called("apply", str(folder / "campaign.toml"), "--prune", "--yes")["changes"] == []
    with pytest.raises(CampaignError, match="has judgements and can't be removed"):
        accounts.remove_member(bob, actor=None)


def test_who_applies_it_manages_what_is_made(folder):
    make_user("operator")
    told = called("apply", str(folder / "campaign.toml"), "--yes", "--user", "operator")
    assert told["managers"] == ["boss", "operator"]
    assert called("apply", str(folder / "campaign.toml"))["managers"] == ["boss", "operator"]
    campaign = Campaign.objects.get()
    assert campaign.memberships.get(user__username="operator").role == "manager"
    assert campaign.collection.managers.filter(username="operator").exists()


def test_a_missing_manager_is_a_warning_until_the_file_or_the_command_names_one(folder):
    path = folder / "campaign.toml"
    row, managers = (
        '[[campaign.people]]\nuser = "boss"\nrole = "manager"\n',
        'managers = ["boss"]\n',
    )
    unmanaged = CAMPAIGN.replace(managers, "").replace(row, "")
    no_collection, no_campaign = (
        "Collection small has no manager, so only administrators see it. "
        'Add managers = ["NAME"] to the table collection.',
        "Campaign autumn has no manager, so only administrators see it. "
        'Add a row with role = "manager" to campaign.people.',
    )

    def warnings(text: str, *words: str) -> list[str]:
        path.write_text(text, encoding="utf-8")
        return called("apply", str(path), *words)["warnings"]

    assert warnings(unmanaged, "--dry-run", "--user", "boss") == []
    # ada is an annotator in the file, and does not become a manager by applying it
    assert warnings(unmanaged, "--dry-run", "--user", "ada") == [no_campaign]
    for _ in range(2):
        assert warnings(unmanaged, "--yes") == [no_collection, no_campaign]
    assert warnings(unmanaged.replace("[collection]\n", f"[collection]\n{managers}"), "--yes") == [
        no_campaign
    ]
    assert warnings(unmanaged + row, "--yes") == []


def test_the_file_can_say_every_setting_of_a_campaign():
    assert {key.name for key in SETTINGS} == lifecycle.SETTINGS
    assert set(Pair.Kind.values) - {"normal"} == set(
        next(k for k in TABLE_KEYS["campaign"] if k.name == "gold").row[2].choices
    )


def test_lines_of_values_are_found_in_texts_lists_and_tables():
    text = (
        'a = """\n[b]\nx = 1\n"""\n[b]\nx = 2\n[[b.c]]\ny = 1\n[[b.c]]\n  y = 2\n[d]\nlist = [\n  '
        "{ z = 1 },\n  { z = 2 },\n]\n"
    )
    assert tomllib.loads(text)["b"]["c"][1]["y"] == 2
    found = [
        find_line(text, path)
        for path in (
            ("b", "x"),
            ("b", "c", 1, "y"),
            ("b", "c", 0),
            ("d", "list", 1, "z"),
            ("d", "none"),
            ("e",),
        )
    ]
    assert found == [6, 10, 7, 14, 11, None]


def test_grades_of_gold_that_may_be_of_another_scale_are_not_taken_for_the_scales_own(
    folder, capsys
):
    (folder / "gold.tsv").write_text("051 0 b 1\n051 0 a 0\n", encoding="utf-8")
    [line] = refused(folder, CAMPAIGN, capsys)
    assert "the known grades are 0–1, but the scale is 0–2, expected what each known grade" in line
    assert "gold_grades = [{ file_grade = 0, grade = 0 }, { file_grade = 1, grade = 1 }]" in line
    binary = CAMPAIGN.replace(
        'gold_file = "gold.tsv"',
        'gold_file = "gold.tsv"\ngold_grades = [{ file_grade = 0 }, { file_grade = 1, grade = 2 }]',
    )
    applied(folder, binary)
    known = Pair.objects.exclude(kind="normal").values_list("entry__docno", "kind", "gold_grade")
    assert list(known) == [("b", "gold", 2)], "grade 0 is left out"
    assert applied(folder, binary) == []
    [line] = refused(folder, binary.replace("grade = 2 }]", "grade = 5 }]"), capsys)
    assert "grade 5, expected a grade of the scale, 0–2" in line


def test_a_campaign_whose_gold_has_only_low_grades_is_written_so_that_it_reads_the_same(folder):
    applied(folder)
    campaign = Campaign.objects.get()
    for pair in campaign.pairs.filter(kind="gold").select_related("campaign", "entry"):
        set_pair_kind(pair, "gold", gold_grade=1)
    document = called("export", "autumn")["document"]
    assert document["campaign"]["gold_grades"] == [{"file_grade": 1, "grade": 1}]
    assert plan_campaign(parse_campaign_file(document), folder=None, actor=None).changes == []


def test_gold_may_be_qrels_and_a_wrong_grade_names_its_line(folder):
    (folder / "gold.tsv").write_text("051 0 b 2\n", encoding="utf-8")
    row = CampaignFile(folder / "campaign.toml").described.campaign["gold"]
    assert [(one["topic"], one["document"], one["grade"], one["kind"]) for one in row] == [
        ("051", "b", 2, "gold")
    ]
    (folder / "gold.tsv").write_text("topic\tdocument\tgrade\n051\tb\tgood\n", encoding="utf-8")
    with pytest.raises(
        FormatError, match=r"gold\.tsv:2: grade 'good', expected a grade of the scale"
    ):
        CampaignFile(folder / "campaign.toml")


def test_applying_a_campaign_file_creates_no_accounts(folder):
    applied(folder)
    assert User.objects.count() == 2


def test_the_demo_is_such_a_file(tmp_path, settings, monkeypatch):
    """Applied once more from its folder it changes nothing; with few documents and quick
    systems."""
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "media", tmp_path
    words = [topic.text for topic in TOPICS[:20]]
    entries = [
        CorpusEntry(
            f"module.function_{n}", "function", text, f"How to {text}, in a few words.", "module"
        )
        for n, text in enumerate(words)
    ]
    monkeypatch.setattr(demo, "read_standard_library", lambda: entries)
    monkeypatch.setattr(demo, "SYSTEMS", dict.fromkeys(demo.SYSTEMS, tf_idf))
    campaign = demo.create_demo(lambda sentence: None, with_example=False)
    assert (campaign.state, campaign.slug, campaign.collection.n_documents) == (
        "open",
        TO_JUDGE_SLUG,
        20,
    )
    assert set(
        campaign.collection.topics.exclude(removed_reason="").values_list("topic_id", flat=True)
    ) == {"35", "36", "37"}
    assert dict(campaign.memberships.values_list("user__username", "role")) == {
        "manager": "manager",
        "annotator": "annotator",
    }
    demo.write_files(tmp_path, entries, lambda sentence: None)
    shutil.copy(demo.CAMPAIGN_FILE, tmp_path)
    assert called("apply", str(tmp_path / "campaign.toml"), "--dry-run")["changes"] == []


PUBLICATION = """
[campaign.publication]
title = "Small topics"
license_judgements = "CC-BY-4.0"

[[campaign.publication.authors]]
name = "Ada"
orcid = "0000-0002-1825-0097"

[[campaign.publication.authors]]
name = "Grace"
"""


def test_publication_metadata_is_stored_as_a_whole_and_the_order_of_authors_counts(folder):
    applied(folder)
    words = applied(folder, CAMPAIGN + PUBLICATION)
    assert words == [
        "publication: title: none → “Small topics”; authors: none → Ada, Grace; "
        "license_judgements: none → “CC-BY-4.0”"
    ]
    stored = Campaign.objects.get().publication
    assert (stored["title"], stored["doi"]) == ("Small topics", "")
    assert [author["name"] for author in stored["authors"]] == ["Ada", "Grace"]
    assert applied(folder) == []
    exported = called("export", "autumn", "--output", str(folder / "out.toml"))["document"]
    assert exported["campaign"]["publication"] == {
        "title": "Small topics",
        "authors": [{"name": "Ada", "orcid": "0000-0002-1825-0097"}, {"name": "Grace"}],
        "license_judgements": "CC-BY-4.0",
    }
    assert called("apply", str(folder / "out.toml"), "--dry-run")["changes"] == []
    turned = PUBLICATION.replace('"Ada"', '"A"').replace('"Grace"', '"B"')
    assert applied(folder, CAMPAIGN + turned) == ["publication: authors: Ada, Grace → A, B"]
    assert applied(folder, CAMPAIGN) == [], "without the table, it stays"


def test_a_wrong_orcid_is_refused_with_its_line(folder, capsys):
    applied(folder)
    text = CAMPAIGN + PUBLICATION.replace("0097", "0098")
    line = text.splitlines().index('orcid = "0000-0002-1825-0098"') + 1
    assert refused(folder, text, capsys) == [
        f"campaign.toml:{line}: campaign.publication.authors[0].orcid: the check digit of orcid "
        "0000-0002-1825-0098 is wrong, expected the ORCID as it is on orcid.org"
    ]


QUESTIONS = """
[[campaign.further_questions]]
key = "understandability"
title = "Understandability"
prompt = "How easily would a layperson understand it?"
scale = [{ value = 0, name = "Hard" }, { value = 1, name = "Easy", explanation = "At once." }]
min_relevant = 1
asked_from = 1

[[campaign.further_questions]]
key = "layout"
title = "Layout"
prompt = "Is it laid out well?"
scale = [{ value = 0, name = "No" }, { value = 1, name = "Yes" }]
min_relevant = 1
required = false
"""


def test_further_questions_are_compared_by_key_and_order_and_come_out_as_they_went_in(folder):
    applied(folder)
    words = applied(folder, CAMPAIGN + QUESTIONS)
    assert [one.partition(" (")[0] for one in words] == [
        "further_questions: understandability: new",
        "further_questions: layout: new",
    ]
    first, second = Campaign.objects.get().questions_after_grade
    assert (first.asked_from, first.required, first.grades.names) == (1, True, ["Hard", "Easy"])
    assert (second.asked_from, second.required) == (None, False)
    assert applied(folder) == [], "without the key, they stay"
    called("export", "autumn", "--output", str(folder / "out.toml"))
    again = tomllib.loads((folder / "out.toml").read_text())["campaign"]["further_questions"]
    assert again[0] == tomllib.loads(QUESTIONS)["campaign"]["further_questions"][0] | {
        "scale": [
            {"value": 0, "name": "Hard"},
            {"value": 1, "name": "Easy", "explanation": "At once."},
        ]
    }
    assert called("apply", str(folder / "out.toml"), "--dry-run")["changes"] == []
    start, one, other = QUESTIONS.split("[[campaign.further_questions]]")
    turned = "[[campaign.further_questions]]".join((start, other, one))
    assert applied(folder, CAMPAIGN + turned) == [
        "further_questions: order understandability, layout → layout, understandability"
    ]
    none = CAMPAIGN.replace("min_relevant = 1", "min_relevant = 1\nfurther_questions = []")
    assert [one.rpartition(": ")[2] for one in applied(folder, none)] == ["no longer listed"] * 2


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ("asked_from = 1", "asked_from = 7", "asked_from = 7", "expected one of 1, 2"),
        ('key = "layout"', 'key = "relevance"', 'key = "relevance"', "duplicate key relevance"),
        ("required = false", 'required = "no"', 'required = "no"', "expected true or false"),
        ("asked_from = 1", "asked = 1", "asked = 1", "unknown key 'asked', expected 'asked_from'"),
    ],
)
def test_a_wrong_question_is_refused_with_its_line(folder, capsys, old, new, at, said):
    applied(folder)
    text = CAMPAIGN + QUESTIONS.replace(old, new)
    line = text.splitlines().index(at) + 1
    [problem] = refused(folder, text, capsys)
    assert problem.startswith(f"campaign.toml:{line}: campaign.further_questions[")
    assert said in problem


PANEL = """
[campaign.panel]
places = 40
judgements = 25
reward = 3.5
done_code = "DONE-1"

[[campaign.webhooks]]
name = "chat"
url = "https://hooks.example.org/T0/secret-path"
form = "text"
events = ["question.asked"]
site = "https://assay.example.org"
"""


def test_guests_and_webhooks_are_set_up_by_a_file_and_exported_without_secrets(folder, tmp_path):
    words = applied(folder, CAMPAIGN + PANEL)
    assert (
        "panel: places: none → 40; judgements: none → 25; reward: none → 3.5; done_code: none → “DONE-1”"
        in words
    )
    campaign = Campaign.objects.get()
    webhook = campaign.webhooks.get()
    assert (webhook.url, webhook.form, webhook.events, webhook.site) == (
        "https://hooks.example.org/T0/secret-path",
        "text",
        ["question.asked"],
        "https://assay.example.org",
    )
    panel = campaign.panel
    assert (panel.name, panel.places, panel.judgements, panel.reward, panel.done_code) == (
        "Prolific",
        40,
        25,
        Decimal("3.50"),
        "DONE-1",
    )
    assert len(panel.full_code) > 4, "a random one"
    GuestPanel.objects.update(secret="panel-secret")
    assert applied(folder, CAMPAIGN + PANEL) == [], "omitted codes stay"
    called("export", "autumn", "--output", str(tmp_path / "out.toml"))
    written = (tmp_path / "out.toml").read_text(encoding="utf-8")
    for secret in ("secret-path", "panel-secret", webhook.secret, panel.token):
        assert secret not in written
    assert 'url = "https://hooks.example.org/…"' in written
    assert tomllib.loads(written)["campaign"]["panel"] == {
        "places": 40,
        "judgements": 25,
        "reward": 3.5,
        "done_code": "DONE-1",
        **{name: getattr(panel, name) for name in ("failed_code", "declined_code", "full_code")},
    }
    assert called("apply", str(tmp_path / "out.toml"), "--yes")["changes"] == []
    assert GuestPanel.objects.get().secret == "panel-secret"


def test_webhooks_are_changed_and_deleted_only_by_prune(folder):
    applied(folder, CAMPAIGN + PANEL)
    secret = Webhook.objects.get().secret
    moved = PANEL.replace("T0/secret-path", "T1/other").replace(
        '["question.asked"]', '["release.built"]'
    )
    assert applied(folder, CAMPAIGN + moved) == [
        "webhooks: chat: url “https://hooks.example.org/…” → “https://hooks.example.org/T1/other”, "
        "events question.asked → release.built"
    ]
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.events, webhook.secret) == (
        "https://hooks.example.org/T1/other",
        ["release.built"],
        secret,
    )
    without = CAMPAIGN + PANEL.partition("[[campaign.webhooks]]")[0]
    (folder / "campaign.toml").write_text(
        without.replace("[campaign]\n", "[campaign]\nwebhooks = []\n", 1), encoding="utf-8"
    )
    path = str(folder / "campaign.toml")
    assert "webhooks: chat: kept (deleted with prune)" in called("apply", path, "--yes")["unnamed"]
    pruned = called("apply", path, "--yes", "--prune")["changes"]
    assert [change["words"] for change in pruned] == ["webhooks: chat: deleted"]
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("/T0/secret-path", "/…", "the path of the address is left out"),
        ("https://hooks", "http://hooks", "The address must begin with https://"),
        ('["question.asked"]', '["question.askd"]', "events = question.askd"),
        ('["question.asked"]', "[]", "events = none"),
        ('"DONE-1"', '"DONE 1"', "Use only letters, digits, hyphens and underscores"),
        ("places = 40", "places = 0", "places = 0, expected at least 1"),
        (
            "judgements = 25",
            'judgements = 25\nreturn_address = "https://p.example.org/"',
            "must contain CODE",
        ),
        ("judgements = 25", 'judgements = 25\nsecret = "x"', "unknown key 'secret'"),
        ("judgements = 25\n", "", "missing key judgements"),
    ],
)
def test_invalid_guests_and_webhooks_are_refused_with_the_line(folder, capsys, old, new, says):
    lines = refused(folder, CAMPAIGN + PANEL.replace(old, new), capsys)
    assert len(lines) == 1, lines
    assert says in lines[0]
    assert re.search(r"campaign\.toml:\d+: campaign\.(panel|webhooks)", lines[0])
    assert not Webhook.objects.exists()


def test_defaults_of_a_file_and_of_the_page_are_the_same():
    panel = GuestPanel()
    defaults = {key.name: key.default for key in PANEL_KEYS if key.name in PANEL_DEFAULTS}
    assert defaults == {name: getattr(panel, name) for name in defaults}
    assert {key.name for key in PANEL_KEYS} == set(PanelForm.Meta.fields) - {"secret"}


@pytest.mark.parametrize(
    "source", ["rounds = 1\nrepeated = 0.5\nseed = 7", 'battles = "pairs.tsv"']
)
def test_a_campaign_of_preferences_comes_out_as_it_went_in(folder, tmp_path, source, capsys):
    (folder / "pairs.tsv").write_text("051 a b\n9 a c\n", encoding="utf-8")
    text = CAMPAIGN.replace("depth = 2\nseed = 7", source).replace(
        'name = "Autumn"\n', 'name = "Autumn"\ntask = "preferences"\n'
    )
    text = re.sub(r"scale = \[.*?\n\]\nmin_relevant = 1\n", "", text, flags=re.DOTALL)
    text = text.replace('gold_file = "gold.tsv"\n', "")
    applied(folder, text)
    campaign = Campaign.objects.get(slug="autumn")
    assert campaign.is_preferences
    assert campaign.pool.kind == "battles"
    assert campaign.scale[0]["name"] == "Left is better"
    pairs = set(
        campaign.pairs.values_list("entry__topic__topic_id", "entry__docno", "entry__other_docno")
    )
    assert applied(folder) == []
    first = called("export", "autumn", "--files", "--output", str(tmp_path / "out"))["document"]
    assert first["campaign"]["task"] == "preferences"
    Campaign.objects.all().delete()
    Collection.objects.get().pools.all().delete()
    Collection.objects.all().delete()
    called("apply", str(tmp_path / "out" / "campaign.toml"), "--yes")
    again = Campaign.objects.get(slug="autumn").pairs
    assert pairs == set(
        again.values_list("entry__topic__topic_id", "entry__docno", "entry__other_docno")
    )
    out = tmp_path / "again"
    assert called("export", "autumn", "--files", "--output", str(out))["document"] == first
    grades = (out / "campaign.toml").read_text().replace('task = "preferences"', 'task = "grades"')
    (out / "campaign.toml").write_text(grades)
    with pytest.raises(SystemExit):
        call_command("campaign", "apply", str(out / "campaign.toml"), "--yes")
    assert "task cannot be changed: its pairs and answers depend on it" in capsys.readouterr().err
