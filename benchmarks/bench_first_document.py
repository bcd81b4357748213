"""Time from opening the judging page to its first document on the screen, in Chromium on slow
networks with an empty browser cache.

    python -m benchmarks.bench_first_document [--quick]

A web server as started by `assay up`, on SQLite, behind the nginx of docs/how-to/deploy.md
(HTTP/2), with generated documents of 300 words. The browser's own emulation gives each request the
latency and bandwidth of a profile, but does not count connection handshakes: 1.6 Mbit/s down and
768 kbit/s up, with 150 ms (fast 3G in WebPageTest and Lighthouse) and with 300 ms (WebPageTest's
3G). Each visit is by another annotator in its own browser context. Versions alternate, and the peer
of a ratio is the limit of one second. The document arrives before the judging scripts, so the time
until it can be judged, with its grade buttons enabled, is reported too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.bench_overload import LoadedServer
from benchmarks.bench_requests import EARLIER_COMMIT, ROOT, FilledInstallation, checkout
from benchmarks.request_load import SLUG
from tests.installation import free_port
from tests.proxies import NAME, made_certificate, nginx

SITE = f"https://{NAME}"
LIMIT_MS = 1000.0
PROFILES = {"fast 3G (150 ms)": 150, "3G (300 ms)": 300}
"""Name of a network profile -> round-trip time in milliseconds."""
DOWN, UP = 1_600_000 / 8, 768_000 / 8
"""Bandwidth of all profiles in bytes per second."""

WATCH_SCRIPT = """
() => {
  const once = (selector, name) => new MutationObserver((_, observer) => {
    if (window[name] || !document.querySelector(selector)) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { window[name] = performance.now(); };
      port2.postMessage(null);
    });
  }).observe(document, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  once('#document .doc-title', 'shown');
  once('#grades button:enabled', 'ready');
}
"""
LOADED_SCRIPT = """
() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((entry) => entry.responseEnd && entry.responseEnd <= window.shown).reduce((sum, entry) => sum + entry.transferSize, 0)
"""


@contextmanager
def nginx_proxy(upstream: int, folder: Path) -> Iterator[int]:
    """Start nginx as documented, in front of the web server at `upstream`, and yield its HTTPS
    port."""
    folder.mkdir()
    certificate, key = made_certificate(folder)
    port = free_port()
    proxy = subprocess.Popen(
        nginx(folder, port, upstream, certificate, key), stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            except urllib.error.HTTPError:
                break  # an HTTPS response shows that the proxy is up
            except OSError:
                time.sleep(0.1)
        yield port
    finally:
        proxy.terminate()
        proxy.wait(timeout=30)


class PageVisit(NamedTuple):
    shown_ms: float
    n_bytes: float
    """Number of bytes transferred until then."""
    ready_ms: float


def measure_visit(browser: Any, session: dict[str, str], round_trip: int) -> PageVisit:
    with browser.new_context(
        viewport={"width": 1280, "height": 860}, ignore_https_errors=True
    ) as context:
        cookies = SimpleCookie(session["cookies"])
        context.add_cookies(
            [{"name": one.key, "value": one.value, "url": SITE} for one in cookies.values()]
        )
        context.add_init_script(f"({WATCH_SCRIPT})()")
        page = context.new_page()
        if round_trip:  # without a round-trip time, throttled files sometimes fail to load
            network = context.new_cdp_session(page)
            network.send("Network.enable")
            limits = {
                "offline": False,
                "latency": round_trip,
                "downloadThroughput": DOWN,
                "uploadThroughput": UP,
            }
            network.send("Network.emulateNetworkConditions", limits)
        page.goto(f"{SITE}/judge/{SLUG}/", wait_until="commit")
        page.wait_for_function("() => window.shown && window.ready", timeout=60_000)
        return PageVisit(
            page.evaluate("window.shown"),
            page.evaluate(LOADED_SCRIPT),
            page.evaluate("window.ready"),
        )


def format_visits(visits: list[PageVisit]) -> str:
    shown, n_bytes, ready = (statistics.median(values) for values in zip(*visits, strict=True))
    return f"median {shown:.0f} ms, {n_bytes / 1000:.0f} kB loaded, judgements accepted after {ready:.0f} ms"


def main(quick: bool = False) -> list[dict[str, object]]:
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import FLAGS, browser_path

    path = browser_path()
    if path is None or shutil.which("nginx") is None:
        raise RuntimeError("this needs Chromium (in PATH or at ASSAY_TEST_CHROMIUM) and nginx")
    visits = 3 if quick else 15
    with (
        tempfile.TemporaryDirectory() as folder,
        checkout(EARLIER_COMMIT) as before,
        sync_playwright() as playwright,
    ):
        versions: list[Path] = [code for code in (ROOT, before) if code is not None]
        installations = [FilledInstallation(code, "sqlite", folder) for code in versions]
        sessions = [
            json.loads(one.run("--sessions", str(len(PROFILES) * visits + 2)))
            for one in installations
        ]
        for one in installations:
            one.env.update(ASSAY_ALLOWED_HOSTS=f"127.0.0.1,{NAME}", ASSAY_TRUSTED_ORIGINS=SITE)
        took: dict[tuple[str, int], list[PageVisit]] = {}
        with ExitStack() as ends:
            browsers = []
            for i, one in enumerate(installations):
                server = LoadedServer(one, threads_only=one.code != ROOT)
                ends.callback(server.end)
                port = ends.enter_context(nginx_proxy(server.port, Path(folder) / f"proxy{i}"))
                to_proxy = f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{port}"
                browsers.append(
                    playwright.chromium.launch(executable_path=path, args=[*FLAGS, to_proxy])
                )
                ends.callback(browsers[-1].close)
            for browser, known in zip(browsers, sessions, strict=True):
                for _ in range(2):
                    measure_visit(
                        browser, known.pop(), 0
                    )  # each process has rendered its page once
            for _ in range(visits):
                for profile, round_trip in PROFILES.items():
                    for version, browser in enumerate(browsers):
                        took.setdefault((profile, version), []).append(
                            measure_visit(browser, sessions[version].pop(), round_trip)
                        )
    rows: list[dict[str, object]] = []
    for profile in PROFILES:
        ours, *then = [took[profile, version] for version in range(len(versions))]
        median = statistics.median(one.shown_ms for one in ours)
        note = f"{format_visits(ours)}; slowest {max(one.shown_ms for one in ours):.0f} ms of {len(ours)}"
        if then:
            note += f"; version 0.1.0: {format_visits(then[0])}"
        rows.append(
            {
                "work": f"from opening the address to the first displayed document, {profile}, empty cache",
                "peer": "limit of 1 s",
                "ratio": LIMIT_MS / median,
                "at_least": 1.0 if profile.startswith("fast") else None,
                "note": note,
            }
        )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    for found in main(parser.parse_args().quick):
        print(found)
