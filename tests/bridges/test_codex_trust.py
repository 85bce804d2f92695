"""What codex says about its hooks, asked of a program that answers like `codex app-server` of 0.166."""

from __future__ import annotations

import json
import os
import sys

import pytest

from samuel.bridges import files
from samuel.bridges.check import conversing, trust_step
from samuel.clients.codex.entries import hook_states

PROGRAM = """#!{python}
import json, sys
assert sys.argv[1:] == ["app-server"]
for line in sys.stdin:
    question = json.loads(line)
    if question.get("method") == "initialize":
        print(json.dumps({{"id": question["id"], "result": {{"userAgent": "x"}}}}), flush=True)
    elif question.get("method") == "initialized":
        print(json.dumps({{"method": "remoteControl/status/changed", "params": {{}}}}), flush=True)
    else:
        print({answer!r} % question["id"], flush=True)
"""


@pytest.fixture
def codex(context, tmp_path):
    """Put a codex on PATH that gives this answer to `hooks/list`."""

    def put(answer: str) -> str:
        program = tmp_path / "bin/codex"
        program.parent.mkdir(exist_ok=True)
        program.write_text(PROGRAM.format(python=sys.executable, answer=answer))
        program.chmod(0o755)
        context.environment["PATH"] = f"{program.parent}{os.pathsep}/usr/bin:/bin"
        return str(program)

    return put


def listed(context, trust: str) -> str:
    file = context.root / ".codex/hooks.json"
    events = (
        *("session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "session_end"),
        "pre_compact",
    )
    hooks = [{"key": f"{file}:{event}:0:0", "trustStatus": trust, "enabled": True} for event in events]
    return json.dumps({"id": "ID", "result": {"data": [{"hooks": hooks}]}}).replace('"ID"', "%d")


@pytest.mark.parametrize(
    ("trust", "state"), [("trusted", "trusted"), ("untrusted", "untrusted"), ("modified", "untrusted")]
)
def test_codex_is_asked_which_hooks_it_trusts(context, codex, trust, state):
    files.add(context, ["codex"], "project")
    codex(listed(context, trust))
    assert trust_step(context, "codex", "project", files.entries(context, "codex", "project")).state == state


@pytest.mark.parametrize("answer", ['{"id": %d, "error": {"code": -32601}}', "%d no JSON"])
def test_codex_that_does_not_know_the_question_says_nothing(context, codex, answer):
    with conversing(context, (codex(answer), "app-server"), ()) as ask:
        assert hook_states(ask, context.root) is None


def test_program_that_cannot_be_started_says_nothing(context):
    with conversing(context, ("/does/not/exist", "app-server"), ()) as ask:
        assert hook_states(ask, context.root) is None
