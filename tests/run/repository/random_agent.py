"""An agent that runs random commands: files and git, as a shell script that a seed decides.

Whatever it does, it does inside the project: below `PLACES`, and in the repository. Each command may fail, and the
next one runs all the same. `archive_into` then writes all files of the work tree, but for git's and Samuel's own,
to an archive; `files_in` reads it.
"""

from __future__ import annotations

import os
import shlex
import stat
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

PLACES = ("src", "tests", "data")
NAMES = (
    "a.py",
    "b.py",
    "c.txt",
    "with space.txt",
    "-dash",
    "ümlaut.txt",
    "deep/er/d.bin",
    "deep/e.txt",
    "tab\t.txt",
)
IGNORED = "ignored"
"""What lies below it, `GITIGNORE` ignores."""
GITIGNORE = f"seen-*\nenv-*\n/{IGNORED}/\n"


class LeftFile(NamedTuple):
    """A file or a link, as git would keep it."""

    content: bytes
    """Of a link, where it leads."""
    kind: str
    """`file`, `executable` or `link`."""


Files = dict[str, LeftFile]
Command = Callable[[Random], str]


def _path(random: Random) -> str:
    return f"{random.choice(PLACES)}/{random.choice(NAMES)}"


def _quoted(random: Random) -> str:
    return shlex.quote(f"./{_path(random)}")


def _content(random: Random) -> str:
    """A `printf` of some content: text, line ends of all kinds, binary, nothing."""
    number = random.randrange(1000)
    return random.choice(
        (
            f"printf 'line {number}\\n'",
            f"printf 'no end of line {number}'",
            f"printf 'crlf {number}\\r\\nlf\\n'",
            f"printf '\\000\\001\\377 {number}\\000'",
            "printf ''",
            f"printf '$Id$ %s\\n' {number}",
        )
    )


def _write(random: Random) -> str:
    path = f"./{_path(random)}"
    directory = shlex.quote(os.path.dirname(path))
    return f"mkdir -p {directory}; {_content(random)} > {shlex.quote(path)}"


def _append(random: Random) -> str:
    return f"{_content(random)} >> {_quoted(random)}"


def _on_path(template: str) -> Command:
    return lambda random: template.format(_quoted(random))


def _on_two(template: str) -> Command:
    return lambda random: template.format(_quoted(random), _quoted(random))


def _on_place(template: str) -> Command:
    return lambda random: template.format(random.choice(PLACES))


def _as_is(*commands: str) -> Command:
    return lambda random: random.choice(commands)


def _link(random: Random) -> str:
    target = random.choice(("a.py", "../src/b.py", "missing", "/etc/hostname", "deep"))
    return f"rm -rf {(path := _quoted(random))}; ln -s {target} {path}"


def _same_times(random: Random) -> str:
    """A change of content that keeps size and time of modification."""
    path = _quoted(random)
    return (
        f"touch -r {path} ./.git/stamp && printf x | dd of={path} bs=1 conv=notrunc 2>/dev/null; "
        f"touch -r ./.git/stamp {path}; rm -f ./.git/stamp"
    )


FILE_COMMANDS: Mapping[Command, int] = {
    _write: 12,
    _append: 6,
    _on_path("rm -f {}"): 4,
    _on_two("mv -f {} {}"): 4,
    _on_two("cp -a {} {}"): 2,
    _on_place("rm -rf {}"): 1,
    _on_place("mv {} moved && mkdir -p src && mv moved src/"): 1,
    _on_path("chmod +x {}"): 2,
    _on_path("chmod -x {}"): 1,
    _on_path("rm -f {0}; mkdir -p {0} && printf inside > {0}/file"): 2,
    _on_path("rm -rf {0}; printf 'was a directory' > {0}"): 1,
    _link: 3,
    _same_times: 2,
    _as_is(f"mkdir -p {IGNORED}; printf cache > {IGNORED}/cache"): 1,
}

GIT_COMMANDS: Mapping[Command, int] = {
    _as_is("git add -A", "git add src", "git add -u", "git add --intent-to-add ."): 5,
    _on_path("git add -- {}"): 3,
    _on_path("git add -f -- {}"): 1,
    _on_path("git rm -q -f -- {}"): 3,
    _on_path("git rm -q --cached -- {}"): 2,
    _on_place("git rm -q -r --cached -- {}"): 1,
    _on_two("git mv -f -- {} {}"): 3,
    _as_is("git commit -q -m agent", "git commit -q -a -m agent", "git commit -q --allow-empty -m agent"): 4,
    _as_is("git commit -q --amend -m amended", "git commit -q -a --amend -m amended"): 2,
    _as_is("git stash -q", "git stash -q -u", "git stash pop -q", "git stash apply -q", "git stash drop -q"): 4,
    _as_is("git reset -q", "git reset -q --soft HEAD~1", "git reset -q --hard", "git reset -q --hard HEAD~1"): 3,
    _as_is("git checkout -q -- .", "git restore --staged .", "git restore ."): 2,
    _on_path("git checkout -q HEAD -- {}"): 2,
    _as_is("git checkout -q -b other", "git checkout -q -", "git checkout -q --detach", "git branch -f main"): 3,
    _as_is("git switch -q -c new", "git symbolic-ref HEAD refs/heads/elsewhere", "git branch -D other"): 1,
    _as_is("git merge -q other", "git rebase -q other", "git cherry-pick -n other", "git revert -n HEAD"): 1,
    _as_is("git clean -q -f -d"): 1,
    _as_is("rm -f .git/index", "git read-tree --empty", "git read-tree HEAD", "git update-index --refresh -q"): 2,
    _as_is("git gc -q --prune=now", "git repack -q -a -d", "git reflog expire --expire=now --all"): 1,
    _as_is("git tag -f mark", "git update-ref -d refs/heads/other", "git config core.autocrlf true"): 1,
    _as_is("git config core.fileMode false", "printf '* text=auto' > .git/info/attributes"): 1,
    _as_is("touch .git/index.lock", "touch .git/HEAD.lock", "rm -f .git/index.lock .git/HEAD.lock"): 1,
    _as_is("printf '#!/bin/sh' > .git/hooks/post-checkout", "chmod +x .git/hooks/*", "rm -rf .git/hooks"): 1,
    _as_is("git worktree add -q --detach .git/linked", "git worktree prune", "git config core.hooksPath src"): 1,
    _as_is("git update-ref refs/samuel/x HEAD", "git for-each-ref --format='%(refname)' refs/samuel"): 1,
}

INDEX_FLAGS: Mapping[Command, int] = {
    _on_path("git update-index --assume-unchanged -- {}"): 3,
    _on_path("git update-index --skip-worktree -- {}"): 3,
    _on_path("git update-index --no-assume-unchanged -- {}"): 1,
    _on_path("git update-index --no-skip-worktree -- {}"): 1,
    _on_path("git update-index --chmod=+x -- {}"): 1,
    _as_is("git ls-files -z | git update-index -z --assume-unchanged --stdin"): 1,
    _as_is(
        "git sparse-checkout set src", "git sparse-checkout set --no-cone /data", "git sparse-checkout disable"
    ): 1,
}

EVERYTHING = {**FILE_COMMANDS, **GIT_COMMANDS, **INDEX_FLAGS}


def commands(seed: int, count: int, weights: Mapping[Command, int] = EVERYTHING) -> list[str]:
    """Some random commands, the same ones for the same seed; each can stand alone in a line."""
    random = Random(seed)
    chosen = random.choices(list(weights), list(weights.values()), k=count)
    return [command(random) for command in chosen]


def script(seed: int, count: int, weights: Mapping[Command, int] = EVERYTHING) -> str:
    """A script that runs random commands, one after the other."""
    lines = [f"( {command} ) >/dev/null 2>&1 </dev/null\n" for command in commands(seed, count, weights)]
    return f"set +e\nexport GIT_EDITOR=true\n{''.join(lines)}"


def archive_into(directory: Path) -> str:
    """The command that archives what an agent leaves, for the end of its script."""
    archive = f"{shlex.quote(str(directory))}/$SAMUEL_ITERATION.tar"
    return f"tar -cf {archive} --exclude=./.git --exclude=./.samuel .\n"


def first_files(root: Path) -> None:
    """Write the files that the commands work on, and the rules of what is ignored."""
    (root / ".gitignore").write_text(GITIGNORE)
    for number, place in enumerate(PLACES):
        for name in NAMES[number::2]:
            path = root / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{place}/{name}\n".encode())


def files_in(archive: Path) -> Files:
    """The files of an archive that git does not ignore."""
    files: Files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.removeprefix("./")
            if path.startswith(f"{IGNORED}/") or _is_of_the_fixture(path):
                continue
            if member.issym():
                files[path] = LeftFile(os.fsencode(member.linkname), "link")
            elif member.isfile() or member.islnk():
                content = tar.extractfile(member)
                assert content is not None
                files[path] = LeftFile(content.read(), "executable" if member.mode & 0o100 else "file")
    return files


def files_below(root: Path) -> Files:
    """The same for a directory."""
    files: Files = {}
    for directory, directories, names in os.walk(root):
        if directory == str(root):
            directories[:] = [name for name in directories if name not in (".git", ".samuel", IGNORED)]
        links = [name for name in directories if os.path.islink(os.path.join(directory, name))]
        for name in (*names, *links):
            file = os.path.join(directory, name)
            path = os.path.relpath(file, root)
            if _is_of_the_fixture(path):
                continue
            mode = os.lstat(file).st_mode
            if stat.S_ISLNK(mode):
                files[path] = LeftFile(os.fsencode(os.readlink(file)), "link")
            else:
                kind = "executable" if mode & 0o100 else "file"
                files[path] = LeftFile(Path(file).read_bytes(), kind)
    return files


def files_of(commit: str, git: Callable[..., bytes]) -> Files:
    """The same for a commit; `git(*arguments)` gives what git printed."""
    files: Files = {}
    for line in git("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        if name.startswith(os.fsencode(f"{IGNORED}/")):  # an agent may have removed the rules
            continue
        mode, _, blob = facts.decode().split()
        kind = {"100755": "executable", "120000": "link"}.get(mode, "file")
        files[os.fsdecode(name)] = LeftFile(git("cat-file", "blob", blob), kind)
    return files


def _is_of_the_fixture(path: str) -> bool:
    """Whether git ignores it by the first two lines of `GITIGNORE`."""
    return os.path.basename(path).startswith(("seen-", "env-"))
