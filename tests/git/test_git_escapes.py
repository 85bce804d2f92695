"""Ways out of a sandbox through git: an agent inside writes, and git outside must not run it.

Each attack is carried out for real, by a shell script in the sandbox. Then Samuel reads and commits, and then a
person does, with plain git, in every directory of the project. None of it may leave the canary, which lies where
the agent itself cannot write. Each attack is also carried out without a sandbox: there the canary must appear, or
the test would prove nothing.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.length import FULL, combined, sample

from samuel.confine import sandbox as sandboxes
from samuel.git import config_files
from samuel.git import sweep as git_baseline
from samuel.git.commit import commit_paths
from samuel.git.git import Git, GitFailed
from samuel.process import environment, spawn

Plain = Callable[..., str]

# A git directory, written by hand: the image of the tests has no git.
PLANT = """
plant() {
    mkdir -p "$1/objects/info" "$1/refs/heads" "$1/hooks"
    echo 'ref: refs/heads/main' > "$1/HEAD"
    printf '%s\\n' '[core]' 'repositoryformatversion = 0' "bare = false" "$EVIL" > "$1/config"
    hook "$1/hooks/post-commit"
}
hook() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\\nexec sh "%s"\\n' "$PAYLOAD" > "$1" && chmod +x "$1"
}
payload() { printf '%s\\n' "touch '$CANARY'" 'exit 1' > "$PAYLOAD"; }
payload
"""
# What a person does in a directory. The agent may have taken it away, or closed it.
PERSON = """
for directory; do
    cd "$directory" || continue
    git status; git diff HEAD; git add -A .; git commit -q -m 'by hand'
done
"""
QUIETLY: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
EVIL = '[core]\nfsmonitor = sh {payload}\n[filter "evil"]\nclean = sh {payload}'


@dataclass(frozen=True)
class SandboxChoice:
    kind: str
    image: str | None = None
    network: bool = True
    volumes: list[str] = field(default_factory=list)


@dataclass
class Scene:
    """A project, the place where its agent works, and the canary."""

    root: Path
    home: Path
    canary: Path
    git: Plain
    reports: list[str] = field(default_factory=list)

    @property
    def variables(self) -> dict[str, str]:
        """Of the person whose project it is."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "EDITOR": "true",
            "LANG": "C.UTF-8",
        }

    @property
    def place(self) -> sandboxes.Workspace:
        return self.place_of(self.root)

    def place_of(self, root: Path) -> sandboxes.Workspace:
        cache = self.home / "cache"
        return sandboxes.Workspace(
            root, root / ".samuel" / "run", self.variables, cache, report=self.reports.append
        )

    def script(self, text: str, root: Path | None = None) -> list[str]:
        payload = (root or self.root) / "payload.sh"
        names = {
            "PAYLOAD": payload,
            "CANARY": self.canary,
            "EVIL": EVIL.format(payload=payload),
            "ROOT": self.root,
        }
        head = "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in names.items())
        return ["/bin/sh", "-c", f"{head}{PLANT}\n{text}\n:"]

    def attack(self, text: str, sandbox: SandboxChoice) -> spawn.Finished:
        full = environment.clean(base=self.variables)
        self.place.state.mkdir(parents=True, exist_ok=True)
        with sandboxes.confined(self.script(text), sandbox, self.place, full) as command:
            done = spawn.run(
                command.argv, cwd=str(self.root), env=command.env, timeout=120, pass_fds=command.pass_fds
            )
        assert (done.ended, done.returncode) == ("exited", 0), done.stderr
        assert (self.root / "payload.sh").exists()  # it really ran
        return done

    def samuel(self) -> None:
        """What Samuel itself does after an agent: look, and commit what it finds."""
        ours = Git(self.root, environment.clean(base=self.variables))
        if not ours.is_repository:
            return
        with suppress(GitFailed):
            before = ours.work_tree()
            ours.log(5)
            ours.files()
            ours.changed_since(before)
            paths = [entry.path for entry in ours.status().entries]
            commit_paths(ours, paths, paths, "by Samuel", writable=(self.root,))

    def person(self) -> None:
        """Plain git, in each directory: for the person who works there some day."""
        places = [self.root, *self.root.rglob("*")]
        directories = [place for place in places if place.is_dir() and not place.is_symlink()]
        visited = [str(place) for place in directories if FULL or not leads_nowhere(place)]
        subprocess.run(["/bin/sh", "-c", PERSON, "-", *visited], env=self.variables, **QUIETLY)

    def afterwards(self) -> bool:
        """Did anything of the agent's run outside?"""
        self.samuel()
        after_samuel = self.canary.exists()
        self.person()
        return after_samuel or self.canary.exists()


# Parts of a git directory in which git does what it does in the git directory itself.
PARTS = ("branches", "hooks", "info", "logs", "objects", "refs")


def leads_nowhere(directory: Path) -> bool:
    """Whether it is such a part, or below one, that has no repository in it."""
    for place in (directory, *directory.parents):
        if place.name in PARTS and (place.parent / "HEAD").is_file():
            return not any(place.rglob(".git")) and not any(place.rglob("objects"))
    return False


def cannot(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {reason}")
    pytest.skip(f"NOT TESTED: {reason}")


@functools.cache
def works(kind: str, image: str | None, scratch: Path) -> str:
    return sandboxes.missing(
        SandboxChoice(kind, image), sandboxes.Workspace(scratch, scratch / "state", os.environ)
    )


@pytest.fixture(params=["bwrap", "oci"])
def sandbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SandboxChoice:
    image = request.getfixturevalue("busybox_image") if request.param == "oci" else None
    if why := works(request.param, image, tmp_path_factory.mktemp("scratch")):
        cannot(why)
    return SandboxChoice(request.param, image)


@pytest.fixture
def scene(tmp_path: Path, git: Plain, repository: Callable[..., Path]) -> Scene:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = t\nemail = t@example.org\n")
    root = repository(tmp_path / "project", {"a.txt": "one\n", ".gitignore": ".samuel/\n"})
    return Scene(root, home, tmp_path / "canary", git)


Prepare = Callable[[Scene], None]


def nothing(scene: Scene) -> None: ...


def no_repository(scene: Scene) -> None:
    shutil.rmtree(scene.root / ".git")


def subdirectory(scene: Scene) -> None:
    """The project is a directory in a larger repository."""
    top = scene.root
    scene.root = top / "part"
    scene.root.mkdir()
    (scene.root / "b.txt").write_text("two\n")
    scene.git(top, "add", ".")
    scene.git(top, "commit", "-q", "-m", "second")


def linked_tree(scene: Scene) -> None:
    """The project is a linked work tree."""
    main = scene.root
    scene.root = main.parent / "tree"
    scene.git(main, "worktree", "add", "-q", str(scene.root))


def separate_directory(scene: Scene) -> None:
    scene.git(scene.root, "init", "-q", "--separate-git-dir", str(scene.root / "data"))


def settings(*pairs: str) -> Prepare:
    def prepare(scene: Scene) -> None:
        for pair in pairs:
            key, _, value = pair.partition("=")
            scene.git(scene.root, "config", "--add", key, value.replace("ROOT", str(scene.root)))

    return prepare


def husky(scene: Scene) -> None:
    (scene.root / ".husky").mkdir()
    (scene.root / ".husky" / "pre-push").write_text("#!/bin/sh\n")
    settings("core.hooksPath=.husky")(scene)


def husky_generated(scene: Scene) -> None:
    """Version 9: what is generated in `_` runs what lies beside it."""
    generated = scene.root / ".husky" / "_"
    generated.mkdir(parents=True)
    (generated / "post-commit").write_text("#!/bin/sh\n[ ! -f .husky/post-commit ] || sh .husky/post-commit\n")
    (generated / "post-commit").chmod(0o755)
    settings("core.hooksPath=.husky/_")(scene)


def program(key: str, attributes: str = "") -> Prepare:
    def prepare(scene: Scene) -> None:
        (scene.root / "tools").mkdir()
        (scene.root / "tools" / "run.sh").write_text("cat\n")
        (scene.root / ".gitattributes").write_text(attributes)
        scene.git(scene.root, "add", ".")
        scene.git(scene.root, "commit", "-q", "-m", "tools")
        settings(f"{key}=sh tools/run.sh")(scene)

    return prepare


def lane(scene: Scene) -> None:
    """Another work tree of the same repository, inside the project."""
    scene.git(scene.root, "worktree", "add", "-q", str(scene.root / "lane"))


def lane_with_husky(scene: Scene) -> None:
    settings("core.hooksPath=.husky")(scene)
    lane(scene)


def nested(scene: Scene) -> None:
    """A repository of the person's inside the project, with a hook of theirs."""
    inner = scene.root / "vendor"
    inner.mkdir()
    scene.git(inner, "init", "-q", "-b", "main")
    (inner / ".git" / "hooks").mkdir(exist_ok=True)
    (inner / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\n")
    (inner / ".git" / "hooks" / "post-commit").chmod(0o755)


def submodule(scene: Scene) -> None:
    origin = scene.root.parent / "origin"
    origin.mkdir()
    scene.git(origin, "init", "-q", "-b", "main")
    scene.git(origin, "commit", "-q", "--allow-empty", "-m", "x")
    scene.git(scene.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(origin), "sub")
    scene.git(scene.root, "commit", "-q", "-m", "sub")


def relative_hooks_everywhere(scene: Scene) -> None:
    with (scene.home / ".gitconfig").open("a") as file:
        file.write("[core]\nhooksPath = .githooks\n")


def both(*steps: Prepare) -> Prepare:
    def prepare(scene: Scene) -> None:
        for step in steps:
            step(scene)

    return prepare


def included(scene: Scene) -> None:
    (scene.root / "team.cfg").touch()
    settings("include.path=../team.cfg")(scene)


def home_is_the_project(scene: Scene) -> None:
    shutil.copy(scene.home / ".gitconfig", scene.root / ".gitconfig")
    scene.home = scene.root


def home_without_configuration(scene: Scene) -> None:
    scene.home = scene.root
    settings("user.name=t", "user.email=t@example.org")(scene)


SETTINGS_OF_EVIL = 'printf "%s\\n" "$EVIL" >> '

ATTACKS: dict[str, tuple[Prepare, str]] = {
    # the repository's own files
    "config": (nothing, f"{SETTINGS_OF_EVIL} .git/config"),
    "config by a rename": (nothing, f"cp .git/config x; {SETTINGS_OF_EVIL} x; mv -f x .git/config"),
    "config by another git directory": (
        nothing,
        f"cp -r .git x; {SETTINGS_OF_EVIL} x/config; mv .git y; mv x .git",
    ),
    "hooks": (nothing, "hook .git/hooks/post-commit; hook .git/hooks/post-index-change"),
    "hooks by a rename": (nothing, "mv .git/hooks x; mkdir .git/hooks; hook .git/hooks/post-commit"),
    "config.worktree that was not there": (
        settings("extensions.worktreeConfig=true"),
        f"{SETTINGS_OF_EVIL} .git/config.worktree",
    ),
    "commondir": (nothing, "plant evil; echo ../evil > .git/commondir"),
    "commondir, removed first": (nothing, "plant evil; rm -f .git/commondir; echo ../evil > .git/commondir"),
    "attributes for a driver": (
        program("filter.own.clean"),
        "echo '* filter=own' > .git/info/attributes; payload; cp payload.sh tools/run.sh; echo x > a.txt",
    ),
    # a git directory where none was
    "no repository": (no_repository, "plant .git"),
    "subdirectory of a repository": (subdirectory, "plant .git"),
    "subdirectory, file that leads elsewhere": (subdirectory, "plant evil; echo 'gitdir: evil' > .git"),
    "modules that were not there": (
        nothing,
        "plant .git/modules/x; mkdir x; echo 'gitdir: ../.git/modules/x' > x/.git; echo x > x/f",
    ),
    "nested": (nothing, "plant sub/.git; echo x > sub/f; echo '* filter=evil' > sub/.gitattributes"),
    "nested, deep": (nothing, "plant a/b/c/d/.git; echo x > a/b/c/d/f"),
    "nested, hidden by its mode": (nothing, "plant sub/.git; chmod 000 sub"),
    "nested, in the state of runs": (nothing, "plant .samuel/run/sub/.git"),
    "nested, in the git directory": (nothing, "plant .git/sub/.git; echo x > .git/sub/f"),
    "nested, by a file": (nothing, "plant evil; mkdir sub; echo 'gitdir: ../evil' > sub/.git; echo x > sub/f"),
    "nested, by a link": (nothing, "plant evil; mkdir sub; ln -s ../evil sub/.git; echo x > sub/f"),
    "nested, with commondir": (
        nothing,
        "plant evil; mkdir -p sub/.git; cp evil/HEAD sub/.git/HEAD; echo ../../evil > sub/.git/commondir",
    ),
    "nested, with an include": (
        nothing,
        'EVIL="[include]\npath = ../../more"; plant sub/.git; '
        "EVIL='[core]'; printf '%s\\n' '[core]' \"fsmonitor = sh $PAYLOAD\" > more; rm sub/.git/hooks/*",
    ),
    "nested, with the person's setting in one line": (
        nothing,
        'EVIL="[core] fsmonitor = sh $PAYLOAD"; plant sub/.git; rm sub/.git/hooks/*',
    ),
    "nested, with linked hooks": (
        nothing,
        "EVIL=; plant sub/.git; rm -r sub/.git/hooks; hook h/post-commit; "
        "ln -s ../../h sub/.git/hooks; echo x > sub/f",
    ),
    "bare": (nothing, 'EVIL="$EVIL\n[core]\nworktree = $ROOT"; plant sub'),
    "nested that was there": (nested, "hook vendor/.git/hooks/post-commit; echo x > vendor/f"),
    "nested that was there, its settings": (nested, f"{SETTINGS_OF_EVIL} vendor/.git/config"),
    "submodule": (
        submodule,
        f"{SETTINGS_OF_EVIL} .git/modules/sub/config; hook .git/modules/sub/hooks/post-commit",
    ),
    "submodule led elsewhere": (submodule, "plant evil; echo 'gitdir: ../evil' > sub/.git; echo x > sub/f"),
    # other work trees
    "linked work tree": (
        linked_tree,
        f"{SETTINGS_OF_EVIL} ../project/.git/config; plant evil; mv .git x; mv evil .git",
    ),
    "linked work tree, its own settings": (
        both(settings("extensions.worktreeConfig=true"), linked_tree),
        f"{SETTINGS_OF_EVIL} ../project/.git/worktrees/tree/config.worktree",
    ),
    "linked work tree, its way back": (
        linked_tree,
        "plant evil; cd ../project/.git/worktrees/tree; rm -f commondir; echo $ROOT/evil > commondir",
    ),
    "another person's work tree": (
        both(settings("extensions.worktreeConfig=true"), lane),
        f"{SETTINGS_OF_EVIL} .git/worktrees/lane/config.worktree",
    ),
    "another person's way back": (lane, "plant evil; echo ../../../evil > .git/worktrees/lane/commondir"),
    "another work tree's hooks": (lane_with_husky, "hook lane/.husky/post-commit; echo x > lane/f"),
    "a second view of the repository": (
        settings("core.hooksPath=.husky"),
        "hook sub/.husky/post-commit; echo 'gitdir: ../.git' > sub/.git; echo x > sub/f",
    ),
    "separate git directory": (separate_directory, f"{SETTINGS_OF_EVIL} data/config; hook data/hooks/post-commit"),
    # what the configuration names
    "hooksPath": (husky, "hook .husky/post-commit"),
    "hooksPath, moved": (husky, "mv .husky x; hook .husky/post-commit"),
    "hooksPath, generated": (husky_generated, "payload; cp payload.sh .husky/post-commit"),
    "hooksPath that was not there": (settings("core.hooksPath=tools/hooks"), "hook tools/hooks/post-commit"),
    "hooksPath, relative, of every repository": (
        relative_hooks_everywhere,
        "EVIL=; plant sub/.git; rm -r sub/.git/hooks; hook sub/.githooks/post-commit; echo x > sub/f",
    ),
    "include": (
        included,
        f"{SETTINGS_OF_EVIL} team.cfg",
    ),
    "include that was not there": (settings("include.path=../team.cfg"), f"{SETTINGS_OF_EVIL} team.cfg"),
    "include on a condition": (
        settings("includeIf.onbranch:evil.path=ROOT/cfg/team.cfg"),
        f"mkdir cfg; {SETTINGS_OF_EVIL} cfg/team.cfg; echo 'ref: refs/heads/evil' > .git/HEAD",
    ),
    "fsmonitor of the person's": (program("core.fsmonitor"), "payload; cp payload.sh tools/run.sh"),
    "filter of the person's": (
        program("filter.own.clean", "*.txt filter=own\n"),
        "payload; cp payload.sh tools/run.sh; echo x > a.txt",
    ),
    "filter of the person's, moved": (
        program("filter.own.clean", "*.txt filter=own\n"),
        "payload; mv tools x; mkdir tools; cp payload.sh tools/run.sh; echo x > a.txt",
    ),
    "diff of the person's": (
        program("diff.own.textconv", "*.txt diff=own\n"),
        "payload; cp payload.sh tools/run.sh; echo x > a.txt",
    ),
    "home in the project": (home_is_the_project, f"{SETTINGS_OF_EVIL} .gitconfig"),
    "home in the project, no file": (home_without_configuration, f"{SETTINGS_OF_EVIL} .gitconfig"),
}

# Root can read a directory of any mode, and so git enters it also without a sandbox; others cannot.
NEEDS_ROOT = ("nested, hidden by its mode",)


# A container takes five times as long as bubblewrap and has the same directories mounted: `make test` tries every
# sixth attack in one, `make full` all.
IN_SANDBOXES = [
    *(("bwrap", name) for name in ATTACKS),
    *(("oci", name) for name in sample(ATTACKS, every=6)),
]


@pytest.mark.parametrize(("sandbox", "name"), IN_SANDBOXES, indirect=["sandbox"])
@pytest.mark.sampled(every=2)
def test_nothing_of_a_sandboxed_agent_runs_outside(scene: Scene, sandbox: SandboxChoice, name: str) -> None:
    prepare, script = ATTACKS[name]
    prepare(scene)
    scene.attack(script, sandbox)
    assert not scene.afterwards(), (name, scene.reports)


@pytest.mark.parametrize("name", sample(ATTACKS, every=3))
def test_escapes_work_without_a_sandbox(scene: Scene, name: str) -> None:
    """The test above would prove nothing otherwise."""
    if name in NEEDS_ROOT and os.geteuid() != 0:
        pytest.skip("only root enters such a directory")
    prepare, script = ATTACKS[name]
    prepare(scene)
    subprocess.run(scene.script(script), cwd=scene.root, env=scene.variables, capture_output=True)
    scene.person()
    assert scene.canary.exists()


# Everything below a git directory that git takes configuration from, runs, or is led elsewhere by.
OWN_FILES = (
    *("config", "config.worktree", "commondir", "hooks/post-commit", "info/attributes", "info/exclude"),
    *("info/grafts", "info/sparse-checkout", "objects/info/alternates", "branches/origin", "remotes/origin"),
    *("modules/x/config", "modules/x/hooks/post-commit", "worktrees/lane/config.worktree"),
    *("worktrees/lane/commondir", "worktrees/lane/gitdir", "worktrees/new/commondir"),
)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.sampled(every=3)
def test_no_file_that_git_takes_configuration_from_can_be_written(
    scene: Scene, sandbox: SandboxChoice, there: bool
) -> None:
    directory = scene.root / ".git"
    if there:
        lane(scene)
        for name in OWN_FILES:
            # With that file it would not be a repository any more.
            if name != "commondir" and not (directory / name).exists():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).write_text("# mine\n")
    before = {name: content(directory / name) for name in OWN_FILES}
    script = """
        for name; do
            mkdir -p ".git/$(dirname $name)" 2> /dev/null
            echo evil > ".git/$name" && echo "WRITTEN $name"
            mv ".git/$name" .git/elsewhere && echo "MOVED $name"
            echo evil > fresh; mv -f fresh ".git/$name" && echo "REPLACED $name"
            ln -sf "$PAYLOAD" ".git/$name" && echo "LINKED $name"
            top=".git/${name%%/*}"
            mv "$top" .git/away && echo "MOVED $top"
        done
    """
    done = scene.attack(f"set -- {' '.join(OWN_FILES)}\n{script}", sandbox)
    assert done.stdout == b""
    assert {name: content(directory / name) for name in OWN_FILES} == before
    assert scene.reports == []


@pytest.mark.parametrize(
    ("name", "sandbox"),
    combined(["COMMIT_EDITMSG", "logs/HEAD", "logs/refs/heads/main", "index", "packed-refs"], ["bwrap", "oci"]),
    indirect=["sandbox"],
)
@pytest.mark.sampled(every=3)
def test_git_does_not_write_through_a_link_that_an_agent_left_in_its_directory(
    scene: Scene, sandbox: SandboxChoice, name: str
) -> None:
    """A commit's message in the place of a start-up file would run as soon as a person logs in."""
    profile = scene.home / ".profile"
    profile.write_text("# mine\n")
    script = f"mkdir -p .git/$(dirname {name}); rm -f .git/{name}; ln -s {profile} .git/{name}; echo new > new"
    scene.attack(script, sandbox)
    assert [line.split(": ")[1].split(";")[0] for line in scene.reports] == ["git would write to where it leads"]
    scene.afterwards()
    assert profile.read_text() == "# mine\n"


@pytest.mark.parametrize("which", ["the main work tree ends first", "the linked work tree ends first"])
@pytest.mark.sampled(every=3)
def test_a_sandbox_that_ends_opens_nothing_in_one_that_is_still_at_work(
    scene: Scene, sandbox: SandboxChoice, which: str
) -> None:
    """Both have the same names mounted; removing one would detach it in the other."""
    settings("extensions.worktreeConfig=true")(scene)
    linked = scene.root.parent / "tree"
    scene.git(scene.root, "worktree", "add", "-q", str(linked))
    first, second = (scene.root, linked) if "main" in which else (linked, scene.root)
    names = [name for name in OWN_FILES if "/lane/" not in name]
    before = {name: content(scene.root / ".git" / name) for name in names}
    script = f"""
        echo ready > ready
        until [ -e go ]; do sleep 0.1; done
        for name in {" ".join(names)}; do
            rm -f "{scene.root}/.git/$name"; mkdir -p "{scene.root}/.git/$(dirname $name)"
            echo evil > "{scene.root}/.git/$name" && echo "WRITTEN $name"
        done 2> /dev/null
    """
    full = environment.clean(base=scene.variables)
    ended: list[spawn.Finished] = []
    for root in (first, second):
        (root / ".samuel" / "run").mkdir(parents=True, exist_ok=True)

    def work() -> None:
        command = scene.script(script, second)
        with sandboxes.confined(command, sandbox, scene.place_of(second), full) as confined:
            ended.append(
                spawn.run(
                    confined.argv, cwd=str(second), env=confined.env, timeout=120, pass_fds=confined.pass_fds
                )
            )

    other = threading.Thread(target=work)
    other.start()
    try:
        wait_until(lambda: (second / "ready").exists() or not other.is_alive())
        with sandboxes.confined(
            scene.script("echo done", first), sandbox, scene.place_of(first), full
        ) as confined:
            spawn.run(confined.argv, cwd=str(first), env=confined.env, timeout=120, pass_fds=confined.pass_fds)
    finally:
        (second / "go").touch()
        other.join()
    assert (ended[0].ended, ended[0].returncode, ended[0].stdout) == ("exited", 0, b"")
    assert {name: content(scene.root / ".git" / name) for name in names} == before
    scene.git(scene.root, "status")
    assert not (scene.root / ".git" / "commondir").exists()


def test_protected_file_whose_mount_was_replaced_outside_is_restored(scene: Scene, sandbox: SandboxChoice) -> None:
    """`git config` outside replaces the file, and with it goes the mount that kept the agent from writing it."""
    script = """
        echo ready > ready
        until [ -e go ]; do sleep 0.1; done
        printf '%s\\n' "$EVIL" >> .git/config && echo WRITTEN
    """
    full = environment.clean(base=scene.variables)
    (scene.root / ".samuel" / "run").mkdir(parents=True)
    before = (scene.root / ".git" / "config").read_text()

    def outside() -> None:
        wait_until(lambda: (scene.root / "ready").exists())
        scene.git(scene.root, "config", "branch.main.remote", "origin")
        (scene.root / "go").touch()

    person = threading.Thread(target=outside)
    person.start()
    with sandboxes.confined(scene.script(script), sandbox, scene.place, full) as command:
        done = spawn.run(
            command.argv, cwd=str(scene.root), env=command.env, timeout=120, pass_fds=command.pass_fds
        )
    person.join()
    assert not scene.afterwards(), scene.reports
    if b"WRITTEN" in done.stdout:
        assert "`.git/config` was moved to `.samuel/run/quarantine/" in scene.reports[0]
        assert (scene.root / ".git" / "config").read_text() == before
    else:
        assert "branch" in (scene.root / ".git" / "config").read_text()


def test_changes_left_by_a_killed_run_are_swept_by_the_next(scene: Scene) -> None:
    """Its agent's repository must not pass for one that was there before."""
    (scene.root / ".samuel" / "run").mkdir(parents=True)
    bwrap = SandboxChoice("bwrap")
    if why := sandboxes.missing(bwrap, scene.place):
        cannot(why)
    full = environment.clean(base=scene.variables)
    held = sandboxes.confined(scene.script("plant sub/.git"), bwrap, scene.place, full)
    command = held.__enter__()
    spawn.run(command.argv, cwd=str(scene.root), env=command.env, timeout=120, pass_fds=command.pass_fds)
    saved = next((scene.home / "cache" / git_baseline.DIRECTORY).iterdir()).read_bytes()
    held.__exit__(None, None, None)
    # As a SIGKILL would have left it: the agent's work, and the state before it.
    entry = next(iter((scene.root / ".samuel" / "run" / "quarantine").iterdir()))
    (entry / "content" / "HEAD.quarantined").rename(entry / "content" / "HEAD")
    (entry / "content").rename(scene.root / "sub" / ".git")
    (scene.home / "cache" / git_baseline.DIRECTORY).mkdir(exist_ok=True)
    digest_file = git_baseline.Baseline(scene.home / "cache", scene.root)
    assert digest_file._file is not None
    digest_file._file.write_bytes(saved)
    scene.reports.clear()
    scene.attack("echo nothing", bwrap)
    assert "`sub/.git` was moved to" in scene.reports[0]
    assert not scene.afterwards()
    assert list((scene.home / "cache" / git_baseline.DIRECTORY).iterdir()) == []


class TestTheQuarantine:
    def test_quarantine_reports_what_it_took_and_how_to_restore_it(
        self, scene: Scene, sandbox: SandboxChoice
    ) -> None:
        scene.attack("plant sub/.git; echo x > sub/f", sandbox)
        (line,) = scene.reports
        assert line.startswith("`sub/.git` was moved to `.samuel/run/quarantine/")
        assert "git would take from it the setting `core.fsmonitor`, the setting `filter.evil.clean`" in line
        before = content(next(iter(scene.place.state.glob("quarantine/*/content"))) / "config")
        command = line.split("; `")[1].removesuffix("` puts it back")
        subprocess.run(command, shell=True, cwd=scene.root, check=True)
        assert content(scene.root / "sub" / ".git" / "config") == before
        assert content(scene.root / "sub" / ".git" / "HEAD") == b"ref: refs/heads/main\n"

    def test_quarantine_holds_nothing_that_git_takes_for_a_repository(
        self, scene: Scene, sandbox: SandboxChoice
    ) -> None:
        scene.attack("plant sub/.git; plant sub/.git/inner; plant other", sandbox)
        assert len(scene.reports) == 3
        for directory in [place for place in scene.place.state.rglob("*") if place.is_dir()]:
            process = subprocess.run(
                *(["git", "rev-parse", "--absolute-git-dir"],),
                cwd=directory,
                env=scene.variables,
                capture_output=True,
                text=True,
            )
            assert process.stdout.strip() == str(scene.root / ".git")

    def test_quarantine_cannot_be_written_by_the_agent(self, scene: Scene, sandbox: SandboxChoice) -> None:
        scene.attack("plant sub/.git", sandbox)
        done = scene.attack("mv .samuel/run/quarantine x && echo MOVED; rm -r .samuel/run/quarantine/*", sandbox)
        assert done.stdout == b""
        assert len(list(scene.place.state.glob("quarantine/*/content/config"))) == 1

    def test_harmless_repository_is_not_quarantined(self, scene: Scene, sandbox: SandboxChoice) -> None:
        """Tests make repositories all the time."""
        script = """
            EVIL="[user]
name = t
[remote \\"origin\\"]
url = https://example.org/x.git
fetch = +refs/heads/*:refs/remotes/origin/*
[branch \\"main\\"]
remote = origin"
            plant fixture/.git; rm fixture/.git/hooks/*; echo x > fixture/.git/hooks/pre-commit.sample
            chmod +x fixture/.git/hooks/*; echo x > fixture/f
        """
        scene.attack(script, sandbox)
        assert scene.reports == []
        assert (scene.root / "fixture" / ".git" / "HEAD").exists()
        assert not scene.afterwards()

    def test_unchanged_repository_is_not_quarantined(self, scene: Scene, sandbox: SandboxChoice) -> None:
        nested(scene)
        scene.git(scene.root / "vendor", "config", "core.fsmonitor", "true")
        scene.attack("echo x > vendor/f; echo x > vendor/.git/COMMIT_EDITMSG", sandbox)
        assert scene.reports == []
        assert (scene.root / "vendor" / ".git" / "hooks" / "post-commit").exists()

    def test_rebase_that_runs_commands_is_quarantined(self, scene: Scene, sandbox: SandboxChoice) -> None:
        script = """
            mkdir .git/rebase-merge; cd .git/rebase-merge
            echo refs/heads/main > head-name; cat ../refs/heads/main > onto; cp onto orig-head
            printf 'exec sh %s\\n' "$PAYLOAD" > git-rebase-todo; : > done; echo 1 > msgnum; echo 1 > end
        """
        scene.attack(script, sandbox)
        assert "an unfinished rebase that runs commands" in scene.reports[0]
        subprocess.run(["git", "rebase", "--continue"], cwd=scene.root, env=scene.variables, capture_output=True)
        assert not scene.canary.exists()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "sandbox"),
        combined(
            ["gitdir: loop", "gitdir: a\\0b", "", "$(head -c 200000 /dev/zero | tr '\\0' x)"], ["bwrap", "oci"]
        ),
        indirect=["sandbox"],
    )
    def test_git_file_that_leads_nowhere_does_no_harm(
        self, scene: Scene, sandbox: SandboxChoice, text: str
    ) -> None:
        script = f'mkdir sub; ln -s loop sub/loop; printf "{text}" > sub/.git'
        scene.attack(script, sandbox)
        assert not scene.afterwards()
        scene.attack("echo again", sandbox)


class TestWhatStillWorks:
    def test_git_looks_the_same_afterwards(self, scene: Scene, sandbox: SandboxChoice) -> None:
        before = sorted(str(path) for path in scene.root.rglob("*") if "/hooks" not in str(path))
        scene.attack("rm payload.sh; echo x > payload.sh", sandbox)
        (scene.root / "payload.sh").unlink()
        after = {str(path) for path in scene.root.rglob("*") if "/hooks" not in str(path)}
        added = after - set(before) - {str(path) for path in (scene.root / ".samuel").rglob("*")}
        assert added <= {f"{scene.root}/{name}" for name in (".samuel", ".git/info", ".git/objects/info")}
        assert set(before) - after <= {f"{scene.root}/.git/branches"}  # empty, and git makes none any more

    def test_placeholders_are_removed_where_there_is_no_repository(
        self, scene: Scene, sandbox: SandboxChoice
    ) -> None:
        no_repository(scene)
        scene.attack("ls -d .git", sandbox)
        assert not (scene.root / ".git").exists()

    @pytest.mark.parametrize("prepare", [nothing, linked_tree, husky, lane])
    def test_sandboxed_agent_can_commit(self, scene: Scene, prepare: Prepare) -> None:
        bwrap = SandboxChoice("bwrap")
        if why := sandboxes.missing(bwrap, scene.place):
            cannot(why)
        prepare(scene)
        identity = "-c user.name=a -c user.email=a@example.org"
        done = scene.attack(
            f"echo x > x; git add x && git {identity} commit -q -m inside && git branch other", bwrap
        )
        assert done.stderr == b""
        assert scene.git(scene.root, "log", "-1", "--format=%s", "other") == "inside\n"
        assert scene.reports == []


def test_every_documented_name_is_covered() -> None:
    """The names that are mounted, and those that are tried above, are the same."""
    tried = {name.split("/")[0] for name in OWN_FILES}
    assert {*config_files.DIRECTORIES, *config_files.FILES, "config", "objects"} == tried


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until, "waited two minutes in vain"
        time.sleep(0.05)
