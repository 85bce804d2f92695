"""Create calls of abilities and run them.

Running a call is PreAbilityCall, the ability, its record, PostAbilityCall, in this order. The ability gets the
input as hooks changed it, after another check. A call runs only once, so no second run overwrites its record.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from samuel.base.clock import Clock, iso
from samuel.base.errors import SamuelError, UsageError
from samuel.dispatch.record import Fired
from samuel.events import Event, PostAbilityCall, PreAbilityCall
from samuel.files.json import excerpt
from samuel.hooks.match import SCOPE
from samuel.routing.abilities.execution import check, nesting
from samuel.routing.abilities.execution.call import AbilityCall, CallStatus, shortened, summary
from samuel.routing.abilities.execution.call_store import CallStore, new_key
from samuel.routing.abilities.execution.check import CallRefused
from samuel.routing.abilities.execution.perform import ProgramResult
from samuel.routing.abilities.model import Ability, PromptImplementation
from samuel.routing.abilities.registry import Registry

STDERR_KEPT = 8 * 1024  # characters in the record

_encode = msgspec.json.Encoder(order="deterministic").encode

Perform = Callable[[Ability, Mapping[str, Any], Mapping[str, str], str], ProgramResult]
"""Runs an ability: the ability, its input, the call's variables, and the call's key."""


class CreatedCall(NamedTuple):
    """The key of a new call, or the reason why it was refused."""

    key: str = ""
    warnings: tuple[str, ...] = ()
    refused: CallRefused | None = None


class CallResult(NamedTuple):
    call: AbilityCall
    warnings: tuple[str, ...] = ()
    stopped: str = ""
    """Why a strict hook failed after the ability, which makes this a failure."""

    @property
    def ok(self) -> bool:
        return self.call.status is CallStatus.SUCCESS and not self.stopped


@dataclass(frozen=True)
class AbilityRunner:
    """Runs the abilities of one project."""

    registry: Registry
    calls: CallStore
    clock: Clock
    fire: Callable[[Event], Fired]
    perform: Perform
    refusal: Callable[[Ability], str]
    """Why an ability is not trusted; "" if it is."""
    environment: str = ""
    session: str = ""
    parent: str = ""
    """The key of the call that this process belongs to."""
    run_id: str = ""
    """The run that this is part of. The processes of an ability are inside a run, so they cannot trust."""
    handed_on: Mapping[str, str] = field(default_factory=dict)
    """Variables for programs of abilities that call others."""

    def create(self, name: str, call_input: Any, intent: str = "") -> CreatedCall:
        """Check a call and store it; a refused call is not stored."""
        nesting.settle_killed(self.calls)
        try:
            ability = self.registry.find(name)
        except UsageError as error:
            return CreatedCall(refused=CallRefused(error.message, error.hint))
        if refused := self._refused(ability) or check.input_of(ability, call_input):
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
        self.calls.add(call, call_input)
        unchecked = "it has no `input_schema`: the input was not checked"
        return CreatedCall(call.key, () if ability.input_schema is not None else (unchecked,))

    def run(self, key: str) -> CallResult:
        """Run a call that was created. SamuelError if it cannot start; later errors are in its record."""
        nesting.settle_killed(self.calls)
        with self.calls.running(key):
            call, original_input = self.calls.load(key), self.calls.input(key)
            if call.status is not CallStatus.CREATED:
                hint = "a call runs only once; `samuel ability create` makes another"
                raise SamuelError(f"`{key}` has run already, with the status `{call.status.value}`", hint)
            ability = self.registry.find(call.ability_id)
            if refused := self._refused(ability) or check.input_of(ability, original_input):
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
            self.calls.save(call, original_input)
            began = self.clock.monotonic()
            try:
                return self._run(ability, call, original_input)
            except KeyboardInterrupt:
                self._interrupted(ability, key, original_input, began)
                raise

    def _interrupted(self, ability: Ability, key: str, original_input: Any, began: float) -> None:
        nesting.settle_killed(self.calls)
        call = self.calls.load(key)
        if call.status is not CallStatus.RUNNING:  # it had ended; only the hooks after it were interrupted
            return
        call = replace(
            call,
            status=CallStatus.KILLED,
            ended=iso(self.clock.now()),
            duration_ms=self._since(began),
            error="interrupted",
            children=self.calls.children(key),
        )
        self.calls.save(call, original_input)
        self._report(
            ability, call, original_input, original_input if call.final_input is UNSET else call.final_input, ()
        )

    def _refused(self, ability: Ability) -> CallRefused | None:
        if refused := check.implemented(ability) or check.in_environment(ability, self.environment):
            return refused
        objection = nesting.objection(ability, self.parent, self.environment, self.calls, self.registry)
        if why := objection or self.refusal(ability):
            reason, _, suggestion = why.partition("; ")
            return CallRefused(reason, suggestion)
        return None

    def _run(self, ability: Ability, call: AbilityCall, original_input: Any) -> CallResult:
        before = self.fire(
            PreAbilityCall(
                **self._names(ability, call),
                planned_input_summary=_planned(call, original_input),
                tool_input=original_input,
            )
        )
        assert isinstance(before.event, PreAbilityCall)
        final_input = before.event.tool_input
        if not _same(final_input, original_input):
            call = replace(call, final_input=final_input)
            self.calls.save(call, original_input)  # before it runs: it may be killed
        started = self.clock.monotonic()
        if before.stopped:
            result = ProgramResult("", error=before.reason)
            status = CallStatus.SKIPPED
            call = replace(call, messages=tuple(before.messages))
        else:
            result = self._perform(ability, call, final_input, before.event.event_id)
            status = CallStatus.FAILURE if result.error else CallStatus.SUCCESS
            nesting.settle_killed(self.calls)  # calls that it made, and that were killed with it
        call = replace(
            call,
            status=status,
            ended=iso(self.clock.now()),
            duration_ms=self._since(started) if result.ran else 0,
            ran=result.ran,
            output=result.output if status is CallStatus.SUCCESS else UNSET,
            error=result.error,
            stderr=result.stderr[-STDERR_KEPT:],
            children=self.calls.children(call.key),
        )
        warnings = (*before.warnings, *result.warnings, *self._save_record(call, original_input))
        return self._report(ability, call, original_input, final_input, warnings)

    def _perform(self, ability: Ability, call: AbilityCall, final_input: Any, event_id: str) -> ProgramResult:
        if refused := check.input_of(ability, final_input):
            return ProgramResult("", error=f"after the hooks, {refused.reason}")
        if why := self.refusal(ability):  # again, since the file may have changed while hooks ran
            return ProgramResult("", error=f"after the hooks, {why}")
        own = {
            nesting.VARIABLE: call.key,
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
        result = self.perform(ability, final_input, own, call.key)
        if result.error or not (wrong := check.output_of(ability, result.output)):
            return result
        return result._replace(error=f"{wrong}; it gave {excerpt(_encode(result.output), 500)}")

    def _save_record(self, call: AbilityCall, original_input: Any) -> tuple[str, ...]:
        """Save the final record. If that fails, the result is still returned, with a warning."""
        try:
            self.calls.save(call, original_input)
        except (SamuelError, OSError) as error:
            why = error.message if isinstance(error, SamuelError) else error.strerror
            return (f"its record cannot be written: {why}",)
        return ()

    def _since(self, began: float) -> float:
        return round((self.clock.monotonic() - began) * 1000, 3)

    def _report(
        self, ability: Ability, call: AbilityCall, original_input: Any, final_input: Any, warnings: tuple[str, ...]
    ) -> CallResult:
        """Fire PostAbilityCall; returns the result, with the output as hooks changed it."""
        after = self.fire(
            PostAbilityCall(
                **self._names(ability, call),
                status=_reported(call.status),
                duration_ms=call.duration_ms,
                input_summary=_planned(call, final_input),
                output_summary=shortened(call.error) if call.output is UNSET else summary(call.output),
                tool_call_path=self.calls.path(call.key),
                tool_input=final_input,
                original_input=original_input,
                tool_output=call.output,
            )
        )
        assert isinstance(after.event, PostAbilityCall)
        warnings = (*warnings, *after.warnings)
        if call.status is CallStatus.SUCCESS and not _same(after.event.tool_output, call.output):
            call = replace(call, output=after.event.tool_output, output_replaced=True)
            warnings = (*warnings, *self._save_record(call, original_input))
            if wrong := check.output_of(ability, call.output):
                warnings = (*warnings, f"after the hooks, {wrong}")
        return CallResult(call, warnings, after.reason if after.stopped else "")

    def _names(self, ability: Ability, call: AbilityCall) -> dict[str, Any]:
        """The fields that both events have."""
        return {
            "ability_id": ability.id,
            "operation_key": ability.operation_key or UNSET,
            "session_id": call.session or UNSET,
            # For hooks with scopes; an ability without one is matched by its names.
            "extra": {SCOPE: list(ability.all_scopes)} if ability.all_scopes else UNSET,
        }


def _reported(status: CallStatus) -> Literal["success", "failure", "skipped"]:
    return "success" if status is CallStatus.SUCCESS else "skipped" if status is CallStatus.SKIPPED else "failure"


def _planned(call: AbilityCall, call_input: Any) -> str:
    """Purpose and input of a call, in one line."""
    return shortened(f"{call.intent} {summary(call_input)}")


def _same(value: Any, other: Any) -> bool:
    """Whether two values are the same JSON. In Python, true equals 1."""
    return _encode(value) == _encode(other)
