"""What a plugin's directory offers, and what is refused in it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.plugins import contents as module
from samuel.plugins.contents import Contents, contents, escapes
from samuel.plugins.model import Binding, Manifest


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    directory = tmp_path / "plugin"
    directory.mkdir()
    return directory


@pytest.fixture
def put(plugin: Path) -> Callable[..., Path]:
    def write(name: str, mode: int = 0o644) -> Path:
        file = plugin / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(mode)
        return file

    return write


Put = Callable[..., Path]


def problems_in(plugin: Path) -> list[str]:
    """The problems, with the plugin's path left out."""
    return [str(problem).replace(f"{plugin}/", "").replace(str(plugin), ".") for problem in escapes(plugin)]


def test_what_a_plugin_without_a_manifest_offers(plugin: Path, put: Put) -> None:
    for name in ("skills/review/SKILL.md", "skills/about/SKILL.md", "skills/empty/notes.md", "skills/SKILL.md"):
        put(name)
    for name in ("recipes/pr.md", "recipes/db/migrate.md", "recipes/db/notes.txt", "recipes/.hidden/x.md"):
        put(name)
    for name in ("hooks/audit", "hooks/off", "hooks/gone.disable", "hooks/old~", "hooks/.hidden", "hooks/lib/x"):
        put(name, 0o755)
    put("hooks/helper.sh")
    put("hooks/off.disable")
    assert contents(plugin, Manifest()) == Contents(
        skills=("about", "review"), recipes=("db/migrate", "pr"), hooks=("audit",)
    )


def test_bindings_are_hooks_and_count_once(plugin: Path, put: Put) -> None:
    put("hooks/audit", 0o755)
    put("hooks/other", 0o755)
    bound = [("sync.after", "hooks/audit"), ("context.extra", "hooks/audit"), ("context.extra", "facts")]
    manifest = Manifest(bindings=tuple(Binding(event=event, entry=entry) for event, entry in bound))
    assert contents(plugin, manifest).hooks == ("hooks/audit", "facts", "other")


def test_an_empty_directory_offers_nothing(plugin: Path) -> None:
    assert contents(plugin, Manifest()) == Contents((), (), ())
    assert escapes(plugin) == []


def test_plain_files_directories_and_inner_links_are_allowed(plugin: Path, put: Put) -> None:
    put("hooks/run", 0o755)
    put("a/b/deep")
    (plugin / "a/b/up").symlink_to("../../hooks/run")
    (plugin / "a/again").symlink_to("b/up")
    os.link(plugin / "hooks/run", plugin / "hooks/twice")
    assert problems_in(plugin) == []


def test_links_that_leave_the_plugin_are_refused(plugin: Path, put: Put) -> None:
    put("inside")
    (plugin.parent / "outside").write_text("secret")
    (plugin / "sub").mkdir()
    for name, target in {
        "absolute": "/etc/passwd",
        "home": f"{plugin}/inside",  # inside today, and not where it will be installed
        "relative": "../outside",
        "sub/deep": "../../outside",
        "back": f"../{plugin.name}/inside",
        "chain": "relative",
        "here": ".",
        "through": "here/../outside",
        "nothing": "missing",
        "round": "round",
    }.items():
        (plugin / name).symlink_to(target)
    assert problems_in(plugin) == [
        "absolute: it is a link that leaves the plugin, to `/etc/passwd`",
        f"back: it is a link that leaves the plugin, to `../{plugin.name}/inside`",
        "chain: it is a link that leaves the plugin, to `relative`",
        "here: it is a link to a directory, `.`",
        "home: it is a link that leaves the plugin, to `inside`",
        "nothing: it is a link to a file that does not exist, `missing`",
        "relative: it is a link that leaves the plugin, to `../outside`",
        "round: it is a link that leaves the plugin, to `round`",
        "sub/deep: it is a link that leaves the plugin, to `../../outside`",
        "through: it is a link that leaves the plugin, to `here/../outside`",
    ]


def test_a_link_that_passes_through_another_is_followed_as_the_kernel_does(plugin: Path, put: Put) -> None:
    put("a/b/c/file")
    (plugin / "short").symlink_to("a/b/c")
    (plugin / "fine").symlink_to("short/../../b/c/file")  # by its letters alone it would leave
    assert problems_in(plugin) == ["short: it is a link to a directory, `a/b/c`"]


def test_pipes_sockets_and_devices_are_refused(plugin: Path) -> None:
    os.mkfifo(plugin / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(plugin, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/talk")  # a socket's own path may not be long
        os.close(here)
        assert problems_in(plugin) == [
            "pipe: it is a pipe, a socket or a device",
            "talk: it is a pipe, a socket or a device",
        ]


def test_names_that_are_not_utf8_or_not_printable_are_refused(plugin: Path) -> None:
    Path(os.fsdecode(bytes(plugin) + b"/bad\xff")).write_text("")
    (plugin / "line\nbreak").write_text("")
    assert problems_in(plugin) == [
        "bad\\udcff: its name is not UTF-8",
        "line\nbreak: its name holds control characters",
    ]


def test_the_git_directory_of_a_plugin_is_skipped(plugin: Path) -> None:
    (plugin / ".git").mkdir()
    (plugin / ".git/link").symlink_to("/etc")
    assert problems_in(plugin) == []


def test_a_plugin_with_too_many_files_is_refused(plugin: Path) -> None:
    for number in range(module.MOST_FILES + 1):
        (plugin / str(number)).touch()
    assert problems_in(plugin) == [".: it holds more than 5000 files"]


def test_a_plugin_with_too_many_bytes_is_refused(plugin: Path) -> None:
    for name in "ab":
        with open(plugin / name, "wb") as file:
            file.truncate(module.MOST_BYTES // 2 + 1)  # sparse: it takes no room
    assert problems_in(plugin) == [".: its files are larger than 268435456 bytes together"]
