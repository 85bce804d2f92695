"""What real clients printed in a run against a model server of ours: their tokens, and how they ended.

`recorded/` has, for each client, a run in which the model called a shell and was done (`ok`), one with a wrong key
(`401`) and one with a used-up quota (`429`): stdout in `.out`, stderr in `.err`, a file of its usage in `.json`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.clients.adapter.stream import PlainStream
from samuel.clients.adapter.trouble import ExitFacts, ending_of
from samuel.clients.table import AGENTS

RECORDED = Path(__file__).parent / "recorded"
CACHED = {"input_tokens": 60, "output_tokens": 30, "cached_tokens": 20}
RUN = 'runs echo hello-real >> out.txt; samuel run done "$SAMUEL_TASK_ID"'

# By client: the usage of the good run, what it did, and the exit codes of the bad ones (124: it was still trying).
CLIENTS = {
    "qwen": (CACHED, RUN, 1, 124),
    "opencode": (CACHED, RUN, 0, 124),
    "cline": (CACHED, RUN, 1, 1),
    "pi": (CACHED, RUN, 0, 0),
    "kimi": ({}, RUN, 1, 1),
    "aider": ({"input_tokens": 30, "output_tokens": 15}, "edits out.txt", 0, 124),
    "mini-swe-agent": (CACHED, "mini-swe-agent (step 1, $0.00):", 1, 124),
}


def played(name: str, scenario: str) -> tuple[PlainStream, list[str]]:
    """The reader after a run, and the activities that it saw."""
    stream, activities = AGENTS[name].stream(lambda: 0.0), []
    for line in _lines(f"{name}-{scenario}.out"):
        stream.feed(line)
        activities.append(stream.activity)
    for line in _lines(f"{name}-{scenario}.err"):
        stream.feed_error(line)
    if document := _lines(f"{name}-{scenario}.json"):
        stream.feed(b" ".join(document))
    return stream, activities


def _lines(file: str) -> list[bytes]:
    path = RECORDED / file
    return path.read_bytes().splitlines() if path.exists() else []


def ended(name: str, scenario: str, code: int) -> AgentEnding:
    stream, _ = played(name, scenario)
    return ending_of(stream, ExitFacts(code, "", "", timed_out=90 if code == 124 else 0))


@pytest.mark.parametrize("name", CLIENTS)
class TestARecordedRun:
    def test_counts_what_the_client_reported(self, name: str) -> None:
        usage, activity, *_ = CLIENTS[name]
        stream, activities = played(name, "ok")
        assert stream.usage == usage
        assert activity in activities
        assert ending_of(stream, ExitFacts(0, "", "")) == AgentEnding()

    def test_with_a_wrong_key_ended_unauthorised(self, name: str) -> None:
        *_, code, _ = CLIENTS[name]
        ending = ended(name, "401", code)
        assert ending.kind is EndingKind.UNAUTHORISED
        assert "Incorrect API key provided" in ending.reason

    def test_with_a_used_up_quota_ended_limited(self, name: str) -> None:
        *_, code = CLIENTS[name]
        ending = ended(name, "429", code)
        assert ending.kind is EndingKind.LIMITED
        assert "You exceeded your current quota" in ending.reason
