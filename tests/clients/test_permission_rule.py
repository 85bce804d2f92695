"""The condition (`if`) of a hook of Claude Code: for which calls the hook is for."""

from __future__ import annotations

from typing import Any

import pytest

from samuel.clients.claude.hook_format import FORMAT
from samuel.clients.hook_formats.entry import rule_match
from samuel.clients.hook_formats.permission_rule import rule_problem
from samuel.hooks.match import holds


def chosen(rule: str, ability_id: str, **tool_input: str) -> bool:
    event: dict[str, Any] = {"ability_id": ability_id, "tool_input": tool_input, "project_root": "/p"}
    return holds(rule_match(FORMAT, rule), event.get)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash", "anything"),
        ("Bash(git push *)", "git push origin main"),
        ("Bash(git push:*)", "git push"),
        ("Bash(git push:*)", "git push --force"),
        ("Bash(git push *--force*)", "git push origin --force"),
        ("Bash(git commit:*)", "cd app && git commit -m x"),
        ("Bash(git commit:*)", "true; git commit -m x"),
        ("Bash(git commit:*)", "(git commit -m x)"),
        ("Bash(git commit:*)", "echo $(git commit -m x)"),
        ("Bash(git commit:*)", "GIT_DIR=x git commit"),
        ("Bash(rm *)", "if true; then rm -rf x; fi"),
        ("Bash(rm *)", "sudo rm x"),
        ("Bash(npm test)", "npm test"),
        ("Bash(npm test)", "npm test | tail"),
    ],
)
def test_a_rule_holds_for_a_command_wherever_it_begins(rule, command):
    assert chosen(rule, "shell", command=command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(git push *)", "git pull"),
        ("Bash(git push:*)", "git pushx"),
        ("Bash(rm *)", "echo form x"),
        ("Write(.env)", "cat .env"),
    ],
)
def test_a_rule_does_not_hold_for_other_commands(rule, command):
    assert not chosen(rule, "shell", command=command)


@pytest.mark.parametrize(
    ("rule", "ability_id", "path", "holding"),
    [
        ("Write(.env*)", "write", "/p/.env.local", True),
        ("Write(.env*)", "write", "/p/deep/.env", True),
        ("Write(.env*)", "write", "/p/env.py", False),
        ("Write(src/**)", "write", "/p/src/a/b.py", True),
        ("Write(src/**)", "write", "/p/tests/b.py", False),
        ("Write(//etc/**)", "write", "/etc/passwd", True),
        ("Edit(src/**)", "write", "/p/src/a.py", False),
        ("Read", "read", "/p/anything", True),
    ],
)
def test_a_rule_about_files_is_a_pattern_of_paths(rule, ability_id, path, holding):
    assert chosen(rule, ability_id, file_path=path) is holding


def test_a_rule_about_something_else_holds_for_every_call_of_its_tool():
    assert chosen("WebFetch(domain:example.com)", "fetch", url="https://example.org")


@pytest.mark.parametrize("rule", ["Bash(", "", "a b(c)", 7, "x" * 2000])
def test_what_is_no_rule_is_a_problem(rule):
    assert rule_problem(rule)
