"""`make bench`: every comparison, side by side in one run; the table goes to benchmarks/RESULTS.md.

Absolute times are noise on a shared machine. The ratios are the result.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

BENCHMARKS = (
    "bench_dispatch",
    "bench_journal",
    "bench_emit",
    "bench_run_hooks",
    "bench_agents",
    "bench_exec",
    "bench_python",
    "bench_confined",
    "bench_wasm",
    "bench_oci",
    "bench_discovery",
    "bench_start",
    "bench_tasks",
    "bench_context",
    "bench_memory",
    "bench_loop",
    "bench_lanes",
    "bench_routing",
    "bench_session",
    "bench_shell",
    "bench_guard",
    "bench_evidence",
    "bench_corners",
)


def main(names: list[str]) -> None:
    from measure import Row

    rows: list[Row] = []
    environment = dict(os.environ)
    for name in names or BENCHMARKS:
        os.environ.clear()  # one may set a HOME of its own; the next looks for its clients below the user's
        os.environ.update(environment)
        with tempfile.TemporaryDirectory(prefix="samuel-bench-") as scratch:
            for row in importlib.import_module(name).run(Path(scratch)):
                print(f"{row.verdict.strip('*').ljust(6)}  {row.what}: {row.ratio} (aim {row.aim})", flush=True)
                print(f"        {row.ours}  beside  {row.other}", flush=True)
                rows.append(row)
    if not names:
        write(rows)


def write(rows: list) -> None:
    file = HERE / "RESULTS.md"
    notes = file.read_text().partition("## Notes")[2] if file.exists() else "\n"
    lines = [
        "# Benchmark results",
        "",
        f"`make bench` on {platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}.",
        "Times are p50 / p95. What is compared took turns within one run: the ratios are the result.",
        "A row has an aim where missing it is a defect.",
        "",
        "| what | ours | the other | ratio | aim | |",
        "|---|---|---|---|---|---|",
        *("| " + " | ".join((*row[:5], row.verdict)).rstrip() + " |" for row in rows),
        "",
        "## Notes",
    ]
    file.write_text("\n".join(lines) + notes)


if __name__ == "__main__":
    main(sys.argv[1:])
