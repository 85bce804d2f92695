"""Readers of clients that are in no registry: the forms are those of their documents and sources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.adapter.stream import PlainStream
from samuel.clients.adapter.trouble import ExitFacts, ending_of
from samuel.clients.agy.adapter import user_message
from samuel.clients.table import AGENTS

RETRY = "Please retry if you think this is a transient or recoverable error."


def fed(name: str, *records: dict[str, Any]) -> PlainStream:
    stream = AGENTS[name].stream(lambda: 0.0)
    for record in records:
        stream.feed(json.dumps(record).encode())
    return stream


def ended(stream: PlainStream, code: int = 0) -> AgentEnding:
    return ending_of(stream, ExitFacts(code, "", ""))


def step(kind: str, **fields: Any) -> dict[str, Any]:
    return {"event": "step_update", "step_update": {"step_type": kind, "state": "ACTIVE", **fields}}


def result(**fields: Any) -> dict[str, Any]:
    return {"event": "result", "result": fields}


def message(*parts: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": list(parts)}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


class TestAgy:
    def test_gets_its_prompt_as_one_line_of_json(self) -> None:
        line = user_message('Do "it".\nÄ\n')
        assert line.count("\n") == 1
        assert json.loads(line) == {"event": "user", "message": {"content": 'Do "it".\nÄ\n'}}

    def test_reports_what_it_does_and_the_tokens_of_its_turn(self) -> None:
        tool = {"name": "run_command", "parameters": {"CommandLine": "make"}}
        stream = fed("agy", {"event": "init"}, step("tool", tool_name="run_command", tool_info=tool))
        assert stream.activity == "runs make"
        usage = {"input_tokens": 600, "output_tokens": 52, "cache_read_tokens": 8800}
        for record in (step("agent_response", text_delta="All "), step("agent_response", text_delta="done.")):
            stream.feed(json.dumps(record).encode())
        assert stream.activity == "All done."
        stream.feed(json.dumps(result(status="SUCCESS", response="All done.\n", usage=usage)).encode())
        assert stream.usage == {"input_tokens": 9400, "output_tokens": 52, "cached_tokens": 8800}
        assert ended(stream) == AgentEnding()

    def test_that_is_not_signed_in_ends_unauthorised(self) -> None:
        stream = fed("agy", result(status="ERROR", error="not logged in: please sign in first"))
        assert ended(stream, 1).kind is EndingKind.UNAUTHORISED

    def test_whose_quota_ran_out_ends_limited_by_its_exit_code(self) -> None:
        stream = fed("agy", result(status="ERROR", error="the turn was stopped"))
        facts = ExitFacts(3, "", "", exit_kind=AGENTS["agy"].exit_kinds[3])
        assert ending_of(stream, facts) == AgentEnding(EndingKind.LIMITED, "the turn was stopped")


class TestGoose:
    def test_reports_what_it_does_and_the_tokens_of_its_session(self) -> None:
        call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "make"}}}
        stream = fed("goose", message({"type": "toolRequest", "id": "1", "toolCall": call}))
        assert stream.activity == "runs make"
        complete = {"type": "complete", "total_tokens": 45, "input_tokens": 30, "output_tokens": 15}
        stream = fed("goose", message(text("All ")), message(text("done.")), complete)
        assert (stream.activity, ended(stream)) == ("All done.", AgentEnding())
        assert stream.usage == {"input_tokens": 30, "output_tokens": 15}

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            ("Authentication error: Authentication failed. Status: 401 Unauthorized", EndingKind.UNAUTHORISED),
            ("Rate limit exceeded: Rate limit reached", EndingKind.OVERLOADED),
            ("Server error: Server error (503)", EndingKind.OVERLOADED),
        ],
    )
    def test_whose_provider_failed_ends_with_its_trouble_though_it_exits_with_0(
        self, error: str, kind: EndingKind
    ) -> None:
        failure = message(text(f"Ran into this error: {error}.\n\n{RETRY}"))
        stream = fed("goose", failure, {"type": "complete", "total_tokens": None})
        assert ended(stream).kind is kind
        assert ended(fed("goose", failure, message(text("It works again.")))) == AgentEnding()

    def test_words_of_the_model_about_an_error_are_no_trouble(self) -> None:
        words = "The log says: Ran into this error: Authentication error. I fixed it."
        assert ended(fed("goose", message(text(words)))) == AgentEnding()

    def test_an_error_of_the_client_itself_is_read(self) -> None:
        stream = fed("goose", {"type": "error", "error": "error sending request: connection refused"})
        assert ended(stream).kind is EndingKind.UNREACHABLE
