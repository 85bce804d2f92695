"""Which files a command reads, writes or deletes, by what is known of common programs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from samuel.shipped.shell_guard.guarded_command import FileMode, FileUse, GuardedCommand
from samuel.shipped.shell_guard.places import ResolvedPath, real_path

Resolve = Callable[[str, Sequence[str]], list[ResolvedPath | None]]

READERS = frozenset(
    (
        *(
            "cat",
            "head",
            "tail",
            "less",
            "more",
            "bat",
            "grep",
            "egrep",
            "fgrep",
            "rg",
            "ag",
            "ack",
            "zcat",
            "zgrep",
        ),
        *("wc", "diff", "cmp", "sort", "uniq", "cut", "tr", "jq", "xxd", "od", "hexdump", "strings", "base64"),
        *("base32", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "column", "nl", "tac", "rev"),
        *("comm", "paste", "join", "fold", "fmt", "look", "awk", "gawk", "mawk", "sed", "yq", "source", "."),
        *("curl", "wget", "nc", "scp", "tar", "zip", "gzip", "xz", "openssl", "gpg", "age", "cp", "rsync", "vim"),
    )
)
"""Programs that read the files they name, where the rest of this module does not know better."""
NAMING = frozenset(
    (
        *(
            "ls",
            "echo",
            "printf",
            "test",
            "[",
            "[[",
            "stat",
            "file",
            "cd",
            "pushd",
            "find",
            "fd",
            "tree",
            "du",
            "df",
        ),
        *(
            "realpath",
            "readlink",
            "basename",
            "dirname",
            "which",
            "type",
            "command",
            "samuel",
            "samuel-emit",
            "pwd",
        ),
        *("export", "declare", "local", "unset", "alias", "ps", "id", "whoami", "env", "sudo", "exit", "return"),
    )
)
"""Programs that name files and show nothing of what is in them."""
_WRITERS = frozenset(
    (
        *("tee", "touch", "truncate", "chmod", "chown", "chgrp", "chattr", "setfacl", "patch", "ed", "ex", "nano"),
        *(
            "vi",
            "vim",
            "nvim",
            "emacs",
            "sponge",
            "mkdir",
            "mkfifo",
            "mknod",
            "setfattr",
            "xattr",
            "install",
            "ln",
        ),
    )
)
_DELETERS = frozenset({"rm", "unlink", "shred", "rmdir", "srm", "trash", "wipe"})
_TO_THE_LAST = frozenset({"cp", "mv", "install", "ln", "rsync", "scp", "ditto"})
_IN_PLACE = frozenset({"sed", "gsed", "perl", "ruby", "yq"})
_GIT_WRITES = frozenset({"checkout", "restore", "rm", "mv", "apply", "am", "clean", "stash", "reset"})
_SCRIPTED = frozenset(
    {"sed", "gsed", "awk", "gawk", "mawk", "nawk", "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "yq", "perl"}
)
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*e|--expression|--regexp")
_OTHER_SCRIPT = re.compile(r"-[A-Za-z]*[ef]|--(?:file|files|from-file|expression|regexp)")
_TARS = frozenset({"tar", "bsdtar", "gtar"})
_EXTRACTS = re.compile(r"-?[A-Za-z]*x[A-Za-z]*|--extract|--get")
_OUTPUT = re.compile(r"(?:-o|-O|--output|--output-document|--output-file|--file|--target|of)(?:=(.+)|$)")
_ATTACHED = re.compile(r"-[A-Za-z](?=[/~.])|--?[\w-]+=|@|\w+=@?|[A-Za-z_]+=@")
_NOT_A_PATH = re.compile(r"[\n\r]|\s{2,}|^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
LONGEST_WORD = 500


def uses_of(command: GuardedCommand, resolve: Resolve) -> Iterator[FileUse]:
    for redirect in command.command.redirects:
        mode: FileMode = "write" if redirect.writes else "read"
        yield from _uses(mode, redirect.target, f"{redirect.operator} {redirect.target}", command, resolve)
    if command.program in NAMING and command.command.redirects == ():
        return
    words = command.arguments if command.program not in NAMING else ()
    operands = command.operands
    previous = ""
    scripts = _script_positions(command)
    if command.program in _TARS:
        bases = [
            path
            for before, word in pairwise(words)
            if before == "-C"
            for path in resolve(word, command.directories)
        ]
        command = command._replace(directories=(*command.directories, *(path.path for path in bases if path)))
    for position, word in enumerate(words):
        for part in _parts(word) if position not in scripts else ():
            mode = _mode(command, word, previous, is_last=bool(operands) and word == operands[-1])
            yield from _uses(mode, part, command.text, command, resolve)
        previous = word


def _script_positions(command: GuardedCommand) -> set[int]:
    """Which arguments are a pattern or a program, not a file: `s/a/b/` of `sed -i s/a/b/ file`."""
    if command.program not in _SCRIPTED:
        return set()
    words = command.arguments
    positions = {at + 1 for at, word in enumerate(words) if _SCRIPT_OPTION.fullmatch(word)}
    if positions or command.program == "perl" or any(_OTHER_SCRIPT.match(word) for word in words):
        return positions
    return {next((at for at, word in enumerate(words) if not word.startswith("-")), len(words))}


def _parts(word: str) -> Iterator[str]:
    """A word, or what of it may be a path: `--file=x`, `@x`, `-I/x`, `file:///x`."""
    word = word.removeprefix("file://")
    if len(word) > LONGEST_WORD or _NOT_A_PATH.search(word):
        return
    match = _ATTACHED.match(word)
    if match:
        rest = word[match.end() :].removeprefix("@")
        if rest:
            yield rest
    elif not word.startswith("-"):
        yield word


def _mode(command: GuardedCommand, word: str, previous: str, is_last: bool) -> FileMode:
    program = command.program
    if program in _DELETERS:
        return "delete"
    if program in _TO_THE_LAST:
        to_directory = command.has("-t", "--target-directory")
        has_target = len(command.operands) > 1 and not command.command.open_ended
        if (is_last and has_target) or to_directory:
            return "write"
        return "delete" if program == "mv" else "read"
    if _OUTPUT.fullmatch(previous) or (_OUTPUT.fullmatch(word) and program not in ("grep", "rg", "find")):
        return "write"
    if program in ("awk", "gawk"):
        return "write" if "inplace" in command.arguments else "read"
    if program in _IN_PLACE:
        return (
            "write"
            if any(re.match(r"-[A-Za-z]*i|--in-place|--inplace", item) for item in command.arguments)
            else "read"
        )
    if program in _TARS and previous in ("-C", "--directory"):
        return "write" if any(_EXTRACTS.fullmatch(item) for item in command.arguments[:2]) else "read"
    if program == "git":
        subcommand = next(iter(command.operands), "")
        return "write" if subcommand in _GIT_WRITES else "read"
    if program in _WRITERS:
        return "write"
    return "read" if program in READERS else "use"


def _uses(mode: FileMode, word: str, text: str, command: GuardedCommand, resolve: Resolve) -> Iterator[FileUse]:
    if word.startswith(("(", "<(", ">(")):
        return
    for target in resolve(word, command.directories):
        if target is None:
            continue
        yield FileUse(mode, target, text, command.program)
        if os.path.islink(target.path):
            for end in resolve(real_path(target.path, follow=True), ()) or ():
                if end is not None:
                    yield FileUse(mode, end, text, command.program)
