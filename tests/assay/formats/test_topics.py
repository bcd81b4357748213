"""Topics in all their forms."""

from __future__ import annotations

import io
import json

import pytest

from assay.formats.errors import FormatError
from assay.formats.topics import TopicRecord, read_topics


def given(text: str | bytes) -> list[TopicRecord]:
    return read_topics(
        io.BytesIO(text if isinstance(text, bytes) else text.encode()), name="topics"
    )


def problems(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(FormatError) as error:
        given(text)
    return [(p.line, p.problem) for p in error.value.problems]


CLASSIC = """<top>

<num> Number: 051
<dom> Domain:  Economics
<title> Topic:  Airbus
Subsidies

<desc> Description:
Document will discuss AT&amp;T.

<narr> Narrative:
A relevant document
will say so.
</top>

<top>
<num> Number: 52
<title> Two
</top>
"""


def test_trec_topics_with_open_tags():
    first, second = given(CLASSIC)
    assert first == TopicRecord(
        "051",
        "Airbus Subsidies",
        "Document will discuss AT&T.",
        "A relevant document\nwill say so.",
        {"dom": "Economics"},
        1,
    )
    assert (second.topic, second.text, second.line) == ("52", "Two", 16)


def test_trec_topics_in_xml_with_the_number_as_tag_or_attribute():
    found = given(
        '<?xml version="1.0" encoding="utf-8"?>\n<topics>\n '
        "<topic><number>1</number><title>lights &amp; more</title></topic>\n"
        ' <!-- a comment -->\n <topic number="2">\n  '
        "<query>a</query><question>b?</question><narrative>c</narrative>\n </topic>\n</topics>"
    )
    assert [t[:4] for t in found] == [("1", "lights & more", "", ""), ("2", "a", "b?", "c")]
    assert [t.line for t in found] == [3, 5]


def test_xml_that_is_not_well_formed_is_read_as_tagged_text():
    (found,) = given(
        "<topics><top><num>q1</num><query>red marks</query><type>most</disease></top></topics>"
    )
    assert (found.topic, found.text, found.fields) == ("q1", "red marks", {"type": "most"})


def test_topics_written_as_documents():
    assert [
        t[:2] for t in given("<DOC>\n<DOCNO> 1 </DOCNO>\n\n What articles\nexist?\n</DOC>\n")
    ] == [("1", "What articles exist?")]


@pytest.mark.parametrize(
    "markup",
    [
        (
            '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><topics><topic '
            'number="1"><title>&b;</title></topic></topics>'
        ),
        (
            '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><topics><topic '
            'number="1"><title>&x;</title></topic></topics>'
        ),
        '<!DOCTYPE t SYSTEM "http://example.org/t.dtd"><topics><topic number="1"><title>a</title></topic></topics>',
    ],
)
def test_xml_with_entities_or_document_types_is_refused(markup):
    with pytest.raises(FormatError, match="expected plain XML without entities"):
        given(markup)


@pytest.mark.parametrize(
    "text",
    [
        "7\tred shoes\n051\tblue\tshoes described\n",
        "qid\tquery\tdescription\n7\tred shoes\t\n051\tblue\tshoes described\n",
        "\tquery_id\tquery_text\tdescription\n0\t7\tred shoes\t\n1\t051\tblue\tshoes described\n",
        "topic_id,title,description,narrative\n7,red shoes,,\n051,blue,shoes described,\n",
        '{"_id": "7", "text": "red shoes"}\n\n{"_id": "051", "text": "blue", "description": "shoes described"}\n',
        '{"qid": 7, "query": "red shoes"}\n{"qid": "051", "title": "blue", "desc": "shoes described"}\n',
        ".I 7\n.W\nred\nshoes\n.I 051\n.W\nblue\n",
        "7 red shoes\n051 blue\n",
    ],
)
def test_other_forms_give_the_same_topics(text):
    found = given(text)
    assert [(t.topic, t.text) for t in found] == [("7", "red shoes"), ("051", "blue")]
    assert found[1].description == ("shoes described" if "described" in text else "")


def test_a_quote_in_a_tab_separated_topic_is_a_character():
    assert given('1\t"unfinished\n2\tb\n')[0].text == '"unfinished'


def test_a_csv_field_may_hold_commas_and_line_ends():
    found = given('topic_id,title\n1,"a, b\nc"\n2,d\n')
    assert [(t.topic, t.text, t.line) for t in found] == [("1", "a, b c", 2), ("2", "d", 4)]


def test_quepids_information_needs_name_topics_by_their_text():
    assert given("query,information_need\nred shoes,buy shoes\n")[0][:3] == (
        "red shoes",
        "red shoes",
        "buy shoes",
    )


def test_empty_text_is_kept_for_the_topic_check():
    assert given("1\t\n2\tb\n")[0].text == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "1\ta\n\tb\n1\tc\n",
            [(2, "a topic without ID"), (3, "duplicate topic 1 (first in line 1)")],
        ),
        ("1\ta\nno tab\n", [(2, "the tab is missing")]),
        ("qid\tquery\n1\ta\tb\n", [(2, "3 columns")]),
        (
            '{"_id": "1", "text": "a"}\n{"text": "b"}\n[1]\n{oops\n',
            [(2, "a topic without ID"), (3, "JSON, but not an object"), (4, "invalid JSON")],
        ),
        ("", [(None, "no topics")]),
        ("qid\tquery\n", [(None, "no topics")]),
        ("<html><body>no topics</body>", None),
        ("<top>\n<title> x\n</top>", [(1, "a topic without ID")]),
    ],
)
def test_mistakes_are_refused_with_their_line(text, expected):
    found = problems(text)
    assert expected is None or sorted(found, key=lambda p: p[0] or 0) == expected


QUERIES = '[{"queryText": "red  shoes"}, {"queryText": "hats", "referenceAnswer": "blue"}]'


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "s", "querySetQueries": ' + QUERIES + "}",
        '{"hits": {"hits": [{"_source": {"querySetQueries": ' + QUERIES + "}}]}}",
        '{"queryText": "red  shoes"}\n\n{"queryText": "hats", "referenceAnswer": "blue"}\n',
    ],
    ids=["query set", "answer of a search", "lines"],
)
def test_query_sets_of_opensearch_get_numbered_ids(text):
    topics = read_topics(io.BytesIO(text.encode()))
    assert [(one.topic, one.text, one.fields) for one in topics] == [
        ("q1", "red shoes", {}),
        ("q2", "hats", {"referenceanswer": "blue"}),
    ]


def test_a_query_of_opensearch_may_have_an_id():
    topics = read_topics(io.BytesIO(b'{"queryText": "red", "id": "7"}\n'))
    assert [one.topic for one in topics] == ["7"]


def test_a_query_set_with_another_query_is_refused():
    with pytest.raises(FormatError, match="query 2 of the query set has no queryText"):
        read_topics(io.BytesIO(b'{"querySetQueries": [{"queryText": "a"}, "b"]}'))


@pytest.mark.data
def test_the_query_set_of_opensearch_is_read_as_json_reads_it(data_folder):
    path = data_folder / "ubi/queryset.json"
    told = json.loads(path.read_text())["querySetQueries"]
    topics = read_topics(path)
    assert [one.topic for one in topics] == [f"q{n}" for n in range(1, len(told) + 1)]
    assert [one.text for one in topics] == [" ".join(one["queryText"].split()) for one in told]
