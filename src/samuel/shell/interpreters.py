"""Programs that run text: shells, whose text is read, and interpreters of other languages, whose text is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.shell.started import Started, StartedInput, Unreadable, joined_script
from samuel.shell.word import Word

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "yash", "posh"})
_SHELL_VALUED = frozenset({"-o", "+o", "-O", "+O"})
_SHELL_FILES = ("--rcfile", "--init-file")
_INFORMATION = frozenset({"--version", "--help", "-V", "-h", "--versions"})

# The options of an interpreter whose value is a program: a letter each, and long names.
_INLINE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"(?:python|pypy)[\d.]*w?", "c", ()),
    (r"perl[\d.]*", "eE", ()),
    (r"ruby[\d.]*|jruby", "e", ()),
    (r"node|nodejs|bun|deno", "ep", ("--eval", "--print", "eval", "repl")),
    (r"php[\d.]*", "rBER", ("--run",)),
    (r"lua[\d.]*|luajit", "e", ()),
    (r"R|Rscript|julia|osascript|groovy|scala|guile|sbcl|ghc|elixir|erl", "eE", ("--eval", "--expression")),
    (r"tclsh[\d.]*|expect|wish", "c", ()),
    (r"fish|csh|tcsh|nu|xonsh|elvish|pwsh|powershell(?:\.exe)?|cmd(?:\.exe)?", "cCeE", ("-Command", "--command")),
    (r"sqlite3?|psql|mysql|mongosh|redis-cli", "\0", ()),
    (r"gdb|lldb", "x", ("-ex", "--eval-command", "-o")),
)
INTERPRETERS = tuple((re.compile(names), letters, options) for names, letters, options in _INLINE)
# Clients of databases read their input too, but it is data for a server as often as not.
_NOT_FROM_INPUT = re.compile(r"bun|deno|sqlite3?|psql|mysql|mongosh|redis-cli|gdb|lldb|ghc|elixir|erl|cmd.*")


def shell(words: Sequence[Word]) -> Iterator[Started]:
    """`bash -c text`, `bash file` and `bash` with its commands on standard input."""
    name, position, is_inline, reads_input = words[0].text, 1, False, False
    while position < len(words):
        word = words[position]
        text = word.text
        if is_inline and not text.startswith(("-", "+")):
            break
        if not word.known or word.pattern:
            yield Unreadable(f"`{name}` gets a word that the shell fills in")
            return
        if text in _INFORMATION and text.startswith("--"):
            return
        if text in ("-", "--"):
            position += 1
            break
        if not text.startswith(("-", "+")):
            break
        if text.startswith(_SHELL_FILES):
            yield Unreadable(f"`{name}` reads commands from a file")
        if not text.startswith("--"):
            is_inline |= "c" in text and text[0] == "-"
            reads_input |= "s" in text and text[0] == "-"
        takes_value = text in _SHELL_VALUED or text in _SHELL_FILES
        position += 2 if takes_value else 1
    rest = words[position:]
    if is_inline:
        yield joined_script(rest[:1]) if rest else Unreadable(f"`{name} -c` has no text")
    elif rest and not reads_input and rest[0].text not in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        yield Unreadable(f"`{name}` reads commands from a file")
    else:
        yield StartedInput(is_shell=True)


def interpreter(words: Sequence[Word]) -> Iterator[Started]:
    """`python -c text` and the like. A script file is a program like any other."""
    name = words[0].text.rpartition("/")[2]
    letters, options = next((row[1], row[2]) for row in INTERPRETERS if row[0].fullmatch(name))
    for word in words[1:]:
        text = word.text
        if text in _INFORMATION:
            return
        if text == "-" or text in ("/dev/stdin", "/dev/fd/0"):
            break
        is_cluster = text.startswith("-") and not text.startswith("--")
        if text in options or any(text.startswith(f"{option}=") for option in options if option[:2] == "--"):
            yield Unreadable(f"`{name}` runs text in a language of its own")
            return
        if is_cluster and name.startswith(("python", "pypy")) and "m" in text and "c" not in text:
            return
        if is_cluster and set(letters) & set(text[1:]):
            yield Unreadable(f"`{name}` runs text in a language of its own")
            return
        if not text.startswith("-"):
            if not word.known:
                yield Unreadable(f"`{name}` gets a word that the shell fills in")
            return
    if not _NOT_FROM_INPUT.fullmatch(name):
        yield StartedInput(is_shell=False)


def awk(words: Sequence[Word]) -> Iterator[Started]:
    """awk can start programs by `system`, `|` and `getline`."""
    if any(not word.known or re.search(r"system|getline|\||@", word.text) for word in words[1:]):
        yield Unreadable("`awk` may run commands from its program")


_SED_RUNS = re.compile(
    r"(?:^|[;{}\n\d$/!])\s*e(?:\s|$|;)|s(?P<mark>[^\w\s]).*(?P=mark).*(?P=mark)[gpIiMm\d]*e", re.DOTALL
)


def sed(words: Sequence[Word]) -> Iterator[Started]:
    """GNU sed runs what it found: `s/x/y/e` and the command `e`."""
    if any(_SED_RUNS.search(word.text[:10_000]) for word in words[1:]):
        yield Unreadable("`sed` may run commands from its script")
