"""Agreements: what they cover, how they are stored, and which repository they belong to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError
from samuel.files.survey import MOST_FILES, TooManyFiles, survey
from samuel.hooks.handler import Handler, Origin
from samuel.trust.digests import digest_file
from samuel.trust.items import TrustItem, review, show
from samuel.trust.permit import Permit
from samuel.trust.repository import common_directory, trust_key
from samuel.trust.store import Agreement, TrustStore, trust_of_project

Git = Callable[..., str]


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    directory = tmp_path / "project/.samuel/hooks"
    directory.mkdir(parents=True)
    (directory / "a").write_text("#!/bin/sh\n")
    (directory / "a").chmod(0o755)
    (directory / "lib").mkdir()
    (directory / "lib/helper").write_text("x")
    return directory


def agreed(root: Path) -> dict[str, Agreement]:
    return {item.name: Agreement(item.digest) for item in review(root, {})}


def permitting(root: Path, agreements: dict[str, Agreement] | None = None, **more: bool) -> Permit:
    pinned = agreed(root) if agreements is None else agreements
    return Permit(root, lambda: pinned, **more)


def handler(path: Path, origin: Origin = Origin.PROJECT) -> Handler:
    return Handler(name="a", event="", origin=origin, runtime="exec", path=str(path))


class TestPermit:
    def test_a_hook_that_was_never_agreed_to_is_refused(self, tmp_path: Path, hooks: Path) -> None:
        refusal = permitting(tmp_path / "project", {})(handler(hooks / "a"))
        assert "`.samuel/hooks/a` has not been agreed to yet" in refusal
        assert "samuel trust" in refusal

    def test_a_hook_that_was_agreed_to_may_run(self, tmp_path: Path, hooks: Path) -> None:
        root = tmp_path / "project"
        assert permitting(root)(handler(hooks / "a")) == ""

    @pytest.mark.parametrize(
        "change",
        [
            lambda hooks: (hooks / "a").write_text("#!/bin/sh\n\n"),
            lambda hooks: (hooks / "a").chmod(0o644),
            lambda hooks: (hooks / "lib/helper").write_text("y"),
            lambda hooks: (hooks / "lib/helper").chmod(0o755),
            lambda hooks: (hooks / "lib/new").write_text(""),
            lambda hooks: (hooks / ".hidden").write_text(""),
            lambda hooks: (hooks / "link").symlink_to("a"),
            lambda hooks: os.mkfifo(hooks / "pipe"),
        ],
        ids=["byte", "mode", "helper", "helper's mode", "new below", "new hidden", "new link", "new pipe"],
    )
    def test_any_change_in_the_directory_of_a_hook_refuses_it(
        self, tmp_path: Path, hooks: Path, change: Callable[[Path], object]
    ) -> None:
        root = tmp_path / "project"
        agreements = agreed(root)
        permit = permitting(root, agreements)
        assert permit(handler(hooks / "a")) == ""
        change(hooks)
        assert "not trusted" in permit(handler(hooks / "a"))
        assert "not trusted" in permitting(root, agreements)(handler(hooks / "a"))

    def test_a_change_that_keeps_size_and_time_refuses_a_hook(self, tmp_path: Path, hooks: Path) -> None:
        root = tmp_path / "project"
        permit = permitting(root)
        assert permit(handler(hooks / "a")) == ""
        before = (hooks / "a").stat()
        (hooks / "a").write_text("#!/bin/SH\n")
        os.utime(hooks / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert "not what was agreed to" in permit(handler(hooks / "a"))

    def test_a_change_of_a_links_target_refuses_a_hook(self, tmp_path: Path, hooks: Path) -> None:
        root = tmp_path / "project"
        (root / "tool").write_text("#!/bin/sh\n")
        (hooks / "link").symlink_to("../../tool")
        permit = permitting(root)
        assert permit(handler(hooks / "link")) == ""
        (root / "tool").write_text("#!/bin/sh\nevil\n")
        assert "`.samuel/hooks/link` is not what was agreed to" in permit(handler(hooks / "link"))

    @pytest.mark.parametrize("origin", [Origin.USER, Origin.BUILT_IN, Origin.EMBEDDER])
    def test_a_hook_of_the_user_or_built_in_needs_no_agreement(
        self, tmp_path: Path, hooks: Path, origin: Origin
    ) -> None:
        assert permitting(tmp_path / "project", {})(handler(hooks / "a", origin)) == ""

    def test_a_permit_for_everything_refuses_nothing(self, tmp_path: Path, hooks: Path) -> None:
        assert permitting(tmp_path / "project", {}, everything=True)(handler(hooks / "a")) == ""

    def test_an_unreadable_file_cannot_be_agreed_to(self, tmp_path: Path, hooks: Path) -> None:
        (hooks / "dangling").symlink_to("nowhere")
        root = tmp_path / "project"
        assert digest_file(str(hooks / "dangling")) == ""
        assert "not trusted" in permitting(root)(handler(hooks / "a"))

    @pytest.mark.slow
    def test_a_directory_with_too_many_files_cannot_be_trusted(self, hooks: Path) -> None:
        for number in range(MOST_FILES + 1):
            (hooks / f"f{number}").touch()
        with pytest.raises(TooManyFiles):
            survey(hooks)
        refusal = permitting(hooks.parents[1], {})(handler(hooks / "a"))
        assert f"more than {MOST_FILES} files" in refusal

    def test_pythons_bytecode_caches_do_not_count_as_changes(self, tmp_path: Path, hooks: Path) -> None:
        root = tmp_path / "project"
        permit = permitting(root)
        (hooks / "__pycache__").mkdir()
        (hooks / "__pycache__/x.pyc").write_text("")
        assert permit(handler(hooks / "a")) == ""
        (hooks / "__pycache__/x.sh").write_text("")  # not a bytecode cache: a hook could read it
        assert "not trusted" in permit(handler(hooks / "a"))


class TestStore:
    def test_only_the_owner_can_read_the_trust_store(self, tmp_path: Path) -> None:
        store = TrustStore(tmp_path / "trust", "key")
        assert store.load() == {}
        store.agree([("a", "d1", b"text"), ("b", "d2", b"")], at="now", root="/p")
        assert TrustStore(tmp_path / "trust", "key").load() == {
            "a": Agreement("d1", "now").signed(),
            "b": Agreement("d2", "now").signed(),
        }
        assert TrustStore(tmp_path / "trust", "other").load() == {}
        assert store.agreed_text("d1") == b"text"
        assert (tmp_path / "trust/key.json").stat().st_mode & 0o077 == 0

    def test_revoke_removes_agreements_by_name_or_all(self, tmp_path: Path) -> None:
        store = TrustStore(tmp_path / "trust", "key")
        store.agree([(name, "d", b"") for name in "abc"], at="", root="")
        assert store.revoke(["b", "x"]) == ["b"]
        assert set(store.load()) == {"a", "c"}
        assert sorted(store.revoke()) == ["a", "c"]
        assert store.load() == {}

    def test_a_trust_store_that_cannot_be_read_is_an_error(self, tmp_path: Path) -> None:
        store = TrustStore(tmp_path, "key")
        (tmp_path / "key.json").write_text('{"agreed": []}')
        with pytest.raises(ConfigError, match=r"key\.json.*agreed"):
            store.load()

    @pytest.mark.slow
    def test_processes_that_agree_at_the_same_time_lose_no_agreement(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from samuel.trust.store import TrustStore\n"
            "store = TrustStore(Path(sys.argv[1]), 'key')\n"
            "for n in range(10): store.agree([(f'{sys.argv[2]}-{n}', 'd', b'')], at='', root='')\n"
        )
        processes = [subprocess.Popen([sys.executable, "-c", code, tmp_path, str(n)]) for n in range(4)]
        assert [process.wait(300) for process in processes] == [0] * 4
        assert len(TrustStore(tmp_path, "key").load()) == 40


class TestReview:
    def test_review_gives_the_state_of_each_file(self, tmp_path: Path, hooks: Path) -> None:
        root = tmp_path / "project"
        agreements = agreed(root)
        (hooks / "a").write_text("changed")
        (hooks / "lib/helper").unlink()
        (hooks / "new").write_text("")
        states = {item.name: item.state for item in review(root, agreements)}
        assert states == {
            ".samuel/hooks/a": "changed",
            ".samuel/hooks/lib/helper": "gone",
            ".samuel/hooks/new": "new",
        }

    def test_a_changed_file_is_shown_as_a_difference(self, tmp_path: Path, hooks: Path) -> None:
        root, store = tmp_path / "project", TrustStore(tmp_path / "trust", "key")
        store.agree([(i.name, i.digest, i.content) for i in review(root, {})], at="", root="")
        (hooks / "a").write_text("#!/bin/sh\nevil\n")
        (hooks / "lib/helper").chmod(0o755)
        items = {item.name: item for item in review(root, store.load())}
        text = show(items[".samuel/hooks/a"], store.load(), store)
        assert "+evil" in text
        assert "(agreed)" in text
        assert "the text is the same" in show(items[".samuel/hooks/lib/helper"], store.load(), store)

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            (b"#\n" * 40_000, b"#\n" * 40_000 + b"evil\n", "+evil"),
            (b"echo \xff\n", b"echo \xfe\n", "-echo \\xff\n+echo \\xfe"),
            (b"echo a", b"echo b", "-echo a\n\\ No newline at end of file\n+echo b\n"),
            (b"echo a\n", b"echo a\r\n", "+echo a\r"),
            (b"#!/bin/sh\n", b"#!/bin/sh\n#\0\nevil\n", "+evil"),
        ],
        ids=["past what is shown of a new file", "not UTF-8", "no newline", "line ends", "behind a NUL"],
    )
    def test_every_change_is_visible_in_the_difference(
        self, tmp_path: Path, hooks: Path, old: bytes, new: bytes, expected: str
    ) -> None:
        root, store = tmp_path / "project", TrustStore(tmp_path / "trust", "key")
        (hooks / "a").write_bytes(old)
        store.agree([(i.name, i.digest, i.content) for i in review(root, {})], at="", root="")
        (hooks / "a").write_bytes(new)
        (changed,) = [item for item in review(root, store.load()) if item.state == "changed"]
        assert expected in show(changed, store.load(), store)

    def test_a_new_file_is_shown_as_a_whole_and_a_binary_one_by_its_size(self, tmp_path: Path) -> None:
        store = TrustStore(tmp_path, "key")
        assert show(TrustItem("a", "d", "new", b"text"), {}, store) == "text"
        assert show(TrustItem("a", "d", "new", b"\x7fELF\0\0"), {}, store) == "(binary, 6 bytes)"
        long = show(TrustItem("a", "d", "new", b"x" * 100_000), {}, store)
        assert long.endswith("and more: the file has 100000 bytes")

    def test_a_file_that_cannot_be_named_or_listed_cannot_be_agreed_to(
        self, tmp_path: Path, hooks: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tmp_path / "project"
        (hooks / os.fsdecode(b"bad\xff")).touch()
        unreadable = [item.name for item in review(root, {}) if not item.digest]
        assert unreadable == [".samuel/hooks/bad\\udcff"]
        assert "`.samuel/hooks/bad\\udcff`" in permitting(root)(handler(hooks / "a"))
        monkeypatch.setattr("samuel.files.survey.MOST_FILES", 1)
        assert [(item.name, item.digest, item.state) for item in review(root, {})] == [
            (".samuel/hooks", "", "new")
        ]

    def test_a_hook_directory_that_is_a_link_is_ignored(self, tmp_path: Path, hooks: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        (other / ".samuel").symlink_to(hooks.parent)
        assert review(other, {}) == []


class TestRepository:
    def test_worktrees_share_trust_and_clones_do_not(self, tmp_path: Path, git: Git) -> None:
        root = tmp_path / "repo"
        root.mkdir()
        git(root, "init", "-q")
        git(root, "commit", "-q", "--allow-empty", "-m", "x")
        git(root, "worktree", "add", "-q", "../another-name")
        git(tmp_path, "clone", "-q", "repo", "clone")
        assert trust_key(tmp_path / "another-name") == trust_key(root)
        assert trust_key(tmp_path / "clone") != trust_key(root)

    def test_a_project_in_a_subdirectory_has_its_own_trust_in_every_worktree(
        self, tmp_path: Path, git: Git
    ) -> None:
        root = tmp_path / "repo"
        (root / "sub").mkdir(parents=True)
        git(root, "init", "-q")
        (root / "sub/file").touch()
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "x")
        git(root, "worktree", "add", "-q", "../tree")
        assert trust_key(root / "sub") != trust_key(root)
        assert trust_key(tmp_path / "tree/sub") == trust_key(root / "sub")

    def test_a_project_without_git_has_its_own_trust(self, tmp_path: Path) -> None:
        for name in ("a/same", "b/same"):
            (tmp_path / name).mkdir(parents=True)
        assert trust_key(tmp_path / "a/same") != trust_key(tmp_path / "b/same")

    @pytest.mark.parametrize("top", [".", "sub"])
    def test_git_init_keeps_what_was_trusted_and_the_last_trusted_guards(
        self, tmp_path: Path, git: Git, top: str
    ) -> None:
        root, state = tmp_path / "project/sub", tmp_path / "state"
        root.mkdir(parents=True)
        trust_of_project(state, root).agree([("a", "digest", b"")], at="", root=str(root))
        before = trust_key(root)
        (state / "yaml").mkdir()
        (state / "yaml" / before).write_text("last trusted")
        git(root.parent / top, "init", "-q")
        store = trust_of_project(state, root)
        assert (store.key != before, list(store.load())) == (True, ["a"])
        assert (state / "yaml" / store.key).read_text() == "last trusted"
        assert TrustStore(state / "trust", before).load() == {}

    def test_git_init_brings_back_nothing_that_was_revoked(self, tmp_path: Path, git: Git) -> None:
        root, state = tmp_path / "project", tmp_path / "state"
        root.mkdir()
        trust_of_project(state, root).agree([("a", "digest", b"")], at="", root=str(root))
        path_file = state / "trust" / f"{trust_key(root)}.json"
        content = path_file.read_bytes()
        git(root, "init", "-q")
        trust_of_project(state, root).revoke()
        path_file.write_bytes(content)
        assert trust_of_project(state, root).load() == {}

    def test_a_link_to_the_repository_of_another_project_takes_no_trust_there(
        self, tmp_path: Path, git: Git
    ) -> None:
        root, other, state = tmp_path / "project", tmp_path / "other", tmp_path / "state"
        for directory in (root, other):
            directory.mkdir()
        git(other, "init", "-q")
        trust_of_project(state, root).agree([("a", "digest", b"")], at="", root=str(root))
        for make_link in (
            lambda git: git.write_text(f"gitdir: {other}/.git\n"),
            lambda git: git.symlink_to(other / ".git"),
        ):
            make_link(root / ".git")
            assert trust_of_project(state, root).load() == {}
            assert trust_of_project(state, other).load() == {}
            (root / ".git").unlink()
        assert list(trust_of_project(state, root).load()) == ["a"]

    @pytest.mark.parametrize("text", ["", "gitdir: nowhere", "garbage\0\xff", "gitdir: " + "x" * 10_000])
    def test_a_broken_link_to_a_repository_shares_no_trust(self, tmp_path: Path, text: str) -> None:
        (tmp_path / ".git").write_text(text)
        assert common_directory(str(tmp_path)) == str(tmp_path / ".git")
