"""Requests of the judging page to one web process, called without a server: processor time, elapsed
time and statements of each.

    python benchmarks/request_load.py --fill | --measure ROUNDS | --profile ROUNDS | --sessions N |
    --managers N | --audit FILE

Run it in the folder of the version to measure, with ASSAY_DATABASE_URL set. It only uses features
that every version has, so that `bench_requests` can run it in a checkout of an earlier one.
Statements are counted when they are sent to the database. Those that begin and end transactions are
counted separately.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

N_PAIRS, N_DOCUMENTS, WORDS = 30_000, 1_000, 300
SLUG, WINDOW, N_PAGES = "generated", 3, 8
PASSWORD = "only for measuring"


def set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("ASSAY_QUERY_SECONDS", "12")  # seconds, as in config/wsgi.py
    sys.path.insert(0, os.getcwd())
    django.setup()


def fill_database() -> None:
    """Create the campaign of `bench_claims`, with document texts and with guidelines that every
    annotator has read."""
    from django.core.management import call_command
    from django.db import connection

    from annotation.models import Campaign, GuidelineVersion, Membership

    try:
        from annotation.services.campaigns import lifecycle
    except ImportError:  # the version BEFORE
        from annotation.services import campaigns as lifecycle  # type: ignore[no-redef]
    from benchmarks import bench_claims
    from pooling.models import Collection, Document

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    bench_claims.fill_database(N_PAIRS)
    collection = Collection.objects.get()
    text = " ".join(f"word{i % 83}" for i in range(WORDS))
    documents = Document.objects.bulk_create(
        Document(collection=collection, docno=f"d{i}", title=f"Title {i}", text=text, n_words=WORDS)
        for i in range(N_DOCUMENTS)
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE pooling_poolentry SET document_id = {documents[0].pk} + position % {N_DOCUMENTS}"
        )
        cursor.execute("ANALYZE")
    lifecycle.save_guideline(
        Campaign.objects.get(),
        "# Guidelines\n\n" + "\n".join(f"- rule **{i}** of many" for i in range(40)),
    )
    Membership.objects.update(guideline_read=GuidelineVersion.objects.get().number)
    Campaign.objects.update(min_active_seconds=0)


def create_session(member: Any) -> dict[str, str]:
    """Create a signed-in session for this member. Returns `cookies`, the value of the header, and
    the `csrf` token in it."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.middleware.csrf import _get_new_csrf_string

    session, csrf = SessionStore(), _get_new_csrf_string()
    session[SESSION_KEY] = str(member.user_id)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = member.user.get_session_auth_hash()
    session.create()
    return {"cookies": f"sessionid={session.session_key}; csrftoken={csrf}", "csrf": csrf}


def create_sessions(n: int) -> list[dict[str, str]]:
    """Create sessions of n new annotators with one password, named crowd0, crowd1, ... (continuing
    after the last one)."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import User

    from annotation.models import Campaign, GuidelineVersion, Membership

    campaign, newest = Campaign.objects.get(), GuidelineVersion.objects.get().number
    hashed, first = (
        make_password(PASSWORD),
        User.objects.filter(username__startswith="crowd").count(),
    )
    users = User.objects.bulk_create(
        User(username=f"crowd{first + i}", password=hashed) for i in range(n)
    )
    rows = [
        Membership(
            campaign=campaign,
            user=user,
            role="annotator",
            pseudonym=f"C{i}",
            seed=i,
            guideline_read=newest,
        )
        for i, user in enumerate(users, first)
    ]
    return [create_session(member) for member in Membership.objects.bulk_create(rows)]


def create_managers(n: int) -> list[dict[str, str]]:
    """Create sessions of n new users who may see everything."""
    from django.contrib.auth.models import User

    from annotation.models import Campaign, Membership

    campaign = Campaign.objects.get()
    users = [User.objects.create_superuser(f"boss{i}", password=None) for i in range(n)]
    return [
        create_session(
            Membership.objects.create(
                campaign=campaign, user=user, role="manager", pseudonym=f"M{i}", seed=i
            )
        )
        for i, user in enumerate(users)
    ]


def audit_judgements(accepted: list[str]) -> dict[str, int]:
    """Count accepted judgements that are not stored, and wrong counters. The judgements are given
    by key."""
    from annotation.models import Campaign, Judgement
    from annotation.selectors.judging import check_invariants

    stored = {
        str(key)
        for key in Judgement.objects.filter(membership__pseudonym__startswith="C").values_list(
            "key", flat=True
        )
    }
    ours = [
        sentence
        for sentence in check_invariants(Campaign.objects.get())
        if not sentence.startswith("A")
    ]
    return {
        "n_accepted": len(accepted),
        "n_missing": len(set(accepted) - stored),
        "n_faults": len(ours),
    }


class AnnotatorPage:
    """A simulated judging page of one annotator: a session, and its leases."""

    def __init__(self, application: Callable[..., Any], signed_in: dict[str, str]) -> None:
        """Create the page of a signed-in annotator. signed_in: result of `create_session`."""
        self.application, self.csrf, self.cookies = (
            application,
            signed_in["csrf"],
            signed_in["cookies"],
        )
        self.held: list[str] = []

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the application and return the answer, parsed if it is JSON. Raises
        SystemExit unless the status is 200."""
        sent = b"" if body is None else json.dumps(body).encode()
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_COOKIE": self.cookies,
            "HTTP_X_CSRFTOKEN": self.csrf,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": io.BytesIO(sent),
            "wsgi.errors": sys.stderr,
            "wsgi.url_scheme": "http",
            "wsgi.version": (1, 0),
            "HTTP_ACCEPT": "application/json",
            "wsgi.multithread": True,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
        }
        stand: list[str] = []
        answer = self.application(environ, lambda status, headers, error=None: stand.append(status))
        text = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        if not stand[0].startswith("200"):
            raise SystemExit(f"{method} {path}: {stand[0]}: {text[:500]!r}")
        return text

    def api(self, path: str, **body: Any) -> bytes:
        return self.call("POST", f"/api/v1/judging/{SLUG}/{path}", body)

    def take(self, text: bytes) -> bytes:
        self.held += [pair["lease"] for pair in json.loads(text)["pairs"]]
        return text


class RequestMeter:
    """A counter of statements and transactions on all connections of this process since `start`."""

    def __init__(self) -> None:
        self.statements = self.transactions = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        from django.db import connection

        if connection.vendor == "postgresql":
            import psycopg

            plain = psycopg.Cursor.execute

            def execute(cursor: Any, *arguments: Any, **more: Any) -> Any:
                self.statements += 1
                return plain(cursor, *arguments, **more)

            psycopg.Cursor.execute = execute  # type: ignore[method-assign]
            try:
                yield
            finally:
                psycopg.Cursor.execute = plain  # type: ignore[method-assign]
        else:

            def wrapper(run: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
                self.statements += not sql.startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"))
                return run(sql, values, many, context)

            with connection.execute_wrapper(wrapper):
                yield


def make_requests(
    n_newcomers: int,
) -> tuple[list[AnnotatorPage], dict[str, Callable[[AnnotatorPage], bytes]]]:
    """Create N_PAGES annotators' pages with leases, and return them with their requests. The first
    leases are requested once each by `n_newcomers` other annotators."""
    from django.core.wsgi import get_wsgi_application

    from annotation.models import Membership

    application = get_wsgi_application()
    members = list(Membership.objects.select_related("user").order_by("pk")[:N_PAGES])
    pages = [AnnotatorPage(application, create_session(member)) for member in members]
    newcomers = [
        AnnotatorPage(application, signed_in) for signed_in in create_sessions(n_newcomers)
    ]
    for page in pages:
        page.take(page.api("leases", want=WINDOW, held=[]))
    judged = {
        "cannot_reason": "",
        "note": "",
        "spans": [],
        "active_ms": 4000,
        "idle_ms": 0,
        "hidden_ms": 0,
        "wall_ms": 4500,
        "guideline_version": 1,
        "device": "keyboard",
    }

    def judgement(page: AnnotatorPage) -> bytes:
        lease = page.held.pop(0)
        return page.take(
            page.api(
                "judgements",
                key=str(uuid.uuid4()),
                lease=lease,
                grade=1,
                want=WINDOW,
                held=page.held,
                **judged,
            )
        )

    requests: dict[str, Callable[[AnnotatorPage], bytes]] = {
        "judgement and next leases": judgement,
        "first leases": lambda page: newcomers.pop().api("leases", want=WINDOW + 1, held=[]),
        "leases, none needed": lambda page: page.api("leases", want=WINDOW, held=page.held),
        "leases of a reloaded page": lambda page: page.api("leases", want=WINDOW, held=[]),
        "renew": lambda page: page.api("leases/renew", leases=page.held),
        "setup": lambda page: page.call("GET", f"/api/v1/judging/{SLUG}/setup"),
        "judge page": lambda page: page.call("GET", f"/judge/{SLUG}/"),
    }
    return pages, requests


PARTS = [
    (
        "database statements",
        ("/django/db/", "psycopg", "sqlite3", "/sqlite/", "/connections.py"),
    ),
    ("templates and translations", ("/django/template", "/django/utils/translation", "gettext")),
    ("REST framework, JSON", ("/rest_framework/", "/json/", "_json", "orjson", "msgspec")),
    (
        "rest of Django (middleware, session, sign-in, routing, cookies)",
        ("/django/", "/http/", "hashlib", "hmac", "/asgiref/"),
    ),
    ("Assay's own code", ("/annotation/", "/pooling/", "/analysis/", "/config/")),
]
"""Parts of a request, each with substrings of its files' names, or of function names for C code.
The first match counts."""


def classify_function(file: str, function: str) -> str:
    where = f"{function} " if file == "~" else file
    return next(
        (part for part, marks in PARTS if any(mark in where for mark in marks)),
        "Python and other",
    )


def profile_requests(rounds: int) -> dict[str, dict[str, float]]:
    """Profile each request by cProfile over `rounds`. Returns the share of its processor time in
    each part, 0 to 1."""
    import cProfile
    import pstats

    pages, requests = make_requests(rounds + N_PAGES)
    shares: dict[str, dict[str, float]] = {}
    for name, request in requests.items():
        for page in pages:
            request(page)
        profiler = cProfile.Profile(time.process_time)
        for i in range(rounds):
            profiler.runcall(request, pages[i % len(pages)])
        spent: dict[str, float] = {}
        for (file, _, function), (_, _, own, _, callers) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
            if file != "~":
                part = classify_function(file, function)
                spent[part] = spent.get(part, 0.0) + own
                continue
            for (caller, _, calling), (
                _,
                _,
                own_there,
                _,
            ) in callers.items():  # C code: classified by its own name or by its caller
                part = classify_function("~", function)
                part = (
                    classify_function(caller, calling)
                    if part == classify_function("~", "")
                    else part
                )
                spent[part] = spent.get(part, 0.0) + own_there
        shares[name] = {part: own / sum(spent.values()) for part, own in spent.items()}
    return shares


def measure_requests(rounds: int) -> dict[str, dict[str, float]]:
    """Measure each request over `rounds`. Returns the medians of cpu_ms, wall_ms, statements and
    bytes."""
    pages, requests = make_requests(rounds + 2 * N_PAGES)
    times_of: dict[str, dict[str, float]] = {}
    for name, request in requests.items():
        for page in pages:
            request(page)  # warm up
        meter = RequestMeter()
        with meter.counting():
            sizes = [len(request(page)) for page in pages]
        cpu, wall = [], []
        for i in range(rounds):
            page, began, worked = pages[i % len(pages)], time.perf_counter(), time.process_time()
            request(page)
            cpu.append((time.process_time() - worked) * 1000)
            wall.append((time.perf_counter() - began) * 1000)
        times_of[name] = {
            "cpu_ms": statistics.median(cpu),
            "wall_ms": statistics.median(wall),
            "statements": meter.statements / len(pages),
            "bytes": statistics.median(sizes),
        }
    return times_of


if __name__ == "__main__":
    set_up_django()
    if sys.argv[1:] == ["--fill"]:
        fill_database()
    elif sys.argv[1] == "--sessions":
        print(json.dumps(create_sessions(int(sys.argv[2]))))
    elif sys.argv[1] == "--managers":
        print(json.dumps(create_managers(int(sys.argv[2]))))
    elif sys.argv[1] == "--audit":
        with open(sys.argv[2], encoding="ascii") as listed:
            print(json.dumps(audit_judgements(json.load(listed))))
    elif sys.argv[1] == "--profile":
        print(json.dumps(profile_requests(int(sys.argv[2]))))
    else:
        print(json.dumps(measure_requests(int(sys.argv[2]))))
