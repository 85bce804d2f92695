"""quality.check: run the project's own commands, in order, each within its time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from samuel.events import QualityCheck
from samuel.process import spawn

TAIL = 4096


class RunCommands:
    """All commands run, also after one failed: the next attempt gets to see everything that is wrong."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __call__(self, event: QualityCheck) -> dict[str, Any]:
        failures = []
        for command in event.commands:
            if failure := self._run(command, event):
                failures.append(failure)
        return {"ok": not failures, "failures": failures, **({"reason": _reason(failures)} if failures else {})}

    def _run(self, command: str, event: QualityCheck) -> dict[str, Any] | None:
        output = bytearray()

        def keep_tail(chunk: bytes) -> None:
            output.extend(chunk)
            del output[:-TAIL]

        finished = spawn.run(
            ["/bin/sh", "-c", command],
            cwd=event.project_root,
            env=self._environment,
            timeout=event.deadline_ms / 1000,
            output_limit=1 << 62,  # a check may say as much as it likes: only the tail is kept
            on_output=keep_tail,
        )
        if finished.ended == "exited" and finished.returncode == 0:
            return None
        if finished.ended == "timed_out":
            message = f"`{command}` was killed after {event.deadline_ms / 1000:g}s"
        elif finished.ended == "not_started":
            message = f"`{command}` could not be started: {finished.why}"
        else:
            message = f"`{command}` ended with exit code {finished.returncode}"
        tail = output.decode("utf-8", "replace")
        return {"source": "default", "command": command, "message": message, "output_tail": tail}


def _reason(failures: list[dict[str, Any]]) -> str:
    return "; ".join(failure["message"] for failure in failures)
