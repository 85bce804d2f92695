"""Which repository a project belongs to: trust is stored per repository, so that its worktrees share it.

This does not call git, which would read the repository's configuration before it is trusted.
"""

from __future__ import annotations

from pathlib import Path

from samuel.sha256 import sha256


def trust_key(root: Path) -> str:
    """The name of the file with the agreements about the project at `root`."""
    root = root.resolve()
    top = next((directory for directory in (root, *root.parents) if _has_git(directory)), None)
    if top is None:
        label, place = root.name, f"{root}\0"
    else:
        shared = common_directory(top)
        # Named after the directory that the worktrees share, never after that of a worktree.
        label = shared.parent.name if shared.name == ".git" else shared.name
        place = f"{shared}\0{root.relative_to(top)}"
    return f"{label or 'root'}-{sha256(place.encode(errors='surrogateescape')).hexdigest()[:16]}"


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


def _has_git(directory: Path) -> bool:
    """True for a repository. An empty `.git` is not one: a sandbox puts it there so that none can be created."""
    git = directory / ".git"
    return (git / "HEAD").exists() if git.is_dir() else git.exists()
