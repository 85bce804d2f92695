"""Programs that are written before another command and start it: `sudo -u root rm x`, `timeout 5 make`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samuel.shell.evaluation import reason_to_doubt
from samuel.shell.options import Options, named, split
from samuel.shell.started import Started, StartedCommand, StartedInput, StartedScript, Unreadable, joined_script
from samuel.shell.word import Word

_ASSIGNMENT = re.compile(r"[^=/]*=")


class Prefix(NamedTuple):
    options: Options = Options()
    operands: int = 0
    """Words between the options and the command: the duration of `timeout`."""
    assignments: bool = False
    """Do assignments stand before the command, as with `env`?"""
    idle: str = ""
    """Options with which no command is started: `-v` of `command`. One letter or a long name each."""
    shell: str = ""
    """Options with which the command is given to a shell: `-s` of `sudo`."""
    shell_by_default: bool = False
    """Without a command, is a shell started?"""


_STANDARD = named("help version")
_SUDO_FLAGS = named("askpass background bell preserve-env set-home login remove-timestamp reset-timestamp")
_SUDO_FLAGS |= named("list non-interactive preserve-groups stdin shell validate edit") | _STANDARD
_SUDO_VALUED = named("close-from chdir group host prompt chroot role type command-timeout other-user user")
_ENV_FLAGS = named("ignore-environment null debug list-signal-handling") | _STANDARD
_ENV_FLAGS |= named("block-signal default-signal ignore-signal")
_TIME_FLAGS = named("append verbose portability quiet") | _STANDARD
_UNSHARE = named(
    "mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc kill-child"
)

PREFIXES: dict[str, Prefix] = {
    "arch": Prefix(Options("", "e")),
    "builtin": Prefix(),
    "busybox": Prefix(Options("", "", named("help list install"))),
    "caffeinate": Prefix(Options("disum", "tw")),
    "catchsegv": Prefix(),
    "chroot": Prefix(
        Options("", "", named("skip-chdir") | _STANDARD, named("groups userspec")),
        operands=1,
        shell_by_default=True,
    ),
    "chrt": Prefix(Options("abdfiorv", "TPDp"), operands=1),
    "command": Prefix(Options("pvV"), idle="v V"),
    "coproc": Prefix(),
    "dbus-run-session": Prefix(),
    "doas": Prefix(Options("nLs", "aCu"), shell="s", shell_by_default=True),
    "env": Prefix(Options("i0v", "uCSP", _ENV_FLAGS, named("unset chdir split-string")), assignments=True),
    "exec": Prefix(Options("cl", "a")),
    "faketime": Prefix(Options("fm", "", named("exclude-monotonic")), operands=1),
    "flock": Prefix(
        Options(
            "enosuxF", "Ewc", named("exclusive shared unlock nonblock close no-fork verbose"), named("timeout")
        ),
        operands=1,
    ),
    "ionice": Prefix(Options("t", "cnpPu", named("ignore"), named("class classdata pid pgid uid")), idle="p P u"),
    "ltrace": Prefix(Options("cCfhiLrStTV", "aAbeDFlnopsuwx")),
    "nice": Prefix(Options("0123456789", "n", _STANDARD, named("adjustment"))),
    "nocorrect": Prefix(),
    "noglob": Prefix(),
    "nohup": Prefix(Options("", "", _STANDARD)),
    "pkexec": Prefix(Options("", "", named("disable-internal-agent keep-cwd") | _STANDARD, named("user"))),
    "prlimit": Prefix(Options("", "p", _STANDARD, named("pid nofile nproc as cpu core data fsize memlock stack"))),
    "rlwrap": Prefix(Options("acimnNrvw", "bCdDefHlOpPqsSt")),
    "setpriv": Prefix(
        Options("", "", named("clear-groups init-groups no-new-privs"), named("reuid regid groups"))
    ),
    "setsid": Prefix(Options("cfw", "", named("ctty fork wait") | _STANDARD)),
    "stdbuf": Prefix(Options("", "ioe", _STANDARD, named("input output error"))),
    "strace": Prefix(Options("cCdfFhiknqrtTvVwxyYzZD", "abeEIoOpPsSuUX"), idle="p"),
    "sudo": Prefix(
        Options("AbBEHiKklnPSsVve", "CDghpRrTtUu", _SUDO_FLAGS, _SUDO_VALUED),
        assignments=True,
        idle="K k l V v e list validate edit remove-timestamp",
        shell="s i shell login",
    ),
    "systemd-run": Prefix(
        Options(
            "PtqdGS", "pEHMu", named("scope user system wait pipe pty quiet collect"), named("unit property slice")
        )
    ),
    "taskset": Prefix(Options("ac", "p"), operands=1, idle="p"),
    "time": Prefix(Options("pavqlV", "fo", _TIME_FLAGS, named("format output"))),
    "timeout": Prefix(
        Options("fpv", "ks", named("foreground preserve-status verbose") | _STANDARD, named("kill-after signal")),
        operands=1,
    ),
    "toybox": Prefix(),
    "unbuffer": Prefix(Options("p")),
    "unshare": Prefix(Options("muinpUCTfr", "", _UNSHARE), shell_by_default=True),
    "xvfb-run": Prefix(Options("al", "efnpsw", named("auto-servernum"), named("server-args server-num"))),
}


def prefixed(words: Sequence[Word]) -> Iterator[Started]:
    """What stands after one of PREFIXES."""
    name = words[0].text.rpartition("/")[2]
    prefix = PREFIXES[name]
    options = split(words[1:], prefix.options)
    if options.problem:
        yield Unreadable(f"`{name}`: {options.problem}")
    if name == "env":
        yield from _split_strings(options.letters, options.rest)
    if name == "flock" and (script := options.letters.get("c")):
        yield joined_script([script])
    if {"help", "version", *prefix.idle.split()} & options.letters.keys():
        return
    rest = list(options.rest[prefix.operands :])
    if name == "flock" and rest and rest[0].text == "-c":
        yield joined_script(rest[1:2])
        return
    if prefix.assignments:
        while rest and (rest[0].text == "-" or _ASSIGNMENT.match(rest[0].text)):
            if reason := reason_to_doubt(rest.pop(0).text):
                yield Unreadable(reason)
    while name == "time" and rest and rest[0].text == "!":
        rest.pop(0)
    to_shell = bool({*prefix.shell.split()} & options.letters.keys())
    if rest:
        yield joined_script(rest) if to_shell else StartedCommand(tuple(rest))
    elif to_shell or prefix.shell_by_default:
        yield StartedInput(is_shell=True)


def _split_strings(letters: dict[str, Word | None], rest: Sequence[Word]) -> Iterator[Started]:
    """`env -S 'rm -rf'`: a word that env splits into the words of a command."""
    for option in ("S", "split-string"):
        if word := letters.get(option):
            assigned = re.sub(r"^(?:\s*[A-Za-z_]\w*=\S*)+", "", word.text)
            tail = "".join(f" {other.text}" for other in rest)
            yield StartedScript(f"{assigned}{tail}", exact=word.literal and "\\" not in word.text)
