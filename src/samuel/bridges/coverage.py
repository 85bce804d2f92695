"""Which tool calls of an agent were judged: what its program reported, against the journal.

Both sides name a call by its id where the client tells it to both. Some clients give hooks no id (gemini,
copilot), or their output another one (codex): then calls of the same tool are counted, in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from samuel.base.decoding import convert, decode_json
from samuel.base.paths import Project
from samuel.clients.adapter.stream import ObservedCall
from samuel.clients.dialect.tools import common_name
from samuel.clients.table import CLIENTS
from samuel.events.names import PRE_ABILITY_CALL
from samuel.journal import EventRecord, newest_first

MatchedBy = Literal["", "id", "tool"]


class JudgedCall(msgspec.Struct, frozen=True):
    """A tool call that was put to the hooks, as the journal has it."""

    ability_id: str
    call_id: str = ""


class Coverage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many tool calls of one agent process were judged by hooks."""

    calls: int = 0
    """Calls that the program reported."""
    judged: int = 0
    """Those of them that were put to the hooks."""
    not_judged: dict[str, int] = {}
    """The others, by tool; those of a subagent with the call that started it."""
    matched_by: MatchedBy = ""
    """`id`: each call by its id; `tool`: by the tool and the number of its calls, where a client tells no ids."""
    changed_files: tuple[str, ...] = ()
    """Files of the bridge that were changed while the agent worked."""

    @property
    def words(self) -> str:
        """The numbers in a few words."""
        text = f"{self.judged} of {self.calls} tool calls judged"
        if self.not_judged:
            others = ", ".join(f"{tool} {count}" for tool, count in sorted(self.not_judged.items()))
            text += f"; not judged: {others}"
        return f"{text} (counted by tool)" if self.matched_by == "tool" else text


def total_coverage(coverages: Iterable[Coverage | None]) -> Coverage | None:
    """The sum over several agent processes; None if in none of them anything was to judge."""
    known_coverages = [coverage for coverage in coverages if coverage is not None]
    if not known_coverages:
        return None
    not_judged: Counter[str] = Counter()
    for coverage in known_coverages:
        not_judged.update(coverage.not_judged)
    return Coverage(
        calls=sum(coverage.calls for coverage in known_coverages),
        judged=sum(coverage.judged for coverage in known_coverages),
        not_judged=dict(not_judged),
        matched_by="tool" if any(coverage.matched_by == "tool" for coverage in known_coverages) else "id",
    )


def reported_coverage(answer: Mapping[str, Any]) -> Coverage | None:
    """The coverage in an answer of `agent.invoke`; None if it has none that can be read."""
    try:
        return convert(answer["coverage"], Coverage) if answer.get("coverage") else None
    except msgspec.ValidationError:  # of a plugin that is the agent
        return None


def uncovered(coverage: Coverage | None, *, required: bool) -> str:
    """Why an agent's work does not count: its hooks were changed, or a call was not judged; "" if it does."""
    if coverage is None:
        return "no tool call of the agent could be judged, and `coverage` is required" if required else ""
    if coverage.changed_files:
        names = ", ".join(f"`{name}`" for name in coverage.changed_files)
        return f"{names} of the agent's hooks changed while it worked, so nothing proves that they judged it"
    return f"`coverage` is required: {coverage.words}" if required and coverage.not_judged else ""


def reconcile(client: str, observed: Sequence[ObservedCall], judged: Iterable[JudgedCall]) -> Coverage:
    """Match the calls that a client reported with those that were judged."""
    ids: set[str] = set()
    by_tool: Counter[str] = Counter()
    for verdict in judged:
        if verdict.call_id:
            ids.add(verdict.call_id)
        by_tool[verdict.ability_id] += 1
    is_by_id = any(call.call_id in ids for call in observed)  # or they are ids of another kind
    not_judged: Counter[str] = Counter()
    for call in observed:
        if is_by_id:
            is_judged = call.call_id in ids
        else:
            tool = _common_tool(client, call.tool_name)
            is_judged = by_tool[tool] > 0
            by_tool[tool] -= is_judged
        if not is_judged:
            not_judged[_label(call)] += 1
    return Coverage(
        calls=len(observed),
        judged=len(observed) - not_judged.total(),
        not_judged=dict(not_judged),
        matched_by="id" if is_by_id else "tool" if observed else "",
    )


def judged_calls(root: Path, session_id: str, since: float) -> Iterator[JudgedCall]:
    """The tool calls of a session that the journal has, from `since` on."""
    for record in newest_first(root, Project(root).journal):
        if record.at < since:
            return
        if not isinstance(record, EventRecord) or record.event != PRE_ABILITY_CALL:
            continue
        if record.session_id == session_id and (call := _call(record.payload)) is not None:
            yield call


def _call(payload: msgspec.Raw) -> JudgedCall | None:
    try:
        fields: dict[str, Any] = decode_json(bytes(payload), dict[str, Any])
        extra = fields.get("extra")
        call_id = extra.get("call_id") if isinstance(extra, dict) else ""
        return JudgedCall(str(fields["ability_id"]), str(call_id or ""))
    except (KeyError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _common_tool(client: str, tool_name: str) -> str:
    facts = CLIENTS.get(client)
    return common_name(facts.tools, tool_name, facts.mcp) if facts else tool_name


def _label(call: ObservedCall) -> str:
    return f"{call.tool_name} (subagent {call.subagent})" if call.subagent else call.tool_name
