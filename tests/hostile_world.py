"""An installation in which every text by users and from files is hostile: it tries to become code
in a page, a script, a chart, a spreadsheet, a template or LaTeX. `problems_of` returns which of it
succeeded in a response.

Hostile texts are recognised by name: only they contain elements, attributes and handlers called
`x-zq…` or `zq`.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.utils import timezone

from analysis.models import Report
from annotation.models import (
    ApiTokenRow,
    AuditEvent,
    Campaign,
    Feedback,
    GuestPanel,
    GuidelineVersion,
    Invitation,
    Judgement,
    LlmJudge,
    LlmLabel,
    Membership,
    OpenSession,
    Pair,
    Question,
    Webhook,
    WebhookMessage,
)
from pooling.models import (
    Collection,
    Document,
    DocumentFile,
    Job,
    Pool,
    PoolEntry,
    Qrels,
    Run,
    Topic,
)
from pooling.services.topics import decide_topics
from tests.test_urls_by_role import Brought, World

OVERRIDE = "\u202e"
SHORT = f"=\"'><x-zq-a onload=zq()>{{{{40|add:2}}}}zq</script><script>zq()</script>{OVERRIDE}\x07"
"""A hostile text. It begins as a formula, closes an attribute, an element and a script, opens
others, is a template, reverses the direction of writing, and rings the bell."""
LONG = (
    SHORT
    + """ x-zq-b=1 onmouseover=zq() ' x-zq-c=1 --><x-zq-d></title></textarea></style></svg>]]><img src=x onerror=zq()><svg/onload=zq()>
<a href="javascript:zq()">a</a> [b](javascript:zq()) ![c](javascript:zq()) <javascript:zq()> &lt;x-zq-e&gt; &#60;x-zq-f&#62; {% now "Y" %} ${zq()} %s %(zq)s {0}
=cmd|'/C calc'!A1 \\input{zq}\\write18{zq}$\\frac{1$_^&#~ javascript:zq() """
    + "W" * 300
)
ADDRESS = "https://evil.example/\"'><x-zq-g>"


def say(short: str) -> str:
    return SHORT + short


def call(short: str) -> str:
    """Return a hostile file name. The program keeps the part after the last slash."""
    return f"=\"'><x-zq-a onload=zq()>{{{{40|add:2}}}}zq{OVERRIDE}{short}"


def word(short: str) -> str:
    """Return a hostile text without white space, for IDs and tags."""
    return f"={short}\"'><x-zq-h/onload=zq()>{{{{40|add:2}}}}zq</script><script>zq()</script>]]>{OVERRIDE}\\input{{zq}}$_^&#~%s"


def brought(tail: str = "") -> Brought:
    """Return the world's files with hostile texts and IDs. tail: end of each ID and tag."""
    t, u, v = (word(topic) + tail for topic in ("051", "7", "8"))
    a, b, d, x = (word(docno) + tail for docno in "abdx")
    topics = {t: "Type 2 diabetes", u: "type 2  DIABETES", v: "#1 or #2"}
    first, second, third = (word(tag) + tail for tag in "ABW")
    run = f"{t} Q0 {a} 1 9 TAG\n{t} Q0 {b} 2 8 TAG\n{u} Q0 {x} 1 9 TAG\n"
    documents = [
        {"_id": a, "title": LONG.replace("\n", " "), "text": LONG + "\0", LONG[:60]: LONG},
        {"_id": b, "text": LONG},
    ]
    return Brought(
        say=say,
        call=call,
        topics="".join(f"{topic}\t{text} {SHORT}\n" for topic, text in topics.items()),
        runs=(
            run.replace("TAG", first),
            f"{t} Q0 {b} 1 9 {second}\n{t} Q0 {d} 2 8 {second}\n",
            run.replace("TAG", third),
        ),
        documents="".join(json.dumps(document) + "\n" for document in documents),
        qrels=f"{t} 0 {a} 1\n{t} 0 {b} 0\n",
        pair=(t, a),
    )


def fill(world: World) -> None:
    """Set every text of the world that does not come from files and forms, as if a user had entered
    it."""
    campaign, collection = world.campaign, world.collection
    member, pair = (
        Membership.objects.get(user=world.people["annotator"], campaign=campaign),
        campaign.pairs.order_by("pk")[0],
    )
    ApiTokenRow.objects.create(user=member.user, name=SHORT, digest="0" * 64)
    Feedback.objects.create(membership=member, score="GOOD", text=LONG)
    AuditEvent.objects.create(
        campaign=campaign,
        actor=world.people["manager"],
        action="exported",
        subject=SHORT,
        details={SHORT: LONG, "text": LONG},
    )
    session = Session.objects.create(
        session_key="k" * 32, session_data="", expire_date=timezone.now()
    )
    OpenSession.objects.create(user=member.user, session=session, device=SHORT[:60])
    Collection.objects.update(description=LONG)
    Topic.objects.update(description=LONG, narrative=LONG, fields={SHORT: LONG}, same_as=word("7"))
    last = collection.topics.order_by("position").last()
    assert last is not None
    decide_topics(
        collection, {last.pk: "remove"}, user=world.people["manager"], reasons={last.pk: SHORT}
    )
    DocumentFile.objects.update(warnings=[LONG])
    Run.objects.update(group=SHORT, description=LONG, warnings=[LONG])
    Qrels.objects.update(warnings=[LONG])
    Pool.objects.update(source=SHORT)
    Document.objects.update(title=LONG)
    battle = PoolEntry.objects.filter(document__isnull=False).order_by("pk")[0]
    PoolEntry.objects.filter(pk=battle.pk).update(
        other_docno=word("b"), other_document=battle.document, systems=[[word("A"), word("B")]]
    )
    problem = {"line": 1, "problem": LONG, "expected": LONG, "text": LONG}
    for job in Job.objects.all():
        report = job.report if isinstance(job.report, dict) else {}
        Job.objects.filter(pk=job.pk).update(
            message=LONG,
            report={
                **report,
                "warnings": [LONG],
                "problems": [problem],
                "n_problems": 1,
                "facts": {**report.get("facts", {}), SHORT: LONG},
            },
        )
    scale = [
        {**grade, "name": f"{grade['name']}{SHORT}", "explanation": LONG, "example": LONG}
        for grade in campaign.scale
    ]
    Campaign.objects.update(
        description=LONG,
        paused_reason=LONG,
        scale=scale,
        consent_text=LONG,
        thanks_text=LONG,
        completion_url=ADDRESS,
        completion_code=SHORT[:40],
        publication={"title": LONG, "contact": SHORT, "authors": [{"name": SHORT}]},
        further_questions=[
            {"key": "ease", "title": SHORT, "prompt": LONG, "scale": scale, "min_relevant": 1}
        ],
    )
    GuidelineVersion.objects.update(note=SHORT)
    Membership.objects.update(note=LONG, status_reason=LONG)
    GuestPanel.objects.update(name=SHORT[:60])
    webhook = Webhook.objects.create(
        campaign=campaign, name=SHORT[:100], url=ADDRESS, form="text", site="https://assay.example"
    )
    WebhookMessage.objects.create(
        webhook=webhook,
        event="webhook.test",
        key="test/1",
        body="{}",
        state="failed",
        due_at=timezone.now(),
        answer=LONG[:200],
    )
    Invitation.objects.update(name=SHORT, email=f"{SHORT}@example.org")
    Pair.objects.filter(pk=pair.pk).update(
        kind="gold",
        gold_grade=2,
        gold_explanation=LONG,
        adjudicated_grade=1,
        adjudicated_at=member.joined_at,
        adjudicated_reason=LONG,
    )
    Judgement.objects.update(note=LONG)
    LlmJudge.objects.update(
        endpoint=ADDRESS,
        prompt_name=SHORT[:60],
        prompt_text=LONG,
        guidelines=LONG,
        related=LONG[:500],
        troubles={SHORT: 2},
        scale=scale,
    )
    LlmLabel.objects.update(answer=LONG)
    Question.objects.update(answer=LONG)
    Report.objects.update(title=SHORT, warnings=[LONG], command=LONG)
    for user in User.objects.all():
        User.objects.filter(pk=user.pk).update(
            first_name=SHORT, last_name=SHORT, username=f"={user.username}{SHORT}"
        )
    collection.refresh_from_db()
    campaign.refresh_from_db()


ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "data",
    "poster",
    "xlink:href",
    "cite",
    "ping",
    "background",
    "hx-get",
    "hx-post",
    "hx-delete",
    "hx-put",
}
NEVER = {
    "iframe",
    "object",
    "embed",
    "base",
    "style",
    "frame",
    "applet",
    "foreignobject",
    "marquee",
}
NO_SCRIPTS = {"application/json", "importmap"}


class PageProblems(HTMLParser):
    """An HTML parser that reports hostile texts that became markup or code."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.forms: list[dict[str, Any]] = []
        self.texts = ""
        self._script: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "zq" in tag or tag in NEVER:
            self.found.append(f"<{tag}>")
        for name, value in given.items():
            if "zq" in name or name.startswith("on") or name in ("srcdoc", "style"):
                self.found.append(f"{tag} {name}={value[:60]}")
            if name in ("value", "title", "aria-label", "content"):
                self.texts += value
            if name in ADDRESSES:
                scheme = urlsplit(re.sub(r"[\x00-\x20]", "", value)).scheme.lower()
                if scheme not in ("", "http", "https", "mailto") and not value.startswith(
                    "data:image/"
                ):
                    self.found.append(f"{tag} {name}={value[:60]}")
        if tag == "script":
            self._script = given.get("type", "") if given.get("src") is None else None
            if given.get("src") is None and self._script not in NO_SCRIPTS:
                self.found.append("a script in the page")
            elif given.get("src") is not None and not str(given["src"]).startswith(
                ("/static/", "/api/docs?script=")
            ):
                self.found.append(f"a script of {given['src']}")
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.found.append("meta refresh")
        if tag == "form":
            self.forms.append(
                {
                    "action": given.get("action", ""),
                    "method": given.get("method", "get").lower(),
                    "fields": {},
                }
            )
        elif tag in ("input", "textarea", "select", "button") and self.forms and given.get("name"):
            self.forms[-1]["fields"].setdefault(
                given["name"], (given.get("type", tag), given.get("value", ""))
            )

    def handle_data(self, data: str) -> None:
        if self._script == "application/json" and data.strip():
            json.loads(data)
        self.texts += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._script = None

    def handle_comment(self, data: str) -> None:
        if "zq" in data:
            self.found.append("a comment")


def problems_of(answer: HttpResponse) -> tuple[list[str], PageProblems | None]:
    """Return the problems of a response of any type. If it is a page, its parsed elements are
    checked too."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    found = [
        f"{name}: {answer.headers[name]!r}"
        for name in answer.headers
        if re.search(rf"[\r\n\x07{OVERRIDE}]", str(answer.headers[name]))
    ]
    if answer.headers.get("X-Content-Type-Options") != "nosniff":
        found.append("a browser may guess what it is")
    if "Content-Security-Policy" not in answer.headers:
        found.append("no content security policy")
    if kind == "text/html":
        page = PageProblems()
        page.feed(content.decode())
        page.close()
        return found + page.found + raw_problems(content.decode()), page
    return found + file_problems(kind, content), None


def raw_problems(text: str) -> list[str]:
    """Return the problems that are visible in the bytes, however a parser reads them."""
    said = [
        "an element of a text"
        for _ in re.finditer(r"<x-zq|<script>zq|<img src=x|<svg/onload", text)
    ]
    return said + ["a template of a text was rendered" for _ in re.finditer("42zq", text)]


def file_problems(kind: str, content: bytes) -> list[str]:
    if kind == "image/svg+xml":
        return picture_problems(content)
    if kind == "text/csv":
        return cell_problems(content.decode())
    if kind == "application/zip":
        return archive_problems(content)
    if kind in ("image/png", "application/pdf"):
        return [] if content.startswith((b"\x89PNG\r\n", b"%PDF-")) else ["no picture"]
    if kind in ("application/json", "application/problem+json") and content:
        json.loads(content)
    return []


def picture_problems(content: bytes) -> list[str]:
    """Return the problems of an SVG image, which a browser may open by itself."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        return [f"no XML: {error}"]
    found = []
    for element in root.iter():
        tag = element.tag.rpartition("}")[2].lower()
        if "zq" in tag or tag in {*NEVER - {"style"}, "script", "a"}:
            found.append(f"<{tag}> in a picture")
        for name, value in element.attrib.items():
            bare = name.rpartition("}")[2].lower()
            if (
                bare.startswith("on")
                or "zq" in bare
                or (bare == "href" and not value.startswith("#"))
            ):
                found.append(f"{tag} {name}={value[:60]} in a picture")
    return found


def cell_problems(text: str, delimiter: str = ",") -> list[str]:
    found = []
    for row in csv.reader(io.StringIO(text), delimiter=delimiter):
        for cell in row:
            if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") and not re.fullmatch(
                r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan)|-", cell
            ):
                found.append(f"a cell {cell[:40]!r}")
    return found


def archive_problems(content: bytes) -> list[str]:
    kinds = {
        "svg": "image/svg+xml",
        "csv": "text/csv",
        "png": "image/png",
        "pdf": "application/pdf",
        "json": "application/json",
    }
    found = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if re.search(r"[^\w./ -]|\.\.|^/", name):
                found.append(f"a file called {name!r}")
            inside = archive.read(name)
            if name.endswith(".html"):
                page = PageProblems()
                page.feed(inside.decode())
                page.close()
                own = {"<style>"}  # a report is one file
                found += [
                    f"{name}: {one}"
                    for one in [*page.found, *raw_problems(inside.decode())]
                    if one not in own and not one.startswith("image")
                ]
            else:
                found += [
                    f"{name}: {one}"
                    for one in file_problems(kinds.get(name.rpartition(".")[2], ""), inside)
                ]
    return found
