"""Commands that cannot be read before they run, where that is a risk.

Not every part that cannot be read is asked about: a variable in an argument, a script of the project or a few
lines of Python are everyday work. Asked about is what hides a command, and what a program starts that is there for
something else.
"""

from __future__ import annotations

import re

from samuel.shell import Opaque
from samuel.shipped.shell_guard.file_uses import NAMING, READERS
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand
from samuel.shipped.shell_guard.places import Where
from samuel.shipped.shell_guard.unread_code import starts_programs

SHELLS = frozenset(
    (
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "ksh93",
        "mksh",
        "ash",
        "rbash",
        "yash",
        "posh",
        "fish",
        "csh",
        "tcsh",
        "pwsh",
    )
)
CONTAINERS = frozenset({"docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "podman-compose", "ssh"})
_RISKY_WORDS = re.compile(
    r"(?<![\w./-])(?:/\S*/)?(?:rm|rmdir|shred|dd|mkfs\S*|truncate|chmod|chown|sudo|su|curl|wget|nc|ncat|eval|bash|sh|zsh|python3?"
    r"|perl|ruby|node|kill|pkill|killall|mv|crontab|tee|git\s+(?:reset|clean|push|checkout|stash))(?![\w-])"
)
_USUAL_PROGRAM = re.compile(
    r"[\"']?(?:\$\{?(EDITOR|VISUAL|PAGER|BROWSER|CC|CXX|LD|AR|MAKE|PYTHON\d?|PIP|NODE|NPM|GO|CARGO)\}?"
    r"|\$\{([A-Z_]+):?-([\w./-]+)\})[\"']?"
)
_LOOKUPS = re.compile(
    r"^[\"']?(?:\$\(|`)\s*(?:which|command -v|type -p|npm bin|yarn bin|pnpm bin|brew --prefix|go env|git rev-parse|pyenv which|xcrun"
    r"|rbenv which|asdf which|mise which|readlink|realpath|dirname|python3? -c|nix-build|poetry env|pipenv --venv|rustup which|pwd|uname -m|arch)\b"
)
_EVALUATED = re.compile(
    r"^(?:eval\s+)?[\"']?(?:\$\(|`)\s*(?:ssh-agent|pyenv|rbenv|nodenv|jenv|direnv|starship|zoxide|fnm|mise|asdf|brew|dircolors"
    r"|minikube|docker-machine|opam|conda|mamba|micromamba|keychain|thefuck|atuin|register-python-argcomplete|gh completion|fzf"
    r"|kubectl completion|helm completion|luarocks|perl -I|resize|lesspipe|hub alias|goenv|nvm|cat \.env|scmpuff|navi|mcfly|op signin"
    r"|poetry env activate|uv generate|pip completion|npm completion|volta|rtx|spack|\w+ (?:completion|init|hook|shellenv|env)\b)"
)
_COMPLETION = re.compile(r"^(?:source|\.) <\(\s*[\w-]+ (?:completions?|init|hook|shellenv)(?: [\w=-]+)*\s*\)$")
_SHELL_WORD = re.compile(
    r"(?:--?[\w:.-]+=|[@!:|]+\s*|\w+:)?[\"'!]*(?:(?:/usr)?(?:/local)?/bin/|\.\./[./]*bin/)(?:ba|da|z|k|fi|c|tc|a)?sh(?:[\s,;'\"].*)?$",
    re.DOTALL,
)
_NAMING_SHELLS = (
    NAMING
    | READERS
    | {"chsh", "usermod", "useradd", "dpkg-query", "dpkg", "apt", "brew", "git", "make", "cp", "ln"}
)
_SHELL_IN_TEXT = re.compile(r"(?<!#!)(?:/usr)?/bin/(?:ba|da|z|k)?sh\b|\bexecute_process\(|\bsyscall\.Exec\b")
_HARMLESS_AFTER_WRITING = frozenset(
    {"echo", "printf", "cat", "chmod", "touch", "mkdir", "ls", "git", "cd", "head", "grep"}
)
_PROGRAM_FILE = re.compile(
    r"(?:/usr)?(?:/local)?/s?bin/(?:(?:ba|da|z|k|fi|c|tc|a)?sh|rm|dd|shred|busybox|find|env|sudo|chmod|mv|curl|wget|nc|samuel.*)"
)
_SET_UP = re.compile(r"[\"']?(?:\$\(|`)\s*([\w./-]+)(?:\s+[\w./=:@,+-]+)*\s*[)`][\"']?")
_PRINTERS = frozenset(
    (
        *(
            "echo",
            "printf",
            "cat",
            "head",
            "tail",
            "cut",
            "sed",
            "awk",
            "tr",
            "rev",
            "base64",
            "base32",
            "xxd",
            "openssl",
        ),
        *(
            "curl",
            "wget",
            "nc",
            "ncat",
            "gunzip",
            "zcat",
            "python",
            "python3",
            "perl",
            "ruby",
            "node",
            "php",
            "sh",
            "bash",
        ),
        *("jq", "grep", "dig", "host", "git", "history", "fc", "find", "ls", "xargs", "env"),
    )
)
"""Programs that print what they are given: what they print may be anything."""
_DECODERS = frozenset(
    {"base64", "base32", "xxd", "openssl", "uudecode", "rev", "tr", "gunzip", "zcat", "printf", "hexdump", "od"}
)
_ARGUMENT_RISK = re.compile(
    r"(?:^|\s)-[a-zA-Z]*[rRf][a-zA-Z]*(?:\s|$)|(?:^|\s)(?:/|~|\.\.|\$HOME)(?:\s|/|$)|--hard|--force|--delete"
)


def _hidden_program(call: GuardedShellCall) -> str:
    """A program that is not in the text, in a way that hides it."""
    for part in call.opaque:
        if part.kind != "program":
            continue
        head = part.text.split(" ")[0]
        if head == "$" or _is_usual(head, call) or _is_negated_pattern(head, call):
            continue  # bash looks for a program called `$`; `${CC:-gcc}`, `$EDITOR ~/notes`
        name = re.match(r"[\"']?\$\{?(\w+)\}?[\"']?$", head)
        if name and name[1] not in call.variables.assigned and not _ARGUMENT_RISK.search(part.text):
            continue  # `$PYTHON -m pytest`, from the environment
        if _LOOKUPS.match(part.text) or _is_set_up(part.text, call):
            continue
        if name is None and not re.search(r"[$`*?\[{=]", head):
            continue
        if name is None and re.match(r"[\"']?\$\{?\w+\}?[\"']?/[\w./-]+$", head):
            continue  # `$VENV/bin/python`
        return part.text
    return ""


def _is_negated_pattern(head: str, call: GuardedShellCall) -> bool:
    """`ls !(*.o)`, which the parser takes for a command in parentheses."""
    return "*" in head and any(re.search(rf"[?*+@!]\({re.escape(head)}", line) for line in call.lines)


def _is_usual(head: str, call: GuardedShellCall) -> bool:
    """A variable that by custom names a program of that kind, or one with a default that is in the text."""
    match = _USUAL_PROGRAM.fullmatch(head)
    if match is None or (match[1] or match[2]) in call.variables.assigned:
        return False
    return bool(match[1]) or not _RISKY_WORDS.search(match[3])


def _is_set_up(text: str, call: GuardedShellCall) -> bool:
    """`eval "$(tool init)"`: what an installed program prints is as good as the program itself."""
    match = _SET_UP.fullmatch(text.strip())
    is_evaluated = any(command.program in ("eval", "source", ".") for command in call.commands)
    return bool(match) and is_evaluated and match is not None and match[1].rpartition("/")[2] not in _PRINTERS


def _hidden_commands(call: GuardedShellCall) -> str:
    """Values that are evaluated, text that is beyond the limits, and unclear text with programs that matter in it."""
    for part in call.opaque:
        if part.kind in ("value", "limit"):
            return part.text
        if part.kind == "syntax" and part.text not in ("-", "") and _RISKY_WORDS.search(part.text):
            return part.text
    return ""


def _commands_from_input(call: GuardedShellCall) -> str:
    """A shell that runs what another program prints, or what `xargs` adds."""
    for part in call.opaque:
        if part.kind == "input" and not _is_in_a_container(part, call):
            return part.text
    return ""


def _is_in_a_container(part: Opaque, call: GuardedShellCall) -> bool:
    return (
        any(command.command.starter in CONTAINERS and command.text == part.text for command in call.commands)
        or part.program in CONTAINERS
    )


def _text_from_elsewhere(call: GuardedShellCall) -> str:
    """`eval "$x"`, `bash -c "$x"`: nothing of the text is known."""
    for part in call.opaque:
        if part.kind != "text":
            continue
        rest = re.sub(r"^\S+\s+(?:-\w+\s+)*", "", part.text)
        if _EVALUATED.match(part.text) or _EVALUATED.match(rest):
            continue
        if re.fullmatch(
            r"[\"']?(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`.*`|\$@|\$\*|\{\})[\"']?", rest.strip(), re.DOTALL
        ) or (_DECODERS & call.programs and "$(" in part.text):
            return part.text
    return ""


def _option_that_runs(call: GuardedShellCall) -> str:
    return next((part.text for part in call.opaque if part.kind == "option"), "")


def _code_that_starts(call: GuardedShellCall) -> str:
    for part in call.opaque:
        if part.kind == "code" and (part.program in ("sed", "gsed") or starts_programs(part.code)):
            return part.text
        if part.program in ("pwsh", "powershell", "powershell.exe") and re.match(r"-e", part.code, re.IGNORECASE):
            return part.text  # what is encoded
        if part.kind == "code" and re.search(
            r"b64decode|fromhex|atob\(|unhexlify|decode\(['\"](?:hex|rot13|base64)", part.code
        ):
            return part.text
    return ""


def _script_outside(call: GuardedShellCall) -> str:
    """Commands from a file that is not of the project, or from another process."""
    for part in call.opaque:
        if part.kind != "file":
            continue
        words = part.text.split()[1:]
        names = [word for word in words if not word.startswith("-")][:1]
        if _COMPLETION.search(part.text):
            continue  # `source <(kubectl completion bash)`
        if any(word.startswith(("<(", "/dev/fd", "/dev/stdin", "/proc/")) for word in words):
            return part.text
        for name in names:
            for path in call.resolved(name, [call.places.root]):
                if path is not None and path.where in (Where.TEMPORARY_ROOT, Where.DEVICE):
                    return part.text
    return ""


def _shell_from_inside(call: GuardedShellCall) -> str:
    """A shell without commands of its own that a program starts which is there for something else."""
    for command in call.commands:
        starter = command.command.starter
        is_bare = not [word for word in command.operands if word != "-" and not word.isdigit()]
        is_bare = is_bare and not command.has("-c", "-n", "--version", "--help")
        if command.program in SHELLS and starter and starter not in CONTAINERS and is_bare:
            return f"{starter}: {command.text}"
        if command.program not in SHELLS | CONTAINERS | _NAMING_SHELLS | {"$"} and any(
            map(_is_shell, command.arguments)
        ):
            return command.text
    return ""


def _writes_and_runs(call: GuardedShellCall) -> str:
    """A text that names a shell goes to a file, and another program of the same call may read the file."""
    for position, command in enumerate(call.commands):
        is_written = any(redirect.writes for redirect in command.command.redirects)
        if command.program not in ("echo", "printf", "cat", "tee") or not is_written:
            continue
        texts = command.arguments if command.program != "cat" else call.lines
        later = {other.program for other in call.commands[position + 1 :]} - _HARMLESS_AFTER_WRITING
        if later and any(_SHELL_IN_TEXT.search(text) for text in texts):
            return command.text
    return ""


def _copies_a_program(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Another name for a shell, or for a program that the rules look at."""
    return any(_PROGRAM_FILE.fullmatch(word) for word in command.operands[:-1])


def _searches_elsewhere(call: GuardedShellCall) -> str:
    """A search path with a directory that anyone can write to, or that depends on where a command runs."""
    for assignment in call.assignments:
        name, _, value = assignment.partition("=")
        for entry in value.split(":") if name.rstrip("+") == "PATH" else ():
            if entry in ("", ".") or ("$" not in entry and _is_temporary(entry, call)):
                return assignment
    return ""


def _is_temporary(path: str, call: GuardedShellCall) -> bool:
    places = call.resolved(path, [call.places.root])
    return any(item is not None and item.where in (Where.TEMPORARY, Where.TEMPORARY_ROOT) for item in places)


def _is_shell(word: str) -> bool:
    """Whether a word is the path of a shell, or begins with one, alone or as the value of an option."""
    return bool(_SHELL_WORD.match(word))


RULES = GuardArea(
    "unreadable",
    (
        GuardRule(
            "hidden-program",
            "ask",
            "x=rm; $x -rf src",
            "It hides which program runs",
            about_call=_hidden_program,
        ),
        GuardRule(
            "hidden-commands",
            "ask",
            "x='a[$(rm -rf src)]'; ((x))",
            "It has commands that cannot be read before it runs",
            about_call=_hidden_commands,
        ),
        GuardRule(
            "commands-from-input",
            "ask",
            "echo cm0gLXJmIHgK | base64 -d | sh",
            "It runs what comes out of another program",
            about_call=_commands_from_input,
        ),
        GuardRule(
            "text-from-elsewhere",
            "ask",
            'eval "$TEXT"',
            "It runs a text that is not known before",
            about_call=_text_from_elsewhere,
        ),
        GuardRule(
            "option-that-runs",
            "ask",
            "tar cf x.tar src --checkpoint=1 --checkpoint-action=exec=sh",
            "An option or a variable makes a program run something else",
            about_call=_option_that_runs,
        ),
        GuardRule(
            "code-that-starts",
            "ask",
            "python3 -c 'import os; os.system(\"ls\")'",
            "Code of another language starts programs; which ones is not known before it runs",
            about_call=_code_that_starts,
        ),
        GuardRule(
            "script-outside",
            "ask",
            "source <(some-tool)",
            "It runs commands from a file that is not of the project",
            about_call=_script_outside,
        ),
        GuardRule(
            "write-and-run",
            "ask",
            "echo 'exec /bin/sh' > setup.cfg && tool --config setup.cfg",
            "It writes a file that names a shell, and another program of the same call may run it",
            about_call=_writes_and_runs,
        ),
        GuardRule(
            "copy-program",
            "ask",
            "cp /bin/rm tool",
            "It gives a program another name, which hides what runs",
            about_command=_copies_a_program,
            programs=("cp", "ln", "install", "mv"),
        ),
        GuardRule(
            "search-path",
            "ask",
            "PATH=/tmp/tools:$PATH make",
            "It looks for programs in a directory that anyone can write to",
            about_call=_searches_elsewhere,
        ),
        GuardRule(
            "shell-from-inside",
            "ask",
            "find . -exec /bin/sh \\;",
            "A program that is there for something else starts a shell",
            about_call=_shell_from_inside,
        ),
    ),
)
