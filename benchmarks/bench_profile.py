"""Profile of the processor time of one judgement by part, in milliseconds, compared with the
version before its optimisation.

    python -m benchmarks.bench_profile [--quick] [--databases postgresql sqlite]

Requests and campaign are those of `bench_requests`. A profiler slows down calls, so only the shares
come from it. The milliseconds are these shares of the time measured without it in the same run.
"""

from __future__ import annotations

import argparse
import json
import tempfile

from benchmarks.bench_requests import EARLIER_COMMIT, ROOT, FilledInstallation, checkout

REQUESTS = ["judgement and next leases", "judge page"]


def measure_parts(installation: FilledInstallation, rounds: int) -> dict[str, dict[str, float]]:
    """Measure each request of REQUESTS. Returns milliseconds by request and part."""
    cpu = json.loads(installation.run("--measure", str(rounds)))
    shares = json.loads(installation.run("--profile", str(rounds)))
    return {
        name: {part: share * cpu[name]["cpu_ms"] for part, share in shares[name].items()}
        for name in REQUESTS
    }


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("postgresql", "sqlite")
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for vendor in vendors:
        with tempfile.TemporaryDirectory() as folder, checkout(EARLIER_COMMIT) as before:
            versions = [
                FilledInstallation(code, vendor, folder)
                for code in (ROOT, before)
                if code is not None
            ]
            ours, *then = [measure_parts(version, 16 if quick else 80) for version in versions]
            for version in versions:
                version.drop()
        for name in REQUESTS:
            parts = sorted(
                {*ours[name], *(then[0][name] if then else {})},
                key=lambda part: -(then or [ours])[0][name].get(part, 0.0),
            )
            for part in parts:
                now = ours[name].get(part, 0.0)
                old = then[0][name].get(part, 0.0) if then else None
                rows.append(
                    {
                        "work": f"{name}, {vendor}: {part}",
                        "peer": "version 0.1.0",
                        "ratio": old / now if old and now else None,
                        "note": f"{now:.2f} ms of processor time"
                        + (f" compared with {old:.2f}" if old is not None else "; no history here"),
                    }
                )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["postgresql", "sqlite"])
    options = parser.parse_args()
    for found in main(options.quick, tuple(options.databases)):
        print(found)
