"""Overwriting, emptying and moving away files, and writing to disks."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand
from samuel.shipped.shell_guard.places import Where
from samuel.shipped.shell_guard.unsaved_files import has_unsaved

_DESTROYED = frozenset({Where.ABOVE, Where.HOME, Where.SYSTEM, Where.PROJECT})
_NOTHING = frozenset({"/dev/null", "/dev/zero"})


def _synchronises_away(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`rsync --delete` removes what is only at the target, `--remove-source-files` what was copied."""
    if command.has("--remove-source-files") and not command.has("-n", "--dry-run"):
        return True
    if not command.has(
        "--delete", "--del", "--delete-after", "--delete-before", "--delete-excluded"
    ) or command.has("-n", "--dry-run"):
        return any(fnmatchcase(word, "--delete-*") for word in command.arguments) and not command.has("-n")
    return True


def _empties(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`truncate -s 0 file`, `: > file`, `cp /dev/null file`, unless the file is saved or is build output."""
    paths = {
        path.path
        for word in _emptied(command)
        for path in call.resolved(word, command.directories)
        if path is not None
    }
    outside = any(
        not call.places.where(path).is_project and call.places.where(path) is not Where.TEMPORARY for path in paths
    )
    is_other = command.program != "truncate"  # what is written outside is the business of other rules
    return (outside and not is_other) or has_unsaved({path for path in paths if os.path.isfile(path)}, call)


def _emptied(command: GuardedCommand) -> list[str]:
    """The files that are empty, or all zeros, after the command."""
    words = command.operands
    if command.program == "truncate":
        return list(words)
    if command.program == "cp":
        return list(words[-1:]) if words[:-1] and set(words[:-1]) <= _NOTHING else []
    if command.program == "dd":
        values = dict(word.partition("=")[::2] for word in words)
        return [values["of"]] if values.get("if") in _NOTHING and "of" in values else []
    reads_nothing = any(item.target == "/dev/null" and not item.writes for item in command.command.redirects)
    if command.program == "tee":
        return list(words) if reads_nothing and not command.has("-a", "--append") else []
    prints_nothing = command.program in ("", ":", "true") or (command.program == "cat" and words == ("/dev/null",))
    return [
        redirect.target
        for redirect in command.command.redirects
        if prints_nothing and redirect.writes and redirect.operator != ">>"
    ]


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


RULES = (
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
        about_command=_empties,
        programs=("truncate", "", ":", "true", "cat", "cp", "dd", "tee"),
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
)
