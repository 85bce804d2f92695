"""Programs that run text: shells, whose text is read, and interpreters of other languages, whose text is not."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from samuel.shell.options import named
from samuel.shell.started import Started, StartedInput, Unreadable, joined_script
from samuel.shell.word import Word

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "ash", "rbash", "yash", "posh"})
_SHELL_FILES = ("--rcfile", "--init-file")
_INFORMATION = frozenset({"--version", "--help", "-V", "-h", "--versions"})
_DESCRIPTOR = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/[^/]+/fd/\d+")
# Modules of Python that run a program which is among their words or comes through standard input.
_RUNNING_MODULES = named("timeit code cProfile profile trace pdb doctest runpy asyncio webbrowser")
_LOADING = named("-r --require --import --loader --experimental-loader")  # of node
_AWK_FILE = re.compile(r"-[A-Za-z]*f|--file|-E|--exec")
_SHOWS_VERSION = re.compile(r"(?:perl|ruby|php|lua)[\d.]*|jruby|node|nodejs|bun|deno|luajit|julia|fish|nu")
_LONG_FLAGS = re.compile(
    r"--(?:check|test|watch|no-[\w-]+|inspect[\w-]*|experimental-(?!loader)[\w-]+|enable-[\w-]+|trace-[\w-]+|harmony[\w-]*"
    r"|expose-gc|preserve-symlinks[\w-]*|throw-deprecation|use-strict|strict|verbose|quiet|syntax-check|jit|yjit)"
)
# Options with which the program shows something, checks a file, or looks for what it runs itself.
_RUNS_NO_TEXT = re.compile(
    r"php[\d.]* -(?:[limSv]|-(?:info|syntax-check|modules|ini|server))|node(?:js)? --(?:test|check)"
)
_NOT_FROM_INPUT = re.compile(r"bun|deno|gdb|lldb|ghc|elixir|erl|cmd.*")
_AWK_RUNS = re.compile(r"system|getline|\||@")
_AWK_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*|\|\|', re.DOTALL)
_AWK_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.)+/")
_AWK_BEFORE_REGEX = "~(,!{};&|\n"
_EXPANSION = re.compile(r"\$\{[^}]*\}|\$\w+|\$\([^)]*\)|`[^`]*`")
_SED_OPTION = re.compile(
    r"-([nErsubz]*)(?:(e)(.*)|l.*|i.*)?|--expression(=)(.*)|--(?!file|sandbox|exp)[\w=-]+", re.DOTALL
)
_ADDRESS = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
_BLANKS = re.compile(r"[\s;]*")
_FLAGS = re.compile(r"[gpIiMm0-9]*")
_LINE = re.compile(r"(?:\\.|[^\\\n])*\n?", re.DOTALL)
_LABEL = re.compile(r"[^;\n}]*")
_NUMBER = re.compile(r"\s*\d*")


class Interpreter(NamedTuple):
    names: re.Pattern[str]
    inline: str
    """Letters of options whose value is a program."""
    inline_names: tuple[str, ...] = ()
    flags: str = ""
    """Letters of options without a value. The word after any other option may be its value."""
    joins: bool = False
    """Are all words after the option parts of the program?"""

    def is_inline(self, text: str) -> bool:
        letters = text[1:] if text.startswith("-") and not text.startswith("--") else ""
        return text.partition("=")[0] in self.inline_names or bool(set(self.inline) & set(letters))


INTERPRETERS = (
    Interpreter(re.compile(r"(?:python|pypy)[\d.]*w?"), "c", (), "bBdEiIOPqRsSuvx"),
    Interpreter(re.compile(r"perl[\d.]*(?:-[\w-]+)?"), "eE", (), "acnpstTuUvwWXl"),
    Interpreter(re.compile(r"ruby[\d.]*|jruby"), "e", (), "aclnpsSUvwW"),
    Interpreter(re.compile(r"node|nodejs|bun|deno"), "ep", ("--eval", "--print", "eval", "repl")),
    Interpreter(re.compile(r"php[\d.]*"), "rBER", ("--run",), "nqsvwilmf"),
    Interpreter(re.compile(r"lua[\d.]*|luajit"), "e", (), "iEvW"),
    Interpreter(
        re.compile(r"R|Rscript|julia|osascript|groovy|scala|guile|sbcl|ghc|elixir|erl"),
        "eE",
        ("--eval", "--expression"),
    ),
    Interpreter(re.compile(r"tclsh[\d.]*|expect|wish"), "c"),
    Interpreter(
        re.compile(r"fish|csh|tcsh|nu|xonsh|elvish|pwsh|powershell(?:\.exe)?|cmd(?:\.exe)?"),
        "cCeE",
        ("-Command", "--command", "/c", "/C", "/k", "/K", "/r", "/R"),
        joins=True,
    ),
    Interpreter(re.compile(r"gdb|lldb"), "x", ("-ex", "--ex", "--eval-command", "--command", "-o")),
)


def shell(words: Sequence[Word]) -> Iterator[Started]:
    """`bash -c text`, `bash file` and `bash` with its commands on standard input."""
    name, position = words[0].text, 1
    is_inline, reads_input, only_checks = False, False, False
    while position < len(words):
        word = words[position]
        text = word.text
        if is_inline and not text.startswith(("-", "+")):
            break
        if not word.literal or word.pattern:
            yield Unreadable(f"`{name}` gets a word that the shell fills in", "text")
            return
        if text in _INFORMATION and text.startswith("--"):
            return
        if text in ("-", "--"):
            position += 1
            break
        if not text.startswith(("-", "+")):
            break
        if text.startswith(_SHELL_FILES):
            yield Unreadable(f"`{name}` reads commands from a file", "file")
        if not text.startswith("--"):
            is_inline |= "c" in text and text[0] == "-"
            reads_input |= "s" in text and text[0] == "-"
            only_checks |= "n" in text and "i" not in text and text[0] == "-"
        takes_value = text in _SHELL_FILES or (not text.startswith("--") and text[-1] in "oO")
        position += 2 if takes_value else 1
    rest = words[position:]
    if only_checks:
        return  # `bash -n script` reads the commands and runs none
    if is_inline:
        yield joined_script(rest[:1]) if rest else Unreadable(f"`{name} -c` has no text")
    elif rest and not reads_input and not _DESCRIPTOR.fullmatch(posixpath.normpath(rest[0].text)):
        yield Unreadable(f"`{name}` reads commands from a file", "file")
    else:
        yield StartedInput(is_shell=True)


def runs_a_script(words: Sequence[Word]) -> bool:
    """`bash script.sh`, `bash -n`: more words are arguments of the script, or scripts that are only checked."""
    flags = [word.text for word in words[1:] if word.text.startswith("-")]
    is_checked = any("n" in flag for flag in flags if not flag.startswith("--"))
    has_file = any(not word.text.startswith(("-", "+")) for word in words[1:])
    is_inline = any("c" in flag or "s" in flag for flag in flags)
    return words[0].text.rpartition("/")[2] in SHELLS and not is_inline and (is_checked or has_file)


def interpreter(words: Sequence[Word]) -> Iterator[Started]:
    """`python -c text` and the like. A script file is a program like any other."""
    name = words[0].text.rpartition("/")[2]
    language = next(row for row in INTERPRETERS if row.names.fullmatch(name))
    may_be_value = False
    for position, word in enumerate(words[1:], 1):
        text = word.text
        if text in _INFORMATION or (text == "-v" and len(words) == 2 and _SHOWS_VERSION.fullmatch(name)):
            return
        if text == "-" or _DESCRIPTOR.fullmatch(posixpath.normpath(text)):
            break
        letters = text[1:] if text.startswith("-") and not text.startswith("--") else ""
        if _RUNS_NO_TEXT.fullmatch(f"{name} {text}"):
            return
        if language.is_inline(text):
            yield Unreadable(
                f"`{name}` runs text in a language of its own", "code", _code(words, position, language)
            )
            return
        if letters and name.startswith(("python", "pypy")) and "m" in letters:
            module = letters.partition("m")[2] or _next(words, position)
            if module.partition(".")[0] in _RUNNING_MODULES:
                reason = f"the module `{module}` runs text in a language of its own"
                yield Unreadable(reason, "code", _code(words, position))
            return  # any other module is a program like any other
        if text.partition("=")[0] in _LOADING and "data:" in f"{text} {_next(words, position)}":
            yield Unreadable(f"`{name}` runs text in a language of its own", "code", _code(words, position))
            return
        if not text.startswith("-") and not may_be_value:
            if not word.literal:
                yield Unreadable(f"`{name}` gets a word that the shell fills in", "text")
            return
        is_flag = bool(letters and set(letters) <= set(language.flags)) or bool(_LONG_FLAGS.fullmatch(text))
        may_be_value = text.startswith("-") and not is_flag
    if not _NOT_FROM_INPUT.fullmatch(name):
        yield StartedInput(is_shell=False)


def _next(words: Sequence[Word], position: int) -> str:
    return words[position + 1].text if position + 1 < len(words) else ""


def _code(words: Sequence[Word], position: int, language: Interpreter | None = None) -> str:
    """The program: the option at `position`, its value, and those of more such options after them."""
    rest = words[position:]
    if language is None or language.joins:
        return "\n".join(word.text for word in rest)
    options = [at for at, word in enumerate(rest) if not at or language.is_inline(word.text)]
    return "\n".join(word.text for at in options for word in rest[at : at + 2])


def awk(words: Sequence[Word]) -> Iterator[Started]:
    """awk can start programs by `system`, `|` and `getline`."""
    if any(_AWK_FILE.match(word.text) for word in words[1:]):
        yield Unreadable("`awk` reads its program from a file", "file")
        return
    is_value = False
    for word in words[1:]:
        if is_value or word.text.startswith(("-F", "-v")):  # a separator, or the value of a variable
            is_value = word.text in ("-F", "-v") and not is_value
            if word.literal:
                continue
        if not word.literal or _AWK_RUNS.search(_awk_code(word.text)):
            yield Unreadable("`awk` may run commands from its program", "code", word.text)
            return


def _awk_code(program: str) -> str:
    """The program without its texts, comments, regular expressions and `||`; all of it where these are in doubt.

    A slash begins a regular expression where nothing could be divided. Elsewhere, and with brackets in it, it is
    not certain where one ends, and so neither where a text begins.
    """
    code: list[str] = []
    position, before = 0, ""
    while position < len(program):
        character = program[position]
        regex = _AWK_REGEX.match(program, position) if before in _AWK_BEFORE_REGEX else None
        if character == "\\" or (character == "/" and not regex):
            return program
        if skipped := regex or _AWK_TEXT.match(program, position):
            before = "|" if skipped[0] == "||" else before if character == "#" else "x"
            code.append(" ")
            position = skipped.end()
            continue
        code.append(character)
        before = before if character in " \t\r" else character
        position += 1
    return "".join(code)


def sed(words: Sequence[Word]) -> Iterator[Started]:
    """GNU sed runs what it found: `s/x/y/e` and the command `e`. Its options may follow its files."""
    scripts: list[Word] = []
    operands: list[Word] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word.text == "--sandbox":
            return
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif match := _SED_OPTION.fullmatch(word.text):
            if match[2] or match[4]:
                value = match[3] or match[5]
                scripts.append(word._replace(text=value) if value else rest.pop(0) if rest else Word("$"))
        else:
            yield Unreadable("`sed` reads its script from a file, or has an option that is not known here", "file")
            return
    for script in scripts or operands[:1]:
        text = script.text if script.literal else _EXPANSION.sub("1", script.text)
        try:
            is_running = may_run_commands(text)
        except NotUnderstood:
            yield Unreadable("`sed` may run commands from its script", "syntax")
            continue
        if is_running:
            yield Unreadable("`sed` may run commands from its script", "code", script.text)


class NotUnderstood(Exception):
    """The script has a part that sed would not take, or that is not known here."""


def may_run_commands(script: str) -> bool:
    """Whether a command of the script runs something. Raises NotUnderstood for a script that cannot be read."""
    position = 0
    while (position := _skip(_BLANKS, script, position)) < len(script):
        position = _after_addresses(script, position)
        if script[position : position + 1] in ("e", ""):
            return True
        position = _after_command(script, position)
        if position < 0:
            return True
    return False


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _after_addresses(script: str, position: int) -> int:
    while True:
        before = position
        if script[position : position + 1] == "/":
            position = _skip_letters("IM", script, _after_delimited(script, position + 1, "/"))
        elif script[position : position + 1] == "\\" and position + 1 < len(script):
            position = _after_delimited(script, position + 2, script[position + 1])
            position = _skip_letters("IM", script, position)
        else:
            position = _skip(_ADDRESS, script, position)
        position = _skip_letters(" \t,!", script, position)
        if position == before:
            return position


def _after_delimited(script: str, position: int, mark: str) -> int:
    """Where the text after the next `mark` begins. In sed, brackets do not protect it."""
    while position < len(script):
        if script[position] == "\\":
            position += 2
        elif script[position] == mark:
            return position + 1
        else:
            position += 1
    raise NotUnderstood


def _skip_letters(letters: str, script: str, position: int) -> int:
    while position < len(script) and script[position] in letters:
        position += 1
    return position


def _after_command(script: str, position: int) -> int:
    """Where the next command begins; -1 if this one runs something."""
    letter, position = script[position], position + 1
    match letter:
        case "s" | "y":
            if position >= len(script):
                raise NotUnderstood
            mark = script[position]
            position = _after_delimited(script, _after_delimited(script, position + 1, mark), mark)
            position = _skip(_FLAGS, script, position) if letter == "s" else position
            if script[position : position + 1] == "e":
                return -1
            return _skip(_LINE, script, position) if script[position : position + 1] == "w" else position
        case "a" | "i" | "c" | "r" | "R" | "w" | "W" | "#" | "v":
            return _skip(_LINE, script, position)
        case "b" | "t" | "T" | ":":
            return _skip(_LABEL, script, position)
        case "q" | "Q" | "l" | "L":
            return _skip(_NUMBER, script, position)
        case "{" | "}" | "n" | "N" | "d" | "D" | "g" | "G" | "h" | "H" | "p" | "P" | "x" | "z" | "=" | "F":
            return position
    raise NotUnderstood
