"""quality.check: run the project's own commands, in order, each within its time, where the agent runs too."""

from __future__ import annotations

from typing import Any

from samuel.errors import SamuelError
from samuel.events import QualityCheck
from samuel.loop.reports import CheckEnded, CheckStarted
from samuel.loop.workplace import Workplace
from samuel.process import sandbox as sandboxes
from samuel.process import spawn
from samuel.trust.commands import quality

TAIL = 4096


class RunCommands:
    """Runs all commands, also after one failed: the next attempt sees everything that is wrong."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, event: QualityCheck) -> dict[str, Any]:
        if event.dry_run:
            return {"ok": True, "reason": "a dry run runs no commands"}
        settings = self._place.settings
        # Commands of samuel.toml came with the project; others were typed by the user who fired the event.
        if tuple(event.commands) == settings.quality_checks and (why := self._place.refusal(quality(settings))):
            raise SamuelError(why)
        failures = [failure for command in event.commands if (failure := self._run(command, event))]
        reason = "; ".join(failure["message"] for failure in failures)
        return {"ok": not failures, "failures": failures, **({"reason": reason} if failures else {})}

    def _run(self, command: str, event: QualityCheck) -> dict[str, Any] | None:
        seconds = event.deadline_ms / 1000
        output = bytearray()

        def keep_tail(chunk: bytes) -> None:
            output.extend(chunk)
            del output[:-TAIL]

        argv, place = ["/bin/sh", "-c", command], self._place
        env = {**place.environment, **_own_names(event)}
        place.watch(CheckStarted(command))
        with sandboxes.confined(argv, place.settings.sandbox, place.confinement, env) as confined:
            finished = spawn.run(
                confined.argv,
                cwd=event.project_root,
                env=confined.env,
                pass_fds=confined.pass_fds,
                timeout=seconds,
                output_limit=1 << 62,  # a check may write as much as it likes: only the tail is kept
                keep=TAIL,
                on_output=keep_tail,
            )
        passed = finished.ended == "exited" and finished.returncode == 0
        self._log(event, command, bytes(output), passed)
        tail = output.decode("utf-8", "replace")
        self._place.watch(CheckEnded(command, passed, finished.duration, tail))
        if passed:
            return None
        how = {
            "timed_out": f"was killed after {seconds:g}s",
            "not_started": f"could not be started: {finished.why}",
        }.get(finished.ended, f"ended with exit code {finished.returncode}")
        return {"source": "default", "command": command, "message": f"`{command}` {how}", "output_tail": tail}

    def _log(self, event: QualityCheck, command: str, output: bytes, passed: bool) -> None:
        """Write the output of a check to the logs of its iteration, beside the agent's."""
        if not event.iteration:
            return
        path = self._place.logs / f"iteration-{event.iteration:04}-checks.log"
        self._place.append(path, f"$ {command}  ({'ok' if passed else 'failed'})\n".encode() + output + b"\n")


def _own_names(event: QualityCheck) -> dict[str, str]:
    """The variables from which a `samuel` in a check knows that it may not change tasks."""
    if not event.run_id:
        return {}
    return {
        "SAMUEL_RUN_ID": event.run_id,
        "SAMUEL_STEP": "check",
        "SAMUEL_ITERATION": str(event.iteration),
        "SAMUEL_MODE": event.mode,
        "SAMUEL_METHODOLOGY": event.methodology,
        "SAMUEL_PROJECT_ROOT": event.project_root,
    }
