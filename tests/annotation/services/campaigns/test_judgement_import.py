"""Judgements made elsewhere become a campaign: the same labels, people, times and order as the
file; all of it or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.models import Campaign, Judgement
from annotation.selectors.judging import check_invariants
from annotation.services.judging.recount import recount_campaign
from pooling.models import Collection, Topic
from tests.analysis.commands.judged_file import refused, run
from tests.builders import make_user

pytestmark = pytest.mark.django_db
FIRA = (
    "id\trelevanceLevel\trelevanceCharacterRanges\trotate\tmode\tdurationUsedToJudgeMs\tjudgedAtUnixTS\tdocumentId\tqueryId\tuserId\n"
    "1\t3_PERFECT_ANSWER\t<no ranges selected>\tfalse\tPLAIN\t31000\t1646000000\td1\tq1\tanna@example.org\n"
    "2\t0_NOT_RELEVANT\t<no ranges selected>\tfalse\tPLAIN\t500\t1646000060\td1\tq1\tbob@example.org\n"
    "3\t2_GOOD_ANSWER\t<no ranges selected>\tfalse\tPLAIN\t20000\t1646000120\td1\tq1\tcarl@example.org\n"
    "4\t1_TOPIC_RELEVANT_DOES_NOT_ANSWER\t<no ranges "
    "selected>\tfalse\tPLAIN\t9000\t1646000180\td2\tq1\tanna@example.org\n"
    "5\t3_PERFECT_ANSWER\t<no ranges selected>\tfalse\tPLAIN\t9000\t1646000240\td2\tq1\tcarl@example.org\n"
    "6\t2_GOOD_ANSWER\t<no ranges selected>\tfalse\tPLAIN\t8000\t1646000300\td2\tq1\tanna@example.org\n"
)
"""q1 d1: anna 3, bob too fast, carl 2; q1 d2: anna 1, then 2, carl 3."""
LABEL_STUDIO = json.dumps(
    [
        {
            "id": 7,
            "data": {"query_id": "q1", "doc_id": "d1", "text": "..."},
            "annotations": [
                {
                    "completed_by": 1,
                    "lead_time": 4.5,
                    "created_at": "2021-03-09T22:16:08.7Z",
                    "was_cancelled": False,
                    "result": [
                        {
                            "type": "choices",
                            "from_name": "relevance",
                            "value": {"choices": ["2 Partial"]},
                        }
                    ],
                },
                {
                    "completed_by": {"id": 2, "email": "b@example.org"},
                    "lead_time": 3.0,
                    "created_at": "2021-03-09T22:17:08.7Z",
                    "result": [
                        {"type": "rating", "from_name": "relevance", "value": {"rating": 3}},
                        {
                            "type": "choices",
                            "from_name": "language",
                            "value": {"choices": ["English"]},
                        },
                    ],
                },
                {"completed_by": 3, "was_cancelled": True, "result": []},
            ],
        }
    ]
)
POTATO = (
    "user\tinstance_id\tdisplayed_text\trelevance:::0 Wrong\trelevance:::3 Perfect\n"
    "ann@example.org\tq1 d1\tsome text\t\ttrue\nben@example.org\tq1 d1\tsome text\ttrue\t\n"
)
HICAL = "USER,TOPIC,DOCID,METHOD,JUDGMENT,TIME_AWAY,TIME_TO_JUDGE\nu1,q1,d1,CAL,2,0,12.5\nu2,q1,d1,CAL,1,0,3\n"
CROWD_KIT = "task,worker,label\nq1 d1,w1,2\nq1 d1,w2,0\n"


def written(folder: Path, text: str, name: str = "raw.tsv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_what_llm_judges_judged_takes_no_slot(tmp_path: Path) -> None:
    """The same file as people's fills the two pairs with two judgements each; as an LLM judge's it
    fills none, and the counters agree."""
    people, llm_judge = (
        Campaign.objects.get(
            slug=run(
                "import_judgements", written(tmp_path, FIRA), "--name", kind, "--annotators", kind
            )["campaign"]
        )
        for kind in ("human", "llm")
    )
    assert set(people.pairs.values_list("counted", "open_slots")) == {(2, 0)}
    assert set(llm_judge.pairs.values_list("counted", "open_slots")) == {(0, 2)}
    assert Judgement.objects.filter(pair__campaign=llm_judge, current=True).count() == 5
    assert [fault for fault in check_invariants(llm_judge) if "judgements count" in fault] == []
    assert recount_campaign(llm_judge) == 0


def test_firas_export_becomes_a_closed_campaign_with_people_times_and_order(tmp_path: Path) -> None:
    made = run(
        "import_judgements",
        written(tmp_path, FIRA),
        "--name",
        "Trip",
        "--grade-names",
        "Wrong,Topic,Partial,Perfect",
    )
    assert (made["judgements"], made["pairs"], made["annotators"]) == (6, 2, 3)
    campaign = Campaign.objects.get(slug=made["campaign"])
    assert (campaign.state, campaign.name, campaign.pool.n_pairs) == ("closed", "Trip", 2)
    rows = Judgement.objects.order_by("judged_at").values_list(
        "membership__pseudonym", "grade", "active_ms", "status", "revision", "current"
    )
    assert list(rows) == [
        ("A001", 3, 31000, "counted", 1, True),
        ("A002", 0, 500, "too fast", 1, True),
        ("A003", 2, 20000, "counted", 1, True),
        ("A001", 1, 9000, "counted", 1, False),
        ("A003", 3, 9000, "counted", 1, True),
        ("A001", 2, 8000, "counted", 2, True),
    ]
    assert not any(
        "example.org" in str(value)
        for value in campaign.memberships.values_list("pseudonym", "user__username", "user__email")
    )
    assert [grade["name"] for grade in campaign.scale] == ["Wrong", "Topic", "Partial", "Perfect"]


@pytest.mark.parametrize("command", ["aggregate", "agreement", "campaign_stats"])
def test_what_commands_say_of_the_campaign_is_what_they_say_of_the_file(
    tmp_path: Path, command: str
) -> None:
    path = written(tmp_path, FIRA)
    made = run("import_judgements", path)
    here, there = run(command, path), run(command, "--campaign", made["campaign"])
    if command == "aggregate":
        assert [there[key] for key in ("pairs", "graded", "binary", "judgements")] == [
            here[key] for key in ("pairs", "graded", "binary", "judgements")
        ]
    elif command == "agreement":
        assert there["graded"]["percent"] == here["graded"]["percent"]
        assert sorted(
            map(str, (row["kappa_graded"] for row in there["annotators"].values()))
        ) == sorted(map(str, (row["kappa_graded"] for row in here["annotators"].values())))
    else:
        assert {
            key: there[key] for key in ("judgements", "grades", "per_12h", "annotators", "pairs")
        } == {key: here[key] for key in ("judgements", "grades", "per_12h", "annotators", "pairs")}


@pytest.mark.parametrize(
    ("text", "name", "grades"),
    [
        (LABEL_STUDIO, "a.json", [2, 3]),
        (POTATO, "a.tsv", [3, 0]),
        (HICAL, "a.csv", [2, 1]),
        (CROWD_KIT, "a.csv", [2, 0]),
    ],
    ids=["label-studio", "potato", "hical", "crowd-kit"],
)
def test_other_tools_exports_come_in(
    tmp_path: Path, text: str, name: str, grades: list[int]
) -> None:
    made = run("import_judgements", written(tmp_path, text, name))
    rows = Judgement.objects.order_by("membership__pseudonym").values_list(
        "pair__entry__topic__topic_id", "pair__entry__docno", "grade"
    )
    assert list(rows) == [("q1", "d1", grade) for grade in grades]
    if name == "a.json":
        assert any("skipped by the annotator" in warning for warning in made["warnings"])
        assert list(
            Judgement.objects.order_by("judged_at").values_list("active_ms", flat=True)
        ) == [4500, 3000]


def test_what_a_file_does_not_say_is_said(tmp_path: Path) -> None:
    made = run("import_judgements", written(tmp_path, CROWD_KIT, "a.csv"))
    assert any("2 of 2 judgements have no time" in warning for warning in made["warnings"])
    assert any("no duration" in warning for warning in made["warnings"])
    assert any("texts of 1 of 1 document are not" in warning for warning in made["warnings"])


def test_topics_have_the_texts_of_their_file_and_of_the_collection(tmp_path: Path) -> None:
    collection = Collection.objects.create(slug="there", name="There")
    Topic.objects.create(collection=collection, topic_id="q1", text="as it was", position=0)
    made = run(
        "import_judgements",
        written(tmp_path, FIRA.replace("q1\tcarl", "q2\tcarl")),
        "--collection",
        "there",
        "--topics",
        written(tmp_path, "q2\twhat is new\n", "topics.txt"),
    )
    assert made["collection"] == "there"
    assert dict(collection.topics.values_list("topic_id", "text")) == {
        "q1": "as it was",
        "q2": "what is new",
    }


def test_an_annotator_whom_the_file_excludes_is_excluded(tmp_path: Path) -> None:
    text = "topic,document,annotator,grade,excluded\nt,d,a,1,0\nt,d,b,2,1\nt,e,a,1,1\nt,e,c,0,0\n"
    made = run("import_judgements", written(tmp_path, text, "a.csv"))
    campaign = Campaign.objects.get(slug=made["campaign"])
    assert dict(campaign.memberships.values_list("pseudonym", "status")) == {
        "A001": "active",
        "A002": "excluded",
        "A003": "active",
    }
    statuses = dict(
        Judgement.objects.values_list("grade", "status").order_by("grade").filter(grade=2)
    )
    assert statuses == {2: "excluded"}
    assert Judgement.objects.filter(status="extra").count() == 1
    assert run("aggregate", "--campaign", made["campaign"])["judgements"] == 2


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (
            FIRA.replace("3_PERFECT_ANSWER", "4_BEST"),
            "raw.tsv",
            "raw.tsv:2: '4_BEST' is not one of FiRA's relevance levels",
        ),
        (
            "topic,document,annotator,grade\nt,a b,x,1\n",
            "a.csv",
            "a.csv:2: document 'a b', expected an ID of at most 255 characters without spaces",
        ),
        (POTATO.replace("3 Perfect", "Perfect"), "a.tsv", "a.tsv:2: label 'Perfect' has no number"),
        (
            POTATO.replace("q1 d1", "item_1"),
            "a.tsv",
            "a.tsv:2: instance 'item_1' does not name a topic and a document",
        ),
        (
            LABEL_STUDIO.replace("query_id", "question"),
            "a.json",
            "task 7: the task's data lack topic",
        ),
        (LABEL_STUDIO.replace("2 Partial", "9 Partial"), "a.json", "grade 9 of topic q1"),
        ('[{"id": 1}]', "a.json", "does not contain annotated tasks"),
    ],
)
def test_a_wrong_file_is_told_by_line_and_leaves_nothing(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    status, out, err = refused("import_judgements", written(tmp_path, text, name))
    assert (status, out) == (2, "")
    assert said in err
    assert not Campaign.objects.exists()
    assert not Collection.objects.exists()


def test_wrong_options_leave_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, FIRA)
    assert "expected 4" in refused("import_judgements", path, "--grade-names", "no,yes")[2]
    assert (
        "the campaign cannot be stored"
        in refused("import_judgements", path, "--min-relevant", "9")[2]
    )
    assert not Collection.objects.exists()


@pytest.mark.slow
def test_a_file_of_tripjudges_size(tmp_path: Path) -> None:
    """38,810 rows by 135 people in FiRA's form."""
    rng = np.random.default_rng(1)
    levels = [
        "0_NOT_RELEVANT",
        "1_TOPIC_RELEVANT_DOES_NOT_ANSWER",
        "2_GOOD_ANSWER",
        "3_PERFECT_ANSWER",
    ]
    grade = rng.integers(0, 4, 38_810)
    lines = [
        f"{k}\t{levels[g]}\t<no ranges selected>\tfalse\tPLAIN\t{20_000 + k}\t{1646000000 + 10 * k}\t"
        f"D{k % 13_291}\t{k % 13_291 % 1175}\tuser{(k % 13_291 + 7 * (k // 13_291)) % 135}\n"
        for k, g in enumerate(grade.tolist())
    ]
    made = run(
        "import_judgements", written(tmp_path, FIRA.splitlines(keepends=True)[0] + "".join(lines))
    )
    assert (made["judgements"], made["pairs"], made["annotators"]) == (38_810, 13_291, 135)
    found = run("campaign_stats", "--campaign", made["campaign"])
    assert [row["n"] for row in found["grades"].values()] == np.bincount(grade).tolist()


@pytest.mark.long
def test_pages_releases_and_studies_work_on_it(tmp_path: Path, client: Client) -> None:
    user = make_user(may_create=True)
    made = run("import_judgements", written(tmp_path, FIRA), "--user", user.username)
    campaign = Campaign.objects.get(slug=made["campaign"])
    client.force_login(user)
    for page in ("", "agreement/", "labels/", "people/", "time/", "export/"):
        assert client.get(f"/campaigns/{campaign.slug}/{page}", follow=True).status_code == 200, (
            page
        )
    run(
        "export_campaign",
        "--force",
        "--campaign",
        campaign.slug,
        "--output",
        str(tmp_path / "release.zip"),
    )
    again = run("import_campaign", str(tmp_path / "release.zip"))
    assert (again["pairs"], again["judged_pairs"], again["annotators"]) == (2, 2, 3)
    run("study", "tripjudge", "--campaign", campaign.slug, "--output", str(tmp_path / "study"))
    rows = (tmp_path / "study" / "tables" / "table-1.csv").read_text(encoding="utf-8")
    assert "judgements,4\n" in rows  # six rows, of which one is too fast and one was revised
    assert (tmp_path / "study" / "inputs" / "judgements.tsv").exists()
