"""Programs that start a command which is among their arguments: `find -exec`, `xargs`, `ssh`, `watch`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.shell.options import Options, named, split
from samuel.shell.started import Started, StartedCommand, StartedInput, StartedScript, Unreadable, joined_script
from samuel.shell.word import Word

_FIND_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_XARGS = Options(
    "0oprtx",
    "adEIJLnPRSs",
    named("null open-tty interactive no-run-if-empty verbose exit show-limits help version"),
    named("arg-file delimiter max-lines max-args max-procs max-chars process-slot-var"),
)
# Options whose value, if there is one, is in the same word; the first two say what is replaced in the command.
_XARGS_ATTACHED = re.compile(r"(?:(-i|--replace=?)|-[el]|--eof=?|--max-lines=)(.*)", re.DOTALL)
_SSH = Options("46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw")
_SU = Options("flmpPTuw", "cgGs", named("fast login pty preserve-environment"), named("command group shell"))
_WATCH = Options("bcdegtwxrqf0123456789", "nq", named("exec color beep differences no-title"), named("interval"))
_SCRIPT = Options("aefq", "cEIoOBmtT", named("append flush quiet return"), named("command log-out"))
# Options that run a command, of programs that otherwise run none.
_RUNNING_OPTIONS: dict[str, re.Pattern[str]] = {
    "git": re.compile(
        r"(?:-c)?(?:alias\.|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath)|\S*\.(?:cmd|helper)=).*"
        r"|foreach|--\S+-filter.*|--exec-path=.+|--upload-pack.*|--receive-pack.*|--exec.*",
        re.DOTALL | re.IGNORECASE,
    ),
    "tar": re.compile(
        r"--(?:checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume).*"
        r"|-[A-Za-z]*[IF].*",
        re.DOTALL,
    ),
    "rsync": re.compile(r"-[A-Za-z]*e.*|--rsh.*|--rsync-path.*", re.DOTALL),
    "scp": re.compile(r"-[A-Za-z]*[So].*", re.DOTALL),
    "zip": re.compile(r"-[A-Za-z]*T{2}|--unzip-command.*", re.DOTALL),
    "vim": re.compile(r"-c|-S|--cmd|\+.+", re.DOTALL),
    "sort": re.compile(r"--compress-program.*", re.DOTALL),
    "split": re.compile(r"--filter.*", re.DOTALL),
    "fd": re.compile(r"-[A-Za-z0-9]*[xX].*|--exec.*", re.DOTALL),
    "npx": re.compile(r"-c|--call.*", re.DOTALL),
    "tmux": re.compile(r"(?:new|send|run|split|respawn|pipe|if).*", re.DOTALL),
    "crontab": re.compile(r"-"),
    "man": re.compile(r"-[PH].*|--pager.*|--html.*", re.DOTALL),
}
RUNNING_OPTIONS = {
    **_RUNNING_OPTIONS,
    "fdfind": _RUNNING_OPTIONS["fd"],
    **dict.fromkeys(("vi", "nvim", "ex", "view", "emacs"), _RUNNING_OPTIONS["vim"]),
}


def find(words: Sequence[Word]) -> Iterator[Started]:
    """The commands between `-exec` and `;` or `+`, in which `{}` is a file that is not known."""
    position = 1
    while position < len(words):
        if words[position].text not in _FIND_EXEC:
            position += 1
            continue
        end = position + 1
        while end < len(words) and words[end].text != ";" and not _is_plus(words, end):
            end += 1
        yield StartedCommand(tuple(_filled_in(word, "{}") for word in words[position + 1 : end]))
        position = end + 1


def _is_plus(words: Sequence[Word], position: int) -> bool:
    return words[position].text == "+" and words[position - 1].text == "{}"


def _filled_in(word: Word, mark: str) -> Word:
    return word._replace(literal=False) if mark and mark in word.text else word


def xargs(words: Sequence[Word]) -> Iterator[Started]:
    """The command of xargs, which gets more arguments from standard input."""
    own_words, mark = [], ""
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-") and rest[0].text != "--":
        word = rest.pop(0)
        if match := _XARGS_ATTACHED.fullmatch(word.text):
            mark = match[2] or "{}" if match[1] else mark
            continue
        own_words.append(word)
        if rest and (word.text[1:] in _XARGS.valued or word.text[2:] in _XARGS.long_valued):
            own_words.append(rest.pop(0))
    if rest and rest[0].text == "--":
        rest.pop(0)
    options = split(own_words, _XARGS)
    if options.problem or (rest and not rest[0].literal):
        yield Unreadable(
            f"`xargs`: {options.problem or 'a word that the shell fills in stands where options are'}"
        )
    mark = next((value.text for letter in "IJ" if (value := options.letters.get(letter))), mark)
    if rest:
        yield StartedCommand(tuple(_filled_in(word, mark) for word in rest), open_ended=not mark)


def parallel(words: Sequence[Word]) -> Iterator[Started]:
    rest = [word for word in words[1:] if not word.text.startswith("-")]
    yield Unreadable("`parallel` makes commands of its input")
    if rest:
        yield StartedCommand(tuple(_filled_in(word, "{") for word in rest), open_ended=True)


def ssh(words: Sequence[Word]) -> Iterator[Started]:
    """The command on the other machine, which a shell there gets as one text."""
    options = split(words[1:], _SSH)
    if options.problem:
        yield Unreadable(f"`ssh`: {options.problem}")
    if any(re.search("(?:proxy|local|remote|hosts)command", word.text, re.IGNORECASE) for word in words[1:]):
        yield Unreadable("`ssh` runs a command to connect")
    host, *rest = options.rest or [Word("")]
    # Options may stand between the host and the command too.
    after_host = split(rest, _SSH).rest if rest and rest[0].text.startswith("-") else rest
    if after_host:
        yield joined_script(after_host)
    elif host.text and not {"N", "V", "G", "O", "Q"} & options.letters.keys():
        yield StartedInput(is_shell=True)


def su(words: Sequence[Word]) -> Iterator[Started]:
    """`su root -c text`; options may follow the user."""
    text = next((words[at + 1] for at, word in enumerate(words[:-1]) if word.text in ("-c", "--command")), None)
    options = split(words[1:], _SU)
    text = text or options.letters.get("c") or options.letters.get("command")
    if text:
        yield joined_script([text])
    elif words[0].text.endswith("runuser") and "u" in options.letters and options.rest:
        yield StartedCommand(options.rest)
    else:
        yield StartedInput(is_shell=True)


def watch(words: Sequence[Word]) -> Iterator[Started]:
    options = split(words[1:], _WATCH)
    if options.problem:
        yield Unreadable(f"`watch`: {options.problem}")
    if options.rest:
        is_direct = {"x", "exec"} & options.letters.keys()
        yield StartedCommand(options.rest) if is_direct else joined_script(options.rest)


def script(words: Sequence[Word]) -> Iterator[Started]:
    options = split(words[1:], _SCRIPT)
    text = options.letters.get("c") or options.letters.get("command")
    if options.problem:
        yield Unreadable(f"`script`: {options.problem}")
    elif isinstance(text, Word):
        yield StartedScript(text.text, text.literal)
    elif len(options.rest) > 1:  # as on BSD: the file, then the command
        yield StartedCommand(options.rest[1:])
    else:
        yield StartedInput(is_shell=True)


def by_option(words: Sequence[Word]) -> Iterator[Started]:
    """Programs of RUNNING_OPTIONS."""
    name = words[0].text.rpartition("/")[2]
    if any(RUNNING_OPTIONS[name].fullmatch(word.text) for word in words[1:]):
        yield Unreadable(f"`{name}` has an option that may run commands")


OTHER_LAUNCHERS = (
    *("at", "batch", "screen", "entr", "hyperfine", "nodemon", "concurrently", "start-stop-daemon"),
    *("nsenter", "bwrap", "firejail", "proot", "gosu", "su-exec", "capsh", "run-parts"),
    *("ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
)


def unread(words: Sequence[Word]) -> Iterator[Started]:
    """Programs of OTHER_LAUNCHERS: they start a command that stands somewhere among their words."""
    if any(word.text not in ("--version", "--help") for word in words[1:]) or len(words) == 1:
        yield Unreadable(f"`{words[0].text}` starts other commands")


def run_subcommand(words: Sequence[Word]) -> Iterator[Started]:
    """`uv run pytest`, `poetry run pytest`: the command after the word `run` or `exec`, and its options."""
    position = next((at for at, word in enumerate(words) if word.text in ("run", "exec")), len(words))
    rest = list(words[position + 1 :])
    while rest and rest[0].text.startswith("-"):
        takes_value = rest[0].text in (
            "--with",
            "--python",
            "-p",
            "--extra",
            "--group",
            "--project",
            "--directory",
        )
        del rest[: 2 if takes_value and "=" not in rest[0].text else 1]
    if rest:
        yield StartedCommand(tuple(rest))
