"""Tool calls that a client reported, against those that were judged."""

from __future__ import annotations

import pytest

from samuel.bridges.coverage import Coverage, JudgedCall, reconcile, total_coverage, uncovered
from samuel.clients.adapter.stream import JsonStream, ObservedCall
from samuel.clients.claude.adapter import ClaudeStream
from samuel.clients.codex.adapter import CodexStream
from samuel.files.json import write


def observed_by(stream: JsonStream, *records: object) -> list[ObservedCall]:
    for record in records:
        stream.feed(write(record))
    return stream.tool_calls


def claude_call(call_id: str, tool: str = "Bash", subagent: str | None = None) -> object:
    part = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    return {"type": "assistant", "message": {"id": "m", "content": [part]}, "parent_tool_use_id": subagent}


def test_calls_are_matched_by_their_ids_where_both_sides_have_them() -> None:
    observed = observed_by(
        ClaudeStream(), claude_call("a"), claude_call("a"), claude_call("b", "Edit"), claude_call("c", "Bash", "b")
    )
    coverage = reconcile("claude", observed, [JudgedCall("shell", "a"), JudgedCall("shell", "x")])
    assert coverage == Coverage(calls=3, judged=1, not_judged={"Edit": 1, "Bash (subagent b)": 1}, matched_by="id")
    assert coverage.words == "1 of 3 tool calls judged; not judged: Bash (subagent b) 1, Edit 1"


def test_codex_has_no_ids_in_its_output_so_calls_of_a_tool_are_counted() -> None:
    def item(kind: str, number: int, event: str = "item.completed") -> object:
        return {"type": event, "item": {"id": f"item_{number}", "type": kind, "command": "ls"}}

    observed = observed_by(
        CodexStream(),
        item("command_execution", 1, "item.started"),
        item("command_execution", 1),
        item("command_execution", 2),
        item("file_change", 3),
    )
    # One more was judged than is in the output, which leaves denied calls out.
    judged = [JudgedCall("shell", f"call_{number}") for number in range(3)]
    coverage = reconcile("codex", observed, judged)
    assert coverage == Coverage(calls=3, judged=2, not_judged={"apply_patch": 1}, matched_by="tool")
    assert coverage.words.endswith("(counted by tool)")


def test_ids_of_another_kind_are_not_compared() -> None:
    observed = [ObservedCall("call_1", "run_shell_command")]
    assert reconcile("gemini", observed, [JudgedCall("shell", "own-1")]).judged == 1
    assert reconcile("gemini", observed, [JudgedCall("shell")]).judged == 1
    assert reconcile("gemini", observed, []).not_judged == {"run_shell_command": 1}


@pytest.mark.parametrize(
    ("client", "tool_name"),
    [
        ("claude", "mcp__shop__price"),
        ("copilot", "shop-price"),
        ("cline", "shop__price"),
        ("cursor", "MCP:shop/price"),
    ],
)
def test_a_tool_of_an_mcp_server_is_counted_by_the_name_that_its_client_gives_it(
    client: str, tool_name: str
) -> None:
    coverage = reconcile(client, [ObservedCall("", tool_name)], [JudgedCall("mcp:shop/price")])
    assert (coverage.judged, coverage.not_judged) == (1, {})


def test_the_numbers_of_several_processes_are_added() -> None:
    parts = [
        Coverage(calls=2, judged=1, not_judged={"Bash": 1}, matched_by="id"),
        None,
        Coverage(calls=3, judged=2, not_judged={"Bash": 1}, matched_by="tool"),
    ]
    assert total_coverage(parts) == Coverage(calls=5, judged=3, not_judged={"Bash": 2}, matched_by="tool")
    assert total_coverage([None]) is None


def test_what_was_not_judged_counts_only_where_that_is_required() -> None:
    unjudged = Coverage(calls=1, not_judged={"Bash": 1}, matched_by="id")
    assert uncovered(unjudged, required=False) == ""
    assert "not judged: Bash 1" in uncovered(unjudged, required=True)
    assert "could be judged" in uncovered(None, required=True)
    assert "`samuel`" in uncovered(Coverage(changed_files=("samuel",)), required=False)
