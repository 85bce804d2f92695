"""Raising rights, changing the system, and what runs again later."""

from __future__ import annotations

import os
import re
from itertools import pairwise

from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileUse, GuardedCommand
from samuel.shipped.shell_guard.places import Where

_START_FILES = re.compile(
    r"(?:\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.bash_aliases|\.profile|\.zshrc|\.zshenv|\.zprofile|\.zlogin"
    r"|\.zlogout|\.kshrc|\.cshrc|\.tcshrc|\.login|\.inputrc|\.xinitrc|\.xprofile|\.xsession|\.config/fish/.+|\.pam_environment"
    r"|\.config/autostart/.+|\.config/systemd/.+|\.local/share/systemd/.+|Library/Launch(?:Agents|Daemons)/.+|\.vimrc"
    r"|\.config/nvim/.+|\.gitconfig|\.config/git/config|\.ssh/.+|\.local/bin/.+|bin/.+|\.config/environment\.d/.+|\.pythonrc.*"
    r"|\.local/lib/python[^/]*/site-packages/.+\.pth|\.config/pip/pip\.conf|\.pip/pip\.conf|\.cargo/config(?:\.toml)?|\.direnvrc)"
)
_USER_SETTINGS = re.compile(
    r"\.[^/]+|\.config/.+|\.(?:aws|kube|docker|azure|gnupg|cargo|m2|gradle|vscode|vim)/[^/]+"
)
_SYSTEM_START = re.compile(
    r"/etc/(?:cron.*|profile(?:\.d/.*)?|bash\.bashrc|zsh/.*|rc\.local|init\.d/.*|systemd/.*|ld\.so\..*|sudoers.*|passwd"
    r"|shadow|group|hosts|pam\.d/.*|ssh/.*|environment|crontab|at\..*|xdg/autostart/.*|apt/.*|sysctl.*)|/var/spool/cron/.*"
    r"|/usr/lib/systemd/.*|/lib/systemd/.*|/Library/Launch(?:Agents|Daemons)/.*"
)
_GIT_PROGRAMS = re.compile(r"(?:.*/)?\.git/(?:hooks/.+|config|info/attributes|modules/.+/(?:hooks/.+|config))")
_NOT_OURS = (Where.SYSTEM, Where.ABOVE, Where.HOME)
_SYSTEM_DIRECTORY = re.compile(r"/(?:home|Users|root|var/root|opt|srv|usr|var|etc)")
_COPYING = frozenset({"mkdir", "rsync"})  # neither replaces what somebody wrote
_SETUID = re.compile(r"(?:[ugoa]*[+=][rwxXst]*,)*[ugoa]*[+=][rwxX]*s[rwxXst]*|0?[2467]\d{3}")
_SETGID = re.compile(r"g[+=][rwxX]*s[rwxX]*|0?2\d{3}")
_OPEN_MODE = re.compile(r"0?777|[2467]777|a\+rwx|ugo\+rwx|o\+w|a\+w|666")


def _changes_start_files(use: FileUse, call: GuardedShellCall) -> bool:
    if not use.changes or use.mode == "use":
        return False
    path = use.file.path
    home = f"{call.places.home}/"
    names = (path, f"{path}/x") if use.mode == "write" and use.program != "mkdir" else (path,)
    is_users = path.startswith(home) and any(_START_FILES.fullmatch(name[len(home) :]) for name in names)
    return (is_users and not use.file.where.is_project) or bool(_SYSTEM_START.fullmatch(path))


def _changes_user_settings(use: FileUse, call: GuardedShellCall) -> bool:
    """A file whose name begins with a dot in the user's home directory, or one below .config."""
    home = f"{call.places.home}/"
    path = use.file.path
    is_written = use.mode in ("write", "delete") and path.startswith(home) and not use.file.where.is_project
    if use.program == "mkdir" and not path.startswith(f"{home}.config/"):
        return False  # a new directory changes no setting
    return is_written and bool(_USER_SETTINGS.fullmatch(path[len(home) :]))


def _changes_git_programs(use: FileUse, call: GuardedShellCall) -> bool:
    return use.changes and use.mode != "use" and bool(_GIT_PROGRAMS.fullmatch(use.file.path))


def _writes_system_files(use: FileUse, call: GuardedShellCall) -> bool:
    if use.mode != "write" or use.program in _COPYING:
        return False
    if use.file.where in (Where.ABOVE, Where.HOME) and not use.file.pattern:
        # a new file in a directory of the user replaces nothing; the root of the file system is the system's
        return use.file.path == "/" or bool(_SYSTEM_DIRECTORY.fullmatch(use.file.path))
    return use.file.where in _NOT_OURS


def _writes_outside(use: FileUse, call: GuardedShellCall) -> bool:
    """A file that is there already: a new one replaces nothing."""
    is_written = use.mode == "write" and use.file.where is Where.OUTSIDE
    return is_written and use.program not in _COPYING and os.path.isfile(use.file.path)


def _sets_user_bits(command: GuardedCommand, call: GuardedShellCall) -> bool:
    mode = next(iter(command.operands), "")
    if _SETGID.fullmatch(mode) and _is_for_directories(command, call):
        return False  # new files of a directory get its group; nothing runs with other rights
    return bool(_SETUID.fullmatch(mode))


def _is_for_directories(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Whether all that a command changes are directories: those it names, or those that `find -type d` finds."""
    finds = [other for other in call.commands if other.program in ("find", "gfind")]
    is_found = command.command.starter in ("find", "gfind", "xargs")
    if is_found and finds:
        return all(("-type", "d") in pairwise(find.arguments) for find in finds)
    targets = [path for word in command.operands[1:] for path in call.resolved(word, command.directories)]
    return bool(targets) and all(path is not None and os.path.isdir(path.path) for path in targets)


def _opens_to_all(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Rights for everyone, or a whole tree outside the project."""
    targets = [
        path
        for word in command.operands[1:]
        for path in call.resolved(word, command.directories)
        if path is not None
    ]
    is_outside = any(not path.where.is_project and path.where is not Where.TEMPORARY for path in targets)
    recursive = command.has("-R", "--recursive")
    mode = command.operands[0] if command.operands else ""
    is_open = bool(_OPEN_MODE.fullmatch(mode)) and command.program == "chmod"
    return (recursive and is_outside) or (is_open and (recursive or is_outside))


def _mounts(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`mount` alone, or with the type of file systems, lists them."""
    pairs = pairwise(("", *command.arguments))
    words = [word for before, word in pairs if not word.startswith("-") and before not in ("-t", "--types", "-l")]
    return bool(words) or command.has("-a", "--all")


def _schedules(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return not command.has("-l", "--list") and not command.has("-V", "--version")


RULES = GuardArea(
    "rights",
    (
        GuardRule(
            "raise-rights",
            "ask",
            "sudo make install",
            "It runs with the rights of another user",
            patterns=(
                "sudo|doas|su|pkexec|runas|gosu|su-exec|sudoedit|run0|calife|super|runuser",
                "dzdo|pbrun|kdesu|gksu|gksudo|osascript * with",
            ),
        ),
        GuardRule(
            "set-user-bits",
            "deny",
            "chmod u+s tool",
            "It lets everyone run a program with the rights of its owner",
            about_command=_sets_user_bits,
            programs=("chmod",),
        ),
        GuardRule(
            "open-rights",
            "ask",
            "chmod -R 777 .",
            "It gives rights to everyone, or changes the rights or the owner of a tree outside the project",
            patterns=("chown root|root:*|0:*|0",),
            about_command=_opens_to_all,
            programs=("chmod", "chown", "chgrp"),
        ),
        GuardRule(
            "change-rights-of-programs",
            "deny",
            "setcap cap_setuid+ep tool",
            "It gives a program rights of the system, or changes users and passwords",
            patterns=(
                "setcap *",
                "visudo|vipw|vigr|chsh|chfn",
                "useradd|adduser|usermod|userdel|groupadd|groupmod|groupdel|gpasswd|passwd|chpasswd|newusers|deluser",
                "dscl . -create|-passwd|-append|-delete",
                "dscl -create|-passwd|-append|-delete",
                "csrutil disable|clear|enable",
                "spctl --master-disable|--global-disable|--add|--remove",
                "nvram *=*",
                "icacls|takeown|cipher *",
                "format *:",
                "reg add|delete|import|restore|unload",
                "net user|localgroup|share|stop *",
                "sc|sc.exe create|delete|config|stop|sdset",
                "bcdedit|vssadmin|wbadmin|diskpart|wevtutil *",
                "set-executionpolicy *",
                "defaults write|delete com.apple.loginwindow|/Library/*",
            ),
        ),
        GuardRule(
            "schedule",
            "ask",
            "crontab -e",
            "It makes something run again later, outside of this session",
            about_command=_schedules,
            programs=("crontab", "at", "batch", "fcrontab", "incrontab", "schtasks"),
        ),
        GuardRule(
            "change-services",
            "ask",
            "systemctl enable tool.service",
            "It starts, stops or installs services of the system",
            patterns=(
                "systemctl start|stop|restart|enable|disable|mask|unmask|link|edit|kill|daemon-reload|isolate|poweroff|reboot",
                "launchctl load|unload|bootstrap|bootout|submit|remove|disable|kickstart",
                "service * stop|start|restart",
                "update-rc.d|chkconfig|rc-update *",
                "shutdown|reboot|halt|poweroff|telinit|init",
                "systemd-run *",
                "insmod|rmmod|modprobe|kexec *",
                "sysctl -w|--write|-p|--load",
                "setenforce *",
                "umount|losetup|swapoff|swapon *",
                "umount|swapoff|swapon -a|--all",
                "kexec -e|-l|--exec|--load",
                "loginctl enable-linger|terminate-*|kill-*",
                "update-alternatives|alternatives --set|--install|--config|--remove|--remove-all",
                "iptables|ip6tables|nft|ufw|firewall-cmd !-L|--list|-S|--list-all|list|status",
                "chattr *",
                "ip link|addr|route set|add|del|delete|flush",
                "ifconfig * down|up",
                "hostnamectl|timedatectl set-*",
                "docker context use",
            ),
            about_command=_mounts,
            programs=("mount",),
        ),
        GuardRule(
            "change-start-files",
            "deny",
            "echo 'alias ls=rm' >> ~/.bashrc",
            "It changes what runs with every shell, login or connection of the user",
            about_file=_changes_start_files,
        ),
        GuardRule(
            "change-user-settings",
            "ask",
            "echo 'set x' > ~/.toolrc",
            "It changes settings of the user, which programs read everywhere",
            about_file=_changes_user_settings,
        ),
        GuardRule(
            "change-git-programs",
            "ask",
            "cp hook .git/hooks/pre-commit",
            "It changes what git runs by itself: its hooks and its configuration",
            about_file=_changes_git_programs,
        ),
        GuardRule(
            "change-git-settings",
            "ask",
            "git config --global core.hooksPath /tmp/hooks",
            "It changes settings of git that run programs, or those of the user in every repository",
            patterns=(
                "git config core.hooksPath|core.fsmonitor|core.sshCommand|core.pager|core.editor|alias.*|filter.*|diff.external *",
                "git config --global|--system !--get|--list|-l|--get-all|--get-regexp",
            ),
        ),
        GuardRule(
            "write-system",
            "ask",
            "cp tool /usr/local/bin/",
            "It writes to a directory of the system",
            about_file=_writes_system_files,
        ),
        GuardRule(
            "edit-outside",
            "ask",
            "echo x > ../other/notes.txt",
            "It replaces a file outside the project",
            about_file=_writes_outside,
        ),
        GuardRule(
            "system-packages",
            "ask",
            "apt-get remove libc6",
            "It removes packages of the system, or installs one from a file, whose scripts run at once",
            patterns=(
                "apt|apt-get|aptitude remove|purge|autoremove|dist-upgrade",
                "yum|dnf|zypper remove|erase|autoremove|rm",
                "pacman -R|-Rs|-Rns|-Rsc|-Rdd",
                "dpkg -r|--remove|-P|--purge",
                "rpm -e|--erase",
                "rpm -i|-U|-F|--install|--upgrade !-q|--query",
                "dpkg -i|--install",
                "dnf|yum|zypper|apt|apt-get|pkg install|localinstall|add *.rpm|*.deb|*.txz|./*|/*",
                "snap install --dangerous|--devmode|--classic",
                "opkg install *",
                "brew uninstall|remove|rm|autoremove|cleanup",
                "snap|flatpak remove|uninstall",
                "apk del",
            ),
        ),
    ),
)
