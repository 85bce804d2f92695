"""Git commands that lose work: changes that were not committed, commits that no branch has, history of others."""

from __future__ import annotations

import os
import re

from samuel.shipped.shell_guard.command_pattern import has_option
from samuel.shipped.shell_guard.git_words import subcommand_of
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

_CHECKOUT_VALUED = re.compile(r"--(?:conflict|unified|inter-hunk-context|pathspec-from-file)|-U")
GIT = ("git", "hub")


class GitCommand:
    """The subcommand of a git command, with its own options and arguments."""

    def __init__(self, command: GuardedCommand, call: GuardedShellCall) -> None:
        words = list(command.arguments)
        self.elsewhere = bool({"-C", "--git-dir", "--work-tree"} & set(words)) or any(
            word.startswith(("--git-dir=", "--work-tree=")) for word in words
        )
        self.name, rest = subcommand_of(words)
        self.words = list(rest)
        self.elsewhere = self.elsewhere or (
            command.directories[-1:] != (call.places.root,)
            and not any(directory.startswith(f"{call.places.root}/") for directory in command.directories)
        )
        self.call = call

    def has(self, *options: str) -> bool:
        words = self.words[: self.words.index("--")] if "--" in self.words else self.words
        if self.name in ("checkout", "switch"):  # `-Cname` is one option with its value
            words = [
                word[:2].replace("q", word[2:3]) if re.match(r"-q?[bBcC]\w", word) else word for word in words
            ]
        return any(has_option(words, option) for option in options)

    @property
    def operands(self) -> list[str]:
        words = self.words[: self.words.index("--")] if "--" in self.words else self.words
        return [word for word in words if not word.startswith("-")]

    @property
    def paths(self) -> list[str]:
        """What stands after `--`."""
        return self.words[self.words.index("--") + 1 :] if "--" in self.words else []

    def loses_changes(self, *paths: str) -> bool:
        """Whether there are changes at these paths. Where that is not known, there may be."""
        if self.elsewhere:
            return True
        changes = self.call.work_tree.changes(paths)
        return changes is None or bool(changes)


def _resets(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    is_reset = git.name == "reset" and git.has("--hard", "--merge", "--keep")
    return (is_reset or (git.name == "read-tree" and git.has("--reset"))) and git.loses_changes()


def _discards_files(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    if git.name == "restore":
        if git.has("--staged", "-S") and not git.has("--worktree", "-W"):
            return False
        paths = [*git.operands, *git.paths]
    elif git.name == "checkout":
        if git.has("-b", "-B", "--orphan", "--detach"):
            return False
        has_path = bool(git.paths) or git.has("--pathspec-from-file")
        first, *others = _without_values(git.words) or ["-"]
        typed = [first] if _is_path(first, command, call) else []
        typed += (word for word in others if _is_path(word, command, call) or re.search(r"[./*]", word))
        paths = git.paths if has_path else typed
        if not paths and not has_path:
            return False
    elif git.name == "checkout-index":
        return git.has("-f", "-a", "--force", "--all") and git.loses_changes()
    else:
        return False
    if git.has("-p", "--patch"):
        return False
    return git.elsewhere or _are_changed(paths, command, call)


def _without_values(words: list[str]) -> list[str]:
    """The arguments of `git checkout`, without those that may be the value of an option."""
    pairs = zip(("", *words), words, strict=False)
    return [word for before, word in pairs if not word.startswith("-") and not _CHECKOUT_VALUED.fullmatch(before)]


def _is_path(word: str, command: GuardedCommand, call: GuardedShellCall) -> bool:
    return (
        word in (".", "*")
        or word.startswith(("./", ":/", ":("))
        or any(os.path.lexists(os.path.join(directory, word)) for directory in command.directories)
    )


def _are_changed(paths: list[str], command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Whether a path has changes, or is none that git has a say about."""
    for path in paths or ["."]:
        full = [os.path.join(directory, path) for directory in command.directories]
        changes = call.work_tree.changes(full[:1])
        if changes is None or changes:
            return True
        is_unknown = "$" in path or not (any(map(os.path.lexists, full)) or set("*?[:") & set(path))
        if is_unknown and not call.work_tree.is_tracked(full[0]):
            return True
    return False


def _forces_a_switch(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    forced = git.has("-f", "--force", "--discard-changes")
    return git.name in ("checkout", "switch") and forced and git.loses_changes()


def _cleans(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    if git.name != "clean" or git.has("-n", "--dry-run", "-h", "--help"):
        return False
    if not git.has("-f", "--force", "-i", "--interactive") and not any(
        "clean.requireForce" in word for word in command.arguments
    ):
        return False
    return git.elsewhere or call.work_tree.has_untracked(ignored=git.has("-x", "-X"))


def _pushed_branches(git: GitCommand) -> list[str]:
    """The branches that a push writes to; without any, the current one."""
    refs = git.operands[1:]
    branches = [ref.rpartition(":")[2].removeprefix("+").removeprefix("refs/heads/") for ref in refs]
    return [git.call.work_tree.branch if name == "HEAD" else name for name in branches] or [
        git.call.work_tree.branch
    ]


def _is_forced(git: GitCommand) -> bool:
    return (
        git.has("-f", "--mirror")
        or any(word.partition("=")[0] in ("--force", "--forc", "--for") for word in git.words)
        or any(word.startswith("+") for word in git.operands[1:])
    )


def _force_pushes_shared(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    lease = any(word.startswith("--force-w") for word in git.words)
    if git.name != "push" or not (_is_forced(git) or lease):
        return False
    if git.has("--mirror", "--all") or git.elsewhere:
        return True
    return any(call.work_tree.is_shared(branch) for branch in _pushed_branches(git))


def _force_pushes_own(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    lease = any(word.startswith("--force-w") for word in git.words)
    return git.name == "push" and _is_forced(git) and not lease


def _deletes_remote_branch(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    if git.name != "push":
        return False
    return git.has("-d", "--delete", "--prune") or any(
        word.startswith(":") and word != ":" for word in git.operands[1:]
    )


def _deletes_branch(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`branch -D` of a branch that has commits of its own. `-d` refuses such a branch by itself."""
    git = GitCommand(command, call)
    if git.name != "branch":
        return False
    deletes = any(word.startswith("-") and not word.startswith("--") and "D" in word for word in git.words)
    forced = (git.has("-d", "--delete") and git.has("-f", "--force")) or git.has("-M", "-C")
    if not deletes and not forced:
        is_moved = git.has("-f", "--force") and bool(git.operands)
        return is_moved and (git.elsewhere or not call.work_tree.is_merged(git.operands[0]))
    names = git.operands or [""]
    return git.elsewhere or not all(name and call.work_tree.is_merged(name) for name in names)


def _recreates_branch(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    is_forced = (git.name == "checkout" and git.has("-B")) or (
        git.name == "switch" and git.has("-C", "--force-create")
    )
    names = git.operands[:1] if is_forced else _fetched_by_force(git)
    return any(call.work_tree.exists(name) and not call.work_tree.is_merged(name) for name in names)


def _fetched_by_force(git: GitCommand) -> list[str]:
    """The own branches that `git fetch origin +main:main` or `git update-ref` moves, whatever they have."""
    if git.name == "update-ref":
        return [ref.removeprefix("refs/heads/") for ref in git.operands[:1] if ref.startswith("refs/heads/")]
    if git.name not in ("fetch", "pull"):
        return []
    pairs = [ref.partition(":") for ref in git.operands[1:] if ":" in ref]
    is_forced = git.has("-f", "--force")
    return [own.removeprefix("refs/heads/") for ref, _, own in pairs if is_forced or ref.startswith("+")]


def _rewrites_pushed(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Amending or rebasing commits that a remote-tracking branch has."""
    git = GitCommand(command, call)
    if git.name == "commit" and git.has("--amend"):
        return not git.elsewhere and call.work_tree.is_pushed()
    if git.name != "rebase" or git.has("--abort", "--continue", "--skip", "--quit", "--show-current-patch"):
        return False
    if git.elsewhere:
        return False
    base = "--root" if git.has("--root") else next(iter(git.operands), "")
    return base == "--root" or (bool(base) and "$" not in base and call.work_tree.rewrites_pushed(base))


def _removes_worktree(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    return git.name == "worktree" and git.operands[:1] == ["remove"] and git.has("-f", "--force")


def _removes_files(command: GuardedCommand, call: GuardedShellCall) -> bool:
    git = GitCommand(command, call)
    if git.name != "rm" or git.has("--cached", "-n", "--dry-run") or not git.has("-f", "--force"):
        return False
    return git.elsewhere or _are_changed([*git.operands, *git.paths], command, call)


RULES = GuardArea(
    "git",
    (
        GuardRule(
            "git-reset-hard",
            "ask",
            "git reset --hard HEAD~1",
            "It throws away changes that are not committed",
            about_command=_resets,
            programs=GIT,
        ),
        GuardRule(
            "git-discard-files",
            "ask",
            "git checkout -- .",
            "It replaces changed files by what is committed, and their changes are lost",
            about_command=_discards_files,
            programs=GIT,
        ),
        GuardRule(
            "git-switch-force",
            "ask",
            "git checkout -f main",
            "It switches to another commit and throws away changes that are not committed",
            about_command=_forces_a_switch,
            programs=GIT,
        ),
        GuardRule(
            "git-clean",
            "ask",
            "git clean -fdx",
            "It deletes files that git does not know, and nothing can bring them back",
            about_command=_cleans,
            programs=GIT,
        ),
        GuardRule(
            "git-push-force-shared",
            "deny",
            "git push --force origin main",
            "It replaces commits of a branch that others use",
            about_command=_force_pushes_shared,
            programs=GIT,
        ),
        GuardRule(
            "git-push-force",
            "ask",
            "git push --force origin feature",
            "It replaces commits at the remote; `--force-with-lease` checks first that nobody else pushed",
            about_command=_force_pushes_own,
            programs=GIT,
        ),
        GuardRule(
            "git-delete-remote-branch",
            "ask",
            "git push origin --delete feature",
            "It deletes a branch or a tag at the remote",
            about_command=_deletes_remote_branch,
            programs=GIT,
        ),
        GuardRule(
            "git-delete-branch",
            "ask",
            "git branch -D experiment",
            "It deletes a branch with commits that no other branch has",
            about_command=_deletes_branch,
            programs=GIT,
        ),
        GuardRule(
            "git-recreate-branch",
            "ask",
            "git checkout -B experiment main",
            "It moves an existing branch, and its commits are on no branch then",
            about_command=_recreates_branch,
            programs=GIT,
        ),
        GuardRule(
            "git-stash-drop",
            "ask",
            "git stash clear",
            "It deletes stashed changes",
            patterns=("git stash drop|clear",),
        ),
        GuardRule(
            "git-rewrite-pushed",
            "ask",
            "git commit --amend --no-edit",
            "It rewrites commits that were pushed already, so that the branch can only be pushed by force",
            about_command=_rewrites_pushed,
            programs=GIT,
        ),
        GuardRule(
            "git-rewrite-history",
            "deny",
            "git filter-branch --tree-filter 'rm -f key' HEAD",
            "It rewrites the whole history",
            patterns=(
                "git filter-branch|filter-repo",
                "git-filter-repo|bfg|git-filter-branch",
                "git replace -d|-f",
            ),
        ),
        GuardRule(
            "git-lose-history",
            "deny",
            "git reflog expire --expire=now --all",
            "It deletes commits that no branch has; they are the only way back after a mistake",
            patterns=(
                "git reflog expire|delete",
                "git gc --prune=now|--prune=all",
                "git prune !-n|--dry-run",
                "git prune-packed !-n|--dry-run",
                "git update-ref -d",
                "git update-ref --stdin",
                "git symbolic-ref --delete|-d",
            ),
        ),
        GuardRule(
            "git-remove-worktree",
            "ask",
            "git worktree remove --force ../feature",
            "It deletes a work tree with its changes",
            about_command=_removes_worktree,
            programs=GIT,
        ),
        GuardRule(
            "git-remove-changed",
            "ask",
            "git rm -f README.md",
            "It deletes files with changes that are not committed",
            about_command=_removes_files,
            programs=GIT,
        ),
        GuardRule(
            "git-delete-tag",
            "ask",
            "git tag -d v1.0",
            "It deletes a tag, a submodule with its changes, or a remote with its branches",
            patterns=(
                "git tag -d|--delete",
                "git submodule deinit -f|--force",
                "git remote remove|rm",
                "git notes prune|remove",
            ),
        ),
        GuardRule(
            "other-version-control",
            "ask",
            "hg update --clean",
            "It throws away changes or commits of another version control",
            patterns=(
                "hg update|up|checkout|co|merge -C|--clean",
                "hg revert -a|--all",
                "hg strip|purge|rollback|histedit",
                "svn revert -R|--recursive|--remove-added",
                "svn cleanup --remove-unversioned|--remove-ignored",
                "jj abandon",
                "jj op|operation restore|abandon",
                "sl hide|purge|strip",
                "bzr|brz|darcs|fossil|p4 revert *",
            ),
        ),
    ),
)
