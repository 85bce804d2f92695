"""A clone can put a pipe, a device, a directory or a link where Samuel reads a file: no command waits for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import sh_script
from tests.length import combined

PATIENCE = 100  # seconds until a command certainly waits for a person; git is given up after 60
KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "stdin": lambda path: path.symlink_to("/dev/stdin"),
    "directory": lambda path: path.mkdir(),
}
FILES = {
    "samuel.toml": '[methodology.ralph]\nagent = "scripted"\nquality_checks = ["test -e README.md"]\n',
    "samuel.lock": "version = 1\n",
    "docs/prd.md": "# Shop\n\n## Tasks\n- [ ] 1 One\n- [ ] 2 Two\n",
    "README.md": "shop\n",
    "AGENTS.md": "# Agents\n",
    ".claude/settings.json": "{}\n",
    ".samuel/hooks/guard.sh": sh_script("PreAbilityCall", "cat >/dev/null; echo '{}'"),
    ".samuel/hooks/guard.py": "import samuel\n\n@samuel.hook('PreAbilityCall')\ndef guard(event):\n    pass\n",
    ".system/hooks/guard.yaml": "id: y\nevent_type: TurnEnd\nhandler: {kind: script, command: tools/guard.sh}\n",
    "tools/guard.sh": "#!/bin/sh\ncat >/dev/null; echo '{}'\n",
    ".samuel/scripted/default": "#!/bin/sh\necho done > one\nsamuel run done\n",
    ".samuel/skills/a/SKILL.md": "---\nname: a\ndescription: b\n---\nx\n",
    ".samuel/recipes/r.md": "---\ndescription: b\n---\nx\n",
    ".git": "gitdir: elsewhere\n",
}
OF_A_RUN = ("prd.toon", "run.json", "origin.json", "history.jsonl", "progress.md")  # in .samuel/run
COMMANDS = (
    *(("hooks", "list"), ("trust", "--list"), ("emit", "PreAbilityCall"), ("doctor",), ("plugin", "list")),
    *(("run", "status"), ("run", "tasks"), ("run", "start", "--iterations", "1"), ("run", "history"), ("sync",)),
    *(("run", "init", "--from", "docs/prd.md", "--force", "--yes"), ("run", "sync"), ("run", "report")),
    *(("skill", "list"), ("recipe", "list"), ("bridge", "add", "claude"), ("bridge", "list"), ("hooks", "log")),
)


class Clone:
    """A project with everything in it, and its user."""

    def __init__(self, directory: Path, program: Path) -> None:
        self.root, self.home = directory / "project", directory / "home"
        self._program, self._environment = (
            program,
            {
                "HOME": str(self.home),
                "PATH": f"{program.parent}:{os.environ['PATH']}",
                "SAMUEL_SERVE": "off",
                "LANG": "C.UTF-8",
            },
        )
        self.home.mkdir(parents=True)
        for name, text in FILES.items():
            if name != ".git":
                file = self.root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                file.chmod(0o755)
        for command in (COMMANDS[10], ("trust", "--yes"), ("run", "start", "--iterations", "1")):
            self.ends(*command)

    def ends(self, *command: str) -> bytes:
        """What a command says; it has to end, and with a message rather than the report of a bug."""
        with subprocess.Popen(
            [self._program, *command],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.PIPE,  # nothing writes to it, and it stays open: as a terminal would
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            assert process.stdin
            if command[0] == "emit":
                process.stdin.close()
            assert process.stdout
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
            output = process.stdout.read()
        assert b"bug in Samuel" not in output, output
        return output


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, fast_samuel: Path) -> Clone:
    return Clone(tmp_path_factory.mktemp("clone"), fast_samuel / "samuel")


def replaced(path: Path, kind: str) -> Callable[[], None]:
    """Put something else there; the function that puts the file back."""
    aside = path.with_name(f"{path.name}.aside")
    existed = path.exists()
    if existed:
        path.rename(aside)
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path)

    def put_back() -> None:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if existed:
            aside.rename(path)

    return put_back


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), combined([*FILES, *(f".samuel/run/{name}" for name in OF_A_RUN)], [*KINDS])
)
def test_no_command_waits_for_what_is_in_the_place_of_a_file(clone: Clone, name: str, kind: str) -> None:
    put_back = replaced(clone.root / name, kind)
    try:
        for command in COMMANDS:
            clone.ends(*command)
    finally:
        put_back()


def test_pipe_in_the_place_of_the_lock_file_is_named(clone: Clone) -> None:
    for kind, reason in (("pipe", b"not a regular file"), ("stdin", b"symbolic link")):
        put_back = replaced(clone.root / "samuel.lock", kind)
        try:
            answer = clone.ends("plugin", "list")
            assert b"samuel.lock" in answer
            assert reason in answer
        finally:
            put_back()


def test_pipe_in_the_place_of_the_agreements_is_named(clone: Clone) -> None:
    (store,) = (clone.home / ".local/state/samuel/trust").glob("*.json")
    put_back = replaced(store, "pipe")
    try:
        assert b"cannot read what was agreed to" in clone.ends("hooks", "list")
    finally:
        put_back()


@pytest.mark.parametrize("name", [".system/hooks/huge.yaml", ".samuel/hooks/huge", "tools/huge"])
def test_huge_file_beside_hooks_is_not_read_and_not_trusted(clone: Clone, name: str) -> None:
    """It is gigabytes of zeros, whose digest would take half a minute."""
    huge = clone.root / name
    huge.touch()
    os.truncate(huge, 3 * 1024**3)
    try:
        assert name.encode() in clone.ends("trust", "--list")
        clone.ends("trust", "--yes")
        assert name.encode() in clone.ends("trust", "--list")
        listed = clone.ends("hooks", "list")
        assert b"not trusted" in listed or b"cannot be read" in listed
    finally:
        huge.unlink()
