"""Running `gh`, with the login that the user gave it. Samuel never sees a token."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from samuel.base.clock import Clock, SystemClock, iso
from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.base.printable import safe, shell_word, shorten
from samuel.forge.forge import ForgeUnavailable
from samuel.process import environment, spawn

PROGRAM = "gh"
TIMEOUT = 60.0
TRIES = 3
LONGEST_WAIT = 60.0
"""Seconds: a limit that ends later is for the user to wait for."""
OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes. A page has up to a hundred issues, each with a text of up to 64 KiB in which a character may take six."""
MOST_PAGES = 1000
ABSENT = (404, 410)

# Where gh finds its login, its hosts and the user's keyring.
_PASSED = (
    *("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"),
    *("GH_HOST", "GH_CONFIG_DIR", "DBUS_SESSION_BUS_ADDRESS"),
)
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_PAGER": "cat", "NO_COLOR": "1"}
_NEEDS_LOGIN = 4  # its exit code

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"HTTP/[\d.]+ (\d{3})")
_STATUS_IN_TEXT = re.compile(r"\bHTTP (\d{3})\b")
_NEXT_PAGE = re.compile(r'<([^<>]*)>\s*;[^,]*\brel="?next"?')
_NO_CONNECTION = re.compile(
    r'^(?:error connecting to |(?:Get|Post|Patch) "|.*(?:i/o timeout|unexpected EOF|\bEOF$))', re.MULTILINE
)


class GhAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes


class GhCommand:
    """`gh` in the directory of a project."""

    def __init__(self, root: Path, clock: Clock | None = None, timeout: float = TIMEOUT) -> None:
        self._root = root
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._environment = environment.clean(_QUIET, _PASSED)
        program = shutil.which(PROGRAM, path=self._environment["PATH"])
        if program is None:
            raise SamuelError(
                f"`{PROGRAM}` is not installed, and Samuel reads GitHub with it",
                "install it from https://cli.github.com, then run `gh auth login`",
            )
        self._program = program

    def json(self, *arguments: str) -> Any:
        """What a command with `--json` prints. A failure to connect is tried again."""
        for attempt in range(1, TRIES + 1):
            finished = self._run(arguments)
            if finished.returncode == 0:
                return _decoded(finished.stdout, " ".join(arguments[:2]))
            problem = _problem(finished)
            if not isinstance(problem, ForgeUnavailable) or attempt == TRIES:
                raise problem
            self._clock.sleep(attempt)
        raise AssertionError  # the loop ends by itself

    def get(
        self,
        host: str,
        path: str,
        parameters: Mapping[str, object] | None = None,
        absent: Sequence[int] = ABSENT,
    ) -> GhAnswer:
        """Ask the REST interface. The answer is a success, or one with a status of `absent`: nothing is there."""
        address = f"{path}?{urlencode(parameters)}" if parameters else path
        for attempt in range(1, TRIES + 1):
            finished = self._run(["api", "--include", "--hostname", host, address])
            answer = _answer(finished.stdout)
            if answer is None:
                problem = _problem(finished)
                wait: float | None = attempt if isinstance(problem, ForgeUnavailable) else None
            elif answer.status < 300 or answer.status in absent:
                return answer
            else:
                problem, wait = self._refusal(answer, host, path, attempt)
            if wait is None or attempt == TRIES:
                raise problem
            self._clock.sleep(wait)
        raise AssertionError  # the loop ends by itself

    def pages(self, host: str, path: str, parameters: Mapping[str, object]) -> Iterator[Any]:
        """The decoded pages of a list, to the last. Of the address of the next page only the query is used."""
        query: Mapping[str, object] = {**parameters, "per_page": 100}
        addresses: set[str] = set()
        for _ in range(MOST_PAGES):
            answer = self.get(host, path, query)
            if answer.status != 200:
                raise _nothing_there(host, path)
            yield _decoded(answer.body, path)
            match = _NEXT_PAGE.search(answer.headers.get("link", ""))
            if match is None:
                return
            query = dict(parse_qsl(urlsplit(match[1]).query))
            if (address := urlencode(query)) in addresses:
                break
            addresses.add(address)
        raise SamuelError(f"`{host}` gives no end of pages for `{path}`", "choose fewer issues")

    def value(self, host: str, path: str, absent: Sequence[int] = ABSENT) -> Any:
        """One decoded object; None if it does not exist."""
        answer = self.get(host, path, absent=absent)
        return _decoded(answer.body, path) if answer.status == 200 else None

    def _run(self, arguments: Sequence[str]) -> spawn.Finished:
        argv = [self._program, *arguments]
        finished = spawn.run(
            argv, cwd=str(self._root), env=self._environment, timeout=self._timeout, output_limit=OUTPUT_LIMIT
        )
        if finished.ended == "timed_out":
            what = f"`{PROGRAM} {arguments[0]}` did not end within {self._timeout:.0f} seconds"
            raise ForgeUnavailable(what, "try again later")
        if finished.ended == "too_much_output":
            raise SamuelError(f"`{PROGRAM} {arguments[0]}` printed more than {OUTPUT_LIMIT:,} bytes")
        if finished.ended != "exited":
            raise SamuelError(f"`{PROGRAM}` could not be run: {finished.why}", f"`{PROGRAM} --version` must work")
        return finished

    def _refusal(self, answer: GhAnswer, host: str, path: str, attempt: int) -> tuple[SamuelError, float | None]:
        """The error for an answer that is no success, and how long to wait before the next try, if that helps."""
        message = _message(answer.body)
        what = f"`{host}` answered {answer.status} for `{path}`" + (f": {message}" if message else "")
        if answer.status == 401:
            return _not_logged_in(host, message), None
        if answer.status == 429 or (answer.status == 403 and _is_limited(answer.headers, message)):
            seconds = self._limit_seconds(answer.headers)
            until = iso(self._clock.now() + seconds)[:19].replace("T", " ")
            limited = ForgeUnavailable(
                f"the rate limit of `{host}` is reached until {until} UTC", "try again then"
            )
            return limited, seconds if seconds <= LONGEST_WAIT else None
        if answer.status >= 500:
            return ForgeUnavailable(what, "try again later"), attempt
        if answer.status == 403:
            hint = f"`gh auth status --hostname {shell_word(host)}` shows the login and what its token may do"
            return SamuelError(what, hint), None
        return SamuelError(what), None

    def _limit_seconds(self, headers: Mapping[str, str]) -> float:
        """How long a rate limit holds, by what its answer says."""
        if (seconds := _number(headers.get("retry-after", ""))) is None:
            reset = _number(headers.get("x-ratelimit-reset", ""))
            seconds = LONGEST_WAIT if reset is None else reset - self._clock.now()
        return max(1.0, seconds)


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _answer(output: bytes) -> GhAnswer | None:
    """The answer that `gh api --include` printed; None if there was none."""
    match = _HEAD_END.search(output)
    if match is None:
        return None
    first, *lines = output[: match.start()].decode("utf-8", "replace").splitlines()
    status = _STATUS.match(first)
    if status is None:
        return None
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    return GhAnswer(int(status[1]), headers, output[match.end() :])


def _decoded(data: bytes, what: str) -> Any:
    try:
        return decode_json(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = shorten(str(error))
        raise ForgeUnavailable(
            f"the answer of GitHub for `{what}` is not JSON: {text}", "try again later"
        ) from None


def _message(body: bytes) -> str:
    """What an error says; "" if it is not JSON."""
    try:
        value = decode_json(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    message = value.get("message") if isinstance(value, dict) else ""
    return shorten(message, 200) if isinstance(message, str) else ""


def _is_limited(headers: Mapping[str, str], message: str) -> bool:
    is_used_up = headers.get("x-ratelimit-remaining") == "0"
    return is_used_up or "retry-after" in headers or "rate limit" in message.lower()


def _problem(finished: spawn.Finished) -> SamuelError:
    """Why `gh` failed, where it printed no answer of the forge."""
    text = safe(finished.stderr.decode("utf-8", "replace").strip())
    line = shorten(text.partition("\n")[0], 300)
    if finished.returncode == _NEEDS_LOGIN:
        return _not_logged_in("", line)
    status = _STATUS_IN_TEXT.search(text)
    if status and status[1] == "401":
        return _not_logged_in("", line)
    if (status and (status[1] == "429" or status[1].startswith("5"))) or "rate limit" in text.lower():
        return ForgeUnavailable(f"no answer from GitHub now: {line}", "try again later")
    if _NO_CONNECTION.search(text):
        return ForgeUnavailable(f"cannot reach GitHub: {line}", "try again later")
    hint = "`gh repo view` must show the repository: it looks at the git remotes of the project"
    return SamuelError(f"`{PROGRAM}` failed: {line or f'it exited with {finished.returncode}'}", hint)


def _not_logged_in(host: str, message: str) -> SamuelError:
    where = f" to `{host}`" if host else ""
    return SamuelError(
        f"`{PROGRAM}` is not logged in{where}" + (f": {message}" if message else ""), "run `gh auth login`"
    )


def _nothing_there(host: str, path: str) -> SamuelError:
    return SamuelError(
        f"`{host}` has no `{path}`, or you may not see it", "`gh auth status` shows who you are there"
    )
