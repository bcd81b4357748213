"""Files of another kind, or saved by another program: refused by line, with what a person can do
about it, and never by accident."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import json
import pkgutil
import random
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from analysis.publishing.release.parts import CHECKSUMS_FILE, FORMAT, PARTS, VERSION
from analysis.publishing.release.reading import open_release
from annotation.services.campaigns.campaign_files import CampaignFile, read_gold_file
from annotation.services.people.accounts import read_names
from assay import formats
from assay.formats.bundles import TopicNames, read_bundle
from assay.formats.clicks import find_packed_clicks, read_packed_clicks
from assay.formats.detect import conflicting_kind
from assay.formats.documents import read_documents
from assay.formats.errors import FormatError
from assay.formats.label_table import read_label_table
from assay.formats.leaderboards import read_leaderboard
from assay.formats.llm_labels import read_llm_qrels
from assay.formats.prel import read_prel
from assay.formats.qrels import read_qrels
from assay.formats.quepid import read_ratings, read_snapshot
from assay.formats.runs import read_run
from assay.formats.sets import read_fira_config
from assay.formats.topic_scores import read_topic_scores
from assay.formats.topics import read_topics
from assay.formats.tripclick import read_tripclick
from assay.formats.ubi import find_packed_ubi, read_packed_ubi, read_ubi
from tests.assay.formats import test_hostile
from tests.assay.formats.test_detect import EXAMPLES
from tests.assay.formats.test_hostile import PIECES, READERS


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(
                name.replace("__", ".").replace("TYPES", "[Content_Types].xml"), content
            )
    return out.getvalue()


XLSX = zipped(TYPES=b"<Types/>", workbook__xml=b"<workbook/>")
OTHERS = {
    "html": b"<html><body><p>x</p></body></html>",
    "page": b"<!doctype html><html><head><title>a</title></head><body>1 0 d 1</body></html>",
    "xml": b"<?xml version='1.0' encoding='utf-99'?><a/>",
    "elements": b"<a><b/></a>",
    "entities": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "pdf": b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n",
    "xlsx": XLSX,
    "zip": zipped(a__run=b"1 Q0 d 1 2 t\n"),
    "list": b'[{"id": 1}]',
    "deep": b'{"a":' * 20_000,
    "commas": b",\n,,\n",
}
QUERIES = b"t1\tsome text\nt2\tmore\n"


def smallest_release() -> bytes:
    about = {
        "format": FORMAT,
        "version": VERSION,
        "campaign": {"settings": {}},
        "collection": {},
        "pool": {},
        "recipe": {},
    }
    parts = {part.name: b"" for part in PARTS if part.needed and part.name != CHECKSUMS_FILE} | {
        "campaign.json": json.dumps(about).encode()
    }
    sums = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in parts.items()
    )
    return zipped(
        **{name.replace(".", "__"): content for name, content in parts.items()},
        **{CHECKSUMS_FILE: sums.encode()},
    )


UBI_EVENT = (
    b'{"action_name": "impression", "query_id": "s1", "user_query": "red", "event_attributes": '
    b'{"object": {"object_id": "d1"}, "position": {"ordinal": 1}, "dwell_time": 2.5}}\n'
)
UBI_QUERY = b'{"query_id": "s1", "user_query": "red", "query_response_hit_ids": ["d1", "d2"]}\n'
OWN = {
    "TripClick": b'{"SessionId": "s", "Keywords": "some text", "Documents": ["a", "b"], "DocumentId": "a"}\n',
    "bundle": b'{"name": "b", "query_doc_pairs": [{"query_text": "red", "doc_id": "d", "position": 1, '
    b'"document_fields": {"title": "a", "text": "b"}, '
    b'"judgements": [{"rating": 1.0}]}]}',
    "campaign file": b'[collection]\nslug = "c"\nname = "C"\n[pool]\nname = "p"\ndepth = 3\n[campaign]\nslug = "s"\nname = "S"\njudgements_per_pair = 2\n',
    "known pairs": b"topic\tdocument\tgrade\tkind\texplanation\nt1\td1\t2\tgold\tbecause\nt1\td2\t\teveryone\t\n",
    "label table": b"topic\tdocument\tm1\tm2\nt1\td1\t1\t0\nt1\td2\t2\t\n",
    "leaderboard": b"tag,date,score,group\nr1,2021-01-02,0.5,a\nr2,2021/03/04,0.75,b\n",
    "LLM labels": b"t1 Q0 d1 2 0.75 judge\nt1 Q0 d2 0 1 judge\nt2 Q0 d1 0 .5 judge\n",
    "umbrela": b'{"qid": "t1", "docid": "d1", "judgment": 2}\n{"qid": "t1", "docid": "d2", "judgment": 0}\n',
    "topic scores": b"r1 AP t1 0.5\nr1 AP t2 .25\nr1 AP all 0.375\n",
    "names": b"name,email\nAda,ada@example.org\nBob,bob@example.org\n",
    "UBI": UBI_EVENT,
    "UBI queries": UBI_QUERY,
    "packed UBI": zipped(events__json=UBI_EVENT, queries__json=UBI_QUERY),
    "packed clicks": zipped(
        clicks__tsv=b"session\tquery_id\trank\tdoc_id\ns\t1\t1\ta\n",
        shown__tsv=b"query_id\trank\tdoc_id\n1\t1\ta\n1\t2\tb\n",
    ),
    "prel": b"t1 0 d1 s1 1\nt1 0 d2 s1 -1\nt2 0 d1 *all 0\n",
    "ratings": b'query,docid,rating\n"red, shoes",d1,3\nblue,d9,1\n',
    "judgement list": b'{"judgmentRatings": [{"query": "red", "ratings": [{"docId": "d1", "rating": "2.0"}]}]}',
    "query set": b'{"name": "s", "querySetQueries": [{"queryText": "red shoes"}, {"queryText": "hats"}]}',
    "release": smallest_release(),
    "settings": b"annotation_target_per_user\tannotation_target_per_judgement_pair\n5\t3\n",
    "snapshot": b"Snapshot Name,Snapshot Date,Case ID,Query Text,Doc ID,Doc Position\nmine,2021-01-01,1,blue,d1,1\n",
}
"""What the reader of each is made for, where it is none of the kinds above."""
DEEP = [
    b"[" * 30_000,
    b'{"a":' * 20_000,
    b"a = " + b"[" * 20_000,
    b"a." * 20_000 + b"b = 1\n",
    b"<a>" * 20_000,
    b"[[" * 9_000 + b"]]" * 9_000,
]


def campaign_file(stream) -> None:
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        file.write(stream.read())
        file.flush()
        CampaignFile(Path(file.name))


def known_pairs(stream) -> None:
    with tempfile.NamedTemporaryFile(suffix=".tsv") as file:
        file.write(stream.read())
        file.flush()
        read_gold_file(file.name, "given")


def packed_log(stream) -> None:
    """As the door does that takes it: what is no such archive is refused there."""
    if find_packed_clicks(stream) is None:
        raise FormatError.single("given", None, "no log of clicks", "two files")
    stream.seek(0)
    read_packed_clicks(stream)


def packed_ubi(stream) -> None:
    if find_packed_ubi(stream) is None:
        raise FormatError.single("given", None, "no UBI archive", "two files")
    stream.seek(0)
    read_packed_ubi(stream)


def release(stream) -> None:
    with open_release(stream, name="given"):
        pass


MORE = {
    "bundle": lambda f: read_bundle(f, TopicNames({}, set())),
    "leaderboard": read_leaderboard,
    "ratings": lambda f: read_ratings(f, name="x"),
    "judgement list": lambda f: read_ratings(f, name="x"),
    "query set": read_topics,
    "snapshot": read_snapshot,
    "settings": read_fira_config,
    "prel": read_prel,
    "LLM labels": read_llm_qrels,
    "umbrela": read_llm_qrels,
    "topic scores": read_topic_scores,
    "TripClick": lambda f: read_tripclick(f, queries=io.BytesIO(QUERIES)),
    "packed clicks": packed_log,
    "UBI": read_ubi,
    "UBI queries": lambda f: read_ubi(io.BytesIO(UBI_EVENT), queries=f),
    "packed UBI": packed_ubi,
    "release": release,
    "campaign file": campaign_file,
    "known pairs": known_pairs,
    "label table": read_label_table,
    "names": lambda f: read_names(f.read().decode("utf-8", "replace")),
}
ALL_READERS = {name: reader for name, (reader, _, _) in READERS.items()} | MORE


@pytest.mark.parametrize("kind", ALL_READERS)
def test_every_reader_reads_or_refuses_the_files_of_all_the_others_and_pieces_of_them(kind):
    reader, rng, files = ALL_READERS[kind], random.Random(kind), whole_files(kind)
    n_refused = 0
    for content in [*files, *map(gzip.compress, files)] + [
        mixed(rng, rng.choice(files), files) for _ in range(1500)
    ]:
        stream = io.BytesIO(content)
        stream.name = "given"
        try:
            reader(stream)
        except FormatError:
            n_refused += 1
    assert n_refused > 100


def whole_files(kind: str) -> list[bytes]:
    """A file of each kind that there is, of others that people bring, and as many times what this
    reader is made for."""
    others = (
        [text.encode() for texts in EXAMPLES.values() for text in texts]
        + list(OTHERS.values())
        + DEEP
    )
    if kind in OWN:
        return others + [OWN[kind]] * len(others)
    _, header, pattern = READERS[kind]
    return others + [
        header + b"\n".join(pattern % n if b"%d" in pattern else pattern for n in range(4))
    ] * len(others)


@pytest.mark.parametrize("kind", OWN)
def test_what_a_reader_is_made_for_is_read(kind):
    """Else its changed files would be refused at their begin, and show nothing of what stands
    behind it."""
    stream = io.BytesIO(OWN[kind])
    stream.name = "given"
    ALL_READERS[kind](stream)


def test_every_reader_there_is_is_held_to_it():
    """By the source of the table above: a new `read_…` of a format has to stand in it."""
    source = "".join(
        Path(one.__file__).read_text(encoding="utf-8")
        for one in (test_hostile, sys.modules[__name__])
    )
    names = set()
    for one in pkgutil.iter_modules(formats.__path__):
        module = importlib.import_module(f"{formats.__name__}.{one.name}")
        names |= {
            name
            for name, made in vars(module).items()
            if name.startswith("read_") and getattr(made, "__module__", "") == module.__name__
        }
    inner = {"read_json", "read_snapshots", "read_toml"}  # of what another has opened
    assert len(names) > 10
    assert {
        name
        for name in names - inner
        if f"{name}(" not in source and f": {name}," not in source and f"({name}," not in source
    } == set()


def mixed(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    changed = bytearray(content[:5000])
    for _ in range(rng.choice([1, 2, 4])):
        at = rng.randrange(len(changed) + 1)
        if rng.random() < 0.4:
            del changed[at : at + rng.randrange(1, 6)]
        else:
            changed[at:at] = rng.choice(PIECES) if rng.random() < 0.5 else rng.choice(others)[:50]
    return bytes(changed)


@pytest.mark.parametrize(
    ("kind", "content", "says"),
    [
        ("names", b"name,email\rAda,ada@example.org\r,\r", ""),
        (
            "names",
            b"name\nAda" + b"x" * 200 + b"\n",
            "name or email address is too long, expected at most 200",
        ),
        ("prel", b"t1 0 d1 s1 99999999999999999999\n", "is not a grade"),
        ("prel", b"t1 0 d1 s1 " + b"9" * 5000 + b"\n", "is not a grade"),
        ("campaign file", b"a = " + b"[" * 20_000, "nested too deeply"),
        (
            "campaign file",
            b"a." * 20_000 + b"b = 1\n",
            "a key with too many parts",
        ),  # took the square of their number of memory
        ("campaign file", b'"a b" . ' * 20_000 + b"b = 1\n", "a key with too many parts"),
        ("campaign file", b"a = " + b"2" * 5000 + b"\n", "a number with fewer digits"),
        (
            "known pairs",
            OWN["known pairs"].replace(b"\t2\t", b"\t" + b"2" * 5000 + b"\t"),
            "expected a grade of the scale",
        ),
        ("TripClick", OWN["TripClick"].replace(b'"b"', rb'"\ud800b"'), "not a record of clicks"),
        (
            "runs",
            b"1 Q0 d 1 2 t\n1 Q0 e 2 1 " + b"x" * 2000 + b"\n",
            "is too long for a run tag",
        ),  # its square was taken of memory
    ],
)
def test_what_once_ended_in_another_error(kind, content, says):
    """Found by `make fuzz`."""
    if says:
        assert says in refusal(ALL_READERS[kind], content)
    else:
        ALL_READERS[kind](io.BytesIO(content))


def test_names_of_an_old_mac_are_read():
    assert read_names("name,email\rAda,ada@example.org\r") == [("Ada", "ada@example.org")]


def test_archives_whose_list_is_broken_hold_no_log():
    whole = OWN["packed clicks"]
    assert find_packed_clicks(io.BytesIO(whole)) is not None
    at = whole.index(b"PK\x01\x02")  # the list at the end
    nameless = whole[: at + 28] + b"\0\0" + whole[at + 30 :]
    for content in (nameless, whole[:at] + whole[at + 3 :], whole[7:]):
        assert find_packed_clicks(io.BytesIO(content)) is None


def test_a_release_whose_list_names_another_place_is_refused():
    whole = OWN["release"]
    moved = (
        whole[: whole.index(b"campaign.json") - 30] + whole[whole.index(b"campaign.json") :]
    )  # so that parts begin before the file does
    for content in (moved, whole[100:], whole[:-30] + whole[-20:]):
        assert "release" in refusal(ALL_READERS["release"], content)


def test_thousands_of_judges_of_one_name_are_numbered_in_one_go():
    """It took 45 s for 3,000 of them."""
    header = (
        "query,docid," + ",".join(["Ann"] * 20_000 + ["Ann#2"]) + "\nq,d" + ",1" * 20_001 + "\n"
    )
    read = ALL_READERS["Quepid book"](io.BytesIO(header.encode()))
    names = set(read.annotators)
    assert len(names) == 20_001
    assert {"Ann", "Ann#2", "Ann#3", "Ann#20000"} <= names


def refusal(reader, content: bytes) -> str:
    with pytest.raises(FormatError) as error:
        list(reader(io.BytesIO(content)) or ())
    return str(error.value)


@pytest.mark.parametrize(
    ("reader", "content", "way_out"),
    [
        (read_topics, OTHERS["html"], "an HTML page, expected <top> or <topic> records"),
        (read_run, OTHERS["zip"], "Unpack the archive and upload its files"),
        (read_run, XLSX, "save it as text with tabs"),
        (read_qrels, OTHERS["pdf"], "a PDF, expected text. Upload the documents as"),
        (read_run, b"1,Q0,d,1,2.5,t\n", "white space between columns, not commas"),
        (
            read_run,
            b"qid Q0 docno rank score tag\n1 Q0 d 1 2 t\n",
            "Lenient (--lenient) skips the header",
        ),
        (read_qrels, b"topic iter document grade\n1 0 d 1\n", "remove the header"),
        (read_run, b"1 Q0 d 1 2,5 t\n", "a decimal point, not a comma"),
        (
            read_run,
            b"1 d 1 2.5\n",
            "Lenient (--lenient) accepts three, `topic document rank`, and four, `topic document rank score`",
        ),
        (read_run, b"1 Q0 d 1 2.5 t x\n", "Lenient (--lenient) ignores additional columns"),
        (
            read_qrels,
            b"1 Q0 d 1 2.5 t\n",
            "a run has six columns: were the qrels and the run exchanged?",
        ),
        (
            read_documents,
            b'{"name": "d", "text": "x"}\n',
            "an ID under one of the names _id, id, docno",
        ),
        (
            read_topics,
            b'{"name": "d", "query": "x"}\n',
            "an ID under one of the names topic, topic_id",
        ),
    ],
)
def test_the_way_out_is_said(reader, content, way_out):
    assert way_out in refusal(reader, content)


def test_documents_are_neither_a_spreadsheet_nor_an_archive_in_an_archive(tmp_path):
    for content, says in (
        (XLSX, "a spreadsheet"),
        (zipped(inner__zip=OTHERS["zip"], b__txt=b"x"), "inner.zip is a zip archive"),
    ):
        path = tmp_path / "given.zip"
        path.write_bytes(content)
        with pytest.raises(FormatError, match=says):
            list(read_documents(path))


def test_four_columns_are_a_lenient_run():
    run = read_run(
        io.BytesIO(b"qid docid rank score\n7 b 1 0.5\n7 a 2 0.75\n"),
        lenient=True,
        name="folder/mine.tsv",
    )
    assert (run.tag, run.documents.tolist(), run.scores.tolist(), run.ranks.tolist()) == (
        "mine",
        [b"a", b"b"],
        [0.75, 0.5],
        [2, 1],
    )
    assert "header" in run.warnings[0]


TITLED = b'{"_id": "d1", "title": "One", "text": "first text"}\n'
SURE = {
    "topics": b"".join(b"%d\tred shoes for a child\n" % n for n in range(6)),
    "documents": TITLED * 2,
    "run": b"1 Q0 d 1 2.5 t\n1 Q0 e 2 1.5 t\n",
    "qrels": b"1 0 d 1\n1 0 e 0\n",
}


@pytest.mark.parametrize("is_a", SURE)
@pytest.mark.parametrize("brought_as", SURE)
def test_every_pair_of_kinds_is_told_apart(is_a, brought_as):
    assert conflicting_kind(io.BytesIO(SURE[is_a]), brought_as) == (
        None if is_a == brought_as else is_a
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"1\tshort text\n", "documents"),  # too few to tell
        (b"1 Q0 d 1\n1 Q0\n", "run"),  # a broken run is told its lines
        (b"1 Q0 d 1 2.5\n" * 9, "run"),
        (b'{"_id": "1", "text": "red shoes"}\n' * 3, "documents"),
        (b"<DOC>\n<DOCNO>1</DOCNO>x</DOC>", "documents"),
    ],
)
def test_what_may_be_of_the_kind_is_not_asked_about(content, kind):
    assert conflicting_kind(io.BytesIO(content), kind) is None


def test_most_lines_decide_so_that_one_broken_line_does_not_hide_the_kind():
    assert conflicting_kind(io.BytesIO(SURE["run"] * 20 + b"1 Q0 d\n"), "topics") == "run"
