from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError, UnsafePath
from samuel.files.atomic import write_at
from samuel.files.inside import is_inside, make_dirs_inside, open_inside, read_inside, refuse_links

CREATE = os.O_WRONLY | os.O_CREAT


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open() -> Iterator[None]:
    before = os.listdir("/dev/fd")
    yield
    assert os.listdir("/dev/fd") == before


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """root/a/b/file, and beside the root a place where nothing may ever be written."""
    (tmp_path / "outside" / "b").mkdir(parents=True)
    (tmp_path / "outside" / "b" / "file").write_text("secret")
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("hello")
    return root


def outside(root: Path) -> list[str]:
    place = root.parent / "outside"
    return sorted(f"{path.relative_to(place)}" for path in place.rglob("*"))


UNTOUCHED = ["b", "b/file"]


def test_a_file_is_created_and_read(root: Path) -> None:
    fd = open_inside(root, "a", "new", flags=CREATE)
    os.write(fd, b"data")
    os.close(fd)
    assert read_inside(root, "a/new", limit=4) == b"data"
    assert (root / "a" / "new").stat().st_mode & 0o7777 == 0o600


def test_missing_file_inside_raises_file_not_found(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_inside(root, "a", "none", limit=10)
    with pytest.raises(FileNotFoundError):
        open_inside(root, "none", "new", flags=CREATE)


def test_directories_are_made_and_opened(root: Path) -> None:
    for _ in range(2):
        directory = make_dirs_inside(root, "a", "x/y")
        write_at(directory, "file", b"data")
        os.close(directory)
    assert (root / "a/x/y/file").read_bytes() == b"data"
    assert (root / "a/x").stat().st_mode & 0o7777 == 0o700


def test_without_parts_the_directory_is_the_root(root: Path) -> None:
    directory = make_dirs_inside(root)
    assert os.fstat(directory).st_ino == root.stat().st_ino
    os.close(directory)
    with pytest.raises(UnsafePath):
        open_inside(root, flags=os.O_RDONLY)


@pytest.mark.parametrize(
    "parts",
    [
        *[
            ("..",),
            ("a", "..", "..", "outside"),
            ("a/../../outside",),
            ("/etc/passwd",),
            ("a", "/etc/passwd"),
        ],
        *[("",), ("a", ""), ("a//b",), ("a/",), (".",), ("a\0b",)],
    ],
)
def test_a_path_that_is_not_plain_names_is_refused(root: Path, parts: tuple[str, ...]) -> None:
    for attempt in (
        lambda: open_inside(root, *parts, flags=CREATE),
        lambda: make_dirs_inside(root, *parts),
        lambda: read_inside(root, *parts, limit=10),
    ):
        with pytest.raises(UnsafePath, match="component '") as refusal:
            attempt()
        assert "plain names" in refusal.value.hint
    assert outside(root) == UNTOUCHED


LINKS = ["a", "a/b", "a/b/file"]


def put_link(root: Path, where: str, target: Path) -> None:
    (root / where).rename(root.parent / "moved")
    (root / where).symlink_to(target)


@pytest.mark.parametrize("where", LINKS)
@pytest.mark.parametrize("flags", [os.O_RDONLY, CREATE, CREATE | os.O_EXCL, CREATE | os.O_TRUNC])
def test_a_link_anywhere_on_the_way_is_not_followed(root: Path, where: str, flags: int) -> None:
    place = root.parent / "outside"
    put_link(root, where, {"a": place, "a/b": place / "b", "a/b/file": place / "b/file"}[where])
    assert (root / "a/b/file").read_text() == "secret"
    with pytest.raises((UnsafePath, FileExistsError)) as refusal:
        open_inside(root, "a", "b", "file", flags=flags)
    if isinstance(refusal.value, UnsafePath):
        assert f"`{root / where}` is a symbolic link" in refusal.value.message
    assert outside(root) == UNTOUCHED
    assert (place / "b/file").read_text() == "secret"


@pytest.mark.parametrize("where", ["a", "a/b"])
def test_no_directory_is_made_through_a_link(root: Path, where: str) -> None:
    put_link(root, where, root.parent / "outside")
    with pytest.raises(UnsafePath, match=f"`{root / where}` is a symbolic link"):
        make_dirs_inside(root, "a", "b", "c")
    assert outside(root) == UNTOUCHED


def test_a_dangling_link_creates_nothing(root: Path) -> None:
    (root / "dangling").symlink_to(root.parent / "outside" / "new")
    with pytest.raises(UnsafePath, match="is a symbolic link"):
        open_inside(root, "dangling", flags=CREATE)
    assert outside(root) == UNTOUCHED


def test_a_link_to_a_place_inside_is_refused_too(root: Path) -> None:
    (root / "link").symlink_to("a")
    with pytest.raises(UnsafePath):
        read_inside(root, "link", "b", "file", limit=10)


def test_the_root_itself_may_be_reached_through_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert read_inside(link, "a/b/file", limit=10) == b"hello"


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY])
def test_a_pipe_neither_hangs_nor_opens(root: Path, flags: int) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(UnsafePath, match="is a pipe"):
        open_inside(root, "pipe", flags=flags)


def test_a_file_over_the_limit_is_refused_not_cut(root: Path) -> None:
    assert read_inside(root, "a/b/file", limit=5) == b"hello"
    with pytest.raises(SamuelError, match="larger than 4 bytes"):
        read_inside(root, "a/b/file", limit=4)


def create(root: Path) -> None:
    os.close(open_inside(root, "a", "b", "new", flags=CREATE))


def make_and_write(root: Path) -> None:
    directory = make_dirs_inside(root, "a", "b", "made")
    try:
        write_at(directory, "new", b"data", durable=False)
    finally:
        os.close(directory)


@pytest.mark.slow
@pytest.mark.parametrize("attempt", [create, make_and_write])
def test_a_directory_swapped_for_a_link_meanwhile_leads_nowhere(
    root: Path, attempt: Callable[[Path], None]
) -> None:
    real = root / "a"
    done = threading.Event()

    def swap() -> None:
        try:
            for turn in range(200):
                real.rename(root / f"aside-{turn}")
                with suppress(FileExistsError):  # the attempt made the directory anew, faster than we
                    real.symlink_to(root.parent / "outside")
                done.wait(0.001)
                if real.is_symlink():
                    real.unlink()
                (real / "b").mkdir(parents=True, exist_ok=True)
                done.wait(0.001)
        finally:
            done.set()

    successes = refused = 0
    swapper = threading.Thread(target=swap)
    swapper.start()
    while not done.is_set():
        try:
            attempt(root)
            successes += 1
        except UnsafePath:
            refused += 1
        except FileNotFoundError:
            pass  # the moment between the directory and the link
    swapper.join()
    assert outside(root) == UNTOUCHED
    assert successes > 0
    assert refused > 0


def test_is_inside_goes_by_where_links_lead(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to("loop")
    (root.parent / "in").symlink_to(root)
    assert is_inside(root, root)
    assert is_inside(root / "a" / "not-yet", root)
    assert is_inside(root.parent / "in" / "a", root)
    assert is_inside(root / "a", root.parent / "in")
    assert not is_inside(root / "out" / "b", root)
    assert not is_inside(root / "a" / ".." / "..", root)
    assert not is_inside(root / "loop" / ".." / ".." / "outside", root)
    assert not is_inside(root.with_name("root-and-more"), root)


def test_refuse_links_lets_real_and_missing_directories_pass(root: Path) -> None:
    refuse_links(root, "a", "a/b", "none", "none/below")


def test_refuse_links_refuses_links_and_files(root: Path) -> None:
    (root / ".samuel").symlink_to(root.parent / "outside")
    (root / "dangling").symlink_to("nowhere")
    for name in (".samuel", ".samuel/b", "dangling", "a/b/file"):
        with pytest.raises(UnsafePath, match="is a symbolic link, or not a directory"):
            refuse_links(root, "a", name)


def test_reading_a_directory_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(IsADirectoryError):
            read_inside(tmp_path, "directory", limit=10)
    assert len(os.listdir("/proc/self/fd")) == before
