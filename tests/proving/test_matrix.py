"""The table of `bridge check --live --all`, with programs that stand in for clients; tests/live runs real ones."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from samuel.base.paths import User
from samuel.proving.matrix.experiments import MatrixRow
from samuel.proving.matrix.table import COLUMNS, NO_MODEL, NOT_INSTALLED, failed, markdown, matrix


@pytest.fixture
def user(tmp_path):
    return User(tmp_path, tmp_path / "state", tmp_path / "cache")


def client(tmp_path, name: str, script: str) -> dict[str, str]:
    """An environment in which this is what the client's name starts."""
    programs = tmp_path / "programs"
    programs.mkdir(exist_ok=True)
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_a_client_that_is_not_installed_is_listed_as_not_run(tmp_path, user):
    (row,) = matrix(["codex"], tmp_path, user, {"PATH": str(tmp_path)}, print)
    assert row == MatrixRow("codex", NOT_INSTALLED, "-")
    assert row.honoured == row.crash == "not run"
    assert not failed([row])


def test_a_client_without_a_model_on_this_machine_is_listed_as_not_run(tmp_path, user):
    env = client(tmp_path, "agy", "exit 0")
    (row,) = matrix(["agy"], tmp_path, user, env, print)
    assert row.version == NO_MODEL


@pytest.mark.slow
def test_a_client_that_asks_no_model_proves_nothing_about_tool_calls(tmp_path, user):
    env = client(tmp_path, "qwen", 'echo "0.24.4"')
    lines: list[str] = []
    tools, prompts = matrix(["qwen"], tmp_path, user, env, lines.append)
    assert (tools.agent, tools.version, tools.event) == ("qwen", "0.24.4", "PreToolUse")
    assert {tools.honoured, tools.rewritten, tools.crash, tools.missing} == {"inconclusive"}
    assert prompts.honoured == "inconclusive"
    assert failed([tools, prompts])
    assert len(lines) == 1
    assert list(user.cache.iterdir()) == []


def test_a_denial_that_samuel_does_not_promise_is_no_failure():
    lost = MatrixRow("copilot", "1.0.102", "userPromptSubmitted", "no")
    control = MatrixRow("claude, with a mod that answers first", "2.1.326", "PreToolUse", "no")
    promised = MatrixRow("claude", "2.1.326", "PreToolUse", "yes")
    assert not failed([lost, control, promised])
    assert failed([promised._replace(honoured="no")])


def test_the_table_as_markdown_has_a_date_and_a_cell_for_each_column():
    text = markdown([MatrixRow("claude", "2.1.326", "PreToolUse", "yes")], "2026-11-18")
    date, _, head, rule, row = text.splitlines()
    assert date == "Run on 2026-11-18."
    assert head.count("|") == rule.count("|") == row.count("|") == len(COLUMNS) + 1
    assert len(COLUMNS) == len(MatrixRow._fields)


def test_the_probe_is_an_mcp_server_with_one_tool(tmp_path):
    requests = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "touch", "arguments": {"path": str(tmp_path / "made")}},
        },
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "samuel.proving.matrix.mcp_probe"],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[1]["result"]["tools"][0]["name"] == "touch"
    assert (tmp_path / "made").exists()
