"""Which repository a project belongs to: trust is stored per repository, so that its worktrees share it.

This does not call git, which would read the repository's configuration before it is trusted.
"""

from __future__ import annotations

from pathlib import Path

from samuel.sha256 import sha256


def trust_key(root: Path) -> str:
    """The name of the file with the agreements about the project at `root`."""
    root = root.resolve()
    top = _top(root)
    if top is None:
        return _path_key(root)
    shared = common_directory(top)
    # Named after the directory that the worktrees share, never after that of a worktree.
    label = shared.parent.name if shared.name == ".git" else shared.name
    return _key(label, f"{shared}\0{root.relative_to(top)}")


def key_without_repository(root: Path) -> str:
    """The trust key that the project had before `git init`; "" if it has no repository, or one that is elsewhere.

    The `.git` of a worktree leads to another directory: agreements must not be taken there.
    """
    root = root.resolve()
    top = _top(root)
    return _path_key(root) if top and common_directory(top) == top / ".git" and (top / ".git").is_dir() else ""


def index_name(key: str, root: Path) -> str:
    """The name of what is cached about the project at `root`; a linked work tree has paths of its own.

    `key` is its trust key.
    """
    if not (root / ".git").is_file():
        return key
    return f"{key}-{sha256(str(root).encode(errors='surrogateescape')).hexdigest()[:8]}"


def common_directory(top: Path) -> Path:
    """The git directory that all worktrees of a repository share."""
    git = top / ".git"
    if git.is_dir():
        return git.resolve()
    try:
        text = git.read_text(encoding="utf-8", errors="surrogateescape")[:4096].strip()
        own = (top / text.removeprefix("gitdir:").strip()).resolve()
        shared = (own / "commondir").read_text(encoding="utf-8", errors="surrogateescape")[:4096].strip()
        return (own / shared).resolve()
    except (OSError, ValueError, RuntimeError):  # a submodule has no commondir; a broken link has no repository
        return git.resolve()


def _top(root: Path) -> Path | None:
    """The work tree that `root` is in, if it is in a repository."""
    return next((directory for directory in (root, *root.parents) if _has_git(directory)), None)


def _path_key(root: Path) -> str:
    return _key(root.name, f"{root}\0")


def _key(label: str, place: str) -> str:
    return f"{label or 'root'}-{sha256(place.encode(errors='surrogateescape')).hexdigest()[:16]}"


def _has_git(directory: Path) -> bool:
    """True for a repository. An empty `.git` is not one: a sandbox puts it there so that none can be created."""
    git = directory / ".git"
    return (git / "HEAD").exists() if git.is_dir() else git.exists()
