"""What becomes of a handler that fails with a reason: for every event, strict and not strict.

The reason is where its user looks: on the screen, and for events of a run in progress.md as well. What the caller
does depends on `strict`:

    event                        strict                              not strict
    init.before, sync.before     nothing is written, exit code 1     goes on
    init.after, sync.after       what is written stays, exit code 1  goes on
    tasks.read                   no task is read, exit code 1        other handlers count; without any, exit code 2
    before:loop, iteration.gate  the run ends, exit code 1           goes on
    agent.invoke                 the attempt fails                   the attempt fails: there is no other answer
    quality.check                the attempt fails                   the attempt fails: `ok: false` is its answer
    before:land                  the work waits for a person         it lands
    after:land, after:iteration,
    after:loop                   all is done, exit code 1            goes on
    PreAbilityCall               denied, exit code 2                 goes on
    PostAbilityCall              exit code 2                         goes on
    any other event of a run     the iteration is aborted            goes on
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

import msgspec
import pytest

from samuel.events import EVENTS, event_type, names
from samuel.events.schema import sample

REASON = "the reactor is too hot"

# Not before the first agent, where a failed check says something about the project and not about an attempt.
HOOK = """\
import samuel

@samuel.hook("{event}", strict={strict})
def failing(event):
    if hasattr(event, "commands") and event.iteration == 0:
        return None
    return {{"ok": False, "reason": "{reason}"}}
"""

RUN = ("run", "start", "--yes", "--iterations", "1")
LANES = ("run", "start", "--yes", "--parallel", "2")
ABORTED = (1, f"aborted: `failing` failed: {REASON}")
COMPLETED = (0, "completed (checked): 1 of 1 task completed")
COMPLETED_WITH_FAULT = (1, COMPLETED[1])
CALL = '{"ability_id": "shell", "status": "success"}'


class Caller(NamedTuple):
    """A command that fires the event, and its exit code and a line on the screen, strict and not strict."""

    command: tuple[str, ...]
    strict: tuple[int, str]
    not_strict: tuple[int, str]
    stdin: str = ""


CALLERS = {
    names.INIT_BEFORE: Caller(
        ("init", "new"),
        (1, "error: a hook stopped `samuel init`: `failing` failed: "),
        (0, "a Samuel project now"),
    ),
    names.INIT_AFTER: Caller(
        ("init", "new"), (1, "; the files are written and stay\n"), (0, "is a Samuel project now")
    ),
    names.SYNC_BEFORE: Caller(("sync",), (1, "error: a hook stopped the sync: "), (0, "wrote AGENTS.md")),
    names.SYNC_AFTER: Caller(
        ("sync",), (1, f"`failing` failed: {REASON}; the files are written and stay\n"), (0, "wrote AGENTS.md")
    ),
    names.TASKS_READ: Caller(
        ("run", "convert", "notes.txt"),
        (1, "error: a hook of `tasks.read` failed: "),
        (2, "error: `notes.txt` has no task"),
    ),
    names.BEFORE_LOOP: Caller(RUN, (1, "ended: strict_failure"), COMPLETED),
    names.ITERATION_GATE: Caller(RUN, (1, "ended: strict_failure"), COMPLETED),
    names.AGENT_INVOKE: Caller(RUN, (1, "agent_failed: "), (1, "agent_failed: ")),
    names.QUALITY_CHECK: Caller(
        RUN, (1, f"quality_failed: `failing` failed: {REASON}"), (1, f"quality_failed: `failing` failed: {REASON}")
    ),
    names.BEFORE_LAND: Caller(LANES, (1, "waits for you: task 1: "), COMPLETED),
    names.AFTER_LAND: Caller(LANES, COMPLETED_WITH_FAULT, COMPLETED),
    names.AFTER_ITERATION: Caller(RUN, COMPLETED_WITH_FAULT, COMPLETED),
    names.AFTER_LOOP: Caller(RUN, COMPLETED_WITH_FAULT, COMPLETED),
    names.PRE_ABILITY_CALL: Caller(
        ("emit", "PreAbilityCall"), (2, '"decision":"deny"'), (0, "the call goes on"), CALL
    ),
    names.POST_ABILITY_CALL: Caller(("emit", "PostAbilityCall"), (2, REASON), (0, "warning: "), CALL),
    # Only an agent reports these, through the commands of its bridge.
    names.SUBAGENT_STOP: Caller(
        ("emit", "SubagentStop"), (2, REASON), (0, "warning: "), '{"subagent": "explorer"}'
    ),
    names.NOTIFICATION: Caller(("emit", "Notification"), (2, REASON), (0, "warning: "), '{"message": "waits"}'),
    names.PRE_COMPACT: Caller(
        ("emit", "PreCompact"), (2, '"decision":"deny"'), (0, "warning: "), '{"trigger": "auto"}'
    ),
    names.CONFIG_CHANGE: Caller(
        ("emit", "ConfigChange"), (2, '"decision":"deny"'), (0, "warning: "), '{"source": "user_settings"}'
    ),
    **dict.fromkeys(
        (
            *(names.BEFORE_ITERATION, *names.CONTEXT, names.BEFORE_AGENT_INVOKE, names.AFTER_AGENT_INVOKE),
            *(names.SESSION_START, names.USER_PROMPT_SUBMIT),
            *(names.TURN_END, names.SESSION_STOP, names.SESSION_END),
        ),
        Caller(RUN, ABORTED, COMPLETED),
    ),
}


@pytest.fixture
def one_task(workshop):
    """A project with one task, committed: lanes begin with a commit."""
    workshop.store.change(lambda tasks: tasks[:1])
    for arguments in (
        ("add", "--force", "agent.sh", "samuel.toml"),
        ("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"),
        ("config", "user.name", "A"),
        ("config", "user.email", "a@example.com"),
    ):
        subprocess.run(["git", *arguments], cwd=workshop.root, check=True)
    return workshop


@pytest.fixture
def failing(machine):
    """Have a handler of this event fail with a reason: one of the user's own, which needs no trust."""

    def write(event: str, strict: bool) -> None:
        file = machine / ".samuel/hooks/failing.py"
        file.parent.mkdir(parents=True)
        file.write_text(HOOK.format(event=event, strict=strict, reason=REASON))

    return write


@pytest.mark.sampled(every=7)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not_strict"])
@pytest.mark.parametrize("event", [event.name for event in EVENTS])
def test_a_failure_does_what_strict_says_and_its_reason_is_where_the_user_looks(
    samuel, one_task, put, failing, event, strict
):
    caller = CALLERS[event]
    put("notes.txt", "Store prices one day\n")
    failing(event, strict)

    ran = samuel(*caller.command, stdin=caller.stdin)

    screen = ran.out + ran.err
    code, line = caller.strict if strict else caller.not_strict
    assert (ran.code, line in screen) == (code, True), screen
    assert REASON in screen
    if caller.command[:2] == ("run", "start"):
        progress = (one_task.root / ".samuel/run/progress.md").read_text()
        assert f"[hooks.warning] {event} plugin=failing hook=failing failed: {REASON}\n" in progress


@pytest.mark.sampled(every=7)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "not_strict"])
@pytest.mark.parametrize("event", [event.name for event in EVENTS if not event.irreversible])
def test_emit_ends_with_2_for_a_strict_failure_and_always_prints_the_reason(
    samuel, one_task, failing, event, strict
):
    failing(event, strict)
    payload = msgspec.json.encode(sample(event_type(event))).decode()
    if event == names.QUALITY_CHECK:
        payload = '{"commands": [], "iteration": 1}'

    ran = samuel("emit", event, stdin=payload)

    assert ran.code == (2 if strict else 0), ran.err
    assert REASON in ran.err


def test_every_event_has_a_caller():
    assert CALLERS.keys() == {event.name for event in EVENTS}
