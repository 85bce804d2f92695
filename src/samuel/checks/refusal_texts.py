"""Why an attempt is refused, as the next attempt and a person read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samuel.base.printable import file_name, listed

MAX_NAMED = 10
PROTECTED = "files that samuel.toml protects were changed, and put back: "
ADVICE = (
    "make the work pass the tests as they were; if the task cannot be done without changing them, "
    "claim it again with the same changes, and a person decides"
)
"""The line for an agent."""
CONTESTED = "the task does not own these tests, which this attempt changed: "


def hidden_text(paths: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MAX_NAMED])
    return f"files that the checks run or read are hidden from git: {named}; remove them, or let git see them"


def not_kept_text(not_kept: Mapping[str, str], problems: Sequence[str]) -> str:
    named = ", ".join(f"`{path}` ({why})" for path, why in list(not_kept.items())[:MAX_NAMED])
    text = f"files that the checks run or read cannot be judged: {named}; leave them as they were"
    return f"{text}\n{_not_put_text(problems)}" if problems else f"{text}; they were put back"


def protected_text(paths: Sequence[str], not_put: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:MAX_NAMED])
    put = "" if not not_put else "; not all of them could be put back"
    text = f"{PROTECTED}{named}{put}; only a task whose `Files:` names them may change them"
    return f"{text}\n{_not_put_text(not_put)}" if not_put else text


def _not_put_text(problems: Sequence[str]) -> str:
    return (
        "files that the checks run or read could not be put back, so the attempt counts as failed: "
        + "; ".join(problems[:MAX_NAMED])
        + "; make them writable for the user of the run"
    )


def contested_text(
    paths: Sequence[str], failed: Sequence[str], not_run: Sequence[str], softened: Sequence[str], why: str
) -> str:
    """What the next attempt reads; `for_person` gives it to a person who has to decide."""
    named = listed([f"`{file_name(path)}`" for path in paths], MAX_NAMED)
    lines = [f"{CONTESTED}{named}"] if paths else []
    if not_run:
        lines.append(f"tests that ran before do not run with this work: {listed(not_run, MAX_NAMED)}")
    if failed:
        lines.append(f"as they were, they fail with this work: {listed(failed, MAX_NAMED)}")
    lines += (f"weakened: {line}" for line in softened[:MAX_NAMED])
    return "\n".join([*lines, ADVICE, *([why] if why else ())])


def for_person(text: str) -> str:
    """A text of `contested_text` without what only an agent can do."""
    return "\n".join(line for line in text.splitlines() if line != ADVICE)
