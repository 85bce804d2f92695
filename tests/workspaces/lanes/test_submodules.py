"""Lanes of a repository with submodules: fetched by `[lanes] setup`, or named as missing."""

from __future__ import annotations

from tests.workspaces.lanes.project import LaneProject


def with_submodule(lanes: LaneProject, setup: str = "") -> None:
    """A project with a submodule, which has one file."""
    library = lanes.outside / "library"
    library.mkdir()
    (library / "lib.txt").write_text("lib\n")
    for arguments in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "A Person"),
        ("config", "user.email", "person@example.org"),
        ("add", "-A"),
        ("commit", "-q", "-m", "library"),
    ):
        lanes.git(*arguments, cwd=library)
    lanes.prepare(3, more=f'[lanes]\nsetup = "{setup}"\n' if setup else "")
    lanes.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendor/lib")
    lanes.git("commit", "-q", "-a", "-m", "submodule")
    lanes.git("tag", "-f", "begin")
    lanes.task("any", 'cat vendor/lib/lib.txt > "work-$SAMUEL_TASK_ID.txt"; true')


def test_a_repository_with_submodules_works_in_lanes_that_fetch_them(lanes: LaneProject) -> None:
    with_submodule(lanes, setup="git -c protocol.file.allow=always submodule update --init -q")

    ran = lanes.start(lanes=2)

    lanes.assert_sound(3)
    assert "submodule" not in ran.screen
    assert [(lanes.root / f"work-{number}.txt").read_text() for number in (1, 2, 3)] == ["lib\n"] * 3
    assert lanes.git("status", "--porcelain") == ""
    lanes.samuel("run", "lanes", "prune")
    assert lanes.git("worktree", "list").count("\n") == 1


def test_submodules_that_lanes_do_not_have_are_named(lanes: LaneProject) -> None:
    with_submodule(lanes)

    ran = lanes.start(lanes=2)

    lanes.assert_sound(3)
    assert "warning: the submodules of this repository are empty in lanes; " in ran.out
    assert (lanes.root / "vendor/lib/lib.txt").read_text() == "lib\n", "the user's own are left alone"
    assert lanes.git("submodule", "status").startswith(" ")
