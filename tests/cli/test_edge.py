"""Exceptions become messages and exit codes at one place."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import click
import pytest

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.cli.lazy import CommandEntry
from samuel.cli.root import COMMANDS
from samuel.version import __version__

from .conftest import REAL, Samuel


@pytest.fixture
def command(monkeypatch):
    """A command that raises what it is told to."""

    def raising(error: BaseException) -> None:
        @click.command()
        @click.option("--json", is_flag=True)
        def boom(json: bool) -> None:
            raise error

        module = types.ModuleType("boom")
        module.boom = boom  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "samuel.cli.boom", module)
        monkeypatch.setitem(COMMANDS, "boom", CommandEntry("Fails."))

    return raising


def test_an_error_of_ours_says_what_to_do_next(samuel, command):
    command(SamuelError("it failed", "try again"))
    assert samuel("boom") == (1, "", "error: it failed\ntry again\n")


def test_problems_come_all_at_once_and_as_data(samuel, command):
    command(ConfigError([Problem("wrong", "samuel.toml", 3, "mend it"), Problem("odd")]))
    ran = samuel("boom", "--json")
    assert ran.code == 2
    assert ran.err == "error: samuel.toml:3: wrong (mend it)\nodd\n"
    assert ran.json == {
        "ok": False,
        "data": None,
        "warnings": [],
        "error": {
            "message": "samuel.toml:3: wrong (mend it)\nodd",
            "hint": "",
            "problems": [
                {"what": "wrong", "file": "samuel.toml", "line": 3, "hint": "mend it"},
                {"what": "odd", "file": "", "line": 0, "hint": ""},
            ],
        },
    }


def test_a_bug_leaves_a_report_and_no_traceback(samuel, command, machine):
    command(ValueError("oops"))
    ran = samuel("boom", "--json")
    (report,) = (machine / "state" / "samuel" / "reports").iterdir()
    report_path = f"HOME/state/samuel/reports/{report.name}"
    assert ran.code == 3
    assert ran.err == (
        "error: this is a bug in Samuel: ValueError: oops\n"
        f"the report is in `{report_path}`; read it, then paste it into an issue\n"
    )
    assert ran.json["error"]["message"] == "this is a bug in Samuel: ValueError: oops"
    lines = report.read_text().splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["samuel", "python", "platform", "command"]
    assert lines[0].split()[1] == __version__
    assert lines[3] == "command   samuel boom --json"
    assert lines[5] == "Traceback (most recent call last):"
    assert lines[-1] == "ValueError: oops"
    assert report.stat().st_mode & 0o777 == 0o600


def test_a_report_that_cannot_be_written_is_shown(samuel, command, machine):
    (machine / "state").write_text("in the way")
    command(ValueError("oops"))
    ran = samuel("boom")
    assert ran.code == 3
    assert ran.err.startswith(
        "error: this is a bug in Samuel: ValueError: oops\npaste this into an issue:\n\nsamuel "
    )
    assert ran.err.endswith("ValueError: oops\n\n")


def test_an_error_of_the_system_is_not_reported_as_a_bug(samuel, command):
    command(PermissionError(13, "Permission denied", "/etc/x"))
    assert samuel("boom") == (1, "", "error: `/etc/x`: Permission denied\n")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap here")
def test_a_read_only_file_system_is_named_without_a_number_and_with_what_helps(project):
    def read_only(*words: str) -> subprocess.CompletedProcess[str]:
        within = (
            "bwrap",
            "--dev-bind",
            "/",
            "/",
            "--ro-bind",
            str(project),
            str(project),
            "--chdir",
            str(project),
        )
        return subprocess.run([*within, *REAL, *words], capture_output=True, text=True)

    read_only_message = "cannot be written: the file system is read-only\n"
    assert read_only("init").stderr == f"error: `samuel.toml` {read_only_message}"
    fired = read_only("hooks", "fire", "quality.check", "--payload", '{"commands": []}')
    assert fired.stderr == "warning: the journal cannot be written: `.samuel`: the file system is read-only\n"
    assert f"the file system of `{project}` is read-only; mount it" in read_only("doctor").stdout


def test_an_interrupt_exits_with_130(samuel, command):
    command(KeyboardInterrupt())
    ran = samuel("boom")
    assert (ran.code, ran.out, ran.err.strip()) == (130, "", "interrupted")


def test_a_closed_pipe_ends_a_command_without_a_message(project):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*REAL, "hooks", "schema"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.slow
@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.sampled(every=2)
def test_a_command_works_with_closed_standard_streams(project, closed: str):
    ran = subprocess.run(["sh", "-c", f'"$@" hooks fire quality.check {closed}', "-", *REAL], capture_output=True)
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr


def test_an_ascii_terminal_gets_escapes_not_exceptions(project):
    (project / "samuel.toml").write_text('"é" = 1')
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*REAL, "doctor"], env=env, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"\\xe9" in done.stdout


def test_a_current_directory_that_is_gone(project):
    gone = f"mkdir gone && cd gone && rmdir ../gone && exec {sys.executable} -m samuel hooks list"
    done = subprocess.run(["/bin/sh", "-c", gone], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: " in done.stderr


@pytest.mark.slow
def test_told_to_go_it_ends_what_it_started(project):
    wait = "echo $$ > pid; exec sleep 60"
    payload = json.dumps({"commands": [wait]})
    with subprocess.Popen(
        [*REAL, "hooks", "fire", "quality.check", "--payload", payload], stdout=subprocess.PIPE
    ) as process:
        pid = project / "pid"
        while not (pid.exists() and pid.read_text().strip()):
            time.sleep(0.01)
        process.terminate()
        assert process.communicate()[0] == b""
    assert process.returncode == 130
    assert not Path("/proc", pid.read_text().strip()).exists()


def test_lack_of_memory_is_not_called_a_bug(samuel, command):
    command(MemoryError())
    assert samuel("boom") == (1, "", f"error: there is not enough memory\n{MORE_MEMORY}\n")
    assert samuel("boom", "--json").json["error"]["message"] == "there is not enough memory"


def test_lack_of_memory_in_a_system_call_is_called_so(samuel, command):
    command(OSError(errno.ENOMEM, "Cannot allocate memory", "/usr/lib"))
    assert samuel("boom") == (1, "", f"error: there is not enough memory\n{MORE_MEMORY}\n")


def test_lack_of_threads_is_not_called_a_bug(samuel, command):
    command(RuntimeError("can't start new thread"))
    assert samuel("boom") == (1, "", f"error: the system does not start another thread\n{MORE_MEMORY}\n")


def test_lack_of_memory_in_a_real_process(project):
    """So little that Python itself starts, and Samuel does not."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (limit := 22 * 1024**2, limit))"
    program = f"{limit}\nimport sys\nfrom samuel.cli.edge import run\nsys.exit(run(['hooks', 'list']))"
    program = f"import samuel.cli.edge\n{program}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: there is not enough memory\n{MORE_MEMORY}\n"


MORE_MEMORY = "end other programs, or raise the limits of this process (`ulimit -a` shows them)"


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("command", [("hooks", "list"), ("hooks", "list", "--json")], ids=" ".join)
@pytest.mark.sampled(every=3)
def test_output_to_a_full_disk_is_named(project, monkeypatch, command, buffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*REAL, *command], stdout=full, stderr=subprocess.PIPE, text=True)
    hint = "make room on that disk, then run the same command again: a run goes on where it stopped"
    assert (done.returncode, done.stderr) == (1, f"error: `standard output`: No space left on device\n{hint}\n")


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_named(project, put):
    """A limit on the size of files, which any user may set, fails where a full disk does: in the write."""
    put("prd.md", "## Tasks\n- [ ] 1 One\n")
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)); "
    program += "from samuel.cli.edge import run; sys.exit(run(['run', 'init', '--prd', 'prd.md']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"error: `{project}/.samuel/run/.gitignore`: File too large\n"


def test_printing_the_shell_completion_script_ends_with_exit_code_0(
    samuel: Samuel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_SAMUEL_COMPLETE", "bash_source")
    ran = samuel()
    assert ran.code == 0
    assert "complete -o nosort -F _samuel_completion samuel" in ran.out


@pytest.mark.parametrize(
    ("words", "as_json"),
    [
        (("boom", "--json"), True),
        (("boom", "--text", "x", "--json"), True),
        (("boom", "--text", "--json"), False),
        (("boom", "--text=--json"), False),
        (("boom", "--", "--json"), False),
        (("-C", "--json", "boom"), False),
        (("boom", "--unknown", "--json"), True),
        (("no-such-command", "--json"), True),
    ],
)
def test_json_counts_as_an_option_and_not_as_the_value_of_another(samuel, monkeypatch, words, as_json):
    @click.command()
    @click.option("--json", is_flag=True)
    @click.option("--text", default="")
    @click.argument("more", nargs=-1)
    def boom(json: bool, text: str, more: tuple[str, ...]) -> None:
        raise SamuelError("it failed")

    module = types.ModuleType("boom")
    module.boom = boom  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "samuel.cli.boom", module)
    monkeypatch.setitem(COMMANDS, "boom", CommandEntry("Fails."))
    ran = samuel(*words)
    assert ran.code in (1, 2)
    assert bool(ran.out) is as_json
