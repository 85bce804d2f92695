"""Deleting outside the project, or what git cannot bring back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand
from samuel.shipped.shell_guard.places import (
    BUILD_FILES,
    ResolvedPath,
    Where,
    is_build_directory,
    is_build_file,
    real_path,
)
from samuel.shipped.shell_guard.unread_code import deletes_files

MAX_MATCHES = 200
MAX_LOOKED_AT = 5_000

_REMOVERS = ("rm", "unlink", "shred", "srm", "rimraf", "trash", "del", "rd", "remove-item", "wipe")
_FINDERS = ("find", "fd", "fdfind", "gfind")
_DESTROYED = frozenset({Where.ABOVE, Where.HOME, Where.SYSTEM, Where.PROJECT})
_FIND_EXEC = re.compile(r"-(?:exec|execdir|ok|okdir)")
_FIND_VALUED = re.compile(
    r"-(?:i?name|i?path|i?wholename|i?regex|i?lname|type|xtype|size|[acm]time|[acm]min|newer\w*|user|group|uid|gid|perm"
    r"|maxdepth|mindepth|fstype|inum|links|regextype|printf|fprint0?|fls|context|samefile|used)"
)
_FIND_STARTS = frozenset({"rm", "shred", "unlink", "srm", "truncate", "dd"})
_PLAIN_NAME = re.compile(r"[^/$`{}]+")
_OWN_NAMES = re.compile(r"-i?(?:name|path|wholename|regex)")
_CLOUD_PATH = re.compile(r"[\w.-]+:|\w+://")
_CODE_PATH = re.compile(r"""["'](/[^"'\n]*|~[^"'\n]*|\.\.[^"'\n]*)["']""")


class Deletion(NamedTuple):
    """A path that a command deletes, or the whole of what is in it."""

    target: ResolvedPath | None
    """None if it is not known."""
    recursive: bool


def deletions(command: GuardedCommand, call: GuardedShellCall) -> Iterator[Deletion]:
    recursive = command.has("-r", "-R", "--recursive") or command.program in ("rimraf", "rd")
    for operand in command.operands:
        for target in call.resolved(operand, command.directories):
            yield Deletion(target, recursive)
    if command.command.open_ended:
        yield Deletion(None, recursive)


def _is_started_by_find(command: GuardedCommand) -> bool:
    return command.command.starter in _FINDERS


def _deletes_a_tree_of_others(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return not _is_started_by_find(command) and any(
        target is not None
        and (target.where in _DESTROYED if recursive or target.contents else target.where is Where.ABOVE)
        for target, recursive in deletions(command, call)
    )


def _deletes_git(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return any(
        target is not None and target.where is Where.GIT and (recursive or target.contents)
        for target, recursive in deletions(command, call)
    )


def _deletes_outside(command: GuardedCommand, call: GuardedShellCall) -> bool:
    outside = (Where.OUTSIDE, Where.SYSTEM, Where.DEVICE, Where.HOME)
    return not _is_started_by_find(command) and any(
        target is not None and target.where in outside for target, _ in deletions(command, call)
    )


def _deletes_temporary_root(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return any(
        target is not None and target.where is Where.TEMPORARY_ROOT for target, _ in deletions(command, call)
    )


def _deletes_unknown(command: GuardedCommand, call: GuardedShellCall) -> bool:
    if _is_started_by_find(command):
        return False
    return any(target is None and recursive for target, recursive in deletions(command, call))


def _deletes_unsaved(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Changed, untracked or ignored files that are no build output."""
    if command.program == "git" or _is_started_by_find(command):
        return False
    paths = {
        path
        for target, _ in deletions(command, call)
        if target is not None and target.where.is_project
        for path in _existing(target)
    }
    return _has_unsaved(paths, call)


def _has_unsaved(paths: set[str], call: GuardedShellCall) -> bool:
    candidates = [path for path in paths if call.places.where(path) is not Where.BUILD or os.path.isdir(path)]
    if not candidates:
        return False
    unsaved = call.work_tree.unsaved(candidates)
    if unsaved is None:
        return any(call.places.where(path) is not Where.BUILD for path in candidates)
    return any(call.places.where(real_path(path)) is not Where.BUILD for path in unsaved)


def _existing(target: ResolvedPath) -> Iterator[str]:
    """The file that a target stands for, if there is one."""
    if os.path.lexists(target.path):
        yield target.path


def _find_deletes(command: GuardedCommand) -> bool:
    """Whether find deletes what it comes across, by `-delete` or by a program that it starts."""
    words = command.arguments
    if command.program in ("fd", "fdfind"):
        return command.has("-x", "-X", "--exec", "--exec-batch") and bool(_FIND_STARTS & set(words))
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "-delete":
            return True
        if _FIND_EXEC.fullmatch(word):
            end = next((at for at in range(position, len(words)) if words[at] in (";", "+")), len(words))
            started = [os.path.basename(other) for other in words[position:end]]
            if _FIND_STARTS & set(started[:3]) or any(re.search(r"\brm\s", other) for other in started):
                return True
            position = end + 1
        elif _FIND_VALUED.fullmatch(word):
            position += 1
    return False


def _find_roots(command: GuardedCommand, call: GuardedShellCall) -> list[ResolvedPath | None]:
    roots = []
    for word in command.arguments:
        if word.startswith("-") and word not in ("-L", "-H", "-P"):
            break
        if not word.startswith(("-", "(", "!")):
            roots.append(word)
    return [target for root in roots or ["."] for target in call.resolved(root, command.directories)]


def _finds_and_deletes_outside(command: GuardedCommand, call: GuardedShellCall) -> bool:
    places = (Where.OUTSIDE, Where.SYSTEM, Where.ABOVE, Where.HOME, Where.DEVICE, Where.TEMPORARY_ROOT, Where.GIT)
    return _find_deletes(command) and any(
        root is None or root.where in places for root in _find_roots(command, call)
    )


def _finds_and_deletes(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Files that git cannot bring back, among all that have one of the names that find looks for."""
    if not _find_deletes(command):
        return False
    roots = _find_roots(command, call)
    if all(root and root.where in (Where.BUILD, Where.TEMPORARY) for root in roots):
        return False
    pairs = zip(command.arguments, command.arguments[1:], strict=False)
    names = [value for option, value in pairs if _OWN_NAMES.fullmatch(option)]
    if names and all(map(_is_build_name, names)):
        return False
    is_negated = bool({"!", "-not"} & set(command.arguments))
    if not names or is_negated or not all(map(_PLAIN_NAME.fullmatch, names)):
        return True
    matching = _named_below([root.path for root in roots if root], names)
    return matching is None or _has_unsaved(matching, call)


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
            entries = (name for name in (*files, *directories) if any(fnmatchcase(name, glob) for glob in names))
            matching |= {os.path.join(directory, name) for name in entries}
    return matching if len(matching) <= MAX_MATCHES else None


def _is_build_name(name: str) -> bool:
    base = name.rstrip("/*").rpartition("/")[2]
    return is_build_directory(base) or is_build_file(base.replace("*", "x")) or name in BUILD_FILES


def _synchronises_away(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`rsync --delete` removes what is only at the target, `--remove-source-files` what was copied."""
    if command.has("--remove-source-files") and not command.has("-n", "--dry-run"):
        return True
    if not command.has(
        "--delete", "--del", "--delete-after", "--delete-before", "--delete-excluded"
    ) or command.has("-n", "--dry-run"):
        return any(fnmatchcase(word, "--delete-*") for word in command.arguments) and not command.has("-n")
    return True


def _truncates(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`truncate -s 0 file`, unless the file is saved or is build output."""
    paths = {
        path.path for operand in command.operands for path in call.resolved(operand, command.directories) if path
    }
    outside = any(
        not call.places.where(path).is_project and call.places.where(path) is not Where.TEMPORARY for path in paths
    )
    return outside or _has_unsaved({path for path in paths if os.path.isfile(path)}, call)


def _moves_away(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Moving to /dev/null, or moving home, the project, its parents or its git directory."""
    *sources, target = command.operands or ("",)
    if target == "/dev/null" and sources:
        return True
    moved = (path for source in sources for path in call.resolved(source, command.directories))
    return any(path is not None and path.where in _DESTROYED | {Where.GIT} for path in moved)


def _writes_a_device(command: GuardedCommand, call: GuardedShellCall) -> bool:
    values = [word.partition("=")[2] for word in command.arguments if word.startswith("of=")]
    return any(
        path is not None and path.where in (Where.DEVICE, Where.SYSTEM, Where.ABOVE, Where.HOME)
        for value in values
        for path in call.resolved(value, command.directories)
    )


def _code_deletes(call: GuardedShellCall) -> str:
    """Code of another language that deletes files, outside the project or by a name that it makes itself."""
    for part in call.opaque:
        if part.code and deletes_files(part.code):
            return part.text
    return ""


RULES = GuardArea(
    "deleting",
    (
        GuardRule(
            "delete-tree",
            "deny",
            "rm -rf ~",
            "It deletes a whole tree: the file system, a home directory, a directory of the system, or the one that"
            " the project is in",
            about_command=_deletes_a_tree_of_others,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-git",
            "deny",
            "rm -rf .git",
            "It deletes the history of the project, and every commit that was not pushed",
            about_command=_deletes_git,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-outside",
            "deny",
            "rm -rf ../other",
            "It deletes something outside the project, which git cannot bring back",
            about_command=_deletes_outside,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-temporary",
            "ask",
            "rm -rf /tmp/*",
            "It deletes temporary files of every program, not only its own",
            about_command=_deletes_temporary_root,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-unknown",
            "ask",
            'rm -rf "$DIR"',
            "It is not known what it deletes: an empty variable or another input may name anything",
            about_command=_deletes_unknown,
            programs=_REMOVERS,
        ),
        GuardRule(
            "delete-unsaved",
            "ask",
            "rm notes.txt",
            "It deletes work that git cannot bring back: changed, untracked or ignored files",
            about_command=_deletes_unsaved,
            programs=_REMOVERS,
        ),
        GuardRule(
            "find-delete-outside",
            "deny",
            "find / -name '*.log' -delete",
            "It deletes what it finds outside the project",
            about_command=_finds_and_deletes_outside,
            programs=_FINDERS,
        ),
        GuardRule(
            "find-delete",
            "ask",
            "find . -type f -delete",
            "It deletes every file that it finds, not only build output",
            about_command=_finds_and_deletes,
            programs=_FINDERS,
        ),
        GuardRule(
            "overwrite-file",
            "deny",
            "shred -u notes.txt",
            "It overwrites files, so that nothing can bring them back",
            patterns=("shred|wipe|srm|scrub|nwipe *",),
        ),
        GuardRule(
            "truncate-file",
            "ask",
            "truncate -s 0 notes.txt",
            "It empties files that git cannot bring back",
            about_command=_truncates,
            programs=("truncate",),
        ),
        GuardRule(
            "move-away",
            "deny",
            "mv src /dev/null",
            "It moves something away for good, or something that other programs rely on",
            about_command=_moves_away,
            programs=("mv",),
        ),
        GuardRule(
            "write-device",
            "deny",
            "dd if=image.iso of=/dev/sda",
            "It overwrites a disk or a file of the system",
            about_command=_writes_a_device,
            programs=("dd", "dcfldd", "dc3dd", "ddrescue"),
        ),
        GuardRule(
            "write-device-redirect",
            "deny",
            "cat image.iso > /dev/sda",
            "It overwrites a disk",
            about_file=lambda use, _: use.mode == "write" and use.file.where is Where.DEVICE,
        ),
        GuardRule(
            "format-disk",
            "deny",
            "mkfs.ext4 /dev/sdb1",
            "It formats, partitions or erases a disk",
            patterns=(
                "mkfs|mkswap|wipefs|blkdiscard|sgdisk|fdisk|sfdisk|cfdisk|gdisk|parted|mke2fs|newfs|badblocks",
                "mkfs.ext2|mkfs.ext3|mkfs.ext4|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.fat|mkfs.ntfs|mkfs.minix|mkfs.f2fs",
                "diskutil erase*|partition*|zero*|secureErase|reformat",
                "cryptsetup luksFormat|luksErase|erase|reencrypt",
                "hdparm --security-erase|--trim-sector-ranges",
                "nvme format|sanitize",
                "lvremove|vgremove|pvremove",
                "mdadm --zero-superblock",
                "zpool destroy|labelclear",
                "zfs destroy",
                "btrfs subvolume|sub delete",
            ),
        ),
        GuardRule(
            "sync-delete",
            "ask",
            "rsync -a --delete build/ /srv/site/",
            "It deletes at the target what the source does not have",
            about_command=_synchronises_away,
            programs=("rsync",),
        ),
        GuardRule(
            "sync-delete-program",
            "ask",
            "rclone sync build remote:site",
            "It deletes files of a store or at the target of a synchronisation",
            patterns=(
                "rclone sync|delete|deletefile|purge|move|cleanup|rmdir|rmdirs|dedupe !--dry-run",
                "unison|csync2 *",
                "robocopy * /MIR|/PURGE",
                "robocopy * * /MIR|/PURGE",
            ),
        ),
        GuardRule(
            "code-deletes",
            "ask",
            "python3 -c \"import shutil; shutil.rmtree('data')\"",
            "Code of another language deletes files; what it deletes is not known before it runs",
            about_call=_code_deletes,
        ),
    ),
)
