"""The execution script: `create` a call, `run` it.

Running one is PreAbilityCall, the ability, its record, PostAbilityCall, in this order. What hooks made of the
input is what runs, and it is checked again. A call runs once: its record is what happened, not what happened last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.abilities.execution import check
from samuel.abilities.execution import nesting as family
from samuel.abilities.execution.call import AbilityCall, CallStatus, shortened, summary
from samuel.abilities.execution.call_store import CallStore, new_key
from samuel.abilities.execution.check import CallRefused
from samuel.abilities.execution.leftovers import settle_killed
from samuel.abilities.execution.program import ProgramResult
from samuel.abilities.model import Ability, PromptImplementation
from samuel.abilities.registry import Registry
from samuel.clock import Clock, iso
from samuel.dispatch.record import Fired
from samuel.errors import SamuelError, UsageError
from samuel.events import Event, PostAbilityCall, PreAbilityCall
from samuel.files.json import excerpt
from samuel.hooks.match import SCOPE

STDERR_KEPT = 8 * 1024  # characters in the record

_encode = msgspec.json.Encoder(order="deterministic").encode

_REPORTED: dict[CallStatus, Literal["success", "failure", "skipped"]] = {
    CallStatus.SUCCESS: "success",
    CallStatus.FAILURE: "failure",
    CallStatus.SKIPPED: "skipped",
    CallStatus.KILLED: "failure",
}


Perform = Callable[[Ability, Mapping[str, Any], Mapping[str, str], str], ProgramResult]
"""Runs an ability: its input, variables that are the call's own, and the call's key."""


class CreatedCall(NamedTuple):
    """A call that can be run, or why there is none."""

    key: str = ""
    warnings: tuple[str, ...] = ()
    refused: CallRefused | None = None


class CallResult(NamedTuple):
    call: AbilityCall
    warnings: tuple[str, ...] = ()
    stopped: str = ""
    """Why a hook that must not fail, and did, makes this a failure although the ability worked."""

    @property
    def ok(self) -> bool:
        return self.call.status is CallStatus.SUCCESS and not self.stopped


@dataclass(frozen=True)
class AbilityRunner:
    """The abilities of one project, ready to be called."""

    registry: Registry
    calls: CallStore
    clock: Clock
    fire: Callable[[Event], Fired]
    perform: Perform
    refusal: Callable[[Ability], str]
    """Why somebody's word is missing for it."""
    environment: str = ""
    session: str = ""
    parent: str = ""
    """The key of the call whose process this is."""
    run_id: str = ""
    """The run that this is part of. What an ability starts is inside of one, and cannot change what is trusted."""
    handed_on: Mapping[str, str] = field(default_factory=dict)
    """Variables for programs of abilities that call others."""

    def create(self, name: str, given: Any, intent: str = "") -> CreatedCall:
        """Check everything that can be checked before; only then is there a folder."""
        settle_killed(self.calls)
        try:
            ability = self.registry.find(name)
        except UsageError as error:
            return CreatedCall(refused=CallRefused(error.message, error.hint))
        if refused := self._refused(ability) or check.input_of(ability, given):
            return CreatedCall(refused=refused)
        call = AbilityCall(
            key=new_key(self.clock.now()),
            ability_id=ability.id,
            created=iso(self.clock.now()),
            status=CallStatus.CREATED,
            operation_key=ability.operation_key,
            intent=shortened(intent or ability.summary, 1000),
            environment=self.environment,
            session=self.session,
            parent=self.parent,
        )
        self.calls.add(call, given)
        unchecked = "it has no `input_schema`: the input was not checked"
        return CreatedCall(call.key, () if ability.input_schema is not None else (unchecked,))

    def run(self, key: str) -> CallResult:
        """Run a call that was created. SamuelError if it cannot begin; whatever comes then is in its record."""
        settle_killed(self.calls)
        with self.calls.running(key):
            call, asked = self.calls.load(key), self.calls.input(key)
            if call.status is not CallStatus.CREATED:
                hint = "a call runs only once; `samuel ability create` makes another"
                raise SamuelError(f"`{key}` has run already, with the status `{call.status.value}`", hint)
            ability = self.registry.find(call.ability_id)
            if refused := self._refused(ability) or check.input_of(ability, asked):
                raise SamuelError(refused.reason, refused.suggestion)
            if self.parent:
                self.calls.add_child(self.parent, key)
            call = replace(
                call,
                status=CallStatus.RUNNING,
                environment=self.environment,
                session=self.session or call.session,
                parent=self.parent,
                pid=os.getpid(),
                started=iso(self.clock.now()),
            )
            self.calls.save(call, asked)
            began = self.clock.monotonic()
            try:
                return self._run(ability, call, asked)
            except KeyboardInterrupt:
                self._interrupted(ability, key, asked, began)
                raise

    def _interrupted(self, ability: Ability, key: str, asked: Any, began: float) -> None:
        settle_killed(self.calls)
        call = self.calls.load(key)
        if call.status is not CallStatus.RUNNING:  # only the hooks after it were
            return
        call = replace(
            call,
            status=CallStatus.KILLED,
            ended=iso(self.clock.now()),
            duration_ms=self._since(began),
            error="interrupted",
            children=self.calls.children(key),
        )
        self.calls.save(call, asked)
        self._told(ability, call, asked, asked if call.final_input is UNSET else call.final_input, ())

    def _refused(self, ability: Ability) -> CallRefused | None:
        if refused := check.implemented(ability) or check.in_environment(ability, self.environment):
            return refused
        objection = family.objection(ability, self.parent, self.environment, self.calls, self.registry)
        if why := objection or self.refusal(ability):
            reason, _, suggestion = why.partition("; ")
            return CallRefused(reason, suggestion)
        return None

    def _run(self, ability: Ability, call: AbilityCall, asked: Any) -> CallResult:
        before = self.fire(
            PreAbilityCall(
                **self._names(ability, call), planned_input_summary=_planned(call, asked), tool_input=asked
            )
        )
        assert isinstance(before.event, PreAbilityCall)
        final = before.event.tool_input
        if not _same(final, asked):
            call = replace(call, final_input=final)
            self.calls.save(call, asked)  # before it runs: it may be killed
        started = self.clock.monotonic()
        if before.stopped:
            done = ProgramResult("", error=before.reason)
            status = CallStatus.SKIPPED
            call = replace(call, messages=tuple(before.messages))
        else:
            done = self._performed(ability, call, final, before.event.event_id)
            status = CallStatus.FAILURE if done.error else CallStatus.SUCCESS
            settle_killed(self.calls)  # those that it made, and that ended with it
        call = replace(
            call,
            status=status,
            ended=iso(self.clock.now()),
            duration_ms=self._since(started) if done.ran else 0,
            ran=done.ran,
            output=done.output if status is CallStatus.SUCCESS else UNSET,
            error=done.error,
            stderr=done.stderr[-STDERR_KEPT:],
            children=self.calls.children(call.key),
        )
        warnings = (*before.warnings, *done.warnings, *self._recorded(call, asked))
        return self._told(ability, call, asked, final, warnings)

    def _performed(self, ability: Ability, call: AbilityCall, given: Any, event_id: str) -> ProgramResult:
        if refused := check.input_of(ability, given):
            return ProgramResult("", error=f"after the hooks, {refused.reason}")
        if why := self.refusal(ability):  # again: hooks take their time, and its file may be another one by now
            return ProgramResult("", error=f"after the hooks, {why}")
        own = {
            family.VARIABLE: call.key,
            "SAMUEL_RUN_ID": self.run_id or call.key,
            "SAMUEL_ABILITY_ID": ability.id,
            "SAMUEL_EVENT_ID": event_id,
            **({"SAMUEL_SESSION_ID": call.session} if call.session else {}),
            **({"SAMUEL_ENV": self.environment} if self.environment else {}),
            **(
                self.handed_on
                if ability.calls and not isinstance(ability.implementation, PromptImplementation)
                else {}
            ),
        }
        done = self.perform(ability, given, own, call.key)
        if done.error or not (wrong := check.output_of(ability, done.output)):
            return done
        return done._replace(error=f"{wrong}; it gave {excerpt(_encode(done.output), 500)}")

    def _recorded(self, call: AbilityCall, asked: Any) -> tuple[str, ...]:
        """The last record. It ran: what came of it must not be lost with a full disk, or a folder that is gone."""
        try:
            self.calls.save(call, asked)
        except (SamuelError, OSError) as error:
            why = error.message if isinstance(error, SamuelError) else error.strerror
            return (f"its record cannot be written: {why}",)
        return ()

    def _since(self, began: float) -> float:
        return round((self.clock.monotonic() - began) * 1000, 3)

    def _told(
        self, ability: Ability, call: AbilityCall, asked: Any, final: Any, warnings: tuple[str, ...]
    ) -> CallResult:
        """PostAbilityCall, and what hooks made of the output."""
        after = self.fire(
            PostAbilityCall(
                **self._names(ability, call),
                status=_REPORTED[call.status],
                duration_ms=call.duration_ms,
                input_summary=_planned(call, final),
                output_summary=shortened(call.error) if call.output is UNSET else summary(call.output),
                tool_call_path=self.calls.path(call.key),
                tool_input=final,
                original_input=asked,
                tool_output=call.output,
            )
        )
        assert isinstance(after.event, PostAbilityCall)
        warnings = (*warnings, *after.warnings)
        if call.status is CallStatus.SUCCESS and not _same(after.event.tool_output, call.output):
            call = replace(call, output=after.event.tool_output, output_replaced=True)
            warnings = (*warnings, *self._recorded(call, asked))
            if wrong := check.output_of(ability, call.output):
                warnings = (*warnings, f"after the hooks, {wrong}")
        return CallResult(call, warnings, after.reason if after.stopped else "")

    def _names(self, ability: Ability, call: AbilityCall) -> dict[str, Any]:
        """What both events say of the call."""
        return {
            "ability_id": ability.id,
            "operation_key": ability.operation_key or UNSET,
            "session_id": call.session or UNSET,
            # For hooks that are meant for some scopes only; one without a scope is known by its names.
            "extra": {SCOPE: list(ability.all_scopes)} if ability.all_scopes else UNSET,
        }


def _planned(call: AbilityCall, given: Any) -> str:
    """What for and with what, in one line."""
    return shortened(f"{call.intent} {summary(given)}")


def _same(one: Any, other: Any) -> bool:
    """As JSON: to Python, true is 1."""
    return _encode(one) == _encode(other)
