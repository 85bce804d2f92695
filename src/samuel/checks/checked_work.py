"""What one run of all checks said: the commands, and what other handlers of `quality.check` found wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from samuel.checks.verdict import check_runs
from samuel.dispatch.record import Fired, HandlerCall
from samuel.dispatch.replies import stated_reason
from samuel.events.loop import CheckRun
from samuel.hooks.handler import Origin, Outcome

BUILT_IN = "default"  # the source of failures that the commands themselves report


class CheckedWork(NamedTuple):
    """What one run of all checks said."""

    runs: tuple[CheckRun, ...]
    other_failures: str
    """What handlers other than the built-in one found wrong, or why the check could not run; "" for nothing."""


def checked(fired: Fired) -> CheckedWork:
    """The result of `quality.check`: the commands that ran, and what else is wrong."""
    runs = check_runs(fired.result)
    if fired.ok:
        return CheckedWork(runs, "")
    ran = {run.command for run in runs}
    failures = [failure for failure in fired.result.get("failures") or () if not _is_of_a_run(failure, ran)]
    described = _described(failures)
    texts = [*([described] if described else ()), *_reasons(fired.calls, described)]
    if texts or not runs or all(run.passed for run in runs):
        return CheckedWork(runs, "\n\n".join(texts) or fired.reason or "a check failed")
    return CheckedWork(runs, "")


def _reasons(calls: Sequence[HandlerCall], described: str) -> list[str]:
    """Why handlers failed, without what the built-in one says of its commands, and what is described already."""
    enforced = [call for call in calls if call.would is None and not call.counts]
    failed = [
        call
        for call in enforced
        if (call.handler.origin is not Origin.BUILT_IN if call.outcome is Outcome.FAILED else call.strict)
    ]
    return [
        f"`{call.handler.name}` {call.outcome}: {call.message}"
        for call in failed
        if call.message not in described and (stated_reason(call.result) or not call.result.get("failures"))
    ]


def _is_of_a_run(failure: Mapping[str, Any], commands: set[str]) -> bool:
    return failure.get("source") == BUILT_IN and failure.get("command") in commands


def _described(failures: Sequence[Mapping[str, Any]]) -> str:
    """What the next attempt reads: each failure with the end of its output."""
    parts = [f"{failure.get('message', '')}\n{failure.get('output_tail') or ''}".strip() for failure in failures]
    return "\n\n".join(part for part in parts if part)
