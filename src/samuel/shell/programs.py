"""The programs that start something else, by name."""

from __future__ import annotations

from samuel.shell import builtins, git_options, interpreters, launchers, prefixes
from samuel.shell.started import Starts

STARTERS: dict[str, Starts] = {
    **dict.fromkeys(prefixes.PREFIXES, prefixes.prefixed),
    **dict.fromkeys(interpreters.SHELLS, interpreters.shell),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), interpreters.awk),
    **dict.fromkeys(("sed", "gsed"), interpreters.sed),
    **dict.fromkeys(launchers.RUNNING_OPTIONS, launchers.by_option),
    **dict.fromkeys(launchers.OTHER_LAUNCHERS, launchers.unread),
    **dict.fromkeys(("let", "declare", "typeset", "local", "readonly"), builtins.evaluated_names),
    **dict.fromkeys(("unset", "read", "test", "[", "printf", "wait", "export"), builtins.evaluated_names),
    **dict.fromkeys(("mapfile", "readarray", "compgen", "complete", "bind"), builtins.called_back),
    **dict.fromkeys(("hash", "enable", "fc"), builtins.loaded),
    **dict.fromkeys(("source", "."), builtins.sourced),
    **dict.fromkeys(("su", "runuser"), launchers.su),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), launchers.package_runner),
    **dict.fromkeys(("ed", "red", "ex"), launchers.scripted_editor),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "bundle"), launchers.run_subcommand),
    "alias": builtins.aliased,
    "eval": builtins.evaluated,
    "find": launchers.find,
    "git": git_options.git,
    "parallel": launchers.parallel,
    "rsync": launchers.rsync,
    "script": launchers.script,
    "ssh": launchers.ssh,
    "trap": builtins.trapped,
    "watch": launchers.watch,
    "xargs": launchers.xargs,
}


STARTING_THEIR_WORDS = frozenset((*prefixes.PREFIXES, *interpreters.SHELLS, "find", "ssh", "watch", "xargs"))
"""Programs that run the words they are given; `xargs` may give them more."""


def starter(program: str) -> Starts | None:
    """What tells which commands a program starts; None for one that starts none that could be read."""
    if program in STARTERS:
        return STARTERS[program]
    is_interpreter = any(row.names.fullmatch(program) for row in interpreters.INTERPRETERS)
    return interpreters.interpreter if is_interpreter else None
