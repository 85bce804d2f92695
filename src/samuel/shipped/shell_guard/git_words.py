"""The words of a git command: its subcommand, after the options of git itself."""

from __future__ import annotations

from collections.abc import Sequence

_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
GIT_COMMANDS = frozenset(
    (
        *(
            "add",
            "am",
            "annotate",
            "apply",
            "archive",
            "bisect",
            "blame",
            "branch",
            "bundle",
            "cat-file",
            "check-ignore",
        ),
        *(
            "checkout",
            "checkout-index",
            "cherry",
            "cherry-pick",
            "clean",
            "clone",
            "commit",
            "commit-tree",
            "config",
        ),
        *(
            "count-objects",
            "describe",
            "diff",
            "diff-files",
            "diff-index",
            "diff-tree",
            "difftool",
            "fetch",
            "filter-branch",
        ),
        *(
            "for-each-ref",
            "format-patch",
            "fsck",
            "gc",
            "grep",
            "hash-object",
            "help",
            "init",
            "log",
            "ls-files",
            "ls-remote",
        ),
        *(
            "ls-tree",
            "maintenance",
            "merge",
            "merge-base",
            "merge-tree",
            "mergetool",
            "mktree",
            "mv",
            "name-rev",
            "notes",
        ),
        *(
            "pack-objects",
            "prune",
            "pull",
            "push",
            "range-diff",
            "read-tree",
            "rebase",
            "reflog",
            "remote",
            "repack",
        ),
        *(
            "replace",
            "rerere",
            "reset",
            "restore",
            "rev-list",
            "rev-parse",
            "revert",
            "rm",
            "shortlog",
            "show",
            "show-branch",
        ),
        *(
            "show-ref",
            "sparse-checkout",
            "stash",
            "status",
            "stripspace",
            "submodule",
            "switch",
            "symbolic-ref",
            "tag",
        ),
        *(
            "update-index",
            "update-ref",
            "var",
            "verify-commit",
            "version",
            "whatchanged",
            "worktree",
            "write-tree",
            "lfs",
        ),
    )
)
"""Commands of git itself: an alias cannot have such a name."""


def subcommand_of(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The subcommand and its words; empty if there is none."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _VALUED else 1
    rest = tuple(words[position:])
    return (rest[0], rest[1:]) if rest else ("", ())
