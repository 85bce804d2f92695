"""A repository that wants to run something on the machine of the person who clones it.

Everything in it that could run writes into the canary directory. Nothing may be there before its owner agreed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.app import App, Machine
from samuel.base.errors import ConfigError, UnsafePath
from samuel.hooks.handler import HandlerStatus, Outcome
from samuel.journal import newest_first
from samuel.testing import SamuelProject
from samuel.trust.items import review

Git = Callable[..., str]

EXEC = """#!/bin/sh
touch '{canary}/exec'
if [ "$1" = hook ]; then echo context.extra UserPromptSubmit; exit 0; fi
echo '{{"ran": "exec"}}'
"""
MODULE = """
import pathlib, json, samuel
pathlib.Path('{canary}/module').touch()

@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    pathlib.Path('{canary}/guard').touch()
    return {{"decision": "allow", "json": json.__file__}}
"""
PYTHON = "import pathlib\npathlib.Path('{canary}/{name}').touch()\n"
YAML = """
id: evil_yaml
event_type: PostAbilityCall
handler:
  kind: script
  command: touch '{canary}/yaml'
"""
METADATA = "Metadata-Version: 2.1\nName: evil-dist\nVersion: 1.0\n"
POINTS = "[samuel.hooks]\nevil = evil_module\n"
JOURNAL = (
    b'\x00\xff{"kind": "event"}\n\x1b]0;owned\x07\x1b[2J\n{"kind":"call","call_id":1}\n' + b"[" * 5000 + b"\n{"
)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    directory = tmp_path / "canary"
    directory.mkdir()
    return directory


@pytest.fixture
def origin(tmp_path: Path, canary: Path, git: Git) -> Path:
    """The repository as its author pushed it."""
    root = tmp_path / "origin"
    root.mkdir()
    git(root, "init", "-q")

    def write(path: str, text: str | bytes, mode: int = 0o644) -> None:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.format(canary=canary, name=file.stem).encode())
        file.chmod(mode)

    write("samuel.toml", 'distributions = ["evil-dist"]\n')
    write(".samuel/hooks/evil", EXEC, 0o755)
    write(".samuel/hooks/evil_py.py", MODULE)
    write(".samuel/hooks/json.py", PYTHON)
    write(".samuel/hooks/sitecustomize.py", PYTHON)
    write(".kodelet/hooks/evil_kodelet", EXEC, 0o755)
    write(".system/hooks/evil.yaml", YAML)
    for place in ("", ".samuel/hooks/"):
        write(f"{place}evil_dist-1.0.dist-info/METADATA", METADATA)
        write(f"{place}evil_dist-1.0.dist-info/entry_points.txt", POINTS)
    for name in ("evil_module.py", "sitecustomize.py", "json.py", "msgspec.py", "samuel/__init__.py"):
        write(name, PYTHON)
    write(".samuel/run/journal/20200101T000000-1-abc.jsonl", JOURNAL)
    write(".samuel/run/journal/99990101T000000-1-abc.jsonl", JOURNAL)
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "innocent")
    return root


@pytest.fixture
def clone(tmp_path: Path, origin: Path, canary: Path, git: Git, samuel_project: SamuelProject) -> SamuelProject:
    root = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(origin), str(root))
    git(root, "config", "core.fsmonitor", f"touch {canary}/git")
    git(root, "config", "core.hooksPath", ".samuel/hooks")
    samuel_project.root = root
    return samuel_project


def use(project: SamuelProject) -> None:
    """Open, list, fire: all that a person does in a project before they look closer."""
    with project.open() as app:
        assert app.handlers
        app.fire("context.extra", task={"id": "1"}, context=app.context())
        app.fire("UserPromptSubmit", user_message="hello")
        app.fire("PreAbilityCall", ability_id="shell", tool_input={"command": "ls"})
        app.fire("PostAbilityCall", ability_id="shell", status="success")
        app.fire("quality.check", commands=["true"])
        list(newest_first(app.paths.root, app.paths.journal))
    review(project.root, {})


def test_nothing_runs_before_its_owner_agreed(clone: SamuelProject, canary: Path, marked: object) -> None:
    use(clone)
    use(clone)
    assert os.listdir(canary) == []


def test_everything_is_listed_with_the_reason(clone: SamuelProject) -> None:
    with clone.open() as app:
        handlers = {handler.name: handler for handler in app.handlers if handler.name != "default"}
    for name in ("evil", "evil_py", "evil_kodelet", "evil_yaml"):
        assert handlers[name].status is HandlerStatus.UNTRUSTED
        assert "samuel trust" in handlers[name].reason


@pytest.mark.slow
def test_trusting_everything_once_is_not_remembered(
    clone: SamuelProject, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    use(clone)
    assert {"exec", "yaml"} <= set(os.listdir(canary))
    monkeypatch.delenv("SAMUEL_TRUST")
    for file in canary.iterdir():
        file.unlink()
    use(clone)
    assert os.listdir(canary) == []


def test_a_pipe_and_a_loop_of_links_neither_run_nor_hang(clone: SamuelProject, canary: Path) -> None:
    for place in (".samuel/hooks", ".kodelet/hooks"):
        os.mkfifo(clone.root / place / "pipe", 0o755)
        (clone.root / place / "loop").symlink_to("loop")
        (clone.root / place / "self").symlink_to(".")
    use(clone)
    clone.trust()  # these cannot be agreed to: what they will be is not known
    use(clone)
    assert os.listdir(canary) == ["yaml"]  # which does not lie beside them
    with clone.open() as app:
        assert {handler.name: handler.status for handler in app.handlers}["evil"] is HandlerStatus.UNTRUSTED


@pytest.mark.parametrize(
    "what", [".samuel", ".samuel/hooks", ".kodelet", ".samuel/run", ".system", ".system/hooks"]
)
def test_a_directory_that_is_a_link_is_refused(
    clone: SamuelProject, tmp_path: Path, canary: Path, what: str
) -> None:
    (clone.root / what).rename(tmp_path / "elsewhere")
    (clone.root / what).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath, match="symbolic link"):
        clone.open()
    assert os.listdir(canary) == []


def test_a_journal_that_is_a_link_costs_a_warning(clone: SamuelProject, tmp_path: Path) -> None:
    place = clone.root / ".samuel/run/journal"
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    before = sorted(os.listdir(tmp_path / "elsewhere"))
    with clone.open() as app:
        assert app.fire("quality.check", commands=["true"]).ok
        assert len(app.warnings) == 1
        assert list(newest_first(app.paths.root, app.paths.journal)) == []
    assert sorted(os.listdir(tmp_path / "elsewhere")) == before


def test_its_journal_is_passed_over(clone: SamuelProject) -> None:
    with clone.open() as app:
        app.fire("quality.check", commands=["true"])
        records = list(newest_first(app.paths.root, app.paths.journal))
    assert [type(record).__name__ for record in records] == ["EndRecord", "CallRecord", "EventRecord"]


def test_named_in_handlers_it_is_refused_in_its_place(clone: SamuelProject, canary: Path) -> None:
    clone.config('[hooks."quality.check"]\nhandlers = ["evil", "default"]\n')
    fired = clone.fire("quality.check", commands=["true"])
    assert [(call.handler.name, call.outcome) for call in fired.calls] == [
        ("evil", Outcome.REFUSED),
        ("default", Outcome.OK),
    ]
    assert fired.stopped
    assert "samuel trust" in fired.reason
    assert os.listdir(canary) == []


class TestOnceAgreed:
    @pytest.fixture(autouse=True)
    def _agree(self, clone: SamuelProject) -> None:
        clone.config("")  # a distribution that is listed and missing closes what a guard in it could deny
        clone.trust()

    @pytest.mark.slow
    def test_a_trusted_hook_of_the_clone_runs(self, clone: SamuelProject, canary: Path) -> None:
        use(clone)
        # What only lies beside them shadows nothing, nor does what lies in the project.
        assert set(os.listdir(canary)) == {"exec", "module", "guard", "yaml"}
        fired = clone.fire("PreAbilityCall", ability_id="shell", tool_input={})
        assert not fired.denied
        assert str(clone.root) not in fired.result["json"]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change",
        [
            lambda hooks: (hooks / "evil_py.py").write_text((hooks / "evil_py.py").read_text() + "\n"),
            lambda hooks: (hooks / "new.txt").write_text(""),
            lambda hooks: (hooks / "sub").mkdir() or (hooks / "sub/helper.py").write_text(""),
            lambda hooks: (hooks / "evil_py.py").chmod(0o755),
            lambda hooks: (hooks / "evil").chmod(0o644),
            lambda hooks: (hooks / "json.py").unlink() or (hooks / "json.py").symlink_to("evil"),
            lambda hooks: (hooks / "json.py").write_text("import os"),
        ],
        ids=["a byte", "a new file", "a new file below", "an x bit", "no x bit", "a link", "a helper"],
    )
    def test_after_a_change_it_is_refused_again(
        self, clone: SamuelProject, canary: Path, change: Callable[[Path], object]
    ) -> None:
        use(clone)
        for file in canary.iterdir():
            file.unlink()
        change(clone.root / ".samuel/hooks")

        # still in its place in the chain: a guard that was tampered with denies
        judged = clone.fire("PreAbilityCall", ability_id="shell", tool_input={})
        assert {call.outcome for call in judged.calls} == {Outcome.REFUSED}
        assert judged.denied
        assert judged.stopped
        assert "samuel trust" in judged.reason
        extra = clone.fire("context.extra", task={})
        refused = {call.handler.name: call.outcome for call in extra.calls}
        assert refused["evil"] is Outcome.REFUSED
        assert not extra.stopped
        assert any("samuel trust" in warning for warning in extra.warnings)
        assert not {"module", "guard"} & set(os.listdir(canary))

        clone.trust()
        outcomes = {call.outcome for call in clone.fire("context.extra", task={}).calls}
        assert Outcome.REFUSED not in outcomes

    def test_a_change_while_the_project_is_open(self, clone: SamuelProject, canary: Path) -> None:
        with clone.open() as app:
            assert not app.fire("PreAbilityCall", ability_id="shell").denied
            file = clone.root / ".samuel/hooks/evil_py.py"
            file.write_text(file.read_text().replace("allow", "ALLOW"))
            assert app.fire("PreAbilityCall", ability_id="shell").denied
            clone.trust()  # what was agreed to is pinned: nothing that happens later can widen it
            assert app.fire("PreAbilityCall", ability_id="shell").denied

    @pytest.mark.slow
    def test_content_that_was_agreed_to_before_is_trusted_again(self, clone: SamuelProject) -> None:
        use(clone)
        file = clone.root / ".samuel/hooks/evil_py.py"
        text = file.read_text()
        file.write_text("other")
        assert clone.fire("context.extra", task={}).warnings
        file.write_text(text)
        assert not clone.fire("context.extra", task={}).warnings

    def test_a_worktree_keeps_the_trust(self, clone: SamuelProject, git: Git, tmp_path: Path) -> None:
        git(
            clone.root,
            "-c",
            "core.fsmonitor=",
            "-c",
            "core.hooksPath=/dev/null",
            "worktree",
            "add",
            "-q",
            "../tree",
        )
        with App(tmp_path / "tree", machine=Machine(user=clone.user)) as app:
            assert {call.outcome for call in app.fire("context.extra", task={}).calls} == {Outcome.OK}

    def test_trust_in_one_clone_does_not_hold_in_another(
        self, clone: SamuelProject, git: Git, tmp_path: Path, origin: Path, canary: Path
    ) -> None:
        git(tmp_path, "clone", "-q", str(origin), "other")
        clone.root = tmp_path / "other"
        use(clone)
        assert os.listdir(canary) == []

    def test_another_project_in_the_same_repository_does_not(self, clone: SamuelProject, canary: Path) -> None:
        inner = clone.root / "inner"
        inner.mkdir()
        (inner / "samuel.toml").write_text("")
        for name in (".samuel", ".kodelet", ".system"):  # what stays is trusted, and holds here, too
            if (clone.root / name).exists():
                (clone.root / name).rename(inner / name)
        clone.root = inner
        use(clone)
        assert os.listdir(canary) == []

    def test_another_user_has_agreed_to_nothing(self, clone: SamuelProject, canary: Path, tmp_path: Path) -> None:
        other = SamuelProject(tmp_path / "another person")
        other.root = clone.root
        use(other)
        assert os.listdir(canary) == []


def test_an_unreadable_answer_store_is_said_not_guessed(clone: SamuelProject) -> None:
    clone.trust()
    (store,) = (clone.user.state / "trust").glob("*.json")
    store.write_text("{")
    with pytest.raises(ConfigError, match="cannot read what was agreed to"):
        clone.open()


@pytest.fixture
def samuel(clone: SamuelProject, fast_samuel: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the program in the clone, with no person at its standard input."""
    env = {"PATH": os.environ["PATH"], "HOME": str(clone.user.home), "NO_COLOR": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [fast_samuel / "samuel", *arguments],
            cwd=clone.root,
            env=env,
            input="",
            capture_output=True,
            text=True,
            timeout=300,
            errors="replace",
        )

    return run


@pytest.mark.slow
def test_no_command_runs_anything_of_a_clone_before_it_is_trusted(
    clone: SamuelProject, canary: Path, samuel: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    fire = ("hooks", "fire", "context.extra", "--payload", '{"task": {"id": "1"}}')
    for arguments in (
        ("init",),
        ("init", "--force", "--yes"),
        ("hooks", "list"),
        ("hooks", "list", "--json"),
        ("hooks", "explain", "context.extra"),
        ("hooks", "log"),
        ("doctor",),
        ("doctor", "--hooks"),
        ("trust", "--list"),
        ("trust", "--show"),
        ("trust",),  # no person to ask: it must not take that for a yes
        fire,
    ):
        done = samuel(*arguments)
        assert done.returncode in (0, 1, 2), done
        assert "Traceback" not in done.stderr, done.stderr
        assert "\x1b" not in done.stdout + done.stderr, arguments
        assert os.listdir(canary) == [], arguments
    assert samuel("trust", "--yes").returncode == 0
    assert samuel(*fire).returncode == 0
    assert "exec" in os.listdir(canary)
    (canary / "exec").unlink()
    hook = clone.root / ".samuel/hooks/evil"
    hook.write_text(hook.read_text() + "\n")
    assert "refused" in samuel(*fire).stdout
    assert "trust" in samuel("hooks", "list").stdout
