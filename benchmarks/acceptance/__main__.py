"""`make acceptance`: measure the methods for sampled pools on real runs and judgements, and write
docs/evidence/sampling.md. Nothing here is tuned.

Use ARGS="--simulations 40" for a short run and ARGS="corrections late" for some parts. The results
of each part are stored in docs/evidence/sampling/, and the page is written from all of them. The
data are those of ASSAY_TEST_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

RESULTS_DIR = Path(__file__).parents[2] / "docs" / "evidence" / "sampling"


def measure_unpooled_runs(data: Path, simulations: int, seed: int) -> list[dict]:
    from assay.formats.qrels import read_qrels
    from assay.formats.runs import read_run
    from benchmarks.acceptance.campaigns import SETS
    from benchmarks.acceptance.late_runs import measure_left_out

    rows = []
    for name, level in (("dl21", 2), ("robust03", 1), ("clef15", 1)):
        qrels, folder, _ = SETS[name]
        paths = sorted((data / folder).iterdir())
        groups = [run_group(name, path.name) for path in paths]
        runs = [read_run(str(path), lenient=True) for path in paths]
        rows.append(
            {"set": name, "groups": len(set(groups))}
            | measure_left_out(runs, groups, read_qrels(str(data / qrels)), level=level)
        )
    return rows


def run_group(collection: str, file: str) -> str:
    """Return the group of a run. In robust03 each run has its own group. In other collections it is
    the start of the tag, at most four letters."""
    return (
        file
        if collection == "robust03"
        else file.removeprefix("bl_").split("_")[0].split("-")[0][:4]
    )


def measure_corrections(data: Path, simulations: int, seed: int) -> list[dict]:
    from benchmarks.acceptance.llm_judges import measure_corrections as measured

    return measured(data / "dl23-human-machine", simulations, seed)


def measure_judges(data: Path, simulations: int, seed: int) -> list[dict]:
    from benchmarks.acceptance.llm_judges import measure_judges as ranked

    return ranked(data / "llmjudge-2024")


def command_runner(name: str) -> Callable[[Path, int, int], list[dict]]:
    def part(data: Path, simulations: int, seed: int) -> list[dict]:
        from benchmarks.acceptance import campaigns

        return getattr(campaigns, name)(data, simulations, seed)

    return part


PARTS: dict[str, Callable[[Path, int, int], list[dict]]] = {
    "late_runs": measure_unpooled_runs,
    "judges": measure_judges,
    "relevant_first": command_runner("relevant_first"),
    "ordered_stop": command_runner("ordered_stop"),
    "sampled_stop": command_runner("sampled_stop"),
    "corrections": measure_corrections,
    "coverage": command_runner("coverage"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make acceptance ARGS=...", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which (default: all)")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not os.environ.get("ASSAY_TEST_DATA"):
        parser.error("ASSAY_TEST_DATA names the folder of real collections")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    RESULTS_DIR.mkdir(parents=True, exist_ok=True)
    for name in options.parts or PARTS:
        print(f"== {name}", flush=True)
        rows = PARTS[name](Path(os.environ["ASSAY_TEST_DATA"]), options.simulations, options.seed)
        kept = {"simulations": options.simulations, "seed": options.seed, "rows": rows}
        (RESULTS_DIR / f"{name}.json").write_text(
            json.dumps(kept, indent=1, default=float) + "\n", encoding="utf-8"
        )
    from benchmarks.acceptance.page import write_page

    write_page(RESULTS_DIR)


if __name__ == "__main__":
    main()
