"""`samuel bench`: what a hook call costs, measured with real calls. No test asserts a time."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import py_guard

from samuel.emit.serve.client_program import ClientProgram, client_program
from samuel.journal import EventRecord, newest_first
from samuel.process.emit_client import installation_of

GUARD = py_guard("""\
if event.ability_id == "forbidden":
    return {"decision": "deny", "reason": "not here"}
""")


@pytest.fixture
def guarded(put, samuel) -> None:
    put("samuel.toml", "")
    put(".samuel/hooks/guard.py", GUARD)
    assert samuel("trust", "--yes").code == 0


@pytest.fixture
def served(samuel, monkeypatch) -> Iterator[None]:
    """Servers may be started, in a directory of their own; those that are left are stopped."""
    with tempfile.TemporaryDirectory(prefix="bench") as directory:  # short: a socket's path has little room
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        monkeypatch.delenv("SAMUEL_SERVE")
        yield
        samuel("serve", "stop")


def payloads(project: Path) -> list[dict[str, object]]:
    records = newest_first(project, project / ".samuel/run/journal")
    return [json.loads(bytes(record.payload)) for record in records if isinstance(record, EventRecord)]


@pytest.mark.slow
def test_without_hooks_only_the_cold_call_is_measured(samuel, put):
    put("samuel.toml", "")
    ran = samuel("bench", "--rounds", "2", "--json")
    assert ran.code == 0
    data = ran.json["data"]
    assert [cost["kind"] for cost in data["calls"]] == ["true", "python", "cold"]
    assert data["handlers"] == []
    assert data["notes"] == ["only without a server, because none is started here: `SAMUEL_SERVE` is off"]
    assert all(0 < cost["p50_ms"] <= cost["p95_ms"] for cost in data["calls"])
    assert (data["calls"][0]["times_true"], data["calls"][1]["times_python"]) == (1.0, 1.0)


@pytest.mark.slow
def test_every_kind_of_call_is_measured_with_a_server(samuel, guarded, served, project):
    ran = samuel("bench", "--rounds", "2", "--json")
    assert ran.code == 0, ran.err
    data = ran.json["data"]
    native = client_program(installation_of(sys.argv[0], sys.executable)) is ClientProgram.NATIVE
    kinds = ["true", "python", "cold", "warm", *(["native"] if native else [])]
    assert [cost["kind"] for cost in data["calls"]] == kinds
    [handler] = data["handlers"]
    assert (handler["handler"], handler["runtime"], handler["outcome"]) == ("guard", "python", "ok")
    assert handler["cold_p50_ms"] > 0
    assert handler["warm_p50_ms"] > 0
    assert not data["denied"]
    [server] = samuel("serve", "status", "--json").json["data"]
    assert server["calls"] == (len(kinds) - 3) * 4  # two rounds, and two to warm up
    assert server["left_to_others"] == 0
    assert all(payload["dry_run"] is True for payload in payloads(project))


@pytest.mark.slow
def test_what_will_run_is_announced(samuel, guarded):
    ran = samuel("bench", "--rounds", "1")
    assert ran.err == "firing `PreAbilityCall` 1 x 1 times as a dry run, with `guard` (python)\n"


@pytest.mark.slow
def test_an_untrusted_hook_is_refused_and_not_run(samuel, put, project):
    put("samuel.toml", "")
    put(".samuel/hooks/guard.py", f"{GUARD}\nopen({str(project / 'canary')!r}, 'w')\n")
    ran = samuel("bench", "--rounds", "1", "--json")
    assert ran.code == 0
    assert ran.json["data"]["denied"]
    assert [handler["outcome"] for handler in ran.json["data"]["handlers"]] == ["refused"]
    assert "`guard` (refused)" in ran.err
    assert not (project / "canary").exists()


@pytest.mark.slow
def test_a_payload_that_is_denied_is_measured_and_named(samuel, guarded):
    ran = samuel("bench", "--rounds", "1", "--payload", '{"ability_id": "forbidden"}')
    assert ran.code == 0
    assert "this `PreAbilityCall` is denied; what that takes is measured all the same" in ran.out


@pytest.mark.slow
def test_nothing_is_stored_in_the_session_around_it(samuel, guarded, project, monkeypatch):
    monkeypatch.setenv("SAMUEL_SESSION_ID", "s1")
    assert samuel("bench", "--rounds", "1", "--event", "SessionStart").code == 0
    assert not (project / ".samuel/run/sessions").exists()


def test_an_event_that_agents_do_not_fire_is_refused(samuel):
    ran = samuel("bench", "--event", "quality.check")
    assert ran.code == 2
    assert ran.err.startswith("error: `quality.check` is not an event of agents\nthey have SessionStart, ")


def test_a_wrong_payload_is_refused_before_anything_runs(samuel, guarded, project):
    ran = samuel("bench", "--payload", '{"ability_id": 7}')
    assert ran.code == 2
    assert "the context of `PreAbilityCall` is wrong" in ran.err
    assert payloads(project) == []
