"""What the words of a PRD say about a task: its id, how urgent and how complex it is, what it waits for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from samuel.tasks.task import ACCEPTANCE_TESTS, KINDS, PRIORITIES, PROOFS


class Title(NamedTuple):
    id: str
    text: str
    fields: dict[str, Any]


_NUMBER = r"\d+(?:\.\d+)*(?!\.?\d)"  # all of it: `2.2` alone, or `1.5x`, is no `2` or `1` with a title
_ID = re.compile(
    rf"""(?:(?:task|step|item|work\ item|user\ story|story|phase|epic|feature|milestone|issue)\s+)?
    (?:
        (?P<letters>[A-Za-z]{{1,10}}[-_]?{_NUMBER})(?=:\s)    # any word with a number, if a colon ends it
      | (?-i:(?P<key>[A-Z]{{1,10}}-{_NUMBER}))(?=\s+[-–—]\s)  # US-001 - Title
      | \[(?-i:(?P<label>[A-Z]{{1,10}}-?{_NUMBER}))\]         # [US-001] Title
      | \((?P<round>{_NUMBER})\)                              # (5) Title
      | \#?(?P<number>T?{_NUMBER})(?=[\s.:)])                 # 1, 1.1, #7, T001
    )
    (?:[.:)]|\s+[-–—](?=\s))?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
# Possessive quantifiers: no title, however odd, makes these slow.
_BRACKETS = re.compile(r" ?(?:\[(?P<square>[^][()]*+)\]|\((?P<round>(?:[^][()]++|\([^][()]*+\))*+)\))")
_TOKENS = re.compile(r"[~≈]?[\d.,]++ ?k? ?tokens?(?: ?[-–—:,|/] ?(.+))?", re.IGNORECASE)
_COMPLEXITY = re.compile(r"(simple|medium|complex)", re.IGNORECASE)
_URGENCY = re.compile(r"(?:(?i:priority):? ?)?(P[0-3])")
_URGENCY_WORDS = re.compile(
    r"priority:? ?(critical|high|medium|low|urgent)|(?i:(critical|high|medium|low|urgent) priority)", re.IGNORECASE
)
_URGENCY_LABEL = re.compile(r"(critical|high|low|urgent)", re.IGNORECASE)
_AFTER = re.compile(r"((?:depends on|blocked by|requires|after):? .*)", re.IGNORECASE)
_WAITING = ("depends on", "depends", "dependencies", "blocked by", "requires", "after")
_WAITS = re.compile(rf"({'|'.join(_WAITING)})\b:?", re.IGNORECASE)

_PROSE = ("a", "all", "an", "each", "every", "it", "that", "the", "there", "this", "whether")  # no commands
_NOTHING = ("none", "nothing", "-", "–", "n/a", "no")
_PRIORITY_WORDS: dict[str, str] = {
    **{str(priority): str(priority) for priority in PRIORITIES},
    **{f"p{number}": str(priority) for number, priority in enumerate(PRIORITIES)},
    **dict.fromkeys(("urgent", "blocker", "highest", "immediate"), PRIORITIES[0]),
    **dict.fromkeys(("must", "must-have", "major", "important"), PRIORITIES[1]),
    **dict.fromkeys(("should", "should-have", "normal", "moderate"), PRIORITIES[2]),
    **dict.fromkeys(("could", "could-have", "nice-to-have", "minor", "lowest", "trivial", "p4"), PRIORITIES[3]),
}


def title(text: str) -> Title:
    """`1.1 Write it [~3,000 tokens - Medium]` in its parts. Without a number the id is ""."""
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text)
    fields: dict[str, Any] = {}
    text = _BRACKETS.sub(lambda brackets: _annotation(brackets, fields), text).strip()
    match = _ID.match(text)
    if not match or match.end() == len(text):  # a number alone is a title
        return Title("", text, fields)
    id = match["letters"] or match["key"] or match["label"] or match["round"] or match["number"]
    return Title(id, text[match.end() :], fields)


def _annotation(brackets: re.Match[str], fields: dict[str, Any]) -> str:
    """What remains of the brackets in the title: nothing, if they name a field. The first of a kind counts."""
    for name, pattern, kinds, read in _IN_TITLES:
        words = next((" ".join(brackets[kind].split()) for kind in kinds if brackets[kind] is not None), "")
        match = None if name in fields else pattern.fullmatch(words)
        if not match:
            continue
        words = next((group for group in match.groups() if group), "")
        value = read(words) if words else ""
        if value != ():  # otherwise it is prose after all
            if value:
                fields[name] = value
            return ""
    return brackets[0]


def body(lines: Iterable[tuple[str, bool]]) -> tuple[list[str], dict[str, Any]]:
    """The lines below a title (and whether each is code): what remains as text, and the fields that were named.

    Raises ValueError for a line with an unknown priority.
    """
    text: list[str] = []
    fields: dict[str, Any] = {}
    for line, code in lines:
        match = None if code else _FIELD_NAME.match(line)
        value = line[match.end() :].strip() if match else ""
        named = _field(match["name"].lower(), value) if match and value else {}
        for name, values in named.items():
            if isinstance(values, tuple):
                fields.setdefault(name, []).extend(values)
            else:
                fields[name] = values
        if not named:
            text.append(line)
    return text, {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _field(name: str, value: str) -> dict[str, Any]:
    """{} where the words are prose after all: it stays in the description."""
    if name not in _WAITING:
        return _FIELDS[name](value)
    ids = waits_for(f"{name}: {value}")
    return {"depends_on": ids} if ids or value.strip(".").lower() in _NOTHING else {}


def _files(text: str) -> dict[str, Any]:
    files = _list(text, ",")
    new = tuple(file.removesuffix("(new)").strip(" `") for file in files if file.endswith("(new)"))
    return {"files_to_create": new, "files_to_modify": tuple(file for file in files if not file.endswith("(new)"))}


def _commands(text: str) -> tuple[str, ...]:
    """The commands of `Check: make e2e` or of "Check: `make e2e`, `make load`"; () if it is prose."""
    if text.startswith("`"):
        return tuple(code.strip() for _, code in re.findall(r"(`+)(.+?)\1", text) if code.strip())
    first = text.split()[0]
    prose = first.lower() in (*_NOTHING, *_PROSE) or re.fullmatch(r"[A-Z][a-z]*", first)
    return () if prose else (text,)


def waits_for(text: str) -> tuple[str, ...]:
    """The ids in `depends on 1.1, Task 2 and T003 (the parser)`; () if any of them is not an id.

    `after 5 minutes` is prose: where the first word is no clear word for waiting, each id must stand alone.
    """
    match = _WAITS.match(text)
    alone = bool(match and match[1].lower() in ("after", "requires"))
    return ids_in(text[match.end() :] if match else text, alone=alone)


def ids_in(text: str, *, alone: bool = False) -> tuple[str, ...]:
    """`1.1, Task 2 and T003 (the parser)`; () if any of them is not an id."""
    ids = []
    for part in re.split(r",|;|&|\band\b", text):
        kind = r"^\W*(?:tasks?|steps?|items?|stor(?:y|ies)|user stor(?:y|ies)|issues?)\s+"
        words = re.sub(kind, "", part.strip(), flags=re.IGNORECASE).split()
        id = words[0].strip("`*#.:()[]") if words else ""
        if not re.search(r"\d", id) or (alone and len(words) > 1):
            return ()
        ids.append(id)
    return tuple(ids)


def priority_fields(text: str) -> dict[str, Any]:
    """`priority` for a word, `rank` for a whole number; ValueError for anything else."""
    word = _word(text)
    if re.fullmatch(r"\d{1,9}", word):
        return {"rank": int(word)}
    return {"priority": _priority(text)}


def heading_priority(text: str) -> str:
    """The priority of the tasks below a heading: `High Priority`, `P0`, `... (Priority: P1)`; or ""."""
    fields = title(text).fields
    words = " ".join(re.sub(r"[^\w -]", " ", text).lower().split())
    match = re.fullmatch(r"(?:priority )?([\w-]+)(?: priority| have)?(?: tasks?| items?)?", words)
    if match and not fields and match[1] in _PRIORITY_WORDS and match[1] not in ("normal", "important"):
        return _PRIORITY_WORDS[match[1]]
    return str(fields.get("priority", ""))


def _priority(text: str) -> str:
    word = _word(text)
    if word not in _PRIORITY_WORDS:
        raise ValueError(f"`{text}` is not a valid priority")
    return _PRIORITY_WORDS[word]


def _word(text: str) -> str:
    words = text.strip(" `*.").lower().split()
    return words[0].strip(",;`*()") if words else ""


def _only_word(text: str) -> str:
    """The word that a text is; "" if it has several."""
    return _word(text) if len(text.split()) == 1 else ""


def _list(text: str, separator: str) -> tuple[str, ...]:
    values = [value.strip().strip("`").strip() for value in text.rstrip(".").split(separator)]
    return tuple(value for value in values if value and value.lower() not in _NOTHING)


_IN_TITLES = (
    ("complexity", _TOKENS, ("square", "round"), _word),
    ("complexity", _COMPLEXITY, ("square",), _word),
    ("priority", _URGENCY, ("square", "round"), _priority),
    ("priority", _URGENCY_WORDS, ("square", "round"), _priority),
    ("priority", _URGENCY_LABEL, ("square",), _priority),
    ("depends_on", _AFTER, ("round",), waits_for),
)

_FIELDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "priority": priority_fields,
    **dict.fromkeys(("acceptance criteria", "acceptance criterion"), lambda value: {"acceptance": (value,)}),
    **dict.fromkeys(("test strategy", "independent test"), lambda value: {"test_strategy": value}),
    "complexity": lambda value: {"complexity": _word(value)},
    "guardrails": lambda value: {"guardrails": _list(value, ";")},
    "check": lambda value: {"checks": commands} if (commands := _commands(value)) else {},
    "kind": lambda value: {"kind": word} if (word := _word(value)) in KINDS else {},
    "proof": lambda value: {"proof": word} if (word := _word(value)) in PROOFS else {},
    **dict.fromkeys(
        ("acceptance", "acceptance tests"),
        lambda value: {"acceptance_tests": word} if (word := _only_word(value)) in ACCEPTANCE_TESTS else {},
    ),
    "changes": lambda value: {"no_change": True} if _word(value) in _NOTHING else {},
    **dict.fromkeys(("files to create", "new files"), lambda value: {"files_to_create": _list(value, ",")}),
    **dict.fromkeys(("files", "files to modify"), _files),
}
_LONGEST_FIRST = sorted((*_WAITING, *_FIELDS), key=len, reverse=True)
# Only the name, maybe as an item of a list: a pattern for the value too would be slow on a line with many blanks.
_FIELD_NAME = re.compile(rf"\s*(?:[-*+]\s+)?\**(?P<name>(?ai:{'|'.join(_LONGEST_FIRST)}))\**\s*:\s*\**")
