"""Following a check command to the files that it runs: through make, npm and shell scripts, to a bounded depth."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from fnmatch import fnmatchcase

from samuel.checks.makefile import NAMES as MAKEFILES
from samuel.checks.makefile import Makefile
from samuel.checks.pytest_settings import TextReader, places_of_tests
from samuel.checks.runners import WRAPPERS, looks_like_check, runner_call
from samuel.checks.shell_words import SimpleCommand, below, simple_commands

MAX_DEPTH = 8
MAX_STEPS = 200  # scripts, recipes and targets of one check
MAX_INCLUDES = 20
_PACKAGE_MANAGERS = ("npm", "pnpm", "yarn", "bun")
_SCRIPT_LISTS = ("npm-run-all", "npm-run-all2", "run-s", "run-p", "concurrently")
_INTERPRETERS = ("python", "node", "ruby", "perl", "php", "tsx", "ts-node", "deno", "bun", "lua", "Rscript")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "source", ".")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
# Words of package managers that are not the name of a script.
_OWN_WORDS = frozenset(
    ("install", "ci", "i", "add", "audit", "publish", "pack", "link", "version", "config", "why")
)


class CommandReader:
    """Collects what one check command runs or reads."""

    def __init__(self, files: Container[str], read: TextReader) -> None:
        self._files = files
        self._read = read
        self._depth = 0
        self.named: dict[str, None] = {}
        self.patterns: dict[str, None] = {}
        self.runners: dict[str, None] = {}
        self.calls: list[tuple[str, SimpleCommand]] = []
        self.steps: dict[str, None] = {}

    def line(self, text: str, directory: str = "") -> None:
        """Follow every simple command of a command line."""
        if self._depth >= MAX_DEPTH or len(self.steps) >= MAX_STEPS:
            return
        self._depth += 1
        for command in simple_commands(text, directory):
            self._command(command)
        self._depth -= 1

    def _command(self, command: SimpleCommand) -> None:
        program = command.program
        for wrapper in command.wrappers:
            self.patterns.update(dict.fromkeys(WRAPPERS.get(wrapper, ())))
        if call := runner_call(program, command.arguments):
            self.runners[call.name] = None
            self.calls.append((call.name, command))
            self.patterns.update(dict.fromkeys(_inside(command.directory, call.patterns)))
            if call.name in ("pytest", "tox"):
                self._pytest_settings(command.directory)
        if program in ("make", "gmake"):
            self._make(command)
        elif program == "just":
            self._just(command)
        elif program in _PACKAGE_MANAGERS:
            self._package_manager(command)
        elif program in _SCRIPT_LISTS:
            for pattern in command.arguments:
                self._scripts(pattern.removeprefix("npm:"), command.directory)
        elif program in _SHELLS:
            self._script(next((word for word in command.arguments if not word.startswith("-")), ""), command)
        elif program in _INTERPRETERS and "-m" not in command.arguments and "-c" not in command.arguments:
            self._script(_first_file(command.arguments), command)
        elif "/" in command.words[0]:
            self._script(command.words[0], command)

    # make and just

    def _make(self, command: SimpleCommand) -> None:
        directory, file, targets = command.directory, "", []
        words = iter(command.arguments)
        for word in words:
            if word in ("-C", "--directory"):
                directory = below(directory, next(words, ""))
            elif word.startswith("--directory="):
                directory = below(directory, word.partition("=")[2])
            elif word in ("-f", "--file", "--makefile"):
                file = next(words, "")
            elif not word.startswith("-") and "=" not in word:
                targets.append(word)
        candidates = [below(directory, name) for name in ([file] if file else MAKEFILES)]
        self.named.update(dict.fromkeys(candidates))  # one that make prefers may be added
        self.patterns[f"/{below(directory, '*.mk')}"] = None
        makefile = self._makefile(next((name for name in candidates if self._read(name)), ""), directory)
        for target in targets or [makefile.first]:
            for name in makefile.targets(target):
                if self._is_new(f"make:{directory}:{name}"):
                    for line in makefile.commands(name):
                        self.line(line, directory)

    def _makefile(self, path: str, directory: str) -> Makefile:
        makefile = Makefile()
        makefile.read(self._read(path) if path else "")
        for count, name in enumerate(makefile.includes):  # the list grows while it is read
            if count >= MAX_INCLUDES:
                break
            included = below(directory, name)
            if not included.startswith(("/", "$")):
                self.named[included] = None
                makefile.read(self._read(included))
        return makefile

    def _just(self, command: SimpleCommand) -> None:
        paths = [below(command.directory, name) for name in _JUSTFILES]
        self.named.update(dict.fromkeys(paths))
        recipes = just_recipes(next(filter(None, map(self._read, paths)), ""))
        names = [word for word in command.arguments if word in recipes] or [*recipes][:1]
        for name in names:
            self._just_recipe(name, recipes, command.directory)

    def _just_recipe(self, name: str, recipes: dict[str, tuple[list[str], list[str]]], directory: str) -> None:
        if name not in recipes or not self._is_new(f"just:{directory}:{name}"):
            return
        needed, lines = recipes[name]
        for other in needed:
            self._just_recipe(other, recipes, directory)
        for line in lines:
            self.line(line, directory)

    # npm and the like

    def _package_manager(self, command: SimpleCommand) -> None:
        directory, words = command.directory, []
        arguments = iter(command.arguments)
        for word in arguments:
            if word in ("--prefix", "--dir", "--cwd", "-C"):
                directory = below(directory, next(arguments, ""))
            elif word == "--":
                break
            elif not word.startswith("-"):
                words.append(word)
        if words[:1] in (["run"], ["run-script"]):
            words = words[1:]
        elif command.program == "bun":  # `bun test` is its own test runner
            words = [] if words[:1] == ["test"] else words
        name = {"t": "test", "tst": "test"}.get(words[0], words[0]) if words else ""
        self.named[below(directory, "package.json")] = None
        if not name or name in _OWN_WORDS:
            return
        if not self._scripts(name, directory) and command.program in ("yarn", "pnpm", "bun"):
            self.line(" ".join(words), directory)  # `yarn jest` runs a program of node_modules

    def _scripts(self, pattern: str, directory: str) -> bool:
        """Follow the scripts with this name, or this pattern of `npm-run-all`; whether there is one."""
        scripts = package_scripts(self._read(below(directory, "package.json")))
        names = [name for name in scripts if name == pattern or fnmatchcase(name, pattern)]
        for name in names:
            for step in (f"pre{name}", name, f"post{name}"):
                if step in scripts and self._is_new(f"script:{directory}:{step}"):
                    self.line(scripts[step], directory)
        return bool(names)

    # scripts and settings

    def _script(self, word: str, command: SimpleCommand) -> None:
        path = below(command.directory, word) if word else ""
        if not path or path.startswith(("/", "$", "~", "..")):
            return
        text = self._read(path)
        is_shell = (
            command.program in _SHELLS
            or path.endswith(".sh")
            or bool(re.match(r"#!.*\b(?:ba|da|z|k)?sh\b", text.partition("\n")[0]))
        )
        # `python app.py` runs what is being built, and an attempt may change that as it likes.
        if not looks_like_check(path) and not (is_shell and path in self._files):
            return
        self.named[path] = None
        if is_shell and self._is_new(f"file:{path}"):
            self.line(text, command.directory)

    def _pytest_settings(self, directory: str) -> None:
        """Where pytest looks for tests, if its settings name places and names of their own."""
        for setting, values in places_of_tests(self._read, directory).items():
            for value in values:
                if setting == "testpaths" and looks_like_check(value):
                    self.patterns[f"/{below(directory, value)}"] = None
                elif setting == "python_files" and value not in ("*.py", "*"):
                    self.patterns[value] = None

    def _is_new(self, step: str) -> bool:
        if step in self.steps or len(self.steps) >= MAX_STEPS:
            return False
        self.steps[step] = None
        return True


def package_scripts(text: str) -> dict[str, str]:
    """The scripts of a package.json; {} if it cannot be read."""
    try:
        scripts = json.loads(text or "{}")["scripts"].items()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: value for name, value in scripts if isinstance(value, str)}


def just_recipes(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """The recipes of a justfile: what each depends on, and its lines."""
    recipes: dict[str, tuple[list[str], list[str]]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line[:1] in (" ", "\t"):
            lines.append(line.strip().lstrip("@-"))
        elif rule := re.match(r"@?([A-Za-z_][\w-]*)(?:\s[^:=]*)?:(?!=)\s*([^#]*)", line):
            needed, lines = re.findall(r"[A-Za-z_][\w-]*", rule[2]), []
            recipes[rule[1]] = needed, lines
    return recipes


def _inside(directory: str, patterns: Iterable[str]) -> list[str]:
    """Patterns with a slash in front hold from the directory that a command runs in."""
    return [f"/{below(directory, pattern[1:])}" if pattern.startswith("/") else pattern for pattern in patterns]


def _first_file(arguments: Iterable[str]) -> str:
    return next((word for word in arguments if not word.startswith("-") and word != "run"), "")
