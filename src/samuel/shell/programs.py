"""The programs and builtins of the shell that start something else, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from samuel.shell import interpreters, launchers, prefixes, table_launchers
from samuel.shell.evaluation import SUBSTITUTION, reason_to_doubt
from samuel.shell.launcher_table import launcher_rows
from samuel.shell.started import Started, StartedScript, Starts, Unreadable, joined_script
from samuel.shell.word import Word

STARTING_THEIR_WORDS = frozenset((*prefixes.PREFIXES, *interpreters.SHELLS, "find", "ssh", "watch", "xargs"))
"""Programs that run the words they are given; `xargs` may give them more."""


def evaluated(words: Sequence[Word]) -> Iterator[Started]:
    rest = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
    if rest:
        yield joined_script(rest)


def sourced(words: Sequence[Word]) -> Iterator[Started]:
    if len(words) > 1:
        yield Unreadable(f"`{words[0].text}` reads commands from a file", "file")


def trapped(words: Sequence[Word]) -> Iterator[Started]:
    rest = [word for word in words[1:] if word.text != "--"]
    if len(rest) > 1 and rest[0].text not in ("-", "-l", "-p"):
        yield joined_script(rest[:1])


def aliased(words: Sequence[Word]) -> Iterator[Started]:
    """The text of an alias is read where it is defined; the words that follow its use are not known there."""
    for word in words[1:]:
        _, equals, text = word.text.partition("=")
        if equals:
            yield StartedScript(text, word.literal, open_ended=True)


def evaluated_names(words: Sequence[Word]) -> Iterator[Started]:
    """`let`, `declare`, `read` and others evaluate the index of an array: `let 'a[$(rm x)]'`."""
    is_plain_printf = words[0].text == "printf" and not any(word.text.startswith("-v") for word in words)
    if is_plain_printf:
        return
    if any(word.literal and SUBSTITUTION.search(word.text) for word in words[1:]):
        yield Unreadable(f"`{words[0].text}` may run commands in the name of a variable", "value")
    for word in words[1:]:
        if "=" not in word.text and (reason := reason_to_doubt(f"{word.text}=")):
            yield Unreadable(reason)


def called_back(words: Sequence[Word]) -> Iterator[Started]:
    """`mapfile -C` and `compgen -C` run a command; `compgen -W` expands a text."""
    if any(word.text.startswith(("-C", "-x", "-F", "-W")) or not word.literal for word in words[1:]):
        yield Unreadable(f"`{words[0].text}` may run a command")


def loaded(words: Sequence[Word]) -> Iterator[Started]:
    """`hash -p` and `enable -f` give a name another meaning; `fc` runs commands of the past."""
    name = words[0].text
    if name == "fc" or any(word.text.startswith(("-p", "-f")) or not word.literal for word in words[1:]):
        yield Unreadable(f"`{name}` changes what runs")


STARTERS: dict[str, Starts] = {
    **dict.fromkeys(prefixes.PREFIXES, prefixes.prefixed),
    **dict.fromkeys(interpreters.SHELLS, interpreters.shell),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), interpreters.awk),
    **dict.fromkeys(("sed", "gsed"), interpreters.sed),
    **dict.fromkeys(launchers.RUNNING_OPTIONS, launchers.by_option),
    **dict.fromkeys(("let", "declare", "typeset", "local", "readonly"), evaluated_names),
    **dict.fromkeys(("unset", "read", "test", "[", "printf", "wait", "export"), evaluated_names),
    **dict.fromkeys(("mapfile", "readarray", "compgen", "complete", "bind"), called_back),
    **dict.fromkeys(("hash", "enable", "fc"), loaded),
    **dict.fromkeys(("source", "."), sourced),
    **dict.fromkeys(("su", "runuser"), launchers.su),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), launchers.package_runner),
    **dict.fromkeys(("ed", "red", "ex"), launchers.scripted_editor),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "bundle"), launchers.run_subcommand),
    "alias": aliased,
    "eval": evaluated,
    "find": launchers.find,
    "git": launchers.git,
    "parallel": launchers.parallel,
    "rsync": launchers.rsync,
    "script": launchers.script,
    "ssh": launchers.ssh,
    "trap": trapped,
    "watch": launchers.watch,
    "xargs": launchers.xargs,
}


def starter(program: str) -> Starts | None:
    """What tells which commands a program starts; None for one that starts none that could be read."""
    if program in launcher_rows():
        others = STARTERS.get(program) or _interpreter(program)
        return _both(others) if others else table_launchers.from_table
    return STARTERS.get(program) or _interpreter(program)


def _interpreter(program: str) -> Starts | None:
    is_interpreter = any(row.names.fullmatch(program) for row in interpreters.INTERPRETERS)
    return interpreters.interpreter if is_interpreter else None


def _both(starts: Starts) -> Starts:
    """What a program starts by its rows in the table, and by its own function."""

    def all_started(words: Sequence[Word]) -> Iterator[Started]:
        yield from starts(words)
        yield from table_launchers.from_table(words)

    return all_started
