"""`samuel bridge check --live` with programs that are no clients: what it says, remembers and shows in `doctor`.

What it proves about real clients is in tests/live.
"""

from __future__ import annotations

import os
import sys

import pytest

# It plays the part of a client that skips its hooks: it runs what the model calls.
CARELESS_CLIENT = """
import json, os, subprocess, urllib.request

messages = []
for number in range(2):
    body = json.dumps({"tools": [{"name": "Bash"}], "messages": messages}).encode()
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body)
    (block,) = json.load(urllib.request.urlopen(request))["content"]
    subprocess.run(block["input"]["command"], shell=True, check=True)
    messages.append({"content": [{"type": "tool_result", "tool_use_id": block["id"]}]})
"""


@pytest.fixture
def client(monkeypatch, tmp_path):
    """Puts a program on PATH in the place of claude, which is connected to Samuel."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "samuel-emit").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{programs}:{os.defpath}")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)

    def install(script):
        program = programs / "claude"
        program.write_text(f"#!/bin/sh\nif [ $1 = --version ]; then echo '9.8.7 (Test)'; exit; fi\n{script}\n")
        program.chmod(0o755)

    return install


@pytest.fixture(autouse=True)
def connected(samuel):
    assert samuel("bridge", "add", "--project", "claude").code == 0


def live(samuel):
    ran = samuel("bridge", "check", "--live", "claude", "--json")
    return ran.code, ran.json["data"][0]["live"]


def test_a_client_that_wants_a_login_proves_nothing(samuel, client):
    client("echo please log in; exit 1")
    code, proof = live(samuel)
    assert (code, proof["verdict"], proof["version"]) == (1, "inconclusive", "9.8.7")
    assert proof["why"] == "the client did not ask the model; it printed: `please log in`"


def test_a_program_that_runs_the_canaries_without_asking_is_drift(samuel, client, tmp_path):
    program = tmp_path / "careless.py"
    program.write_text(CARELESS_CLIENT)
    client(f"exec {sys.executable} {program}")
    code, proof = live(samuel)
    assert (code, proof["verdict"]) == (1, "drift")
    assert proof["why"] == "the client ran the denied canary and did not ask Samuel"
    findings = samuel("doctor", "--json").json["data"]["findings"]
    (finding,) = [finding for finding in findings if finding["what"].startswith("live check")]
    assert finding["level"] == "error"
    assert finding["what"].startswith("live check of claude 9.8.7 on 20")
    assert finding["hint"] == "`samuel bridge check --live claude` checks it again"


def test_a_client_that_is_not_installed_is_an_error(samuel, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, proof = live(samuel)
    assert (code, proof["verdict"], proof["why"]) == (1, "error", "`claude` is not on PATH")


def test_the_client_gets_no_key_and_no_proxy(samuel, client, monkeypatch, project):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")
    client(f"env > {project}/variables; exit 1")
    live(samuel)
    variables = dict(
        line.split("=", 1) for line in (project / "variables").read_text().splitlines() if "=" in line
    )
    assert not {"ANTHROPIC_AUTH_TOKEN", "HTTPS_PROXY"} & set(variables)
    assert variables["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert variables["HOME"] == os.environ["HOME"]


def test_without_entries_no_client_is_run(samuel, client, project):
    client(f"touch {project}/started")
    samuel("bridge", "remove", "claude")
    code, proof = live(samuel)
    assert (code, proof) == (1, None)
    assert not (project / "started").exists()


def test_a_run_does_not_run_another_agent(samuel, client, project, monkeypatch):
    client(f"touch {project}/started")
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    ran = samuel("bridge", "check", "--live", "claude")
    assert (ran.code, ran.out) == (1, "")
    assert "this is inside the run `run-1`" in ran.err
    assert not (project / "started").exists()
