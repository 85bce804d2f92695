"""Deleting what `find` comes across: by its own options, or by a program that gets its output."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch

from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand
from samuel.shipped.shell_guard.places import BUILD_FILES, ResolvedPath, Where, is_build_directory, is_build_file
from samuel.shipped.shell_guard.unsaved_files import has_unsaved

MAX_MATCHES = 200
MAX_LOOKED_AT = 5_000

FINDERS = ("find", "fd", "fdfind", "gfind")
_EXEC = re.compile(r"-(?:exec|execdir|ok|okdir)")
_VALUED = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|i?lname|type|xtype|size|[acm]time|[acm]min|newer\w*|user|group|uid|gid|perm"
    r"|maxdepth|mindepth|fstype|inum|links|regextype|printf|fprint0?|fls|context|samefile|used)"
)
_STARTS = frozenset({"rm", "shred", "unlink", "srm", "truncate", "dd"})
_DELETERS = frozenset({"rm", "unlink", "shred", "srm"})
_PLAIN_PATTERN = re.compile(r"[^$`{}]+")
_OWN_NAMES = re.compile(r"-i?(?:name|path|wholename|regex)")
_NOT_EVERY_TEST = frozenset({"!", "-not", "-o", "-or", ","})
_FILTERS = r"(?:\|\s*(?:[ef]?grep|sort|head|tail|uniq)\b[^;&|()]*)*"
_FED = re.compile(rf"(?:^|[;&({{])\s*(?:find|gfind|fd|fdfind)\b[^;&|]*{_FILTERS}\|\s*(?:xargs|parallel)\b")
_PLACEHOLDERS = frozenset({"{}", "${arg}"})  # what find and xargs fill in
_FIND_OUTPUT = re.compile(r"(?:\$\(|`)\s*find\b[^|;&]*[)`]$")
_OUTSIDE = (Where.OUTSIDE, Where.SYSTEM, Where.ABOVE, Where.HOME, Where.DEVICE, Where.GIT)


def is_started_by_find(command: GuardedCommand) -> bool:
    return command.command.starter in FINDERS


def gets_found_files(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Whether all that is not known of a command's files comes from `find`: `find . -name x | xargs rm`."""
    unknown = [command.command.words[at] for at in command.command.unknown]
    if unknown and all(map(_FIND_OUTPUT.match, unknown)):
        return True
    if not command.command.open_ended and not (unknown and set(unknown) <= _PLACEHOLDERS):
        return False
    feeders = sum(other.program in ("xargs", "parallel") for other in call.commands)
    if not feeders and not command.command.open_ended:
        return any(map(_is_exec, call.commands))
    return feeders == 1 and sum(bool(_FED.search(line)) for line in call.lines) == 1


def _is_exec(command: GuardedCommand) -> bool:
    return command.program in FINDERS and any(_EXEC.fullmatch(word) for word in command.arguments)


def _deletes_by_itself(command: GuardedCommand) -> bool:
    """Whether find deletes what it comes across, by `-delete` or by a program that it starts."""
    words = command.arguments
    if command.program in ("fd", "fdfind"):
        return command.has("-x", "-X", "--exec", "--exec-batch") and bool(_STARTS & set(words))
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "-delete":
            return True
        if _EXEC.fullmatch(word):
            end = next((at for at in range(position, len(words)) if words[at] in (";", "+")), len(words))
            started = [os.path.basename(other) for other in words[position:end]]
            if _STARTS & set(started[:3]) or any(re.search(r"\brm\s", other) for other in started):
                return True
            position = end + 1
        elif _VALUED.fullmatch(word):
            position += 1
    return False


def _deletes(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Whether what find prints or comes across is deleted: by itself, or by a later command of the call."""
    return _deletes_by_itself(command) or (
        not command.command.starter and any(_deletes_unnamed(other, call) for other in call.commands)
    )


def _deletes_unnamed(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`xargs rm`, `while read f; do rm "$f"; done`: files that are not in the text."""
    if command.program not in _DELETERS or is_started_by_find(command):
        return False
    return command.command.open_ended or any(
        target is None for word in command.operands for target in call.resolved(word, command.directories)
    )


def _roots(command: GuardedCommand, call: GuardedShellCall) -> list[ResolvedPath | None]:
    if command.program in ("fd", "fdfind"):
        operands = [word for word in command.operands if word not in _STARTS]
        return [path for word in operands[1:2] or ["."] for path in call.resolved(word, command.directories)]
    roots = []
    for word in command.arguments:
        if word.startswith("-") and word not in ("-L", "-H", "-P"):
            break
        if not word.startswith(("-", "(", "!")):
            roots.append(word)
    return [target for root in roots or ["."] for target in call.resolved(root, command.directories)]


def _finds_and_deletes_outside(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return _deletes(command, call) and any(
        root is not None and root.where in _OUTSIDE for root in _roots(command, call)
    )


def _finds_and_deletes(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Files that git cannot bring back, among all that have one of the names that find looks for."""
    if not _deletes(command, call):
        return False
    roots = _roots(command, call)
    if any(root is None or root.where is Where.TEMPORARY_ROOT for root in roots):
        return True
    if all(root and root.where in (Where.BUILD, Where.TEMPORARY) for root in roots) or _finds_empty(command):
        return False
    pairs = zip(command.arguments, command.arguments[1:], strict=False)
    names = [value for option, value in pairs if _OWN_NAMES.fullmatch(option)]
    if names and all(map(_is_build_name, names)):
        return False
    is_negated = bool({"!", "-not"} & set(command.arguments))
    if not names or is_negated or not all(map(_PLAIN_PATTERN.fullmatch, names)) or "-regex" in command.arguments:
        return any(root and root.where is Where.PROJECT for root in roots) or has_unsaved(
            {root.path for root in roots if root}, call
        )
    if any(fnmatch(".git", name) for name in names) and any(
        root and root.where is Where.PROJECT for root in roots
    ):
        return True
    matching = _named_below([root.path for root in roots if root], names)
    return matching is None or has_unsaved(matching, call)


def _finds_empty(command: GuardedCommand) -> bool:
    """`find . -type d -empty -delete`: there is nothing in what it deletes."""
    words = command.arguments
    actions = [at for at, word in enumerate(words) if word == "-delete" or _EXEC.fullmatch(word)]
    return "-empty" in words[: min(actions, default=len(words))] and not _NOT_EVERY_TEST & set(words)


def _named_below(roots: list[str], names: list[str]) -> set[str] | None:
    """The files with one of these names below the roots; None if there are too many to look at."""
    matching: set[str] = set()
    looked_at = 0
    for root in roots:
        for directory, directories, files in os.walk(root):
            directories[:] = [name for name in directories if name != ".git"]
            looked_at += len(files) + len(directories)
            if looked_at > MAX_LOOKED_AT:
                return None
            for name in (*files, *directories):
                path = os.path.join(directory, name)
                # find looks at the name, or at the path as it would print it
                texts = (name, path, f".{path[len(root) :]}", f"{os.path.basename(root)}{path[len(root) :]}")
                if any(fnmatch(text, glob) for glob in names for text in texts):
                    matching.add(path)
    return matching if len(matching) <= MAX_MATCHES else None


def _is_build_name(name: str) -> bool:
    base = name.rstrip("/*").rpartition("/")[2]
    return is_build_directory(base) or is_build_file(base.replace("*", "x")) or name in BUILD_FILES


RULES = (
    GuardRule(
        "find-delete-outside",
        "deny",
        "find / -name '*.log' -delete",
        "It deletes what it finds outside the project",
        about_command=_finds_and_deletes_outside,
        programs=FINDERS,
    ),
    GuardRule(
        "find-delete",
        "ask",
        "find . -type f -delete",
        "It deletes every file that it finds, not only build output",
        about_command=_finds_and_deletes,
        programs=FINDERS,
    ),
)
