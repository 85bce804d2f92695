"""Which repository a project belongs to: trust is stored per repository, so that its worktrees share it.

This does not call git, which would read the repository's configuration before it is trusted. It does without
`pathlib`: `samuel emit` asks for the keys of all directories above a project before it loads the engine.

The guards of the projects around a project hold in it, too, if the user trusts something there. Otherwise an agent
that makes a `samuel.toml` or a `.git` in its directory would be in a project of its own, without these guards.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from samuel.files.regular import read_regular
from samuel.files.survey import signature_if_exists

if TYPE_CHECKING:
    from pathlib import Path


LONGEST_LINK = 4096  # bytes that are read of a `.git` file


def trust_key(root: str | Path) -> str:
    """The name of the file with the agreements about the project at `root`."""
    root = os.path.realpath(root)
    return key_in(root, _top(root))


def key_in(root: str, top: str) -> str:
    """The same, for a path over no links; `top` is the work tree around it, "" if it is in no repository."""
    if not top:
        return path_key(root)
    return _key_in(root, top, common_directory(top))


def key_with_own_git(root: str, top: str) -> str:
    """The trust key of a project whose work tree has `.git` as a directory, be it there or not."""
    return _key_in(root, top, f"{top.rstrip('/')}/.git")


def _key_in(root: str, top: str, shared: str) -> str:
    # Named after the directory that the worktrees share, never after that of a worktree.
    above, name = os.path.split(shared)
    label = os.path.basename(above) if name == ".git" else name
    return _key(label, f"{shared}\0{os.path.relpath(root, top) if root != top else '.'}")


def key_without_repository(root: str | Path) -> str:
    """The trust key that the project had before `git init`; "" if it has no repository, or one that is elsewhere.

    The `.git` of a worktree leads to another directory: agreements must not be taken there.
    """
    root = os.path.realpath(root)
    top = _top(root)
    git = os.path.join(top, ".git")
    return path_key(root) if top and common_directory(top) == git and os.path.isdir(git) else ""


def index_name(key: str, root: Path) -> str:
    """The name of what is cached about the project at `root`; a linked work tree has paths of its own.

    `key` is its trust key.
    """
    if not os.path.isfile(os.path.join(root, ".git")):
        return key
    return f"{key}-{_digest(str(root))[:8]}"


def common_directory(top: str) -> str:
    """The git directory that all worktrees of a repository share."""
    git = os.path.join(top, ".git")
    if os.path.isdir(git):
        return os.path.realpath(git)
    try:
        text = _text(git)
        own = os.path.realpath(os.path.join(top, text.removeprefix("gitdir:").strip()))
        return os.path.realpath(os.path.join(own, _text(os.path.join(own, "commondir"))))
    except (OSError, ValueError):  # a submodule has no commondir; a broken link has no repository
        return os.path.realpath(git)


def has_git(directory: str) -> bool:
    """True for a repository. An empty `.git` is not one: a sandbox puts it there so that none can be created."""
    try:
        os.stat(f"{directory}/.git/HEAD")
    except NotADirectoryError:  # the file of a worktree or a submodule
        return True
    except (OSError, ValueError):
        return False
    return True


def directories_above(directory: str) -> list[str]:
    """The directory, an absolute path, and all above it, the nearest first."""
    above = [directory]
    while directory != "/":
        directory = directory[: directory.rindex("/")] or "/"
        above.append(directory)
    return above


def path_key(root: str) -> str:
    """The trust key of a project that is in no repository."""
    return _key(os.path.basename(root), f"{root}\0")


def _top(root: str) -> str:
    """The work tree that `root` is in; "" if it is in no repository."""
    return next((directory for directory in directories_above(root) if has_git(directory)), "")


def _text(file: str) -> str:
    return os.fsdecode(read_regular(file, LONGEST_LINK)).strip()


def _key(label: str, place: str) -> str:
    return f"{label or 'root'}-{_digest(place)[:16]}"


def _digest(text: str) -> str:
    from hashlib import sha256  # loads OpenSSL, which an `emit` that no hook handles does without

    return sha256(text.encode(errors="surrogateescape")).hexdigest()


def repository_identity(root: str) -> tuple[object, ...]:
    """A value that stays the same while `trust_key` does; () without a repository."""
    at, above = root, os.path.dirname(root)
    while True:
        git = f"{at}/.git"
        try:
            is_directory = stat.S_ISDIR(os.stat(git).st_mode)
        except OSError:
            is_directory = None
        if is_directory and os.path.exists(f"{git}/HEAD"):
            return at, os.path.realpath(git) if os.path.islink(git) else ""
        if is_directory is False:  # a worktree or a submodule: the file leads to its git directory
            return at, *_of_file(at, git)
        if at == above:
            return ()
        at, above = above, os.path.dirname(above)


def _of_file(directory: str, git: str) -> tuple[object, ...]:
    try:
        text = os.fsdecode(read_regular(git, LONGEST_LINK)).strip()
    except OSError:
        return ("",)
    own = os.path.join(directory, text.removeprefix("gitdir:").strip())
    return text, signature_if_exists(f"{own}/commondir")


def trusted_around(root: str, state: str, logical: str = "") -> tuple[str, ...]:
    """The roots of the enclosing projects with agreements, the nearest first.

    `root` is a path over no links, `state` the user's state directory. `logical` is the working directory as a
    shell names it (`PWD`): where it leads into the project over a link, what is above the link counts as well.
    """
    above = directories_above(root)[1:]
    if _leads_in_over_a_link(logical, root):
        for place in directories_above(os.path.normpath(logical))[1:]:
            above += directories_above(os.path.realpath(place))
    tops: dict[str, str] = {}
    places = (place for place in dict.fromkeys(above) if place != root)
    return tuple(place for place in places if _has_agreements(place, _top_of(place, tops), state))


def _leads_in_over_a_link(logical: str, root: str) -> bool:
    inside = f"{root.rstrip('/')}/"
    if not logical.startswith("/") or f"{logical}/".startswith(inside):
        return False  # the usual case
    return f"{os.path.realpath(logical)}/".startswith(inside)


def _top_of(place: str, tops: dict[str, str]) -> str:
    """The work tree around a directory, "" for none; `tops` has those that were looked for before."""
    if place not in tops:
        above = place[: place.rindex("/")] or "/"
        tops[place] = place if has_git(place) else "" if place == "/" else _top_of(above, tops)
    return tops[place]


def _has_agreements(place: str, top: str, state: str) -> bool:
    keys = [path_key(place)]  # also from before there was a repository: they follow their project into it
    if top:
        keys.append(key_in(place, top))
    # Moving `.git` away makes a guard untrusted, and such a guard denies. It must not make its project unknown.
    keys += (key_with_own_git(place, above) for above in directories_above(place) if above != top)
    return any(os.path.exists(f"{state}/trust/{key}.json") for key in keys)
