"""The clean room: real git, real virtual environments, and agents and checks that leave things behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.evidence.check_directory import CheckDirectory, RoomFailed
from samuel.evidence.environment import EnvironmentTooLarge, needed
from samuel.evidence.room import CleanRoom
from samuel.evidence.surroundings.copies import remove
from samuel.git.git import Git
from samuel.git.trees import Trees
from samuel.process import environment

GitCommand = Callable[..., str]


@pytest.fixture
def root(tmp_path: Path, git: GitCommand) -> Path:
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "src/prices.py").write_text("PRICE = 10\n")
    (root / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/prices.py")
    (root / ".gitignore").write_text(".venv/\n*.log\ndata/\ntarget/\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def trees(root: Path, tmp_path: Path) -> Trees:
    return Trees(Git(root, {**environment.clean(), "HOME": str(tmp_path / "home")}), tmp_path / "state/trees")


@pytest.fixture
def commands() -> CheckDirectory:
    return CheckDirectory()


@pytest.fixture
def room(trees: Trees, tmp_path: Path, commands: CheckDirectory) -> CleanRoom:
    return CleanRoom(trees, tmp_path / "state", commands)


def listing(root: Path) -> dict[str, str]:
    files = {}
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if not name.startswith(".git/") and not path.is_dir():
            files[name] = os.readlink(path) if path.is_symlink() else path.read_text()
    return files


def files_shown(room: CleanRoom, commands: CheckDirectory, tree: str) -> tuple[Path, dict[str, str]]:
    with room.showing(tree):
        assert commands.path is not None
        return commands.path, listing(commands.path)


def test_room_has_the_files_of_the_tree_and_nothing_that_git_ignores(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    tree = trees.snapshot()
    (root / "left.log").write_text("of the agent")
    (root / "src/prices.py").write_text("PRICE = 0\n")
    place, files = files_shown(room, commands, tree)
    assert place != root
    assert files["src/prices.py"] == "PRICE = 10\n"
    assert files["link"] == "src/prices.py"
    assert "left.log" not in files
    assert os.access(place / "run.sh", os.X_OK)
    assert commands.path is None


def test_second_tree_replaces_the_first_by_difference(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    first = trees.snapshot()
    (root / "src/prices.py").unlink()
    (root / "src/prices.py").mkdir()
    (root / "src/prices.py/deep.txt").write_text("deep\n")
    (root / "link").unlink()
    second = trees.snapshot()
    place, before = files_shown(room, commands, first)
    inode = (place / "run.sh").stat().st_ino
    _, after = files_shown(room, commands, second)
    assert after["src/prices.py/deep.txt"] == "deep\n"
    assert "link" not in after
    assert (place / "run.sh").stat().st_ino == inode
    assert files_shown(room, commands, first)[1] == before


def test_what_a_check_left_or_changed_is_gone_for_the_next_one(
    trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    tree = trees.snapshot()
    place, before = files_shown(room, commands, tree)
    with room.showing(tree):
        (place / "src/prices.py").write_text("PRICE = 99\n")
        (place / "src/__pycache__").mkdir()
        (place / "src/__pycache__/prices.pyc").write_text("poison")
        (place / "link").unlink()
        (place / "link").symlink_to("/etc/passwd")
        (place / ".git/config").write_text("[core]\n\tfsmonitor = touch poisoned\n")
        (place / "new").mkdir(mode=0o500)
    assert files_shown(room, commands, tree)[1] == before
    assert "fsmonitor" not in (place / ".git/config").read_text()


def test_forged_times_do_not_hide_a_change(trees: Trees, room: CleanRoom, commands: CheckDirectory) -> None:
    tree = trees.snapshot()
    place, before = files_shown(room, commands, tree)
    file = place / "src/prices.py"
    own = file.stat()
    file.write_text("PRICE = 11\n")
    os.utime(file, ns=(own.st_atime_ns, own.st_mtime_ns))
    assert files_shown(room, commands, tree)[1] == before


def test_changed_names_what_a_formatter_wrote(trees: Trees, room: CleanRoom, commands: CheckDirectory) -> None:
    with room.showing(trees.snapshot()):
        assert commands.path is not None
        (commands.path / "src/prices.py").write_text("PRICE = 10  # formatted\n")
        (commands.path / "run.sh").touch()
        (commands.path / "cache.txt").write_text("new")
    assert room.changed() == {"src/prices.py": b"PRICE = 10  # formatted\n"}


def test_git_in_the_room_knows_head_and_the_tree(
    trees: Trees, room: CleanRoom, git: GitCommand, root: Path
) -> None:
    (root / "src/new.py").write_text("new\n")
    with room.showing(trees.snapshot()) as _:
        place = room.root
        assert git(place, "rev-parse", "HEAD") == git(root, "rev-parse", "HEAD")
        assert git(place, "diff", "--name-only").strip() == ""
        assert "src/new.py" in git(place, "ls-files")
        (place / "run.sh").write_text("changed\n")
        assert git(place, "diff", "--name-only").strip() == "run.sh"


def test_environment_is_that_of_before_the_first_agent(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/pytest").write_text("honest\n")
    tree = trees.snapshot()
    room.prepare(tree, trees.ignored())
    (root / ".venv/bin/pytest").write_text("forged\n")
    place, files = files_shown(room, commands, tree)
    assert files[".venv/bin/pytest"] == "honest\n"
    (place / ".venv/bin/pytest").write_text("forged by a check\n")
    (place / ".venv/bin/sitecustomize.py").write_text("forged by a check\n")
    files = files_shown(room, commands, tree)[1]
    assert files[".venv/bin/pytest"] == "honest\n"
    assert ".venv/bin/sitecustomize.py" not in files


def test_virtual_environment_runs_the_project_in_the_room(root: Path, trees: Trees, room: CleanRoom) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    packages = next((root / ".venv/lib").glob("python*/site-packages"))
    (packages / "__editable__.shop.pth").write_text(f"{root}/src\n")
    script = root / ".venv/bin/price"
    script.write_text(f"#!{root}/.venv/bin/python\nimport prices\nprint(prices.PRICE, prices.__file__)\n")
    script.chmod(0o755)
    tree = trees.snapshot()
    room.prepare(tree, trees.ignored())
    (root / "src/prices.py").write_text("PRICE = 0\n")
    with room.showing(tree):
        output = subprocess.run([room.root / ".venv/bin/price"], capture_output=True, text=True, check=True)
    assert output.stdout == f"10 {room.root}/src/prices.py\n"


def test_what_the_verified_tree_built_is_kept_and_what_an_attempt_built_is_not(
    trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    tree = trees.snapshot()
    room.prepare(tree, ())
    with room.showing(tree):
        (room.root / "target").mkdir()
        (room.root / "target/app").write_text("built from the verified tree\n")
    room.keep_built()
    with room.showing(tree):
        (room.root / "target/app").write_text("built from an attempt\n")
    assert files_shown(room, commands, tree)[1]["target/app"] == "built from the verified tree\n"


def test_needed_leaves_out_caches_and_build_output() -> None:
    ignored = (
        ".venv/",
        "node_modules/",
        ".env",
        ".mypy_cache/",
        "src/__pycache__/",
        "target/",
        "run.log",
        ".samuel/",
    )
    assert needed(ignored) == [".venv", "node_modules", ".env"]


def test_environment_that_is_too_large_to_copy_is_linked_and_watched(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samuel.evidence.environment.LIMIT", 1000)
    (root / "data").mkdir()
    (root / "data/large").write_text("x" * 2000)
    tree = trees.snapshot()
    assert "hard links" in room.prepare(tree, trees.ignored()).how
    place, files = files_shown(room, commands, tree)
    assert files["data/large"] == "x" * 2000
    assert (place / "data/large").stat().st_ino == (root / "data/large").stat().st_ino
    (root / "data/added").write_text("of the agent")
    (place / "data/left").write_text("of a check")
    assert [name for name in files_shown(room, commands, tree)[1] if name.startswith("data")] == ["data/large"]
    own = (root / "data/large").stat()
    with open(root / "data/large", "r+") as file:
        file.write("forged")
    os.utime(root / "data/large", ns=(own.st_atime_ns, own.st_mtime_ns))
    with pytest.raises(RoomFailed, match=r"`data/large`"):
        files_shown(room, commands, tree)


def test_environment_that_can_neither_be_copied_nor_linked_is_an_error_with_a_way_out(
    root: Path, tmp_path: Path, commands: CheckDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("samuel.evidence.environment.LIMIT", 1000)
    (root / "data").mkdir()
    (root / "data/large").write_bytes(b"x" * 2000)
    elsewhere = Path(f"/dev/shm/{tmp_path.name}")
    if not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == root.stat().st_dev:
        pytest.skip("needs a second file system")
    trees = Trees(Git(root, environment.clean()), tmp_path / "state/trees")
    room = CleanRoom(trees, elsewhere, commands)
    try:
        with pytest.raises(EnvironmentTooLarge) as raised:
            room.prepare(trees.snapshot(), trees.ignored())
    finally:
        remove(elsewhere)
    assert "`data`" in raised.value.message
    assert 'evidence = "in place"' in raised.value.hint


def test_copy_of_the_environment_that_was_changed_is_not_used(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory, tmp_path: Path
) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/pytest").write_text("honest\n")
    tree = trees.snapshot()
    room.prepare(tree, trees.ignored())
    (tmp_path / "state/environment/.venv/bin/pytest").write_text("forged\n")
    with pytest.raises(RoomFailed, match=r"`.venv/bin/pytest`"):
        files_shown(room, commands, tree)


def test_what_an_agent_changed_in_the_environment_is_named_and_not_taken_by_a_later_run(
    root: Path, trees: Trees, tmp_path: Path, commands: CheckDirectory
) -> None:
    def new_room() -> CleanRoom:
        return CleanRoom(trees, tmp_path / "state", commands)

    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/pytest").write_text("honest\n")
    (root / ".venv/bin/pytest").chmod(0o755)
    (root / ".venv/module.py").write_text("honest\n")
    tree = trees.snapshot()
    room = new_room()
    room.prepare(tree, trees.ignored())
    assert room.changed_environment() == []
    (root / ".venv/bin/pytest").write_text("forged\n")
    (root / ".venv/extra.pyc").write_text("poison\n")
    (root / "data").mkdir()
    assert room.changed_environment() == [".venv/bin/pytest"]
    assert room.changed_environment() == []  # it was named
    later = new_room()
    assert later.prepare(tree, trees.ignored()).left_by_agents == (".venv/bin/pytest",)
    files = files_shown(later, commands, tree)[1]
    assert files[".venv/bin/pytest"] == "honest\n"
    assert ".venv/extra.pyc" not in files
    # The person makes it anew.
    (root / ".venv/bin/pytest").unlink()
    (root / ".venv/bin/pytest").write_text("reinstalled\n")
    (root / ".venv/more.py").write_text("reinstalled\n")
    last = new_room()
    assert last.prepare(tree, trees.ignored()).left_by_agents == ()
    files = files_shown(last, commands, tree)[1]
    assert files[".venv/bin/pytest"] == files[".venv/more.py"] == "reinstalled\n"
    assert ".venv/extra.pyc" not in files


def test_person_can_take_what_an_agent_left(
    root: Path, trees: Trees, room: CleanRoom, commands: CheckDirectory
) -> None:
    (root / ".venv").mkdir()
    (root / ".venv/module.py").write_text("before\n")
    tree = trees.snapshot()
    room.prepare(tree, trees.ignored())
    (root / ".venv/module.py").write_text("of the agent\n")
    assert room.changed_environment() == [".venv/module.py"]
    assert room.prepare(tree, trees.ignored(), as_it_is=True).left_by_agents == ()
    assert files_shown(room, commands, tree)[1][".venv/module.py"] == "of the agent\n"
