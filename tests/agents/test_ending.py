"""How an agent ended: what its client reports in a typed form, what its exit tells, and what words may say."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.clients.streams import PLAIN, STREAMS

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.adapter.reset_time import reset_time
from samuel.clients.adapter.trouble import ExitFacts, ending_of, prose_ending
from samuel.clients.gemini.adapter import AGENT as GEMINI
from samuel.events.loop import EndingName

NOW = datetime(2026, 2, 18, 3, 0, tzinfo=ZoneInfo("UTC")).timestamp()
RESET = 1771390800
FAILED = ExitFacts(1, "", "")
LIMIT_EVENT = {
    "type": "rate_limit_event",
    "rate_limit_info": {"status": "rejected", "resetsAt": RESET, "rateLimitType": "five_hour"},
}
USED_UP = "You've hit your session limit · resets 5pm (Europe/Berlin)"


def ending(name: str, *records: dict[str, Any], facts: ExitFacts = FAILED) -> AgentEnding:
    stream = STREAMS[name](lambda: NOW)
    for record in records:
        stream.feed(json.dumps(record).encode())
    return ending_of(stream, facts)


def claude_result(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": True, "result": text, **fields}


def assistant(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, **fields}


def copilot_error(kind: str, status: int, message: str) -> dict[str, Any]:
    return {"type": "session.error", "data": {"errorType": kind, "message": message, "statusCode": status}}


def opencode_error(status: int, message: str) -> dict[str, Any]:
    data = {"message": message, "statusCode": status, "isRetryable": False}
    return {"type": "error", "sessionID": "ses_1", "error": {"name": "APIError", "data": data}}


def gemini_error(message: str, **fields: Any) -> dict[str, Any]:
    return {"type": "result", "status": "error", "error": {"type": "Error", "message": message, **fields}}


LIMITED, UNAUTHORISED = EndingKind.LIMITED, EndingKind.UNAUTHORISED
OVERLOADED, UNREACHABLE, CRASHED = EndingKind.OVERLOADED, EndingKind.UNREACHABLE, EndingKind.CRASHED
CODEX_LIMIT = "You've hit your usage limit. To get more access now, send a request to your admin or try again at"
CODEX_401 = "unexpected status 401 Unauthorized: Incorrect API key provided"
RATE_LIMIT_JSON = (
    '{"type":"error","error":{"type":"rate_limit_error","message":"would exceed your account\'s rate limit"}}'
)


@pytest.mark.parametrize(
    ("name", "records", "kind"),
    [
        ("claude", [LIMIT_EVENT, claude_result(USED_UP)], LIMITED),
        ("claude", [LIMIT_EVENT], LIMITED),
        ("claude", [claude_result(f"Claude AI usage limit reached|{RESET}")], LIMITED),
        ("claude", [assistant("You've hit your weekly limit", error="rate_limit")], LIMITED),
        ("claude", [claude_result(f"API Error: 429 {RATE_LIMIT_JSON}")], OVERLOADED),
        ("claude", [claude_result("Invalid API key · Please run /login")], UNAUTHORISED),
        ("claude", [claude_result("", api_error_status=403)], UNAUTHORISED),
        ("claude", [assistant("Invalid API key", error="authentication_failed")], UNAUTHORISED),
        (
            "claude",
            [{"type": "system", "subtype": "api_retry", "error_status": 401, "error": "authentication_failed"}],
            UNAUTHORISED,
        ),
        ("claude", [{"type": "system", "subtype": "api_retry", "error_status": 529, "error": "x"}], OVERLOADED),
        (
            "claude",
            [
                claude_result(
                    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
                )
            ],
            OVERLOADED,
        ),
        ("claude", [claude_result("API Error: 500 Internal server error")], OVERLOADED),
        ("claude", [claude_result("API Error: Connection error. (ECONNREFUSED)")], UNREACHABLE),
        ("claude", [claude_result("Prompt is too long")], CRASHED),
        ("codex", [{"type": "turn.failed", "error": {"message": f"{CODEX_LIMIT} 12:16 PM."}}], LIMITED),
        ("codex", [{"type": "error", "message": f"{CODEX_LIMIT} 12:16 PM."}], LIMITED),
        (
            "codex",
            [
                {
                    "type": "turn.failed",
                    "error": {"message": '{"error":{"type":"usage_limit_reached","message":"x"}}'},
                }
            ],
            LIMITED,
        ),
        ("codex", [{"type": "turn.failed", "error": {"message": CODEX_401}}], UNAUTHORISED),
        (
            "codex",
            [
                {
                    "type": "turn.failed",
                    "error": {"message": "exceeded retry limit, last status: 429 Too Many Requests"},
                }
            ],
            OVERLOADED,
        ),
        ("codex", [{"type": "error", "message": "unexpected status 503 Service Unavailable"}], OVERLOADED),
        (
            "codex",
            [
                {
                    "type": "turn.failed",
                    "error": {"message": "stream disconnected before completion: connection refused"},
                }
            ],
            UNREACHABLE,
        ),
        ("codex", [{"type": "turn.failed", "error": {"message": "context window exceeded"}}], CRASHED),
        ("gemini", [gemini_error("You exceeded your current quota. Please retry in 34.07s.", code=429)], LIMITED),
        ("gemini", [gemini_error("API key not valid. Please pass a valid API key.")], UNAUTHORISED),
        ("gemini", [gemini_error("The model is overloaded.", code=503)], OVERLOADED),
        ("gemini", [{"type": "error", "severity": "error", "message": "fetch failed: ENOTFOUND"}], UNREACHABLE),
        ("gemini", [gemini_error('[API Error: {"error":{"message":"bad","code":"401"}}]')], UNAUTHORISED),
        ("gemini", [gemini_error("turn limit")], CRASHED),
        (
            "copilot",
            [copilot_error("rate_limit", 429, "Last error: 429 You exceeded your current quota")],
            LIMITED,
        ),
        ("copilot", [copilot_error("authentication", 401, "Authentication failed with provider")], UNAUTHORISED),
        ("copilot", [{"type": "model.call_failure", "data": {"statusCode": 500}}], OVERLOADED),
        ("copilot", [copilot_error("query", 0, "connect ECONNREFUSED 127.0.0.1:1")], UNREACHABLE),
        ("qwen", [{**claude_result(""), "error": {"message": "429 insufficient_quota"}}], LIMITED),
        ("qwen", [{**claude_result(""), "error": {"message": "401 Incorrect API key provided"}}], UNAUTHORISED),
        ("qwen", [{**claude_result(""), "error": {"message": "503 Service Unavailable"}}], OVERLOADED),
        ("qwen", [{**claude_result(""), "error": {"message": "Connection error."}}], UNREACHABLE),
        ("opencode", [opencode_error(429, "usage limit reached")], LIMITED),
        ("opencode", [opencode_error(401, "invalid x-api-key")], UNAUTHORISED),
        ("opencode", [opencode_error(529, "Overloaded")], OVERLOADED),
        (
            "opencode",
            [opencode_error(0, "Unable to connect. Is the computer able to access the url?")],
            UNREACHABLE,
        ),
        ("cline", [{"type": "error", "message": "429 insufficient_quota"}], LIMITED),
        ("cline", [{"type": "run_result", "finishReason": "error", "text": "401 Unauthorized"}], UNAUTHORISED),
        (
            "cline",
            [{"type": "agent_event", "event": {"type": "error", "error": {"message": "x", "status": 502}}}],
            OVERLOADED,
        ),
        ("cline", [{"type": "error", "message": "getaddrinfo ENOTFOUND api"}], UNREACHABLE),
        (
            "pi",
            [
                {
                    "type": "message_end",
                    "message": {
                        "role": "assistant",
                        "stopReason": "error",
                        "errorMessage": 'Codex error: {"error":{"type":"usage_limit_reached"}}',
                    },
                }
            ],
            LIMITED,
        ),
        ("pi", [{"type": "auto_retry_start", "errorMessage": "401 authentication_error"}], UNAUTHORISED),
        ("pi", [{"type": "auto_retry_end", "success": False, "finalError": "529 overloaded_error"}], OVERLOADED),
        ("pi", [{"type": "auto_retry_start", "errorMessage": "fetch failed"}], UNREACHABLE),
        ("kimi", [{"type": "error", "message": "Error code: 401 - Invalid Authentication"}], UNAUTHORISED),
        ("scripted", [claude_result(f"Claude AI usage limit reached|{RESET}")], LIMITED),
    ],
)
def test_a_client_s_own_error_has_a_kind(name: str, records: list[dict[str, Any]], kind: EndingKind) -> None:
    assert ending(name, *records).kind == kind


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("claude", LIMIT_EVENT),
        (
            "claude",
            {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": RESET * 1000}},
        ),
        ("claude", claude_result(f"Claude AI usage limit reached|{RESET}")),
        ("claude", claude_result(f"Claude AI usage limit reached|{RESET}000")),
        ("claude", claude_result(f'API Error: 429 {{"error":{{"type":"x","message":"m","resets_at":{RESET}}}}}')),
        (
            "codex",
            {
                "type": "turn.failed",
                "error": {
                    "message": f'{{"error":{{"type":"usage_limit_reached","resets_in_seconds":{RESET - NOW}}}}}'
                },
            },
        ),
        ("codex", {"type": "error", "message": f"{CODEX_LIMIT} Feb 18th, 2026 5:00 AM (UTC)."}),
        ("opencode", opencode_error(429, f"Too many requests, try again in {int(RESET - NOW) // 60}m")),
    ],
)
def test_the_time_of_the_reset_is_read_in_every_form(name: str, record: dict[str, Any]) -> None:
    outcome = ending(name, record)
    assert (outcome.kind, outcome.resets_at) == (LIMITED, RESET)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("resets 5pm (Europe/Berlin)", "2026-02-18T17:00+01:00"),
        ("resets 3am (Europe/Berlin)", "2026-02-19T03:00+01:00"),  # it is 4 there
        ("resets Apr 23 at 4:30pm (America/Recife)", "2026-04-23T16:30-03:00"),
        ("resets Jan 2 at 4pm (UTC)", None),  # six weeks ago: neither then nor in ten months
        ("Please retry in 34s", "2026-02-18T03:00:34+00:00"),
        ("Your quota will reset after 1h2m3s.", "2026-02-18T04:02:03+00:00"),
        ("try again in 2 days 3 hours 5 minutes", "2026-02-20T06:05+00:00"),
        ("resets 25:00 (UTC)", None),
        ("resets soon", None),
        ("resets 5", None),
    ],
)
def test_a_time_in_words_is_the_next_such_moment(text: str, moment: str | None) -> None:
    expected = datetime.fromisoformat(moment).timestamp() if moment else None
    found_time = reset_time(text, None, NOW)
    if expected is None:
        assert found_time is None or found_time < NOW
    else:
        assert found_time == expected


def test_a_time_of_day_without_a_zone_is_one_of_this_machine() -> None:
    moment = reset_time("try again at 12:16 PM.", None, NOW)
    assert moment is not None
    assert NOW < moment <= NOW + 86400
    assert datetime.fromtimestamp(moment).strftime("%H:%M") == "12:16"


class TestTheSameWords:
    """In anything but an error of the client they mean nothing."""

    WORDS = f"{USED_UP}\nClaude AI usage limit reached|{RESET}\nAPI Error: 401 Invalid API key · Please run /login"

    @pytest.mark.parametrize(
        ("name", "record"),
        [
            ("claude", assistant(WORDS)),
            ("claude", {"type": "user", "message": {"content": [{"type": "tool_result", "content": WORDS}]}}),
            ("claude", {"type": "result", "subtype": "success", "is_error": False, "result": WORDS}),
            (
                "claude",
                {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "resetsAt": 1}},
            ),
            ("codex", {"type": "item.completed", "item": {"type": "agent_message", "text": WORDS}}),
            (
                "codex",
                {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": WORDS}},
            ),
            ("gemini", {"type": "message", "role": "assistant", "content": WORDS}),
            ("gemini", {"type": "tool_result", "status": "error", "output": WORDS, "error": {"message": WORDS}}),
            ("copilot", {"type": "assistant.message", "data": {"content": WORDS}}),
            ("copilot", {"type": "tool.execution_complete", "data": {"result": {"content": WORDS}}}),
            ("opencode", {"type": "text", "part": {"text": WORDS}}),
            (
                "opencode",
                {"type": "tool_use", "part": {"tool": "bash", "state": {"output": WORDS, "error": WORDS}}},
            ),
            ("cline", {"type": "agent_event", "event": {"type": "content_end", "output": WORDS, "error": WORDS}}),
            ("cline", {"type": "run_result", "finishReason": "completed", "text": WORDS}),
            ("pi", {"type": "tool_execution_end", "result": {"content": [{"text": WORDS}]}, "isError": True}),
            ("kimi", {"role": "tool", "content": WORDS}),
            ("kimi", {"role": "assistant", "content": WORDS}),
        ],
    )
    def test_of_a_model_or_a_tool_are_no_trouble(self, name: str, record: dict[str, Any]) -> None:
        assert ending(name, record, facts=ExitFacts(0, "", "")) == AgentEnding()
        assert ending(name, record).kind == CRASHED

    def test_on_plain_output_are_no_typed_trouble(self) -> None:
        stream = STREAMS[PLAIN](lambda: NOW)
        stream.feed(USED_UP.encode())
        assert ending_of(stream, ExitFacts(1, USED_UP, "")).kind == CRASHED


class TestAnAgentThatGotOverItsTrouble:
    def test_is_not_in_trouble(self) -> None:
        retry = {"type": "system", "subtype": "api_retry", "error_status": 529}
        assert ending("claude", retry, assistant("hi"), facts=ExitFacts(3, "", "boom")).reason == "boom"
        again = {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}
        message = {"type": "item.completed", "item": {"type": "agent_message", "text": "hi"}}
        assert ending("codex", again, message, facts=ExitFacts(0, "", "")) == AgentEnding()

    def test_keeps_a_usage_limit_until_its_result(self) -> None:
        assert ending("claude", LIMIT_EVENT, assistant("hm")).kind == LIMITED
        success = {"type": "result", "is_error": False, "result": "done"}
        assert ending("claude", LIMIT_EVENT, success, facts=ExitFacts(0, "", "")) == AgentEnding()

    def test_of_gemini_is_known_by_what_it_prints_when_it_tries_again(self) -> None:
        stream = STREAMS["gemini"](lambda: NOW)
        stream.feed_error(
            b'Attempt 1 failed with status 429. Retrying ... _ApiError: {"error":{"message":"busy"}}'
        )
        facts = ExitFacts(124, "", "", timed_out=60)
        assert ending_of(stream, facts).kind == OVERLOADED
        stream.feed(b'{"type":"message","role":"assistant","content":"hi"}')
        assert ending_of(stream, facts).kind == EndingKind.TIMED_OUT


class TestTheExit:
    def test_kind_by_kind(self) -> None:
        assert ending(PLAIN, facts=ExitFacts(0, "", "a warning")) == AgentEnding()
        assert ending(PLAIN, facts=ExitFacts(124, "", "", idle=600)).kind == EndingKind.IDLE
        assert ending(PLAIN, facts=ExitFacts(124, "", "", timed_out=60)).kind == EndingKind.TIMED_OUT
        budget = ending(PLAIN, facts=ExitFacts(124, "", "", over_budget="max_tokens\x1b reached"))
        assert budget == AgentEnding(EndingKind.OVER_BUDGET, "max_tokens\\x1b reached")

    def test_a_client_that_retried_a_wrong_key_until_its_timeout_is_unauthorised(self) -> None:
        retry = {"type": "system", "subtype": "api_retry", "error_status": 401, "error": "authentication_failed"}
        outcome = ending("claude", retry, facts=ExitFacts(124, "", "", timed_out=60))
        assert outcome == AgentEnding(UNAUTHORISED, "API error 401 authentication_failed")

    def test_a_sandbox_that_did_not_start_is_the_machine_s_trouble(self) -> None:
        why = "bwrap: setting up uid map: Permission denied"
        assert ending(PLAIN, facts=ExitFacts(1, "", f"{why}\n", "bwrap")) == AgentEnding(UNREACHABLE, why)
        assert ending(PLAIN, facts=ExitFacts(1, "", f"{why}\n")).kind == CRASHED
        assert ending(PLAIN, facts=ExitFacts(1, "hello", f"{why}\n", "bwrap")).kind == CRASHED
        engine = ExitFacts(125, "", "Error: short-name did not resolve", "oci")
        assert ending(PLAIN, facts=engine).kind == UNREACHABLE

    @pytest.mark.parametrize(("code", "kind"), [(41, UNAUTHORISED), (145, UNAUTHORISED), (173, OVERLOADED)])
    def test_gemini_tells_by_its_exit_code(self, code: int, kind: EndingKind) -> None:
        facts = ExitFacts(
            code, "", "YOLO mode\nInvalid auth method selected.", exit_kind=GEMINI.exit_kinds.get(code)
        )
        assert ending("gemini", facts=facts) == AgentEnding(kind, "Invalid auth method selected.")

    @pytest.mark.parametrize(
        ("stderr", "stdout", "reason"),
        [
            (
                "WARNING: proceeding, even though\nError: no such model\n    at run (a.js:1)\n",
                "",
                "Error: no such model",
            ),
            ("--skip cannot be used with root\nsee the docs\n", "", "--skip cannot be used with root"),
            ("", "working\nfatal: disk full\n", "fatal: disk full"),
            ("", "just words\n", "just words"),
            ("", "", "exit code 1"),
            ("error: \x1b[31mred\x1b[0m" + "x" * 500, "", None),
        ],
    )
    def test_a_crash_has_the_line_that_says_why(self, stderr: str, stdout: str, reason: str | None) -> None:
        outcome = ending(PLAIN, facts=ExitFacts(1, stdout, stderr))
        assert outcome.kind == CRASHED
        assert (
            outcome.reason == reason if reason else (outcome.reason.isprintable() and len(outcome.reason) <= 300)
        )

    def test_a_typed_error_is_the_reason_and_not_the_first_line_of_stderr(self) -> None:
        warning = ExitFacts(1, "", "WARNING: proceeding, even though we could not create PATH aliases\n")
        failed = {"type": "turn.failed", "error": {"message": "the model `x` does not exist"}}
        assert ending("codex", failed, facts=warning) == AgentEnding(CRASHED, "the model `x` does not exist")


class TestProse:
    def test_of_an_agent_without_types_counts_on_its_last_line(self) -> None:
        reset = datetime(2026, 2, 18, 16, 0, tzinfo=ZoneInfo("UTC")).timestamp()
        assert prose_ending(f"hello\n{USED_UP}\n\n", "", NOW) == AgentEnding(LIMITED, USED_UP, reset)
        assert prose_ending("Please run /login\n", "", NOW) == AgentEnding(UNAUTHORISED, "Please run /login")

    def test_anywhere_else_on_stdout_does_not_count(self) -> None:
        assert prose_ending(f"{USED_UP}\nI wrote that down.\n", "", NOW) is None
        assert prose_ending(f"{'x' * 400} {USED_UP}\n", "", NOW) is None

    def test_of_a_failing_test_on_stdout_is_not_a_service_that_is_down(self) -> None:
        assert prose_ending("E  psycopg: connection refused\n", "", NOW) is None

    def test_on_stderr_is_the_client_s(self) -> None:
        outcome = prose_ending("", "Error: connect ECONNREFUSED 127.0.0.1:443\n    at TCP (net.js:1)\n", NOW)
        assert outcome == AgentEnding(UNREACHABLE, "Error: connect ECONNREFUSED 127.0.0.1:443")
        assert prose_ending("", "error 529: overloaded\n", NOW) == AgentEnding(OVERLOADED, "error 529: overloaded")

    def test_of_an_agent_with_types_does_not_count(self) -> None:
        assert prose_ending(f"{json.dumps(assistant('hi'))}\n{USED_UP}\n", USED_UP, NOW) is None

    def test_that_names_no_trouble_is_none(self) -> None:
        assert prose_ending("done\n", "line 401 of 500 is wrong\n", NOW) is None


def test_the_kinds_are_those_of_the_event() -> None:
    assert set(EndingName.__args__) == {kind.value for kind in EndingKind}
