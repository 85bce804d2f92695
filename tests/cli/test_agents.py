"""`samuel agents`: what is installed on this machine, and what of it asks Samuel."""

from __future__ import annotations

import json
import os

import pytest

from samuel.base import paths
from samuel.bridges.proofs import Proof, remember
from samuel.clients.table import AGENTS


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH with nothing but what is put there: a client of each kind of behaviour."""
    directory = tmp_path / "programs"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}/usr/bin{os.pathsep}/bin")

    def put_program(name, body):
        (directory / name).write_text(f"#!/bin/sh\n{body}\n")
        (directory / name).chmod(0o755)
        return str(directory / name)

    return put_program


def listed(samuel):
    ran = samuel("agents", "--json")
    assert ran.code == 0
    answer = json.loads(ran.out)
    return {agent["name"]: agent for agent in answer["data"]["agents"]}, answer["warnings"]


def test_every_agent_is_listed_with_its_program_and_the_version_it_prints(samuel, programs):
    pi = programs("pi", "echo 0.99.0 >&2")
    agents, warnings = listed(samuel)
    assert (set(agents), warnings) == (set(AGENTS), [])
    assert agents["pi"] == {
        "name": "pi",
        "program": "pi",
        "installed": True,
        "path": pi,
        "version": "0.99.0",
        "checked": "0.73.1",
        "problem": "",
        "install": "npm install -g @mariozechner/pi-coding-agent",
        "hooks": None,
        "proof": None,
    }
    assert (agents["goose"]["installed"], agents["goose"]["checked"]) == (False, "")


def test_the_table_shows_the_number_of_the_version(samuel, programs):
    programs("mini", "echo 'This is mini-swe-agent version 2.4.6.'")
    rows = {row.split()[0]: row.split()[1:] for row in samuel("agents").out.splitlines()}
    assert rows["mini-swe-agent"][1:3] == ["2.4.6", "2.4.6"]
    assert rows["agy"][:3] == ["-", "-", "-"]


def test_a_program_that_cannot_say_its_version_is_a_warning(samuel, programs):
    programs("goose", "exit 3")
    agents, warnings = listed(samuel)
    assert (agents["goose"]["installed"], agents["goose"]["version"]) == (True, "")
    assert warnings == ["goose: `goose --version` failed: exit code 3"]


def test_an_agent_of_samuel_toml_is_listed_in_place_of_the_shipped_one(samuel, programs, put):
    put("samuel.toml", '[agents.pi]\ncommand = ["./pi.sh", "{prompt_file}"]\n')
    agents, _ = listed(samuel)
    assert (agents["pi"]["program"], agents["pi"]["installed"], agents["pi"]["checked"]) == ("./pi.sh", False, "")


def test_a_setting_of_a_shipped_agent_leaves_it_the_shipped_one(samuel, programs, put):
    put("samuel.toml", '[agents.pi]\nunguarded = "accept"\n')
    pi = programs("pi", "echo 0.99.0")
    assert listed(samuel)[0]["pi"]["path"] == pi


def test_the_bridge_of_a_client_and_its_last_proof_are_shown(samuel, programs, project):
    programs("claude", "echo '2.1.197 (Claude Code)'")
    proof = {"client": "claude", "version": "2.1.190", "root": str(project), "why": "", "reason_told": True}
    remember(paths.User.from_environment().state, Proof(verdict="ok", checked_at=1.0, **proof))
    assert listed(samuel)[0]["claude"]["hooks"] == {"levels": [], "problems": []}
    assert samuel("bridge", "add", "claude").code == 0
    claude = listed(samuel)[0]["claude"]
    assert claude["hooks"]["levels"] == ["project"]
    assert (claude["proof"]["verdict"], claude["proof"]["version"]) == ("ok", "2.1.190")
    row = next(row for row in samuel("agents").out.splitlines() if row.startswith("claude"))
    assert row.endswith("ok (of 2.1.190)")
    remember(
        paths.User.from_environment().state, Proof(verdict="ok", checked_at=2.0, **{**proof, "version": "2.1.197"})
    )
    row = next(row for row in samuel("agents").out.splitlines() if row.startswith("claude"))
    assert row.endswith(" ok")
