"""Time from pressing a grade's key to the next document on the screen, in Chromium, over 200
judgements of generated texts of 300 words.

Every request to the judging API takes 300 ms longer (half each way), and 2% fail (request lost,
answer lost or server error, in turn). A script of this benchmark measures from the key event's time
stamp to the frame that shows the new document. The browser's own Event Timing is reported too. The
peer is a page that shows the next document when the server has answered, as most tools do: the time
from the same key to the answer to that judgement.

    python -m benchmarks bench_judging_page
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MEDIAN_MS, LIMIT_P95_MS = 50.0, 100.0
READING_MS = 450
DELAY_MS, FAILING = 300, 0.02

WATCH_SCRIPT = """
({ delay, failing }) => {
  let asked = 0, turn = 0;
  const every = Math.round(1 / failing);
  const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const real = window.fetch;
  window.bench = { shown: [], answered: [], failed: 0, browser: [] };
  window.fetch = async (input, init) => {
    if (!String(input).includes('/api/v1/judging/')) return real(input, init);
    const since = pressed;
    const fails = (asked += 1) % every === every >> 1 ? (turn += 1) % 3 : -1;
    if (fails >= 0) window.bench.failed += 1;
    await rest(delay / 2);
    if (fails === 0) throw new TypeError('lost on the way');
    if (fails === 1) return new Response('', { status: 503 });
    const response = await real(input, init);
    await rest(delay / 2);
    if (fails === 2) throw new TypeError('answer lost');
    if (String(input).endsWith('/judgements') && since) window.bench.answered.push(performance.now() - since);
    return response;
  };
  let pressed = 0, waits = false;
  document.addEventListener('keydown', (event) => { pressed = event.timeStamp; waits = true; }, true);
  new MutationObserver(() => {
    if (!waits || !document.querySelector('#document .doc-title')) return;
    waits = false;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.bench.shown.push(performance.now() - pressed);
      port2.postMessage(0);
    });
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.name === 'keydown') window.bench.browser.push(entry.duration);
  }).observe({ type: 'event', durationThreshold: 16 });
}
"""


def compute_percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def generate_text(rng: random.Random) -> str:
    words = [
        "exercise",
        "sugar",
        "the",
        "of",
        "in",
        "trial",
        "patients",
        "lowers",
        "walking",
        "evening",
        "diet",
        "with",
        "and",
        "after",
        "weeks",
    ]
    sentences = [" ".join(rng.choices(words, k=15)).capitalize() + "." for _ in range(20)]
    return "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, 20, 5))


def measure_page(n_judgements: int) -> dict[str, Any]:
    """Measure the judging page in a separate process, with the settings and the temporary database
    of the tests."""
    import django

    django.setup()
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.core.servers.basehttp import (
        ThreadedWSGIServer,
        WSGIRequestHandler,
        get_internal_wsgi_application,
    )
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, browser_path, session_cookie
    from tests.browser.judging import make_job

    class Silent(WSGIRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    path = browser_path()
    if path is None:
        raise RuntimeError("no Chromium was found in PATH or at ASSAY_TEST_CHROMIUM")
    call_command("migrate", verbosity=0)
    rng = random.Random(5)
    texts = [generate_text(rng) for _ in range(n_judgements + 1)]
    campaign, ada = make_job(n_documents=len(texts), texts=texts)
    server = ThreadedWSGIServer(("127.0.0.1", 0), Silent)
    server.set_app(StaticFilesHandler(get_internal_wsgi_application()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        context = browser.new_context(viewport={"width": 1280, "height": 860})
        context.add_cookies([session_cookie(ada.user, url)])
        context.add_init_script(
            f"({WATCH_SCRIPT})({json.dumps({'delay': DELAY_MS, 'failing': FAILING})})"
        )
        page = context.new_page()
        page.goto(f"{url}/judge/{campaign.slug}/")
        page.locator("html[data-complete]").wait_for(timeout=30_000)
        page.wait_for_timeout(1500)
        grade = 1
        for _ in range(n_judgements):
            # Never the same grade twice: the page treats the same key, pressed soon after a
            # document was
            # painted, as a double press.
            grade = rng.choice([other for other in range(1, 5) if other != grade])
            page.wait_for_timeout(READING_MS)
            page.wait_for_function(
                "() => !document.querySelector('.grade-button[data-place]')?.disabled"
            )
            before = page.evaluate("window.bench.shown.length")
            page.keyboard.press(str(grade))
            page.wait_for_function("n => window.bench.shown.length > n", arg=before, timeout=30_000)
        page.locator("#chip[data-status=saved]").wait_for(timeout=60_000)
        figures = page.evaluate("window.bench")
        browser.close()
    server.shutdown()
    from annotation.models import Judgement

    figures["stored"] = Judgement.objects.filter(membership=ada).count()
    return dict(figures)


def main(quick: bool = False) -> list[dict[str, object]]:
    n = 30 if quick else 200
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "benchmarks.bench_judging_page", "--measure", str(n)]
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(
            run.stderr.strip().splitlines()[-1]
            if run.stderr.strip()
            else "the measuring process failed"
        )
    measured = json.loads(run.stdout.splitlines()[-1])
    shown, answered = measured["shown"], measured["answered"]
    if measured["stored"] != n:
        raise RuntimeError(f"{measured['stored']} of {n} judgements arrived")
    median, p95 = statistics.median(shown), compute_percentile(shown, 0.95)
    browser = statistics.median(
        [*measured["browser"], *[16.0] * max(0, n - len(measured["browser"]))]
    )
    note = (
        f"median {median:.0f} ms, p95 {p95:.0f} ms, slowest {max(shown):.0f} ms; Event Timing median {browser:.0f} ms; "
        f"{measured['failed']} requests failed, all {n} judgements stored"
    )
    return [
        {
            "work": f"key press to next displayed document, median of {n}",
            "peer": "limit of 50 ms",
            "ratio": LIMIT_MEDIAN_MS / median,
            "at_least": 1.0,
            "note": note,
        },
        {
            "work": f"key press to next displayed document, p95 of {n}",
            "peer": "limit of 100 ms",
            "ratio": LIMIT_P95_MS / p95,
            "at_least": 1.0,
            "note": "",
        },
        {
            "work": "key press to next displayed document, median",
            "peer": "waiting for the server's answer, 300 ms away",
            "ratio": statistics.median(answered) / median,
            "at_least": 5.0,
            "note": f"waiting: median {statistics.median(answered):.0f} ms",
        },
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--measure", type=int, default=0, help="judgements; prints the raw figures as JSON"
    )
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure_page(arguments.measure)))
    else:
        for row in main():
            print(row)
