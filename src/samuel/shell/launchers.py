"""Programs that start a command which is among their arguments: `find -exec`, `xargs`, `ssh`, `watch`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from samuel.shell.options import Options, named, split
from samuel.shell.started import Started, StartedCommand, StartedInput, StartedScript, Unreadable, joined_script
from samuel.shell.word import Word


def _options(pattern: str, names: str = "") -> re.Pattern[str]:
    """Matches an option like `pattern`, or one with a long name, which may be cut short: `--filt=...`."""
    long_names = [f"--{_abbreviated(name)}(?:=.*)?" for name in names.split()]
    return re.compile("|".join((*([pattern] if pattern else []), *long_names)), re.DOTALL)


def _abbreviated(name: str) -> str:
    pattern = ""
    for letter in reversed(name[1:]):
        pattern = f"(?:{re.escape(letter)}{pattern})?"
    return re.escape(name[0]) + pattern


MAX_ARGUMENTS = 50  # of `parallel`
_PARALLEL_VALUED = named(
    "-j --jobs -a --arg-file -I -S --sshlogin --joblog --delay --timeout --colsep -n -N -L --tmpdir"
)
_FIND_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_XARGS = Options(
    "0oprtx",
    "adEIJLnPRSs",
    named("null open-tty interactive no-run-if-empty verbose exit show-limits help version"),
    named("arg-file delimiter max-lines max-args max-procs max-chars process-slot-var"),
)
# Options whose value, if there is one, is in the same word; the first two say what is replaced in the command.
_XARGS_ATTACHED = re.compile(r"(?:(-[0oprtx]*i|--replace=?)|-[0oprtx]*[el]|--eof=?|--max-lines=)(.*)", re.DOTALL)
_XARGS_PLAIN = named("r t p o P no-run-if-empty verbose interactive open-tty max-procs")
_SSH = Options("46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopQRSWw")
_SU = Options("flmpPTuw", "cgGs", named("fast login pty preserve-environment"), named("command group shell"))
_RUNUSER = Options("flmpPTw", "cgGsu", _SU.long_flags, _SU.long_valued | {"user"})
_WATCH = Options("bcdegtwxrqf0123456789", "nq", named("exec color beep differences no-title"), named("interval"))
_SCRIPT = Options("aefq", "cEIoOBmtT", named("append flush quiet return"), named("command log-out"))
# Options that run a command, of programs that otherwise run none.
_RUNNING_OPTIONS: dict[str, re.Pattern[str]] = {
    "tar": _options(
        r"-[A-Za-z]*[IF].+|-[A-Za-z]+[IF]",
        "checkpoint-action to-command use-compress-program rsh-command info-script new-volume-script",
    ),
    "scp": _options(r"-[A-Za-z]*S.*|(?i:.*(?:proxy|local|remote|hosts)command.*)"),
    "sftp": _options(r"-[A-Za-z]*[Sb].*|(?i:.*(?:proxy|local|remote|hosts)command.*)"),
    "zip": _options(r"-[A-Za-z]*T{2}", "unzip-command"),
    "vim": _options(r"-[cSuUsW]|-[A-Za-z]*[es][A-Za-z]*|\+(?!\d*$).+", "cmd"),
    "sort": _options("", "compress-program"),
    "split": _options("--f(?:i(?:l(?:te?)?)?)?=.*"),
    "install": _options("", "strip-program"),
    "fd": _options(r"-[A-Za-z0-9]+[xX]|-[xX].+|--exec(?:-batch)?=.*"),
    "npx": _options("-c", "call"),
    "crontab": _options("-"),
    "man": _options(r"-[PH].*", "pager html"),
    "make": _options(
        r"-|-[A-Za-z]*f-|--(?:file|makefile)=-|/dev/\S+|(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)\+?=.*", "eval"
    ),
    "sqlite3": _options(r"\s*\.(?:sh|shell|sys|system|read|load|once|output|import).*|-cmd|-init"),
}
EDITORS = frozenset({"vim", "vi", "nvim", "view", "emacs"})
# Options that are read elsewhere, or that run nothing and only look like one that is cut short.
_WHOLE_OPTIONS = frozenset({"--checkpoint", "--use-compress-program", "--to-command", "--filter"})
_SHOWING_ACTIONS = re.compile(
    r"--checkpoint-action=(?:dot|\.|bell|echo|ttyout|totals|sleep|wait)(?:=.*)?", re.DOTALL
)
RUNNING_OPTIONS = {
    **_RUNNING_OPTIONS,
    "fdfind": _RUNNING_OPTIONS["fd"],
    **dict.fromkeys(("vi", "nvim", "view", "emacs"), _RUNNING_OPTIONS["vim"]),
    **dict.fromkeys(("gmake", "bmake"), _RUNNING_OPTIONS["make"]),
    "gtar": _RUNNING_OPTIONS["tar"],
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
    if not mark or mark not in word.text:
        return word
    is_script = any(character.isspace() for character in word.text)
    return Word(word.text.replace(mark, "${arg}") if is_script else word.text, literal=False, pattern=word.pattern)


def xargs(words: Sequence[Word]) -> Iterator[Started]:
    """The command of xargs, which gets more arguments from standard input."""
    own_words, mark, options_typed = [], "", []  # type: tuple[list[Word], str, list[Word]]
    rest = list(words[1:])
    while rest and rest[0].text.startswith("-") and rest[0].text != "--":
        word = rest.pop(0)
        options_typed.append(word)
        if match := _XARGS_ATTACHED.fullmatch(word.text):
            mark = match[2] or "{}" if match[1] else mark
            continue
        own_words.append(word)
        if rest and (word.text[1:] in _XARGS.valued or word.text[2:] in _XARGS.long_valued):
            own_words.append(rest.pop(0))
            options_typed.append(own_words[-1])
    if rest and rest[0].text == "--":
        rest.pop(0)
    options = split(own_words, _XARGS)
    if options.problem or (rest and not rest[0].literal):
        reason = options.problem or "a word that the shell fills in stands where options are"
        # xargs refuses an option that it does not know, and starts nothing
        yield Unreadable(f"`xargs`: {reason}", "arguments" if "is unknown" in reason else "option")
    mark = next((value.text for letter in "IJ" if (value := options.letters.get(letter))), mark)
    if rest:
        is_plain = not mark and len(own_words) == len(options_typed) and options.letters.keys() <= _XARGS_PLAIN
        yield StartedCommand(tuple(_filled_in(word, mark) for word in rest), not mark, takes_input=is_plain)


def parallel(words: Sequence[Word]) -> Iterator[Started]:
    """A command for each argument after `:::`, which a shell runs; without these, for each line of input."""
    position = next((at for at, word in enumerate(words) if word.text.startswith(":::")), len(words))
    own_words = list(words[1:position])
    while own_words and own_words[0].text.startswith("-"):
        option = own_words.pop(0)
        if own_words and option.text in _PARALLEL_VALUED:
            own_words.pop(0)
    arguments = [word for word in words[position + 1 :] if not word.text.startswith(":::")]
    if position == len(words) or any(word.text.startswith("::::") for word in words[position:]):
        if own_words:
            yield StartedCommand(tuple(_filled_in(word, "{") for word in own_words), open_ended=True)
        else:
            yield StartedInput(is_shell=True)
        return
    template = " ".join(word.text for word in own_words)
    exact = all(word.literal for word in (*own_words, *arguments))
    for argument in arguments[:MAX_ARGUMENTS]:
        quoted = shlex.quote(argument.text) if template else argument.text
        text = template.replace("{}", quoted) if "{}" in template else f"{template} {quoted}"
        yield StartedScript(text.strip(), exact)
    if own_words:  # with the option `-q` its words stay as they are
        yield StartedCommand(tuple(_filled_in(word, "{") for word in own_words))
    if len(arguments) > MAX_ARGUMENTS:
        yield Unreadable("`parallel` makes more commands than are read", "limit")


def ssh(words: Sequence[Word]) -> Iterator[Started]:
    """The command on the other machine, which a shell there gets as one text."""
    options = split(words[1:], _SSH)
    if options.problem:
        is_filled_in = bool(options.rest) and not options.rest[0].literal
        yield Unreadable(f"`ssh`: {options.problem}", "arguments" if is_filled_in else "option")
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
    is_runuser = words[0].text.endswith("runuser")
    options = split(words[1:], _RUNUSER if is_runuser else _SU)
    text = text or options.letters.get("c") or options.letters.get("command")
    if text:
        yield joined_script([text])
    elif is_runuser and {"u", "user"} & options.letters.keys() and options.rest:
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
    after_file = split(options.rest[1:], _SCRIPT).letters if options.rest else {}
    letters = {**options.letters, **after_file}
    text = letters.get("c") or letters.get("command")
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
    for position, word in enumerate(words[1:], 1):
        is_harmless = word.text.partition("=")[0] in _WHOLE_OPTIONS or _SHOWING_ACTIONS.fullmatch(word.text)
        if is_harmless or not RUNNING_OPTIONS[name].fullmatch(word.text):
            continue
        if name in EDITORS:
            code = "\n".join(other.text for other in words[position : position + 2])
            yield Unreadable(f"`{name}` runs text in a language of its own", "code", code)
        else:
            yield Unreadable(f"`{name}` has an option that may run commands")


_RSH = re.compile(r"(?:-[A-Za-z]*?e|--rsh(?:=|$))(.*)|--rs.*", re.DOTALL)
_REMOTE_PROGRAM = "--rsync-path"
_PLAIN_SSH = re.compile(r"(?:/usr/bin/)?ssh(?: +(?:-[46aCqTvx]+|-[pil] *(?:[\w./@~-]|\$\w+|\$\{\w+\})+))*")


def rsync(words: Sequence[Word]) -> Iterator[Started]:
    """rsync starts what `-e` names, unless that is just ssh, with options that run nothing."""
    for at, word in enumerate(words):
        name, equals, text = word.text.partition("=")
        if name == _REMOTE_PROGRAM:  # a shell of the other machine runs it
            value = Word(text, word.literal) if equals else next(iter(words[at + 1 : at + 2]), Word(""))
            yield StartedScript(value.text, value.literal)
        elif at and (match := _RSH.fullmatch(word.text)):
            value = Word(match[1], word.literal) if match[1] else next(iter(words[at + 1 : at + 2]), Word(""))
            if match[1] is None or not _PLAIN_SSH.fullmatch(value.text):
                yield Unreadable("`rsync` has an option that may run commands")


def run_subcommand(words: Sequence[Word]) -> Iterator[Started]:
    """`uv run pytest`, `poetry run pytest`: the command after the word `run` or `exec`, and its options."""
    position = next((at for at, word in enumerate(words) if word.text in ("run", "exec")), len(words))
    rest = list(words[position + 1 :])
    while rest and rest[0].text.startswith("-"):
        del rest[: 2 if rest[0].text in _RUN_VALUED else 1]
    if rest:
        yield StartedCommand(tuple(rest))


_RUN_VALUED = named("--with --python -p --extra --group --project --directory")
_PACKAGE_RUNNERS = frozenset({"exec", "x", "dlx"})


def package_runner(words: Sequence[Word]) -> Iterator[Started]:
    """`npm exec -- eslint .`, `pnpm dlx x`: a program of a package, or any other that is on the path."""
    position = next((at for at, word in enumerate(words) if word.text in _PACKAGE_RUNNERS), 0)
    rest = list(words[position + 1 :]) if position else []
    while rest and rest[0].text.startswith("-") and rest[0].text != "--":
        option = rest.pop(0).text
        if option.startswith(("-c", "--call")):
            yield Unreadable(f"`{words[0].text} {words[position].text}` runs a text")
            return
    if rest and rest[0].text == "--":
        rest.pop(0)
    if rest:
        yield StartedCommand(tuple(rest))


def scripted_editor(words: Sequence[Word]) -> Iterator[Started]:
    """`ed` and `ex` take commands from standard input, `!` among them."""
    yield StartedInput(is_shell=False)


_HARMLESS_SETTINGS = re.compile(
    r"(?:user\.(?:name|email|signingkey|useconfigonly)|(?:commit|tag|push)\.gpgsign|init\.defaultbranch|color\..*|advice\..*"
    r"|column\..*|log\..*|status\..*|blame\..*|fetch\..*|push\..*|pull\..*|branch\..*\.(?:merge|remote|rebase|description)"
    r"|core\.(?:quotepath|autocrlf|eol|filemode|ignorecase|symlinks|longpaths|abbrev|bare|whitespace|compression"
    r"|safecrlf|precomposeunicode|protecthfs|protectntfs|excludesfile|logallrefupdates|checkstat|untrackedcache)"
    r"|remote\..*\.(?:url|fetch|pushurl|tagopt|prune)|url\..*|http\.(?!.*proxy)[\w.]*|safe\.directory|gc\..*|pack\..*|index\..*"
    r"|feature\..*|rerere\..*|merge\.(?:ff|conflictstyle|renames|stat|log)|diff\.(?:algorithm|renames|noprefix|context|colormoved)"
    r"|rebase\.(?:autostash|autosquash|updaterefs|stat)|submodule\.recurse|receive\..*|transfer\..*|lfs\.(?!.*custom).*"
    r"|maintenance\..*|format\.pretty|pretty\..*|help\..*|versionsort\..*|extensions\..*|credential\.(?:username|usehttppath))",
    re.IGNORECASE,
)
_GIT_RUNNING = re.compile(
    r"--config-env.*|--exec-path=.+|foreach|--(?!diff-)\S+-filter.*|-O.+|--open-files.*|--ex(?:e(?:c|cu.*)?|t.*)?(?:=.*)?"
    r"|--upload-pack.*|--receive-pack.*|--template=.*|-u.*upload-pack.*|ext::.*",
    re.DOTALL | re.IGNORECASE,
)
_RUNNING_LETTERS = {"rebase": "x", "difftool": "x", "bisect": "", "clone": "cu"}
_GLOBAL_VALUED = frozenset({"-C", "--git-dir", "--work-tree", "--namespace"})
_READING_OPTIONS = frozenset(
    {"get", "--get", "--get-all", "--get-regexp", "-l", "--list", "list", "--unset", "--unset-all", "unset"}
)


def git(words: Sequence[Word]) -> Iterator[Started]:
    """What of a git command may run another program: `-c diff.external=...`, `rebase -x`, `ext::`.

    Git has more settings that name a program than a list can hold, so those that name none are listed.
    """
    subcommand, settings = _subcommand_and_settings(words[1:])
    risky = any(not _is_harmless(setting) for setting in settings)
    name, rest = (subcommand[0].text, subcommand[1:]) if subcommand else ("", ())
    if name == "config":
        risky = risky or _sets_a_program(rest)
    letters = _RUNNING_LETTERS.get(name, "")
    short = re.compile(f"-[A-Za-z]*[{letters}].*", re.DOTALL) if letters else None
    for word in words[1:]:
        risky = risky or bool(_GIT_RUNNING.fullmatch(word.text))
    risky = risky or any(short is not None and short.fullmatch(word.text) for word in rest)
    risky = risky or (name == "bisect" and any(word.text == "run" for word in rest))
    if risky:
        yield Unreadable("`git` has an option or a setting that may run commands")


def _subcommand_and_settings(words: Sequence[Word]) -> tuple[Sequence[Word], list[Word]]:
    """The subcommand with its words, and the settings before it."""
    settings: list[Word] = []
    position = 0
    while position < len(words) and words[position].text.startswith("-"):
        text = words[position].text
        if text == "-c":
            settings += words[position + 1 : position + 2]
        elif text.startswith("-c"):
            settings.append(words[position]._replace(text=text[2:]))
        position += 2 if text == "-c" or text in _GLOBAL_VALUED else 1
    return words[position:], settings


def _is_harmless(setting: Word) -> bool:
    key = setting.text.partition("=")[0]
    return "$" not in key and bool(_HARMLESS_SETTINGS.fullmatch(key))


def _sets_a_program(words: Sequence[Word]) -> bool:
    operands = [word for word in words if not word.text.startswith("-") and word.text not in ("set", "--add")]
    if any(word.text in _READING_OPTIONS for word in words) or len(operands) < 2:
        return False
    return not _is_harmless(operands[0])
