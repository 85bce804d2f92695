"""`samuel doctor`: it always runs, and says everything that is wrong."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.confine.walls import limits
from samuel.confine.walls.walls import counts_processes, strength
from samuel.dispatch.record import percentile
from samuel.doctor import CLIENT_PROGRAMS
from samuel.emit.serve.client_program import client_program
from samuel.process.emit_client import installation_of
from samuel.version import __version__

from .conftest import GUARD, REAL


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """A machine without any program."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def findings(ran) -> list[tuple[str, str, str]]:
    return [(finding["level"], finding["what"], finding["hint"]) for finding in ran.json["data"]["findings"]]


def test_doctor_findings_of_an_empty_project(samuel):
    python = f"samuel {__version__}, Python {platform.python_version()} ({sys.executable})"
    walls = strength()  # there is no bubblewrap on this PATH
    assert walls.kind != "bwrap"
    assert walls.gaps
    ran = samuel("doctor", "--json")
    assert ran.code == 0
    assert ran.json["ok"] is True
    assert findings(ran) == [
        ("ok", python, ""),
        ("warning", "git is not installed", "install it"),
        ("warning", f"plugins' processes are held to their grants by {walls.kind}", walls.why),
        *(("note", f"gap of {walls.kind}, for a plugin's process: {gap}", "") for gap in walls.gaps),
        *(("note", f"gap of the limits on a plugin: {gap}", "") for gap in limits.gaps(counts_processes())),
        ("note", "`PROJECT` has no samuel.toml: everything has its default", "`samuel init` writes one"),
        ("ok", "state can be written: `HOME/state/samuel`", ""),
        ("ok", "cache can be written: `HOME/cache/samuel`", ""),
        ("ok", "journal can be written: `PROJECT/.samuel/run/journal`", ""),
        ("ok", f"{active(samuel)} handlers are active", ""),
        CLIENT_PROGRAMS[client_program(installation_of(sys.argv[0], sys.executable))],
        ("note", "`samuel emit` is answered without a server: `SAMUEL_SERVE` is off", "unset it"),
    ]


def active(samuel) -> int:
    return len(samuel("hooks", "list", "--json").json["data"])


def test_each_gap_is_named_with_the_wall_that_has_it(samuel):
    notes = [what for level, what, _ in findings(samuel("doctor", "--json")) if level == "note"]
    assert [what for what in notes if what.startswith(f"gap of {strength().kind}")]


def test_doctor_prints_a_table_for_people(samuel):
    ran = samuel("doctor")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].split() == ["LEVEL", "WHAT", "WHAT", "TO", "DO"]
    assert lines[2].split("  ")[0] == "warning"


def test_every_problem_of_a_broken_samuel_toml(samuel, put, guard):
    put("samuel.toml", 'x = 1\n[hooks."quality.chek"]\nstrict = 1\n')
    ran = samuel("doctor", "--hooks", "--json")
    assert ran.code == 1
    assert ran.json["ok"] is False
    assert [finding[1] for finding in findings(ran) if finding[0] == "error"] == [
        "PROJECT/samuel.toml:1: unknown key `x`",
        "PROJECT/samuel.toml:2: `quality.chek` is not an event",
        "PROJECT/samuel.toml:3: `strict` must be true or false, not an integer",
    ]
    assert ("note", "hooks were not checked", "fix the error above first") in findings(ran)
    assert ran.json["data"]["chains"] == []


def test_doctor_reports_a_samuel_toml_that_is_not_toml(samuel, put):
    put("samuel.toml", "[[[\n")
    assert samuel("doctor").code == 1


def test_doctor_reports_broken_untrusted_and_shadowed_hooks(samuel, put, machine, project):
    put(".samuel/hooks/guard", GUARD, 0o755)
    put(".samuel/hooks/broken", "#!/bin/sh\nexit 3\n", 0o755)
    put(".samuel/hooks/off", GUARD, 0o755)
    put(".samuel/hooks/off.disable", "")
    samuel("trust", "--yes")
    put(".kodelet/hooks/new", GUARD, 0o755)
    mine = machine / ".samuel/hooks/guard"
    mine.parent.mkdir(parents=True)
    mine.write_text(GUARD)
    mine.chmod(0o755)
    put("samuel.toml", '[hooks."quality.check"]\nhandlers = ["guard"]\n')
    ran = samuel("doctor", "--json")
    assert ran.code == 1
    hook_findings = [
        (level, what) for level, what, _ in findings(ran) if "`" in what and "PROJECT/.samuel/run" not in what
    ]
    assert (
        "error",
        "`broken` (project) is broken: `PROJECT/.samuel/hooks/broken hook` failed: exit code 3",
    ) in hook_findings
    assert ("note", "`off` (project) is disabled: `off.disable` is beside it") in hook_findings
    assert (
        "warning",
        "`new` (project) is untrusted: not trusted: `.kodelet/hooks/new` has not been agreed to yet; "
        "run `samuel trust` to look at it and agree",
    ) in hook_findings
    assert (
        "note",
        "`guard` (user) is shadowed: `PROJECT/.samuel/hooks/guard` has the same name and comes first",
    ) in hook_findings
    assert (
        "note",
        "`default` does not run on `quality.check`: `handlers` in samuel.toml does not name it",
    ) in hook_findings


def test_a_place_that_cannot_be_written(samuel, machine):
    shutil.rmtree(machine / "cache")
    (machine / "cache").write_text("in the way")
    ran = samuel("doctor", "--json")
    assert ran.code == 1
    assert (
        "error",
        "cache cannot be written: `HOME/cache/samuel`",
        "`HOME/cache` is not a directory; move it away",
    ) in findings(ran)


def test_doctor_reports_a_samuel_directory_that_is_a_link(samuel, project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".samuel").symlink_to(tmp_path / "elsewhere")
    ran = samuel("doctor", "--json")
    assert ran.code == 1
    assert any(
        "`PROJECT/.samuel` is a symbolic link" in what for level, what, _ in findings(ran) if level == "error"
    )


def test_doctor_reports_handlers_that_were_slow(samuel, journal):
    journal(*[("quality.check", "slow", 600.0)] * 3, ("quality.check", "note", 60.0), ("quality.check", "ok", 6.0))
    slow_findings = [(level, what) for level, what, _ in findings(samuel("doctor", "--json")) if " ms on " in what]
    assert slow_findings == [
        ("note", "`note` takes 60 ms on `quality.check` (p95, calls: 1)"),
        ("warning", "`slow` takes 600 ms on `quality.check` (p95, calls: 3)"),
    ]


@pytest.mark.parametrize("event", ["agent.invoke", "before:iteration", "quality.check"])
def test_the_agent_the_pause_and_the_checks_are_not_called_slow(samuel, journal, event):
    journal((event, "default", 99000.0), ("agent.invoke", "robot", 99000.0))
    assert not [what for _, what, _ in findings(samuel("doctor", "--json")) if " ms on " in what]
    assert {call["slow"] for call in samuel("hooks", "log", "--json").json["data"]} == {""}


def test_another_built_in_may_be_slow(samuel, journal):
    journal(("context.snapshot", "default", 700.0))
    assert [what for _, what, _ in findings(samuel("doctor", "--json")) if " ms on " in what] == [
        "`default` takes 700 ms on `context.snapshot` (p95, calls: 1)"
    ]


@pytest.mark.slow
def test_a_runtime_that_is_gone_is_noticed_though_no_file_changed(samuel, put, project):
    """The same home and the same project, seen by a Python without wasmtime."""
    wasmtime = pytest.importorskip("wasmtime")
    manifest = 'name = "mod"\nversion = "1.0.0"\nkind = "wasm"\n[wasm]\nmodule = "m.wasm"\n'
    put(".samuel/plugins/mod/samuel-plugin.toml", manifest + '[wasm.hook_handlers]\n"context.extra" = "extra"\n')
    module = wasmtime.wat2wasm(MODULE)
    (project / ".samuel/plugins/mod/m.wasm").write_bytes(module)
    samuel("trust", "--yes")
    assert "mod/extra" in samuel("hooks", "list").out
    code = "import sys; sys.modules['wasmtime'] = None; from samuel.cli.edge import run; run(['doctor', '--json'])"
    answer = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    errors = [finding["what"] for finding in answer["data"]["findings"] if finding["level"] == "error"]
    assert [("`mod/extra`" in what, "need wasmtime" in what) for what in errors] == [(True, True)]


MODULE = """
(module
  (memory (export "memory") 1)
  (func (export "samuel_protocol_version") (result i32) (i32.const 1))
  (func (export "samuel_alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "extra") (param i32) (param i32) (result i64) (i64.const 0)))
"""


def test_percentile_is_the_smallest_value_that_covers_the_share():
    assert percentile([5.0], 95) == 5.0
    assert percentile([float(n) for n in range(1, 101)], 95) == 95.0
    assert percentile([1.0] * 19 + [100.0], 95) == 1.0


def test_doctor_hooks_shows_the_chain_of_every_event(samuel, guard):
    samuel("trust", "--yes")
    ran = samuel("doctor", "--hooks", "--json")
    chains = {chain["event"]: chain for chain in ran.json["data"]["chains"]}
    assert len(chains) == 31
    assert [step["handler"] for step in chains["quality.check"]["chain"]] == ["default", "guard"]
    text = samuel("doctor", "--hooks").out
    assert "\nSessionEnd (merge)\n  no handler runs\n" in text
    assert "\nquality.check (all-ok + concatenate)\n   HANDLER  ORDER" in text


def test_doctor_runs_nothing_of_a_fresh_clone(samuel, project, guard):
    samuel("doctor", "--hooks")
    assert not (project / "canary").exists()


UNSHARE = shutil.which("unshare")
SMALL_DISK = """
mount -t tmpfs -o size=$1,nr_inodes=$2 none "$3" && cd "$3" && mkdir project && cd project && shift 3 && exec "$@"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "files", "level", "what"),
    [
        ("600k", 100, "error", "is full"),
        ("50m", 100, "warning", "is nearly full, 50 MiB left"),
        ("900m", 2, "error", "has no room for another file"),
        ("900m", 100, "", ""),
    ],
)
def test_doctor_reports_a_full_disk(tmp_path, size: str, files: int, level: str, what: str):
    """A real file system, mounted where no other process sees it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    inside = [sys.executable, "-m", "samuel", "doctor", "--json"]
    command = [str(UNSHARE), "-rm", "/bin/sh", "-c", SMALL_DISK, "sh", size, str(files), str(disk), *inside]
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    done = subprocess.run(command, env=env, capture_output=True, text=True) if UNSHARE else None
    if done is None or "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"NOT TESTED: this user cannot mount a file system: {done.stderr if done else 'no unshare'}")
    findings = json.loads(done.stdout)["data"]["findings"]
    disks = [
        (finding["level"], finding["what"], finding["hint"])
        for finding in findings
        if "the disk of" in finding["what"]
    ]
    root = f"{disk}/project"
    hint = f"free some space on the file system of `{root}`"
    assert disks == ([(level, f"the disk of the project {what}: `{root}`", hint)] if level else [])


def test_it_looks_at_abilities_and_knowledge(samuel, put):
    put(".system/registry/low-level/good.yaml", "operation_key: good\nsummary: Good\n")
    put(".system/registry/low-level/bad.yaml", "operation_key: bad\nsumary: Bad\n")
    put(
        "ROUTING.md",
        "---\nroute_indexes:\n  - {scope: a, topic: b, summary: c, route_file: routes/none.yaml}\n---\n",
    )
    text = samuel("doctor").out
    assert "1 ability in the registry" in text
    assert re.search(
        r"warning +\d+ problems? in the registry of abilities +`samuel ability lint` shows them", text
    )
    assert "1 topic in ROUTING.md" in text
    assert "in what ROUTING.md leads to" in text
    put("ROUTING.md", "nothing\n")
    assert "ROUTING.md:1: there is no `route_indexes` in it" in samuel("doctor").out


@pytest.fixture
def runtime(monkeypatch) -> Iterator[Path]:
    """A runtime directory with a short name, in which servers may be."""
    with tempfile.TemporaryDirectory(prefix="doctor") as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        monkeypatch.delenv("SAMUEL_SERVE")
        yield Path(directory)


def server_findings(samuel) -> list[tuple[str, str, str]]:
    return [finding for finding in findings(samuel("doctor", "--json")) if "server" in finding[1]]


def test_doctor_says_why_an_untrusted_project_has_no_server(samuel, guard, runtime):
    what = (
        "`samuel emit` is answered without a server: no hook of this project can run; `samuel hooks list` says why"
    )
    assert server_findings(samuel) == [("note", what, "")]


def test_doctor_says_that_a_project_without_hooks_needs_no_server(samuel, runtime):
    what = "`samuel emit` is answered without a server: this project has no hooks"
    assert server_findings(samuel) == [("note", what, "")]


def test_doctor_names_a_python_file_that_lacks_the_decorator(samuel, put):
    put(".samuel/hooks/g.py", "def guard(event):\n    return {'decision': 'deny'}\n")
    what = "`.samuel/hooks/g.py` is not a hook: it has no function marked with `@samuel.hook`"
    notes = [finding for finding in findings(samuel("doctor", "--json")) if "g.py" in finding[1]]
    assert notes == [("note", f"{what} (begin its name with `_` if other hooks use it)", "")]


@pytest.mark.slow
def test_doctor_names_the_running_server_and_counts_its_calls(samuel, guard, put, runtime):
    put("samuel.toml", "")
    samuel("trust", "--yes")
    assert server_findings(samuel) == [
        ("note", "no server is running; the next `samuel emit` starts one", ""),
    ]
    server = subprocess.Popen([*REAL, "serve"], stderr=subprocess.PIPE)
    try:
        server.stderr.readline()  # it listens
        # In a process of its own: a command ends the children of its process that it does not know.
        done = subprocess.run([*REAL, "doctor", "--json"], stdout=subprocess.PIPE, check=True)
        expected = f"the server {server.pid} answers `samuel emit` (calls: 0)"
        what = [finding["what"] for finding in json.loads(done.stdout)["data"]["findings"]]
        assert [text for text in what if "server" in text] == [expected]
    finally:
        server.terminate()
        server.communicate()


def test_doctor_warns_of_a_directory_for_sockets_that_others_can_enter(samuel, guard, put, runtime):
    put("samuel.toml", "")
    samuel("trust", "--yes")
    (runtime / "samuel").mkdir()
    (runtime / "samuel").chmod(0o755)
    what = f"`{runtime}/samuel` can be entered by others, and is not used"
    assert ("warning", what, f"`chmod 700 {runtime}/samuel`") in findings(samuel("doctor", "--json"))
