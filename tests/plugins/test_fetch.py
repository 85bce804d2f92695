"""Getting a plugin's files, from real repositories: well-meaning ones, and those that would make git do things."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError, SamuelError
from samuel.plugins import tree
from samuel.plugins.fetch import Fetched, fetch
from samuel.plugins.source import parse

HOOK = "#!/bin/sh\necho hello\n"


@pytest.fixture(autouse=True)
def machine(home: Path) -> Path:
    return home


@pytest.fixture
def get(tmp_path: Path) -> Callable[..., tuple[Fetched, Path]]:
    """Fetch from a source into a new directory."""
    count = iter(range(100))

    def get(text: str) -> tuple[Fetched, Path]:
        into = tmp_path / f"got-{next(count)}" / "plugin"
        into.parent.mkdir()
        got = fetch(parse(text, tmp_path), into)
        assert os.listdir(into.parent) == ["plugin"]  # nothing of git is left
        return got, into

    return get


def files(directory: Path) -> dict[str, str]:
    contents = {}
    for place, _, names in os.walk(directory):
        for name in names:
            path = Path(place, name)
            contents[str(path.relative_to(directory))] = (
                f"-> {os.readlink(path)}" if path.is_symlink() else path.read_text()
            )
    return contents


class TestRefs:
    @pytest.fixture
    def commits(self, origin) -> list[str]:
        repository = origin("org/repo")
        return [
            repository.push({"a": "1"}, tag="v1"),
            repository.push({"a": "2"}),
            repository.push({"a": "3"}, branch="feature/x"),
        ]

    def test_fetch_without_a_ref_takes_the_default_branch(self, get, commits):
        assert get("org/repo")[0] == Fetched(commits[1], "")

    @pytest.mark.parametrize(("ref", "which"), [("v1", 0), ("main", 1), ("feature/x", 2), ("refs/heads/main", 1)])
    def test_fetch_by_branch_or_tag(self, get, commits, ref: str, which: int):
        got, into = get(f"org/repo@{ref}")
        assert got == Fetched(commits[which], ref)
        assert files(into) == {"a": str(which + 1)}

    @pytest.mark.parametrize("length", [40, 12, 8])
    @pytest.mark.parametrize("which", [0, 1, 2])
    def test_fetch_by_full_or_short_commit(self, get, commits, which: int, length: int):
        got, into = get(f"org/repo@{commits[which][:length]}")
        assert got.commit == commits[which]
        assert files(into) == {"a": str(which + 1)}

    def test_fetch_by_commit_from_a_server_that_sends_only_branches(self, get, commits, git, tmp_path):
        bare = tmp_path / "origins/org/repo.git"
        git(bare, "config", "protocol.version", "0")
        git(bare, "config", "uploadpack.allowAnySHA1InWant", "false")
        assert get(f"org/repo@{commits[0]}")[0].commit == commits[0]

    def test_fetch_of_an_annotated_tag_gives_its_commit(self, get, commits, git, tmp_path):
        work = tmp_path / "origins/work/org/repo"
        git(work, "tag", "--annotate", "--message=x", "v2", commits[2])
        git(work, "push", str(tmp_path / "origins/org/repo.git"), "v2")
        assert get("org/repo@v2")[0].commit == commits[2]

    def test_a_branch_named_like_a_commit(self, get, origin):
        repository = origin("org/other", {"a": "main"})
        commit = repository.push({"a": "branch"}, branch="deadbeef")
        assert get("org/other@deadbeef")[0].commit == commit

    @pytest.mark.parametrize("ref", ["v9", "deadbeef", "0" * 40])
    def test_a_ref_that_does_not_exist_is_reported(self, get, commits, ref: str):
        with pytest.raises(SamuelError) as refused:
            get(f"org/repo@{ref}")
        assert f"https://github.com/org/repo.git@{ref}` could not be fetched" in refused.value.message
        assert "git ls-remote" in refused.value.hint

    def test_a_repository_that_does_not_exist_is_reported(self, get):
        with pytest.raises(SamuelError, match="does not appear to be a git repository"):
            get("org/nothing")

    def test_a_repository_without_files_is_refused(self, get, origin):
        origin("org/empty")
        with pytest.raises(SamuelError):
            get("org/empty")
        origin("org/hollow", {})
        with pytest.raises(ConfigError, match="the repository has no files"):
            get("org/hollow")

    def test_a_local_repository_with_a_ref_is_fetched_by_git(self, get, commits, tmp_path):
        got, into = get("./origins/work/org/repo@v1")
        assert (got.commit, files(into)) == (commits[0], {"a": "1"})

    def test_fetch_without_git_is_reported(self, get, commits, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(SamuelError, match="`git` was not found on PATH"):
            get("org/repo")


class TestWhatIsWritten:
    def test_files_modes_and_links_of_a_repository_are_written(self, get, origin):
        odd = "naïve file.txt"
        repository = {
            "hooks/run": HOOK,
            "hooks/helper.txt": "x",
            odd: "y\r\n",
            "hooks/same": Path("run"),
            "empty": "",
        }
        origin("org/repo", repository)
        _, into = get("org/repo")
        assert (into / odd).read_bytes() == b"y\r\n"
        assert {
            name: stat.S_IMODE(os.lstat(into / name).st_mode) for name in ("hooks/run", "hooks/helper.txt")
        } == {
            "hooks/run": 0o755,
            "hooks/helper.txt": 0o644,
        }
        assert os.readlink(into / "hooks/same") == "run"
        assert (into / "empty").read_bytes() == b""
        assert not (into / ".git").exists()

    def test_the_umask_does_not_change_the_modes_of_fetched_files(self, get, origin):
        origin("org/repo", {"hooks/run": HOOK})
        before = os.umask(0o077)
        try:
            _, into = get("org/repo")
        finally:
            os.umask(before)
        assert stat.S_IMODE(os.stat(into / "hooks/run").st_mode) == 0o755

    @pytest.mark.slow
    def test_more_blobs_than_one_batch_are_written(self, get, origin):
        sizes = {"a": 5 << 20, "b": 4 << 20, "c": 1}
        origin("org/repo", {name: name * size for name, size in sizes.items()})
        _, into = get("org/repo")
        for name, size in sizes.items():
            assert (into / name).stat().st_size == size
            assert {*(into / name).read_bytes()} == {ord(name)}


class TestHostile:
    @pytest.fixture
    def marker(self, tmp_path: Path) -> Path:
        return tmp_path / "touched"

    def test_filters_and_line_end_conversions_of_a_repository_do_not_run(self, get, origin, home, marker):
        """The user has these filters for repositories of their own; the plugin asks for them."""
        with (home / ".gitconfig").open("a") as config:
            for name in ("evil", "lfs"):
                config.write(f'[filter "{name}"]\n\tsmudge = touch {marker}; cat\n\tclean = touch {marker}; cat\n')
                config.write(f"\tprocess = touch {marker}\n\trequired = true\n")
            config.write("[core]\n\tautocrlf = true\n")
        origin(
            "org/repo",
            {".gitattributes": "* filter=evil text eol=crlf\nident ident\n", "a": "x\n", "ident": "$Id$"},
        )
        _, into = get("org/repo")
        assert not marker.exists()
        assert (into / "a").read_bytes() == b"x\n"
        assert (into / "ident").read_bytes() == b"$Id$"

    def test_git_hooks_and_templates_do_not_run_in_a_fetch(self, get, origin, home, marker):
        for name in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change"):
            for place in ("hooks", "template/hooks"):
                hook = home / place / name
                hook.parent.mkdir(parents=True, exist_ok=True)
                hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
                hook.chmod(0o755)
        with (home / ".gitconfig").open("a") as config:
            config.write(f"[core]\n\thooksPath = {home}/hooks\n\tfsmonitor = touch {marker}\n")
            config.write(f"[init]\n\ttemplateDir = {home}/template\n")
        origin("org/repo", {"a": "x"})
        get("org/repo")
        assert not marker.exists()

    def test_git_variables_of_the_caller_do_not_reach_a_fetch(self, get, origin, marker, tmp_path, monkeypatch):
        commit = origin("org/repo").push({"a": "x"})
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {marker}")
        monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.sshCommand'='touch {marker}'")
        assert get("org/repo")[0].commit == commit
        assert not (tmp_path / "elsewhere").exists()

    def test_a_transport_that_runs_programs_is_refused(self, get, origin, home, marker):
        """Also when it comes in by the user's own configuration."""
        with (home / ".gitconfig").open("a") as config:
            config.write(f'[url "ext::touch {marker} %S "]\n\tinsteadOf = https://evil.example/\n')
            config.write("[protocol]\n\tallow = always\n")
        with pytest.raises(SamuelError, match="transport 'ext' not allowed"):
            get("https://evil.example/org/repo")
        assert not marker.exists()

    def test_a_submodule_is_refused(self, get, origin, git):
        other = origin("org/other", {"a": "x"})
        repository = origin("org/repo", {"b": "y"})
        git(repository.work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.url, "sub")
        repository.push({})
        with pytest.raises(ConfigError) as refused:
            get("org/repo")
        assert [(problem.file, problem.what) for problem in refused.value.problems] == [
            ("sub", "it is a submodule")
        ]

    @pytest.mark.parametrize("name", [".git", ".GIT", "..", ".", "a\\b", "git~1", ".git ", "a\x07b", "x" * 300])
    @pytest.mark.parametrize("mode", ["100644", "120000"])
    def test_names_that_must_not_be_in_a_plugin_are_refused(
        self, get, origin, git, tmp_path, name: str, mode: str
    ):
        repository = origin("org/repo", {"a": "../outside"})
        blob = git(repository.work, "rev-parse", "HEAD:a").strip()
        listing = tmp_path / "listing"
        listing.write_text(f"{mode} blob {blob}\t{name}\0")
        tree_id = _mktree(git, repository.work, listing)
        _publish(git, repository, tree_id)
        with pytest.raises(SamuelError):
            get("org/repo")
        assert not (tmp_path / "outside").exists()

    def test_a_file_name_that_is_not_utf8_is_refused(self, get, origin, git, tmp_path):
        repository = origin("org/repo", {"a": "x"})
        blob = git(repository.work, "rev-parse", "HEAD:a").strip()
        listing = tmp_path / "listing"
        listing.write_bytes(b"100644 blob " + blob.encode() + b"\tb\xff\0")
        _publish(git, repository, _mktree(git, repository.work, listing))
        with pytest.raises(ConfigError, match="its name is not UTF-8"):
            get("org/repo")

    @pytest.mark.parametrize(
        "paths", [("a/x", "A/y"), ("readme", "README"), ("d/é", "d/e\u0301"), ("straße", "STRASSE"), ("a", "A/b")]
    )
    def test_names_that_are_equal_on_other_systems_are_refused(self, get, origin, paths):
        origin("org/repo", dict.fromkeys(paths, "x"))
        with pytest.raises(ConfigError, match="on some machines it is the same file as"):
            get("org/repo")

    def test_a_tree_with_a_link_and_a_directory_of_the_same_name_is_refused(self, get, origin, git, tmp_path):
        """Twice in one tree: what is written below the second would go where the first leads."""
        repository = origin("org/repo", {"target": str(tmp_path), "d/file": "x"})
        link = git(repository.work, "rev-parse", "HEAD:target").strip()
        inner = git(repository.work, "rev-parse", "HEAD:d").strip()
        listing = tmp_path / "listing"
        listing.write_text(f"120000 blob {link}\tx\0040000 tree {inner}\tx\0")
        _publish(git, repository, _mktree(git, repository.work, listing))
        with pytest.raises(SamuelError):
            get("org/repo")
        assert not (tmp_path / "file").exists()

    def test_trees_that_contain_each_other_many_times_are_refused(self, get, origin, git, tmp_path):
        """Ten names in each of ten levels: a few kilobytes that stand for ten thousand million files."""
        repository = origin("org/repo", {"a": "x"})
        inner, kind = git(repository.work, "rev-parse", "HEAD:a").strip(), "100644 blob"
        listing = tmp_path / "listing"
        for _ in range(10):
            listing.write_text("".join(f"{kind} {inner}\tdirectory-{number}\0" for number in range(10)))
            inner, kind = _mktree(git, repository.work, listing), "040000 tree"
        _publish(git, repository, inner)
        with pytest.raises(SamuelError, match="more than 5000 files"):
            get("org/repo")

    @pytest.mark.slow
    def test_a_source_with_too_many_files_is_refused(self, get, origin):
        origin("org/repo", {f"d/{number}": "" for number in range(5001)})
        with pytest.raises(ConfigError, match="more than 5000 files"):
            get("org/repo")

    def test_a_repository_with_too_many_bytes_is_refused(self):
        half = tree.TreeItem("a", stat.S_IFREG | 0o644, 129 << 20)
        tree.check([half], "x")
        with pytest.raises(ConfigError, match="larger than"):
            tree.check([half, half._replace(path="b")], "x")


def _mktree(git: Callable[..., str], work: Path, listing: Path) -> str:
    return git(work, "-c", f"alias.made=!git mktree -z < '{listing}'", "made").strip()


def _publish(git: Callable[..., str], repository, tree_id: str) -> None:
    commit = git(repository.work, "commit-tree", tree_id, "-m", "hostile").strip()
    git(repository.work, "push", "--force", str(repository.bare), f"{commit}:refs/heads/main")


class TestADirectory:
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        place = tmp_path / "plugin"
        (place / "hooks").mkdir(parents=True)
        (place / "hooks/run").write_text(HOOK)
        (place / "hooks/run").chmod(0o4775)
        return place

    def test_a_directory_is_copied(self, get, place):
        (place / "hooks/same").symlink_to("run")
        (place / ".git").mkdir()
        (place / ".git/config").write_text("")
        (place / "__pycache__").mkdir()
        (place / "__pycache__/x.pyc").write_text("")
        (place / ".hidden").write_text("x")
        got, into = get("./plugin")
        assert got == Fetched("", "")
        assert files(into) == {"hooks/run": HOOK, "hooks/same": "-> run", ".hidden": "x"}
        assert stat.S_IMODE(os.stat(into / "hooks/run").st_mode) == 0o755

    def test_copying_a_directory_follows_no_link(self, get, place, tmp_path):
        (tmp_path / "secret").write_text("secret")
        (tmp_path / "secrets").mkdir()
        (tmp_path / "secrets/one").write_text("secret")
        (place / "link").symlink_to("../secret")
        (place / "links").symlink_to("../secrets")
        _, into = get("./plugin")
        assert files(into) == {"hooks/run": HOOK, "link": "-> ../secret", "links": "-> ../secrets"}

    def test_a_directory_with_a_pipe_is_refused(self, get, place):
        os.mkfifo(place / "pipe")
        with pytest.raises(ConfigError, match="it is a pipe, a socket or a device"):
            get("./plugin")

    def test_a_file_that_cannot_be_counted(self, get, place):
        (place / "big").touch()
        os.truncate(place / "big", 257 << 20)
        with pytest.raises(ConfigError, match="larger than"):
            get("./plugin")

    def test_a_source_with_too_many_files_is_refused(self, get, place):
        for number in range(5000):
            (place / str(number)).touch()
        with pytest.raises(ConfigError, match="more than 5000 files"):
            get("./plugin")
