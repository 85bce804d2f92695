"""quality.check: run the project's own commands, in order, each within its time, where the agent runs too."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from samuel.agents.process_files import log_path
from samuel.attempt.workplace import Workplace
from samuel.base.errors import SamuelError
from samuel.checks.check_reports import OUTPUT, CheckReports, NodeVersion
from samuel.checks.verdict import how_failed
from samuel.confine import sandbox as sandboxes
from samuel.events import QualityCheck
from samuel.events.loop import CheckRun
from samuel.evidence.corner import REPEATS, Corner
from samuel.evidence.reports.failure_kinds import kind_of_failure
from samuel.evidence.reports.suite import CaseResult, SuiteReport
from samuel.git.hardening import path_outside
from samuel.history.notices import CheckEnded, CheckStarted
from samuel.process import spawn
from samuel.trust.commands import canary, quality, task_checks

TAIL = 4096


class RunCommands:
    """Runs all commands, also after one failed: the next attempt sees everything that is wrong."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        is_container = place.settings.sandbox.kind not in (sandboxes.HOST, "bwrap")
        # It is asked outside of the sandbox, so never one that an agent could have written.
        outside = {**place.environment, "PATH": path_outside(place.environment, place.root)}
        self._node = NodeVersion(outside, is_container=is_container)

    def __call__(self, event: QualityCheck) -> dict[str, Any]:
        if event.dry_run:
            return {"ok": True, "reason": "a dry run runs no commands"}
        if why := self._refusal(event.commands):
            raise SamuelError(why)
        runs, failures = [], []
        self._place.built_in_checks.remember(partial(self.again, event))
        for number, command in enumerate(event.commands, 1):
            run, how = self._run(command, number, event)
            runs.append(msgspec.to_builtins(run))
            if how:
                message = f"`{command}` {how}"
                failure = {"source": "default", "command": command, "message": message}
                failures.append({**failure, "output_tail": run.output_tail})
        reason = "; ".join(failure["message"] for failure in failures)
        return {
            "ok": not failures,
            "failures": failures,
            "checks": runs,
            **({"reason": reason} if failures else {}),
        }

    def _refusal(self, commands: list[str]) -> str:
        """Why a command may not run, or "". Those of samuel.toml and of tasks came with the project; any other was
        typed by the user who fired the event."""
        settings = self._place.settings
        count = len(settings.quality_checks)
        is_projects = tuple(commands[:count]) == settings.quality_checks
        if is_projects and (why := self._place.refusal(quality(settings))):
            return why
        if not (rest := commands[count:] if is_projects else commands) or not self._place.tasks.exists:
            return ""
        tasks = [(task.id, task.checks) for task in self._place.tasks.load() if task.checks]
        own = {command for _, checks in tasks for command in checks}
        return self._place.refusal(task_checks(settings.name, tasks)) if own.intersection(rest) else ""

    def before_work(self, event: QualityCheck) -> tuple[CheckRun, ...]:
        """The commands on the verified tree, which is shown; nothing if they may not run."""
        if self._refusal(event.commands):
            return ()
        runs = (self.again(event, command, "before", "") for command in event.commands)
        return tuple(run for run in runs if run is not None)

    def again(self, event: QualityCheck, command: str, corner: Corner, line: str) -> CheckRun | None:
        """Run one command of the event on the tree that is shown now, or `line` in its place."""
        if command not in event.commands:
            return None
        if corner == "canary" and (why := self._place.refusal(canary(self._place.settings))):
            raise SamuelError(why)
        number = event.commands.index(command) + 1
        run, _ = self._run(line or command, number, event, corner, repeated=corner in REPEATS)
        return msgspec.structs.replace(run, command=command)

    def _run(
        self, command: str, number: int, event: QualityCheck, corner: Corner = "own", *, repeated: bool = False
    ) -> tuple[CheckRun, str]:
        """The run of a command, and how it failed; "" if it passed."""
        room = self._place.check_directory.path
        directory = room or Path(event.project_root)
        state = self._place.check_directory.state or self._place.state
        reports = CheckReports(directory, state, self._place.environment, self._node)
        seconds = event.deadline_ms / 1000
        output = bytearray()

        def keep_tail(chunk: bytes) -> None:
            output.extend(chunk)
            del output[:-OUTPUT]

        argv, place = ["/bin/sh", "-c", command], self._place
        asked_for = reports.prepare(command, number)
        env = {**place.environment, **place.check_directory.variables, **_own_names(event), **asked_for}
        place.watch(CheckStarted(command))
        began = place.clock.monotonic()
        if room is not None:  # there are no compiled files of others in a clean room
            env.pop("PYTHONPYCACHEPREFIX", None)
        around = dataclasses.replace(place.check_confinement, root=directory)
        with sandboxes.confined(argv, place.settings.sandbox, around, env) as confined:
            finished = spawn.run(
                confined.argv,
                cwd=str(directory),
                env=confined.env,
                pass_fds=confined.pass_fds,
                timeout=seconds,
                output_limit=1 << 62,  # a check may write as much as it likes: only the tail is kept
                keep=OUTPUT,
                on_output=keep_tail,
            )
        seconds_taken = place.clock.monotonic() - began
        ended_well = finished.ended == "exited" and finished.returncode == 0
        report = reports.read(bytes(output), has_passed=ended_well)
        passed = ended_well and not (report and report.failed)
        if not self._shows_hidden_tests(event, corner):
            self._log(
                event, f"$ {command}  ({'ok' if passed else 'failed'}, {seconds_taken:.1f} s)", bytes(output)
            )
        text = output.decode("utf-8", "replace")
        tail = text[-TAIL:]
        if room is not None:  # an agent that reads this works in the project, and not in the room
            tail = tail.replace(str(directory), str(self._place.root))
        self._place.watch(CheckEnded(command, passed, seconds_taken, tail, repeated, corner))
        run = CheckRun(
            command=command,
            passed=passed,
            exit_code=finished.returncode if finished.ended == "exited" else None,
            seconds=round(seconds_taken, 3),
            output_tail=tail,
            tests=_listed(report),
            ran=report.ran if report else None,
            kinds={id: test.failure or "error" for id, test in report.tests.items() if test.result == "failed"}
            if report
            else None,
            failure_kind="error" if passed else kind_of_failure(text),
        )
        how = {
            "timed_out": f"was killed after {seconds:g}s",
            "not_started": f"could not be started: {finished.why}",
        }.get(finished.ended, how_failed(run))
        return run, "" if passed else how

    def _shows_hidden_tests(self, event: QualityCheck, corner: Corner) -> bool:
        """Whether the output may show acceptance tests that the worker is not to see: it can read the logs."""
        about = event.mode == "acceptance" or corner in ("acceptance", "acceptance before")
        return about and not self._place.settings.acceptance_visible

    def _log(self, event: QualityCheck, head: str, output: bytes) -> None:
        """Write the output of a check below this line to the logs of its iteration, beside the agent's."""
        if not event.iteration:
            return
        path = log_path(self._place.state, event.run_id or "", event.iteration, "checks")
        self._place.append(path, f"{head}\n".encode() + output + b"\n")


def _listed(report: SuiteReport | None) -> dict[str, CaseResult] | None:
    """Each test of a report; None if it does not name all of them, or is only printed and names none."""
    if report is None or not report.lists_passed or (report.is_printed and not report.tests):
        return None
    return report.results


def _own_names(event: QualityCheck) -> dict[str, str]:
    """The variables from which a check knows its task, and a `samuel` in it that it may not change tasks."""
    task = {"SAMUEL_TASK_ID": str(event.task["id"])} if event.task.get("id") else {}
    if not event.run_id:
        return task
    return {
        **task,
        "SAMUEL_RUN_ID": event.run_id,
        "SAMUEL_STEP": "check",
        "SAMUEL_ITERATION": str(event.iteration),
        "SAMUEL_MODE": event.mode,
        "SAMUEL_METHODOLOGY": event.methodology,
        "SAMUEL_PROJECT_ROOT": event.project_root,
    }
