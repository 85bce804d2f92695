from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import samuel
from samuel.git.commit import commit_paths
from samuel.git.git import Git, GitFailed
from samuel.git.output import GitCommit, GitStatusEntry

Plain = Callable[..., str]


@pytest.fixture
def here(env: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """Our own environment, without any configuration."""
    return {**env, "HOME": str(tmp_path / "home")}


@pytest.fixture
def repository(tmp_path: Path, git: Plain) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\n")
    (root / "sub").mkdir()
    (root / "sub" / "b.txt").write_text("two\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


class Trap:
    """A repository that names a program wherever git would start one. Each leaves a file with its name."""

    def __init__(self, root: Path, place: Path, git: Plain) -> None:
        self.root, self.place = root, place
        place.mkdir()
        self._git = git

    def program(self, name: str) -> str:
        file = self.place.parent / f"program-{name}"
        file.write_text(f"#!/bin/sh\necho ran >> '{self.place}/{name}'\ncat\n")
        file.chmod(0o755)
        return str(file)

    def config(self, key: str, name: str) -> None:
        self._git(self.root, "config", key, self.program(name))

    def sprung(self) -> set[str]:
        return {file.name for file in self.place.iterdir()}

    def reset(self) -> None:
        shutil.rmtree(self.place)
        self.place.mkdir()
        # As if just edited, to the same length: git has to read it, through the clean filter.
        for file in ("a.txt", "c.txt"):
            (self.root / file).write_text("one\n")
            os.utime(self.root / file, ns=(1, 1))


@pytest.fixture
def trap(repository: Path, tmp_path: Path, git: Plain) -> Trap:
    git(repository, "commit", "-q", "--allow-empty", "-m", "second")
    (repository / "c.txt").write_text("one\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "third")
    # A commit with what looks like a signature, so that git may want to check it.
    raw = git(repository, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    signed = tmp_path / "signed"
    signed.write_text(raw)
    git(repository, "reset", "-q", git(repository, "hash-object", "-t", "commit", "-w", str(signed)).strip())

    trap = Trap(repository, tmp_path / "sprung", git)
    trap.config("core.fsmonitor", "fsmonitor")
    trap.config("filter.evil.clean", "clean")
    trap.config("filter.evil.smudge", "smudge")
    git(repository, "config", "filter.evil.required", "true")
    trap.config("filter.long.process", "process")
    trap.config("filter.a=b.clean", "a=b")
    trap.config("diff.external", "external")
    trap.config("diff.evil.textconv", "textconv")
    trap.config("diff.evil.command", "command")
    trap.config("gpg.program", "gpg")
    git(repository, "config", "log.showSignature", "true")
    trap.config("core.sshCommand", "ssh")
    trap.config("core.pager", "pager")
    trap.config("core.editor", "editor")
    (repository / ".git/info/attributes").write_text("a.txt filter=evil\n*.txt diff=evil\n")
    (repository / ".gitattributes").write_text("c.txt filter=a=b\n*.long filter=long\n")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
        shutil.copy(trap.program("hook"), hooks / name)
    git(repository, "config", "core.hooksPath", str(hooks))
    trap.reset()
    return trap


class TestNothingOfTheRepositoryRuns:
    def test_our_reads_set_off_no_canary(self, trap: Trap, here: dict[str, str]) -> None:
        ours = Git(trap.root, here)
        before = ours.work_tree()
        ours.head()
        ours.files()
        ours.status()
        ours.log(10)
        ours.changed_since(before)
        ours.run("diff")
        ours.run("diff", "HEAD~1")
        ours.run("log", "-p")
        ours.run("show", "HEAD")
        ours.run("grep", "one")
        ours.run("ls-files", "-s", "-v")
        assert trap.sprung() == set()

    def test_plain_git_runs_the_programs_that_ours_does_not(self, trap: Trap, git: Plain) -> None:
        """The test above would prove nothing otherwise."""
        for command in (
            ("status",),
            ("diff", "HEAD~1"),
            ("log", "-p"),
            ("config", "--unset", "core.fsmonitor"),  # so that git has to look for itself
            ("status",),
            ("config", "--unset", "diff.evil.command"),
            ("diff", "HEAD~1"),
        ):
            with suppress(subprocess.CalledProcessError):
                git(trap.root, *command)
        assert trap.sprung() >= {"fsmonitor", "clean", "a=b", "gpg", "hook", "command", "external", "textconv"}

    def test_filter_added_later_is_switched_off(self, repository: Path, here: dict[str, str], git: Plain) -> None:
        ours = Git(repository, here)
        assert ours.status().entries == []
        sprung = repository.parent / "sprung"
        (repository / ".git/info/attributes").write_text("* filter=late\n")
        git(repository, "config", "filter.late.clean", f"touch {sprung}; cat")
        os.utime(repository / "a.txt", ns=(1, 1))
        assert ours.status().entries == []
        assert not sprung.exists()

    def test_filter_of_an_included_file_is_switched_off(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        git(repository, "config", "include.path", "../later.config")
        ours = Git(repository, here)
        ours.status()
        sprung = repository.parent / "sprung"
        (repository / "later.config").write_text(f'[filter "late"]\n\tclean = "touch {sprung}; cat"\n')
        (repository / ".git/info/attributes").write_text("*.txt filter=late\n")
        os.utime(repository / "a.txt", ns=(1, 1))
        assert [entry.path for entry in ours.status().entries] == ["later.config"]
        assert not sprung.exists()

    def test_a_missing_object_is_not_fetched(
        self, repository: Path, here: dict[str, str], git: Plain, tmp_path: Path
    ) -> None:
        """A partial clone gets what it lacks from its remote, by a program that the configuration names."""
        sprung = tmp_path / "sprung"
        program = tmp_path / "uploadpack"
        program.write_text(f"#!/bin/sh\ntouch '{sprung}'\n")
        program.chmod(0o755)
        git(repository, "config", "core.repositoryFormatVersion", "1")
        git(repository, "config", "extensions.partialClone", "origin")
        git(repository, "config", "remote.origin.promisor", "true")
        git(repository, "config", "remote.origin.url", str(tmp_path))
        git(repository, "config", "remote.origin.uploadpack", str(program))
        blob = git(repository, "rev-parse", "HEAD:a.txt").strip()
        (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
        with pytest.raises(GitFailed):
            Git(repository, here).run("cat-file", "blob", blob)
        assert not sprung.exists()

    def test_the_index_is_left_alone(self, repository: Path, here: dict[str, str]) -> None:
        index = repository / ".git/index"
        os.utime(repository / "a.txt", ns=(1, 1))
        before = index.stat()
        Git(repository, here).status()
        assert (index.stat().st_mtime_ns, index.stat().st_ino) == (before.st_mtime_ns, before.st_ino)

    def test_git_variables_of_the_environment_are_dropped(
        self, repository: Path, here: dict[str, str], tmp_path: Path
    ) -> None:
        loud = {"GIT_DIR": str(tmp_path), "GIT_CONFIG_PARAMETERS": "'core.fsmonitor=false'", "GIT_TRACE": "1"}
        assert Git(repository, {**here, **loud}).files() == ["a.txt", "sub/b.txt"]


class TestReading:
    def test_files_are_the_tracked_and_the_untracked_but_not_the_ignored(
        self, repository: Path, here: dict[str, str]
    ) -> None:
        (repository / ".gitignore").write_text("*.log\n")
        (repository / "x.log").touch()
        (repository / "new.txt").touch()
        assert sorted(Git(repository, here).files()) == [".gitignore", "a.txt", "new.txt", "sub/b.txt"]

    def test_status_and_log_handle_names_of_any_bytes(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        names = [os.fsdecode(name) for name in (b"new\nline", b"tab\there", b"\xff\xfe", b' "quoted" ', b"-dash")]
        for name in names:
            (repository / name).write_text("x\n")
        ours = Git(repository, here)
        assert {entry.path for entry in ours.status().entries} == set(names)
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "names")
        assert set(ours.files()) == {*names, "a.txt", "sub/b.txt"}
        assert set(ours.log(1)[0].paths) == set(names)

    def test_status_tells_staged_from_unstaged(self, repository: Path, here: dict[str, str], git: Plain) -> None:
        (repository / "a.txt").write_text("changed\n")
        (repository / "staged.txt").write_text("x\n")
        git(repository, "add", "staged.txt")
        (repository / "sub/b.txt").unlink()
        (repository / "new").touch()
        status = Git(repository, here).status()
        assert status.head == git(repository, "rev-parse", "HEAD").strip()
        assert status.branch == "main"
        assert status.entries == [
            GitStatusEntry("a.txt", ".", "M"),
            GitStatusEntry("staged.txt", "A", "."),
            GitStatusEntry("sub/b.txt", ".", "D"),
            GitStatusEntry("new", "?", "?"),
        ]

    def test_a_conflict_is_an_entry(self, repository: Path, here: dict[str, str], git: Plain) -> None:
        for branch in ("one", "two"):
            git(repository, "checkout", "-q", "-b", branch, "main")
            (repository / "a.txt").write_text(branch)
            git(repository, "commit", "-q", "-a", "-m", branch)
        with pytest.raises(subprocess.CalledProcessError):
            git(repository, "merge", "one")
        assert Git(repository, here).status().entries == [GitStatusEntry("a.txt", "U", "U")]

    def test_paths_are_relative_to_a_root_inside_the_repository(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        (repository / "sub/b.txt").write_text("changed\n")
        (repository / "a.txt").write_text("changed\n")
        ours = Git(repository / "sub", here)
        assert ours.files() == ["b.txt"]
        assert ours.status().entries == [GitStatusEntry("b.txt", ".", "M")]
        before = ours.work_tree()
        (repository / "sub/c.txt").touch()
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "below")
        assert ours.log(5)[0].paths == ["b.txt", "c.txt"]
        assert ours.changed_since(before) == ["b.txt", "c.txt"]

    def test_the_log_is_newest_first_with_what_was_touched(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        (repository / "a.txt").write_text("2\n")
        git(repository, "commit", "-q", "-a", "-m", "second: ünïcode")
        git(repository, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
        ids = git(repository, "log", "--format=%h").split()
        dates = git(repository, "log", "--format=%cs").split()
        assert Git(repository, here).log(10) == [
            GitCommit(ids[0], dates[0], "", []),
            GitCommit(ids[1], dates[1], "second: ünïcode", ["a.txt"]),
            GitCommit(ids[2], dates[2], "first", []),
        ]
        assert len(Git(repository, here).log(2)) == 2

    def test_repository_without_commits_can_be_read(
        self, tmp_path: Path, here: dict[str, str], git: Plain
    ) -> None:
        git(tmp_path, "init", "-q", "-b", "main", "new")
        ours = Git(tmp_path / "new", here)
        before = ours.work_tree()
        assert (ours.head(), ours.log(5), ours.status()[:2]) == ("", [], ("", "main"))
        (tmp_path / "new/a").touch()
        git(tmp_path / "new", "add", ".")
        git(tmp_path / "new", "commit", "-q", "-m", "first")
        assert ours.changed_since(before) == ["a"]

    def test_linked_work_tree_is_read_like_any_other(
        self, repository: Path, here: dict[str, str], git: Plain, tmp_path: Path
    ) -> None:
        git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
        ours = Git(tmp_path / "linked", here)
        (tmp_path / "linked/a.txt").write_text("changed\n")
        assert ours.status().entries == [GitStatusEntry("a.txt", ".", "M")]
        assert ours.index_file.exists()

    def test_another_repository_inside_is_not_ours(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        git(repository, "init", "-q", "inner")
        (repository / "inner/x").touch()
        ours = Git(repository, here)
        assert ours.status().entries == []
        assert ours.files() == ["a.txt", "sub/b.txt"]


class TestChangedSince:
    def test_unchanged_work_tree_has_no_changes(self, repository: Path, here: dict[str, str]) -> None:
        (repository / "dirty").write_text("from before")
        ours = Git(repository, here)
        assert ours.changed_since(ours.work_tree()) == []

    def test_changed_since_finds_edits_new_deleted_and_committed_files(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        (repository / "dirty").write_text("from before")
        (repository / "again").write_text("from before")
        ours = Git(repository, here)
        before = ours.work_tree()
        (repository / "a.txt").write_text("changed\n")
        git(repository, "commit", "-q", "-a", "-m", "by the agent")
        (repository / "again").write_text("once more")
        (repository / "new").touch()
        (repository / "sub/b.txt").unlink()
        assert ours.changed_since(before) == ["a.txt", "again", "new", "sub/b.txt"]


class TestWhatIsWrong:
    def test_directory_without_a_repository_is_reported(
        self, tmp_path: Path, here: dict[str, str], git: Plain
    ) -> None:
        ours = Git(tmp_path, here)
        assert (ours.available, ours.is_repository) == (True, False)
        with pytest.raises(GitFailed, match=r"is not in a git work tree\nmake one with `git init`"):
            ours.status()
        git(tmp_path, "init", "-q")  # an agent may do that at any time
        assert ours.is_repository

    def test_folder_that_looks_like_a_bare_repository_is_not_one(
        self, tmp_path: Path, here: dict[str, str], git: Plain
    ) -> None:
        git(tmp_path, "init", "-q", "--bare", "bare")
        assert not Git(tmp_path / "bare", here).is_repository

    def test_missing_git_is_reported(self, tmp_path: Path, here: dict[str, str]) -> None:
        ours = Git(tmp_path, {**here, "PATH": str(tmp_path)})
        assert (ours.available, ours.is_repository) == (False, False)
        with pytest.raises(GitFailed, match=r"git 2.31 or newer was not found"):
            ours.files()

    @pytest.mark.parametrize(("version", "good"), [("2.30.9", False), ("2.31.0", True), ("10.0", True)])
    def test_git_too_old_to_be_hardened_is_refused(
        self, tmp_path: Path, here: dict[str, str], version: str, good: bool
    ) -> None:
        (tmp_path / "git").write_text(f"#!/bin/sh\necho git version {version}\n")
        (tmp_path / "git").chmod(0o755)
        root = tmp_path / "project"
        root.mkdir()
        assert Git(root, {**here, "PATH": str(tmp_path)}).available is good

    def test_a_command_that_fails_says_what_git_said(self, repository: Path, here: dict[str, str]) -> None:
        with pytest.raises(GitFailed, match=r"`git cat-file` in `.*/repository` failed: .*nonsense"):
            Git(repository, here).run("cat-file", "blob", "nonsense")

    def test_git_command_that_takes_too_long_is_stopped(
        self, repository: Path, here: dict[str, str], tmp_path: Path
    ) -> None:
        real = shutil.which("git")
        (tmp_path / "git").write_text(f'#!/bin/sh\n[ "$2" = status ] && sleep 60\nexec {real} "$@"\n')
        (tmp_path / "git").chmod(0o755)
        ours = Git(repository, {**here, "PATH": f"{tmp_path}:{here['PATH']}"})
        assert ours.is_repository
        with pytest.raises(GitFailed, match=r"`git status` in .* failed: stopped after 0.3s"):
            ours.run("status", timeout=0.3)


class TestWhichGitIsStarted:
    @pytest.fixture
    def decoy(self, repository: Path) -> Path:
        """A clone that has a program called git, at its top and in a directory of its own."""
        canary = repository.parent / "canary"
        for directory in (repository, repository / "bin"):
            directory.mkdir(exist_ok=True)
            (directory / "git").write_text(f"#!/bin/sh\ntouch '{canary}'\necho git version 99.0\n")
            (directory / "git").chmod(0o755)
        (repository.parent / "link").symlink_to(repository / "bin")
        return canary

    @pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "{root}", "{root}/bin", "{root}/../link"])
    def test_git_program_of_the_project_is_never_started(
        self, repository: Path, decoy: Path, here: dict[str, str], entry: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(repository)
        path = f"{entry.format(root=repository)}:{here['PATH']}"
        ours = Git(repository, {**here, "PATH": path})
        assert ours.status().branch == "main"
        assert not decoy.exists()

    def test_git_finds_no_helper_program_in_the_project(
        self, repository: Path, here: dict[str, str], git: Plain
    ) -> None:
        canary = repository.parent / "canary"
        for place in (repository, repository / "bin"):
            place.mkdir(exist_ok=True)
            (place / "a-filter").write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n")
            (place / "a-filter").chmod(0o755)
        git(repository, "config", "filter.x.clean", "a-filter")
        git(repository, "config", "user.name", "t")
        git(repository, "config", "user.email", "t@example.org")
        (repository / ".gitattributes").write_text("new filter=x\n")
        (repository / "new").write_text("new\n")
        ours = Git(repository, {**here, "PATH": f":{repository}/bin:{here['PATH']}"})
        commit_paths(ours, ["new"], ["new"], "second")
        assert not canary.exists()
        assert git(repository, "show", "HEAD:new") == "new\n"

    def test_git_that_lies_only_in_the_project_counts_as_missing(
        self, repository: Path, here: dict[str, str]
    ) -> None:
        (repository / "git").write_text("#!/bin/sh\necho git version 99.0\n")
        (repository / "git").chmod(0o755)
        ours = Git(repository, {**here, "PATH": f".:{repository}"})
        assert not ours.available

    def test_no_other_place_starts_git(self) -> None:
        """By name it would be whatever a clone calls `git`."""
        sources = Path(samuel.__file__).parent
        named = re.compile(r"""(\[|which\(|look_up\()\s*["']git["']""")
        files = [str(file) for file in sources.rglob("*.py") if named.search(file.read_text())]
        assert files == []


class TestCommits:
    HOOKS = (
        *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"),
        *("reference-transaction", "pre-auto-gc", "post-rewrite"),
    )

    @pytest.fixture
    def ours(self, repository: Path, here: dict[str, str], git: Plain) -> Git:
        git(repository, "config", "user.name", "t")
        git(repository, "config", "user.email", "t@example.org")
        (repository / "new").write_text("new\n")
        (repository / "other").write_text("other\n")
        return Git(repository, here)

    def hooks(self, directory: Path) -> Path:
        """Every hook that a commit runs; each writes its name down."""
        directory.mkdir(exist_ok=True)
        sprung = directory.parent / "sprung"
        for name in self.HOOKS:
            (directory / name).write_text(f"#!/bin/sh\necho {name} >> '{sprung}'\n")
            (directory / name).chmod(0o755)
        return sprung

    def test_commit_holds_the_named_paths_and_nothing_else(self, repository: Path, ours: Git, git: Plain) -> None:
        git(repository, "add", "other")
        (repository / "a.txt").unlink()
        (repository / "*").write_text("a name, not a pattern\n")
        commit = commit_paths(ours, ["new", "a.txt", "*"], ["new", "a.txt", "*"], "second")
        assert git(repository, "show", "--format=%H %s", "--name-status", "HEAD").split("\n") == [
            f"{commit} second",
            "",
            "A\t*",
            "D\ta.txt",
            "A\tnew",
            "",
        ]
        assert git(repository, "status", "--short") == "A  other\n"

    def test_commit_runs_no_hook_wherever_hooks_are(self, repository: Path, ours: Git, git: Plain) -> None:
        sprung = self.hooks(repository / ".git" / "hooks")
        commit_paths(ours, ["new"], ["new"], "second")
        assert not sprung.exists()
        husky = self.hooks(repository / ".husky")
        git(repository, "config", "core.hooksPath", ".husky")
        commit_paths(ours, ["other"], ["other"], "third")
        assert not husky.exists()
        assert git(repository, "log", "-1", "--format=%s") == "third\n"

    def test_commit_runs_the_hooks_it_is_given(self, repository: Path, ours: Git, git: Plain) -> None:
        sprung = self.hooks(repository / ".husky")
        git(repository, "config", "core.hooksPath", ".husky")
        assert ours.hooks_directory() == repository / ".husky"
        commit_paths(ours, ["new"], ["new"], "second", hooks=ours.hooks_directory())
        assert {"pre-commit", "commit-msg", "post-commit", "reference-transaction"} <= set(
            sprung.read_text().split()
        )

    def test_commit_runs_the_filters_of_the_owner(
        self, repository: Path, ours: Git, git: Plain, tmp_path: Path
    ) -> None:
        (repository / ".gitattributes").write_text("new filter=upper\n")
        git(repository, "config", "filter.upper.clean", "tr a-z A-Z")
        commit_paths(ours, ["new"], ["new"], "second", writable=(repository,))
        assert git(repository, "show", "HEAD:new") == "NEW\n"

    @pytest.mark.parametrize(
        "command",
        [
            "./tools/clean.sh",
            "tools/clean.sh %f",
            "sh tools/clean.sh",
            "{root}/tools/clean.sh",
            "{link}/tools/clean.sh",
            "cd tools && ./clean.sh",
            "sh -c './tools/clean.sh'",
            "$PWD/tools/clean.sh",
            "sh `echo tools`/clean.sh",
            "python3 -m tools.clean",
            "python3 -mtools.clean",
            "python3 -c 'import tools.clean'",
            "perl -Itools -MClean -e 1",
            "sh -c 'sh tools/clean.sh'",
            "cd tools; sh -c 'cat; sh clean.sh'",
            "npx clean",
            "eslint --fix-dry-run --stdin",
        ],
    )
    def test_commit_is_refused_with_a_filter_that_an_agent_could_have_written(
        self, repository: Path, ours: Git, git: Plain, tmp_path: Path, command: str
    ) -> None:
        canary = tmp_path / "canary"
        (repository / "tools").mkdir()
        (repository / "tools" / "clean.sh").write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n")
        (repository / "tools" / "clean.sh").chmod(0o755)
        (tmp_path / "link").symlink_to(repository)
        (repository / ".gitattributes").write_text("new filter=mine\n")
        command = command.format(root=repository, link=tmp_path / "link")
        git(repository, "config", "filter.mine.clean", command)
        head = ours.head()
        with pytest.raises(GitFailed, match=r"`filter.mine.clean` runs .*, which a sandboxed agent can change"):
            commit_paths(ours, ["new"], ["new"], "second", writable=(repository,))
        assert (ours.head(), canary.exists()) == (head, False)
        commit_paths(ours, ["other"], ["other"], "third", writable=(repository,))
        assert ours.head() != head

    def test_commit_runs_no_agent_filter_for_files_outside_of_it(
        self, repository: Path, ours: Git, git: Plain, tmp_path: Path
    ) -> None:
        """Git filters a tracked file that was only touched, to see whether it changed."""
        canary = tmp_path / "canary"
        (repository / "beside").write_text("same\n")
        git(repository, "add", "beside")
        git(repository, "commit", "-q", "-m", "beside")
        (repository / "clean.sh").write_text(f"touch '{canary}'\ncat\n")
        git(repository, "config", "filter.mine.clean", "sh clean.sh")
        (repository / ".gitattributes").write_text("beside filter=mine\n")
        os.utime(repository / "beside", (1, 1))
        head = ours.head()
        commit_paths(ours, ["new"], ["new"], "second", writable=(repository,))
        assert (ours.head() != head, canary.exists()) == (True, False)

    def test_commit_stays_in_the_repository_that_was_found_first(
        self, repository: Path, here: dict[str, str], git: Plain, tmp_path: Path
    ) -> None:
        """An agent that makes another one, or leads git elsewhere, in the midst of a run."""
        git(repository, "config", "user.name", "t")
        git(repository, "config", "user.email", "t@example.org")
        ours = Git(repository / "sub", here)
        assert ours.is_repository
        evil = tmp_path / "evil"
        evil.mkdir()
        git(evil, "init", "-q", "-b", "main")
        canary = tmp_path / "canary"
        git(evil, "config", "core.fsmonitor", f"touch '{canary}'; false")
        git(evil, "config", "filter.x.clean", f"touch '{canary}'; cat")
        (repository / "sub" / ".gitattributes").write_text("* filter=x\n")
        shutil.copytree(evil / ".git", repository / "sub" / ".git")
        (repository / "sub" / "b.txt").write_text("three\n")
        ours.status()
        commit_paths(ours, ["b.txt"], ["b.txt"], "second")
        assert git(repository, "log", "-1", "--format=%s") == "second\n"
        (repository / ".git" / "commondir").write_text(f"{evil / '.git'}\n")
        for call in (ours.status, ours.settings, lambda: commit_paths(ours, ["b.txt"], ["b.txt"], "third")):
            with pytest.raises(GitFailed, match=r"commondir` leads git to another repository"):
                call()
        assert not canary.exists()
