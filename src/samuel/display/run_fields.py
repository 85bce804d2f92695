"""The fields of a run in the data of `--json`."""

from __future__ import annotations

from typing import Any

from samuel.history.run import Run


def run_fields(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "methodology": run.methodology,
        "agent": run.agent,
        "exit_reason": run.exit_reason or "",
        "iterations_run": run.iterations_run,
        "max_iterations": run.max_iterations,
        "outcomes": run.outcomes,
        "usage": run.usage,
    }
