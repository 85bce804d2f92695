"""Trees of a work tree: real git, in repositories that an agent may have prepared against it."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.files.atomic import Disk
from samuel.git.git import Git, GitFailed
from samuel.git.kept_refs import KeptRefs, attempt_ref, part, verified_ref
from samuel.git.output import TreeChange
from samuel.git.trees import Trees
from samuel.git.work_file import LARGEST, NOT_KEPT

Plain = Callable[..., str]
FILES = {"a.txt": "one\n", "sub/b.txt": "two\n", "sub/deep/c.txt": "three\n"}


@pytest.fixture
def here(env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    return {**env, "HOME": str(tmp_path / "home")}


@pytest.fixture
def root(tmp_path: Path, git: Plain) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def trees(root: Path, here: dict[str, str], tmp_path: Path) -> Trees:
    return Trees(Git(root, here), tmp_path / "state/trees")


def modes_count_for_nothing() -> bool:
    """Whether permission bits do not keep this process from anything, as is usual for root."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        return os.access(file.name, os.R_OK)


def write(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def listing(root: Path) -> dict[str, str]:
    """Every file and link below the root but for git's, with its content and mode."""
    files = {}
    for directory, names, file_names in os.walk(root):
        if ".git" in names:
            names.remove(".git")
        for name in [*file_names, *(name for name in names if os.path.islink(f"{directory}/{name}"))]:
            path = Path(directory, name)
            relative = str(path.relative_to(root))
            executable = "x " if not path.is_symlink() and os.access(path, os.X_OK) else ""
            files[relative] = (
                f"-> {os.readlink(path)}"
                if path.is_symlink()
                else executable + path.read_bytes().decode("latin-1")
            )
    return files


def make_large(path: Path) -> None:
    with open(path, "ab") as file:
        file.truncate(LARGEST + 1)


def status(changes: list[TreeChange]) -> dict[str, str]:
    return {change.path: change.status for change in changes}


class TestSnapshot:
    def test_tree_of_a_clean_work_tree_is_that_of_the_commit(self, root: Path, trees: Trees, git: Plain) -> None:
        assert trees.snapshot() == git(root, "rev-parse", "HEAD^{tree}").strip()

    def test_tree_has_untracked_changed_and_deleted_files_but_no_ignored_ones(
        self, root: Path, trees: Trees, git: Plain
    ) -> None:
        before = trees.snapshot()
        write(root, {"a.txt": "changed\n", "new/x.txt": "x\ny\n", "out/y.o": "y\n", ".gitignore": "out/\n"})
        (root / "sub/b.txt").unlink()
        after = trees.snapshot()
        assert trees.changes(before, after) == [
            TreeChange(".gitignore", "A", 1, 0),
            TreeChange("a.txt", "M", 1, 1),
            TreeChange("new/x.txt", "A", 2, 0),
            TreeChange("sub/b.txt", "D", 0, 1),
        ]
        assert trees.content(after, "a.txt") == b"changed\n"
        assert trees.content(after, "sub/b.txt") is None
        assert trees.paths(before) == sorted(FILES)

    def test_index_status_and_stash_of_the_owner_stay_as_they_are(
        self, root: Path, trees: Trees, git: Plain
    ) -> None:
        write(root, {"a.txt": "staged\n"})
        git(root, "add", "a.txt")
        write(root, {"a.txt": "more\n", "new.txt": "new\n"})
        index = (root / ".git/index").read_bytes()
        before = git(root, "status", "--porcelain=v2")
        tree = trees.snapshot()
        trees.put(tree, ["a.txt", "new.txt"])
        assert (root / ".git/index").read_bytes() == index
        assert git(root, "status", "--porcelain=v2") == before

    def test_snapshot_of_named_paths_equals_a_full_one(
        self, root: Path, trees: Trees, here: dict[str, str], tmp_path: Path
    ) -> None:
        trees.snapshot()
        write(root, {"a.txt": "1\n", "new.txt": "2\n", "sub/deep/c.txt": "3\n"})
        (root / "sub/b.txt").unlink()
        quick = trees.snapshot(["a.txt", "new.txt", "sub/deep/c.txt", "sub/b.txt", "never-there"])
        assert quick == trees.snapshot()
        assert quick == Trees(Git(root, here), tmp_path / "another").snapshot()

    def test_paths_that_are_not_named_are_not_looked_at(self, root: Path, trees: Trees) -> None:
        trees.snapshot()
        write(root, {"a.txt": "1\n", "new.txt": "2\n"})
        tree = trees.snapshot(["new.txt"])
        assert trees.content(tree, "a.txt") == b"one\n"
        assert trees.content(tree, "new.txt") == b"2\n"

    def test_same_size_and_time_as_before_does_not_hide_a_change(self, root: Path, trees: Trees) -> None:
        for text in ("aaa\n", "bbb\n", "ccc\n"):
            (root / "a.txt").write_text(text)
            assert trees.content(trees.snapshot(), "a.txt") == text.encode()

    def test_content_is_byte_for_byte_in_spite_of_filters_and_line_ends(
        self, root: Path, trees: Trees, git: Plain, tmp_path: Path
    ) -> None:
        sprung = tmp_path / "sprung"
        for key, value in {
            "core.autocrlf": "true",
            "core.eol": "crlf",
            "filter.evil.clean": f"touch {sprung}; tr a-z A-Z",
            "filter.evil.smudge": f"touch {sprung}; tr a-z A-Z",
            "filter.evil.required": "true",
            "core.fsmonitor": f"touch {sprung}",
        }.items():
            git(root, "config", key, value)
        attributes = "* filter=evil text eol=crlf ident\n*.u16 working-tree-encoding=UTF-16\n*.py -diff\n"
        write(root, {".gitattributes": attributes, "x.py": "x\n"})
        (root / ".git/info/attributes").write_text(attributes)
        hook = root / ".git/hooks/post-index-change"
        hook.write_text(f"#!/bin/sh\ntouch {sprung}\n")
        hook.chmod(0o755)
        content = b"one\r\ntwo\n$Id: me$\r\n"
        (root / "a.txt").write_bytes(content)
        (root / "z.u16").write_bytes(b"\xff\xfea\0")
        tree = trees.snapshot()
        assert trees.content(tree, "a.txt") == content
        assert trees.content(tree, "z.u16") == b"\xff\xfea\0"
        write(root, {"a.txt": "lost", "z.u16": "lost", "x.py": "x\ny\n"})
        assert trees.changes(tree, trees.snapshot(["x.py"])) == [TreeChange("x.py", "M", 1, 0)]
        assert b"+y\n" in trees.diff(tree, trees.snapshot(["x.py"]))
        assert trees.put(tree, ["a.txt", "z.u16"]) == []
        assert (root / "a.txt").read_bytes() == content
        assert (root / "z.u16").read_bytes() == b"\xff\xfea\0"
        assert not sprung.exists()

    def test_repository_without_a_commit_and_files_that_are_only_staged(
        self, tmp_path: Path, here: dict[str, str], git: Plain
    ) -> None:
        root = tmp_path / "fresh"
        root.mkdir()
        git(root, "init", "-q")
        trees = Trees(Git(root, here), tmp_path / "own")
        assert trees.snapshot() == trees.git.empty_tree()
        write(root, {"staged": "1", "intended": "2", "other": "3"})
        git(root, "add", "staged")
        git(root, "add", "-N", "intended")
        tree = trees.snapshot()
        assert {path: trees.content(tree, path) for path in trees.paths(tree)} == {
            "intended": b"2",
            "other": b"3",
            "staged": b"1",
        }
        assert status(trees.changes("", tree)) == {"intended": "A", "other": "A", "staged": "A"}

    def test_project_in_a_subdirectory_sees_its_own_paths_only(
        self, root: Path, here: dict[str, str], git: Plain, tmp_path: Path
    ) -> None:
        trees = Trees(Git(root / "sub", here), tmp_path / "own")
        before = trees.snapshot()
        assert before == git(root, "rev-parse", "HEAD^{tree}").strip()
        assert trees.paths(before) == ["b.txt", "deep/c.txt"]
        write(root, {"a.txt": "beside\n", "sub/b.txt": "changed\n", "sub/new/n.txt": "new\n"})
        (root / "sub/deep/c.txt").unlink()
        after = trees.snapshot()
        assert status(trees.changes(before, after)) == {"b.txt": "M", "deep/c.txt": "D", "new/n.txt": "A"}
        assert trees.put(before, ["b.txt", "deep/c.txt", "new/n.txt"]) == []
        assert trees.snapshot() == before
        assert listing(root) == {**FILES, "a.txt": "beside\n"}
        assert trees.combined(before, after, ["b.txt", "deep/c.txt", "new/n.txt"]) == after

    def test_names_that_are_not_utf8_or_look_like_patterns(self, root: Path, trees: Trees) -> None:
        names = [os.fsdecode(b"\xff\xfe"), "*.txt", ":(top)x", "a b\nc", '"q"', "-x", "ü"]
        before = trees.snapshot()
        for name in names:
            (root / name).write_text(name.encode("utf-8", "replace").decode())
        after = trees.snapshot(names)
        assert after == trees.snapshot()
        assert set(status(trees.changes(before, after))) == set(names)
        assert trees.put(before, names) == []
        assert listing(root) == FILES
        assert trees.put(after, names) == []
        assert trees.snapshot() == after

    def test_links_and_execute_bits(self, root: Path, trees: Trees) -> None:
        (root / "run.sh").write_text("#!/bin/sh\n")
        (root / "run.sh").chmod(0o755)
        (root / "link").symlink_to("nowhere/at all")
        (root / "to-sub").symlink_to("sub")
        before, files = trees.snapshot(), listing(root)
        (root / "run.sh").chmod(0o644)
        (root / "link").unlink()
        (root / "link").write_text("file")
        (root / "to-sub").unlink()
        (root / "to-sub").symlink_to("/etc")
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to("sub/b.txt")
        changes = trees.changes(before, trees.snapshot())
        assert status(changes) == {"run.sh": "M", "link": "T", "to-sub": "M", "a.txt": "T"}
        assert trees.put(before, [change.path for change in changes]) == []
        assert listing(root) == files
        assert trees.snapshot() == before

    def test_nested_repositories_and_submodules_are_left_alone(
        self, root: Path, trees: Trees, git: Plain, tmp_path: Path
    ) -> None:
        for name in ("nested", "module"):
            (root / name).mkdir()
            git(root / name, "init", "-q")
            write(root / name, {"x.txt": "x"})
            git(root / name, "add", ".")
            git(root / name, "commit", "-q", "-m", "inner")
        git(root, "add", "module")
        git(root, "commit", "-q", "-m", "with a module")
        before = trees.snapshot()
        assert before == git(root, "rev-parse", "HEAD^{tree}").strip()
        write(root, {"module/x.txt": "changed", "nested/x.txt": "changed"})
        git(root / "module", "commit", "-aqm", "more")
        assert trees.snapshot() == before
        assert trees.snapshot(["module", "nested"]) == before
        assert trees.put(before, ["module", "nested", "module/.git/config", ".git/config"]) == []
        assert (root / "module/x.txt").read_text() == "changed"
        assert (root / "module/.git/config").exists()
        assert (root / ".git/config").exists()

    def test_skip_worktree_and_assume_unchanged_bits(self, root: Path, trees: Trees, git: Plain) -> None:
        git(root, "update-index", "--skip-worktree", "sub/b.txt", "sub/deep/c.txt")
        git(root, "update-index", "--assume-unchanged", "a.txt")
        (root / "sub/b.txt").unlink()
        write(root, {"a.txt": "changed\n", "sub/deep/c.txt": "local\n"})
        before = trees.snapshot()
        # What a sparse checkout leaves out is not a deletion; what is there counts as it is.
        assert trees.content(before, "sub/b.txt") == b"two\n"
        assert trees.content(before, "a.txt") == b"changed\n"
        assert trees.content(before, "sub/deep/c.txt") == b"local\n"
        write(root, {"sub/b.txt": "appeared\n"})
        after = trees.snapshot()
        assert trees.content(after, "sub/b.txt") == b"appeared\n"

    def test_conflict_in_the_index_of_the_owner(self, root: Path, trees: Trees, git: Plain) -> None:
        git(root, "checkout", "-q", "-b", "other")
        write(root, {"a.txt": "theirs\n"})
        git(root, "commit", "-qam", "theirs")
        git(root, "checkout", "-q", "main")
        write(root, {"a.txt": "ours\n"})
        git(root, "commit", "-qam", "ours")
        with pytest.raises(subprocess.CalledProcessError):
            git(root, "merge", "other")
        tree = trees.snapshot()
        assert trees.content(tree, "a.txt") == (root / "a.txt").read_bytes()
        assert b"<<<<<<<" in (root / "a.txt").read_bytes()
        assert git(root, "ls-files", "-u")

    def test_ignored_file_that_is_tracked_counts_also_when_it_is_added_later(
        self, root: Path, trees: Trees, git: Plain
    ) -> None:
        write(root, {".gitignore": "*.log\n", "old.log": "1", "later.log": "2", "never.log": "3"})
        git(root, "add", "-f", "old.log")
        assert "old.log" in trees.paths(trees.snapshot())
        git(root, "add", "-f", "later.log")
        paths = trees.paths(trees.snapshot())
        assert ("later.log" in paths, "never.log" in paths) == (True, False)

    def test_state_of_samuel_and_its_temporary_files_stay_out(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        write(root, {".samuel/run/x": "x", ".system/logs/y": "y", "sub/.samuel-0123456789abcdef.tmp": "half"})
        assert trees.snapshot() == before
        assert trees.snapshot([".samuel/run/x"]) == before
        assert not (root / "sub/.samuel-0123456789abcdef.tmp").exists()
        assert trees.put(before, [".samuel/run/x"]) == []
        assert (root / ".samuel/run/x").exists()

    def test_ignore_rules_of_user_and_repository_count(
        self, root: Path, here: dict[str, str], tmp_path: Path
    ) -> None:
        write(tmp_path, {"home/.config/git/ignore": "*.user\n"})
        (root / ".git/info").mkdir(exist_ok=True)
        write(root, {".git/info/exclude": "*.own\n", "x.user": "", "x.own": "", "x.txt": ""})
        trees = Trees(Git(root, here), tmp_path / "own")
        assert trees.paths(trees.snapshot()) == ["a.txt", "sub/b.txt", "sub/deep/c.txt", "x.txt"]

    @pytest.mark.parametrize("damage", ["broken", "missing", "locked"])
    def test_index_that_a_kill_left_is_made_again(
        self, root: Path, trees: Trees, here: dict[str, str], tmp_path: Path, damage: str
    ) -> None:
        write(root, {"new.txt": "new\n"})
        tree = trees.snapshot()
        index = tmp_path / "state/trees/index"
        if damage == "broken":
            index.write_bytes(index.read_bytes()[:40])
        elif damage == "missing":
            index.unlink()
        else:
            Path(f"{index}.lock").write_bytes(b"")
        write(root, {"a.txt": "changed\n"})
        again = Trees(Git(root, here), tmp_path / "state/trees").snapshot(["a.txt"])
        assert status(trees.changes(tree, again)) == {"a.txt": "M"}

    def test_lock_on_the_index_of_the_owner_does_not_matter(
        self, root: Path, trees: Trees, tmp_path: Path
    ) -> None:
        (root / ".git/index.lock").symlink_to(tmp_path / "elsewhere")
        write(root, {"a.txt": "changed\n"})
        assert trees.content(trees.snapshot(), "a.txt") == b"changed\n"
        assert not (tmp_path / "elsewhere").exists()

    def test_objects_that_garbage_collection_took_are_written_again(
        self, root: Path, trees: Trees, git: Plain
    ) -> None:
        write(root, {"new/x.txt": "only in a tree of ours\n"})
        trees.snapshot()
        git(root, "gc", "-q", "--prune=now")
        write(root, {"new/y.txt": "y\n"})
        tree = trees.snapshot()
        assert trees.content(tree, "new/x.txt") == b"only in a tree of ours\n"

    def test_directory_pipe_or_unreadable_file_in_place_of_a_file(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        (root / "a.txt").unlink()
        os.mkfifo(root / "a.txt")
        os.mkfifo(root / "pipe")
        assert status(trees.changes(before, trees.snapshot())) == {"a.txt": "D"}
        assert trees.snapshot(["a.txt", "pipe", "sub"]) == trees.snapshot()
        assert trees.put(before, ["a.txt"]) == []
        assert (root / "a.txt").read_text() == "one\n"

    def test_file_that_is_too_large_is_a_change_with_a_note_in_its_place(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        for name in ("data.bin", "a.txt"):
            make_large(root / name)
        after = trees.snapshot()
        assert status(trees.changes(before, after)) == {"a.txt": "M", "data.bin": "A"}
        assert trees.not_kept == dict.fromkeys(("a.txt", "data.bin"), "it is larger than 256 MiB")
        content = trees.content(after, "a.txt")
        assert content is not None
        assert content.startswith(NOT_KEPT)
        assert trees.snapshot() == after
        assert trees.snapshot(["data.bin", "a.txt"]) == after
        with open(root / "data.bin", "r+b") as file:
            file.write(b"changed")
        assert trees.differing(after, trees.snapshot()) == {"data.bin"}
        assert trees.put(before, ["a.txt", "data.bin"]) == []
        assert (trees.snapshot(), dict(trees.not_kept)) == (before, {})

    def test_note_is_never_written_in_the_place_of_its_file(self, root: Path, trees: Trees) -> None:
        make_large(root / "a.txt")
        before = trees.snapshot()
        assert trees.put(before, ["a.txt"]) == []  # it is as it was
        (root / "a.txt").write_text("small\n")
        assert trees.put(before, ["a.txt"]) == ["`a.txt`: it was not kept: it is larger than 256 MiB"]
        assert (root / "a.txt").read_text() == "small\n"

    def test_diff_is_a_patch_and_has_a_limit(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        write(root, {"a.txt": "changed\n", "big.txt": "line\n" * 1000})
        after = trees.snapshot()
        assert b"-one\n+changed\n" in trees.diff(before, after, ["a.txt"])
        assert b"big.txt" not in trees.diff(before, after, ["a.txt"])
        short = trees.diff(before, after, limit=500)
        assert len(short) < 600
        assert short.endswith(b"more bytes are not shown]\n")

    def test_outside_of_a_repository_it_is_an_error(self, tmp_path: Path, here: dict[str, str]) -> None:
        (tmp_path / "plain").mkdir()
        with pytest.raises(GitFailed, match="not in a git work tree"):
            Trees(Git(tmp_path / "plain", here), tmp_path / "own").snapshot()


class TestPut:
    def test_only_the_paths_that_are_named_are_put(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        write(root, {"a.txt": "x", "sub/b.txt": "y", "new/deep/n.txt": "z", "new/other.txt": "o"})
        trees.snapshot()
        assert trees.put(before, ["a.txt", "new/deep/n.txt"]) == []
        assert listing(root) == {**FILES, "sub/b.txt": "y", "new/other.txt": "o"}
        assert not (root / "new/deep").exists()
        assert trees.put(before, ["new/other.txt"]) == []
        assert not (root / "new").exists()
        assert status(trees.changes(before, trees.snapshot(()))) == {"sub/b.txt": "M"}

    def test_file_that_is_right_already_is_not_touched(self, root: Path, trees: Trees) -> None:
        tree = trees.snapshot()
        before = os.stat(root / "a.txt")
        assert trees.put(tree, sorted(FILES)) == []
        assert os.stat(root / "a.txt") == before

    def test_directory_that_became_a_link_out_of_the_project(
        self, root: Path, trees: Trees, tmp_path: Path
    ) -> None:
        before = trees.snapshot()
        outside = tmp_path / "outside"
        write(outside, {"b.txt": "theirs\n", "deep/c.txt": "three\n", "other": "o"})
        theirs = listing(outside)
        subprocess.run(["rm", "-r", root / "sub"], check=True)
        (root / "sub").symlink_to(outside)
        changes = trees.changes(before, trees.snapshot())
        assert status(changes) == {"sub": "A", "sub/b.txt": "D", "sub/deep/c.txt": "D"}
        for paths in (["sub/b.txt", "sub/deep/c.txt"], ["sub", "sub/b.txt", "sub/deep/c.txt"]):
            if not (root / "sub").is_symlink():
                subprocess.run(["rm", "-r", root / "sub"], check=True)
                (root / "sub").symlink_to(outside)
            assert trees.put(before, paths) == []
            assert listing(root) == FILES
            assert listing(outside) == theirs
        assert trees.snapshot() == before

    def test_removal_behind_a_link_removes_nothing(self, root: Path, trees: Trees, tmp_path: Path) -> None:
        before = trees.snapshot()
        outside = tmp_path / "outside"
        write(outside, {"x.txt": "theirs\n"})
        (root / "way").symlink_to(outside)
        assert trees.put(before, ["way/x.txt"]) == []
        assert listing(outside) == {"x.txt": "theirs\n"}

    def test_file_that_became_a_directory_and_the_reverse(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        (root / "a.txt").unlink()
        write(root, {"a.txt/x/y.txt": "y"})
        subprocess.run(["rm", "-r", root / "sub"], check=True)
        write(root, {"sub": "a file"})
        after = trees.snapshot()
        changes = status(trees.changes(before, after))
        assert changes == {"a.txt": "D", "a.txt/x/y.txt": "A", "sub": "A", "sub/b.txt": "D", "sub/deep/c.txt": "D"}
        assert trees.combined(before, after, changes) == after
        assert trees.combined(after, before, changes) == before
        assert trees.snapshot(sorted(changes, reverse=True)) == after
        for tree in (before, after, before):
            assert trees.put(tree, changes) == []
            assert trees.snapshot() == tree
        assert listing(root) == FILES

    def test_directory_with_ignored_files_in_place_of_a_file_is_moved_aside(
        self, root: Path, trees: Trees
    ) -> None:
        write(root, {".gitignore": "*.pyc\n"})
        before = trees.snapshot()
        (root / "a.txt").unlink()
        write(root, {"a.txt/x.py": "x", "a.txt/x.pyc": "compiled"})
        changes = status(trees.changes(before, trees.snapshot()))
        assert trees.put(before, changes) == []
        assert (root / "a.txt").read_text() == "one\n"
        assert (root / ".samuel/run/aside/a.txt.1/x.pyc").read_text() == "compiled"

    def test_directory_that_cannot_be_written_is_made_writable_meanwhile(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        write(root, {"sub/b.txt": "x", "sub/new.txt": "n"})
        (root / "sub").chmod(0o555)
        assert trees.put(before, ["sub/b.txt", "sub/new.txt"]) == []
        assert os.stat(root / "sub").st_mode & 0o777 == 0o555
        (root / "sub").chmod(0o755)
        assert listing(root) == FILES

    @pytest.mark.skipif(modes_count_for_nothing(), reason="this user may read and write everything")
    @pytest.mark.parametrize("mode", [0o111, 0o000, 0o555])
    def test_directory_and_file_that_their_owner_may_not_read_are_put_all_the_same(
        self, root: Path, trees: Trees, mode: int
    ) -> None:
        before = trees.snapshot()
        write(root, {"sub/b.txt": "x"})
        (root / "sub/b.txt").chmod(0o000)
        (root / "sub").chmod(mode)
        after = trees.snapshot()
        assert trees.differing(before, after) >= {"sub/b.txt"}
        assert trees.put(before, trees.differing(before, after)) == []
        (root / "sub").chmod(0o755)
        assert listing(root) == FILES

    @pytest.mark.skipif(modes_count_for_nothing(), reason="this user may read everything")
    def test_file_that_cannot_be_read_is_a_change_with_a_note_in_its_place(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        (root / "a.txt").chmod(0o000)
        assert status(trees.changes(before, trees.snapshot())) == {"a.txt": "M"}
        assert trees.not_kept == {"a.txt": "it cannot be read"}

    def test_what_was_not_written_is_a_problem(self, root: Path, here: dict[str, str], tmp_path: Path) -> None:
        class Lossy(Disk):
            """Says that it has written all, and keeps the first byte."""

            def write(self, fd: int, data: bytes | memoryview) -> int:
                super().write(fd, data[:1])
                return len(data)

        trees = Trees(Git(root, here), tmp_path / "state/trees", Lossy())
        before = trees.snapshot()
        write(root, {"a.txt": "changed\n"})
        assert trees.put(before, ["a.txt", "sub/b.txt"]) == ["`a.txt`: it is not what was written there"]

    def test_full_disk_is_a_problem(self, root: Path, here: dict[str, str], tmp_path: Path) -> None:
        class Full(Disk):
            def write(self, fd: int, data: bytes | memoryview) -> int:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        trees = Trees(Git(root, here), tmp_path / "state/trees", Full())
        before = trees.snapshot()
        write(root, {"a.txt": "changed\n"})
        assert trees.put(before, ["a.txt"]) == ["`a.txt`: No space left on device"]
        assert trees.snapshot() != before

    def test_change_in_the_same_second_that_keeps_size_and_times_is_seen(self, root: Path, trees: Trees) -> None:
        before = trees.snapshot()
        for content in (b"ONE\n", b"oNe\n"):
            times = os.stat(root / "a.txt")
            with open(root / "a.txt", "r+b") as file:
                file.write(content)
            os.utime(root / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
            after = trees.snapshot()
            assert trees.differing(before, after) == {"a.txt"}
            before = after

    def test_content_that_git_lost_is_a_problem_and_the_rest_is_put(
        self, root: Path, trees: Trees, git: Plain
    ) -> None:
        write(root, {"new.txt": "n"})
        before = trees.snapshot()
        blob = git(root, "rev-parse", f"{before}:new.txt").strip()
        write(root, {"new.txt": "m", "a.txt": "changed"})
        trees.snapshot()
        (root / ".git/objects" / blob[:2] / blob[2:]).unlink()
        problems = trees.put(before, ["new.txt", "a.txt"])
        assert len(problems) == 1
        assert "new.txt" in problems[0]
        assert (root / "a.txt").read_text() == "one\n"

    @pytest.mark.slow
    def test_killed_at_any_write_and_repeated_it_finishes(
        self, root: Path, here: dict[str, str], tmp_path: Path
    ) -> None:
        own = tmp_path / "own"
        trees = Trees(Git(root, here), own)
        (root / "a.txt").chmod(0o755)
        before = trees.snapshot()

        def disturb() -> None:
            subprocess.run(["rm", "-rf", root / "sub", root / "a.txt", root / "new"], check=True)
            write(root, {"sub": "file", "a.txt": "short", "new/x/y.txt": "y", "new/z.txt": "z"})

        disturb()
        after = Trees(Git(root, here), own).snapshot()
        paths = trees.differing(before, after)
        for step in range(1, 100):
            disturb()
            disk = DyingDisk(step)
            dying = Trees(Git(root, here), own, disk)
            try:
                dying.put(before, paths)
            except Killed:
                again = Trees(Git(root, here), own)
                assert again.put(before, paths) == []
                assert again.snapshot() == before
                assert {path: text for path, text in listing(root).items() if ".samuel-" not in path} == {
                    **FILES,
                    "a.txt": "x one\n",
                }
                assert not (root / "new").exists()
            else:
                break
        assert step > 8


class Killed(BaseException):
    pass


class DyingDisk(Disk):
    """Ends at the given write, and lets nothing be cleaned up afterwards."""

    def __init__(self, last: int) -> None:
        self._left = last

    def _count(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Killed

    def create(self, name: str, directory: int, mode: int) -> int:
        self._count()
        return super().create(name, directory, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(fd, data[:2])

    def replace(self, old: str, new: str, directory: int) -> None:
        self._count()
        super().replace(old, new, directory)

    def remove(self, name: str, directory: int) -> None:
        self._count()
        super().remove(name, directory)


class TestRefs:
    def test_kept_tree_survives_garbage_collection(self, root: Path, trees: Trees, git: Plain) -> None:
        write(root, {"new.txt": "kept\n"})
        tree = trees.snapshot()
        head = git(root, "rev-parse", "HEAD").strip()
        commit = trees.refs.keep(attempt_ref("run-1", "1.2", 1), tree, head, "an attempt\n")
        (root / "new.txt").unlink()
        git(root, "gc", "-q", "--prune=now")
        assert trees.content(tree, "new.txt") == b"kept\n"
        assert git(root, "rev-parse", "refs/samuel/run-1/1.2/1").strip() == commit
        assert git(root, "log", "-1", "--format=%an <%ae> %s %P", commit).strip() == (
            f"Samuel <samuel@localhost> an attempt {head}"
        )
        assert git(root, "branch", "--all").split() == ["*", "main"]

    def test_owner_is_the_author_and_nothing_of_theirs_runs(
        self, root: Path, trees: Trees, git: Plain, tmp_path: Path
    ) -> None:
        sprung = tmp_path / "sprung"
        program = tmp_path / "program"
        program.write_text(f"#!/bin/sh\ntouch {sprung}\n")
        program.chmod(0o755)
        for key, value in {
            "user.name": "Ada",
            "user.email": "ada@example.org",
            "commit.gpgsign": "true",
            "gpg.program": str(program),
            "core.fsmonitor": str(program),
        }.items():
            git(root, "config", key, value)
        hook = root / ".git/hooks/reference-transaction"
        hook.write_bytes(program.read_bytes())
        hook.chmod(0o755)
        commit = trees.refs.keep(verified_ref("run-1"), trees.snapshot())
        assert git(root, "log", "-1", "--no-show-signature", "--format=%an %ae", commit).strip() == (
            "Ada ada@example.org"
        )
        assert not sprung.exists()

    def test_name_that_git_refuses_is_not_used(self, root: Path, trees: Trees, git: Plain) -> None:
        git(root, "config", "user.name", "<>")
        git(root, "config", "user.email", "x")
        commit = trees.refs.keep(verified_ref("run-1"), trees.snapshot())
        assert git(root, "log", "-1", "--format=%an", commit).strip() == "Samuel"

    def test_same_tree_again_changes_nothing(self, root: Path, trees: Trees, git: Plain) -> None:
        ref = attempt_ref("run-1", "1", 1)
        tree = trees.snapshot()
        first = trees.refs.keep(ref, tree)
        assert trees.refs.keep(ref, tree) == first
        write(root, {"a.txt": "x"})
        assert trees.refs.keep(ref, trees.snapshot()) != first

    @pytest.mark.parametrize(
        "task",
        [
            *("1.2", "a b", "a..b", "~^:?*[\\", "x.lock", ".x", "x.", "@", "@{x}", "-x", "verified", "%41", "A"),
            *("ü→日", "a/b", "//", "", " ", "\n\0", "x" * 500, "ü" * 300, "x" * 501, "%", "refs/heads/main"),
            "\udcff",
        ],
    )
    @pytest.mark.sampled(every=4)
    def test_any_task_id_has_a_ref_of_its_own(self, trees: Trees, task: str) -> None:
        tree = trees.snapshot()
        refs = trees.refs
        refs.keep(verified_ref("run-1"), tree)
        other = refs.keep(attempt_ref("run-1", "other", 1), tree)
        refs.keep(attempt_ref("run-1", task, 1), tree)
        last = refs.keep(attempt_ref("run-1", task, 12), tree, other)
        held = [ref for ref in refs.refs("run-1") if ref.name.split("/")[3] == part(task)]
        assert [ref.attempt for ref in held] == [1, 12]
        assert (held[-1].commit, held[-1].parent, held[-1].run) == (last, other, "run-1")
        if len(task) < 100:
            assert held[-1].task == task

    def test_two_task_ids_never_share_a_ref(self) -> None:
        ids = ["a b", "a%20b", "a_b", "a.b", "a..b", "a%2E.b", "", "%", "%25", "x" * 300, "x" * 301, "verified"]
        assert len({part(id) for id in ids}) == len(ids)

    def test_refs_of_one_run_or_task_can_be_listed_and_dropped(self, trees: Trees) -> None:
        tree, refs = trees.snapshot(), trees.refs
        for run, task, attempt in (("r1", "1", 1), ("r1", "1", 2), ("r1", "2", 1), ("r2", "1", 1)):
            refs.keep(attempt_ref(run, task, attempt), tree)
        refs.keep(verified_ref("r1"), tree)
        assert [(ref.task, ref.attempt) for ref in refs.refs("r1", "1")] == [("1", 1), ("1", 2)]
        assert len(refs.refs(task="1")) == 3
        refs.drop("r1", "1")
        assert [(ref.run, ref.task) for ref in refs.refs()] == [("r1", "2"), ("r2", "1")]
        refs.drop("r1")
        assert [ref.run for ref in refs.refs()] == ["r2"]
        assert refs.find(verified_ref("r1")) is None

    @pytest.mark.parametrize("left", ["lock", "garbage", "directory", "file"])
    def test_what_a_kill_or_an_agent_left_does_not_stop_it(
        self, root: Path, trees: Trees, git: Plain, left: str
    ) -> None:
        ref, head = attempt_ref("run-1", "1", 1), git(root, "rev-parse", "HEAD").strip()
        place = root / ".git" / ref
        if left == "lock":
            write(root, {f".git/{ref}.lock": ""})
        elif left == "garbage":
            write(root, {f".git/{ref}": "half of a na"})
        elif left == "directory":
            git(root, "update-ref", f"{ref}/below", head)
        else:
            git(root, "update-ref", str(Path(ref).parent), head)
        commit = trees.refs.keep(ref, trees.snapshot())
        assert git(root, "rev-parse", ref).strip() == commit
        assert not Path(f"{place}.lock").exists()

    def test_link_in_the_directory_of_refs_is_not_followed(self, root: Path, trees: Trees, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        write(outside, {"1.lock": "theirs"})
        (root / ".git/refs/samuel/run-1").mkdir(parents=True)
        (root / ".git/refs/samuel/run-1/1").symlink_to(outside)
        with pytest.raises(GitFailed):
            trees.refs.keep(attempt_ref("run-1", "1", 1), trees.snapshot())
        assert listing(outside) == {"1.lock": "theirs"}

    def test_linked_work_tree_has_trees_of_its_own(
        self, root: Path, git: Plain, here: dict[str, str], tmp_path: Path
    ) -> None:
        linked = tmp_path / "linked"
        git(root, "worktree", "add", "-q", str(linked))
        write(linked, {"a.txt": "linked\n"})
        trees = Trees(Git(linked, here), tmp_path / "own")
        tree = trees.snapshot()
        assert trees.content(tree, "a.txt") == b"linked\n"
        trees.refs.keep(attempt_ref("r", "1", 1), tree)
        assert [ref.task for ref in KeptRefs(Git(root, here)).refs()] == ["1"]


def test_an_empty_file_alone_is_put_back(root: Path, trees: Trees) -> None:
    write(root, {"empty.txt": ""})
    before = trees.snapshot()
    write(root, {"empty.txt": "not any more\n"})
    assert trees.put(before, ["empty.txt"]) == []
    assert (root / "empty.txt").read_text() == ""
