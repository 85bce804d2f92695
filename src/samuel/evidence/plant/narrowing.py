"""A check command that runs some test files alone, where that is plain from the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from samuel.evidence.plant.planted import CalledRunner, Plant
from samuel.files.globs import chosen

_BY_PATH = frozenset(("pytest", "jest", "vitest", "mocha", "ava", "tape", "tap", "node-test", "rspec", "phpunit"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLAIN_PATH = re.compile(r"[\w./-]+")
_SHELL_SIGNS = re.compile(r"[;&|<>$`()#~\n\\!]")
_PATTERN_SIGNS = re.compile(r"[*?{}\[\]]")
# Options whose next word is not a test: `python -m pytest -p no:cacheprovider`, `cargo test --config FILE`.
_WITH_VALUE = frozenset(
    ("-m", "-p", "-k", "-o", "-W", "-n", "-c", "-j", "--rootdir", "--tb", "--maxfail", "--config", "--jobs")
)
_FLAG = re.compile(r"-[qvxsl]+|-r\w+|--no-[\w-]+|--test|--run|--quiet|--silent|--verbose|--offline|--locked")


def narrowed(command: str, plant: Plant, files: Collection[str] = ()) -> str | None:
    """The command for the file of the plant alone; None if the whole command must run."""
    if plant.kind == "changed expectation":
        return None
    return narrowed_to(command, plant.call, [*plant.files][:1], files)


def narrowed_to(command: str, call: CalledRunner, paths: Sequence[str], files: Collection[str] = ()) -> str | None:
    """The command for these test files alone; None if the whole command must run. `files` are those of the tree.

    Only for a command that is the runner's call itself: behind make or npm, variables and steps would be lost. If
    it names directories or patterns, the files must be among them. Only the tests of these files run, so a run
    that was cut short elsewhere is not seen with it.
    """
    if not paths or call.directory or not all(map(_PLAIN_PATH.fullmatch, paths)) or _SHELL_SIGNS.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    arguments = list(call.arguments)
    if not words or "--" in words or (arguments and words[-len(arguments) :] != arguments):
        return None
    head = words[: len(words) - len(arguments)]
    if call.name == "go-test":
        directories = dict.fromkeys(f"./{path.rpartition('/')[0]}" for path in paths)
        return _joined([*words[:-1], *directories]) if words[-1] == "./..." else None
    if call.name == "cargo":
        targets = _cargo_targets(paths, files)
        is_plain = arguments[:1] == ["test"] and all(map(_is_cargo_option, _unvalued(arguments[1:])))
        return _joined([*words, *targets]) if targets and is_plain else None
    if call.name == "maven":
        if any(_may_be_path(word) for word in arguments[1:]):
            return None
        names = ",".join(path.rpartition("/")[2].removesuffix(".java") for path in paths)
        return _joined([*words, f"-Dtest={names}"])
    options = _without_paths(arguments, paths, files) if call.name in _BY_PATH else None
    return _joined([*head, *options, *paths]) if options is not None else None


def _without_paths(arguments: Sequence[str], paths: Sequence[str], files: Collection[str]) -> list[str] | None:
    """The arguments without those that name tests; None if these are unclear, or the paths are not among them."""
    named = [word for word in _unvalued(arguments) if _may_be_path(word) or _is_directory(word, files)]
    patterns = [f"/{word.removeprefix('./').rstrip('/')}" for word in named]
    for number, word in enumerate(arguments):
        before = arguments[number - 1] if number else ""
        if word in named and before.startswith("-") and not _FLAG.fullmatch(before):
            return None
        if _PATTERN_SIGNS.search(word.replace("*", "") if word in named else word):
            return None
    if named and (not files or not all(chosen(path, patterns) for path in paths)):
        return None
    return [word for word in arguments if word not in named]


def _cargo_targets(paths: Sequence[str], files: Collection[str]) -> list[str]:
    """The options of cargo for the targets with these files; [] if one is in none that is plain."""
    targets: dict[tuple[str, ...], None] = {}
    for path in paths:
        if test := re.fullmatch(r"tests/([\w-]+)(?:/main)?\.rs", path):
            targets["--test", test[1]] = None
        elif path.startswith("src/") and "src/lib.rs" in files and not path.startswith(("src/bin/", "src/main.")):
            targets["--lib",] = None
            if "src/main.rs" in files or any(file.startswith("src/bin/") for file in files):
                targets["--bins",] = None  # it may be a module of these
        else:
            return []
    return [word for target in targets for word in target]


def _unvalued(arguments: Sequence[str]) -> Iterator[str]:
    """The words that are not the value of the option before them."""
    before = ""
    for word in arguments:
        if before not in _WITH_VALUE:
            yield word
        before = word


def _is_cargo_option(word: str) -> bool:
    """Whether a word leaves it to cargo which targets of the package run."""
    return word in _WITH_VALUE - {"-p"} or bool(
        re.fullmatch(r"-[qv]+|--(?:offline|locked|frozen|quiet|verbose|release|no-fail-fast|all-features)", word)
    )


def _joined(words: Sequence[str]) -> str:
    """The words as a command; `NAME=value` before it stays an assignment."""
    count = next((number for number, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))
    assignments = [
        f"{name}={shlex.quote(value)}" for name, _, value in (word.partition("=") for word in words[:count])
    ]
    return " ".join([*assignments, shlex.join(words[count:])])


def _may_be_path(word: str) -> bool:
    return not word.startswith("-") and ("/" in word or "." in word or word in ("test", "tests", "spec"))


def _is_directory(word: str, files: Collection[str]) -> bool:
    return not word.startswith("-") and any(file.startswith(f"{word.rstrip('/')}/") for file in files)
