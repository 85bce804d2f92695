"""Options and settings with which git runs another program.

Git has more settings that name a program than a list can hold, so those that name none are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from samuel.shell.started import Started, Unreadable
from samuel.shell.word import Word

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
_RUNNING = re.compile(
    r"--config-env.*|--exec-path=.+|foreach|--\S+-filter.*|-O.+|--open-files.*|--ex(?:e(?:c|cu.*)?|t.*)?(?:=.*)?"
    r"|--upload-pack.*|--receive-pack.*|--template=.*|-u.*upload-pack.*|ext::.*",
    re.DOTALL | re.IGNORECASE,
)
_RUNNING_LETTERS = {"rebase": "x", "difftool": "x", "bisect": "", "clone": "cu"}
_GLOBAL_VALUED = frozenset({"-C", "--git-dir", "--work-tree", "--namespace"})
_READING = frozenset(
    {"get", "--get", "--get-all", "--get-regexp", "-l", "--list", "list", "--unset", "--unset-all", "unset"}
)


def git(words: Sequence[Word]) -> Iterator[Started]:
    """What of a git command may run another program: `-c diff.external=...`, `rebase -x`, `ext::`."""
    subcommand, settings = _parts(words[1:])
    risky = any(not _is_harmless(setting) for setting in settings)
    name, rest = (subcommand[0].text, subcommand[1:]) if subcommand else ("", ())
    if name == "config":
        risky = risky or _sets_a_program(rest)
    letters = _RUNNING_LETTERS.get(name, "")
    short = re.compile(f"-[A-Za-z]*[{letters}].*", re.DOTALL) if letters else None
    for word in words[1:]:
        risky = risky or bool(_RUNNING.fullmatch(word.text))
    risky = risky or any(short is not None and short.fullmatch(word.text) for word in rest)
    risky = risky or (name == "bisect" and any(word.text == "run" for word in rest))
    if risky:
        yield Unreadable("`git` has an option or a setting that may run commands")


def _parts(words: Sequence[Word]) -> tuple[Sequence[Word], list[Word]]:
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
    if any(word.text in _READING for word in words) or len(operands) < 2:
        return False
    return not _is_harmless(operands[0])
