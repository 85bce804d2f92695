"""What every runtime must do, whatever its handlers are written in.

A runtime's tests subclass `RuntimeContract` and say how to build the runtime and the handlers; pytest then runs
all of this against it. The handlers answer to `context.extra`, and each behaviour is what its name says:

    answers     {"extras": [{"name": "a", "content": "b"}]}
    empty       nothing at all
    data        {"data": {"Venv": ".venv"}, "unknown": [1]}
    crash       an error; "the reason" on stderr
    hang        never comes back, and starts another process that does not either
    bad         not a JSON object
    flood       more than LIMIT bytes
    chatter     "chatter" on stderr, then the answer {"x": 1}
    echo        {"deadline_ms": <from the payload>, "event": <from the payload>, "size": <length of task.text>,
                "id": <task.id>}
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests.length import at_length

from samuel.config.model import Limits
from samuel.events import ContextExtra
from samuel.files.survey import signature
from samuel.hooks.handler import Handler, Outcome
from samuel.process.environment import clean
from samuel.runtimes.base import Runtime, Setting
from samuel.trust.content import TrustedContent, TrustedFile
from samuel.trust.digests import digest_file

LIMIT = 256 * 1024


class Permitted(NamedTuple):
    handler: Handler
    content: TrustedContent


def setting(
    root: Path,
    cache: Path,
    environment: Mapping[str, str] | None = None,
    *,
    memory: int = 64 * 1024 * 1024,
    output: int = LIMIT,
    **more: Any,
) -> Setting:
    """What a runtime is created with: the limits of these tests, and a clean environment."""
    limits = Limits(handler_output_bytes=output, handler_memory_bytes=memory)
    return Setting(root, clean() if environment is None else environment, cache, limits, **more)


def event(**fields: Any) -> ContextExtra:
    return ContextExtra(**{"event_id": "evt-1", "deadline_ms": 5000, "task": {"id": "1", "text": ""}, **fields})


class RuntimeContract:
    timeout = 60.0
    many = at_length(6, 16)  # calls at the same time
    opens_files = True  # False: it runs what is stored by its digest, and no file of the handler

    def build(self, root: Path) -> Runtime:
        """The runtime, with LIMIT as its limit of output, and whatever its handlers need."""
        raise NotImplementedError

    def handler(self, root: Path, behaviour: str) -> Handler:
        """A handler of `context.extra` that behaves so."""
        raise NotImplementedError

    def other_content(self, content: bytes) -> bytes:
        """The file of a handler with other bytes that would answer all the same."""
        return content + b"\n"

    @pytest.fixture
    def runtime(self, tmp_path: Path, marked: Any) -> Iterator[Runtime]:
        runtime = self.build(tmp_path)
        yield runtime
        runtime.close()
        runtime.close()  # twice is no harm
        marked.check()

    @pytest.fixture
    def call(self, runtime: Runtime, tmp_path: Path) -> Callable[..., Any]:
        def call(behaviour: str, payload: ContextExtra | None = None, timeout: float | None = None) -> Any:
            return runtime.call(self.handler(tmp_path, behaviour), payload or event(), timeout or self.timeout)

        return call

    def test_it_answers(self, call: Callable[..., Any]) -> None:
        reply = call("answers")
        assert reply.outcome is Outcome.OK, reply
        assert reply.result == {"extras": [{"name": "a", "content": "b"}]}
        assert reply.message == ""

    def test_nothing_is_no_opinion(self, call: Callable[..., Any]) -> None:
        reply = call("empty")
        assert (reply.outcome, reply.result, reply.message) == (Outcome.OK, {}, "")

    def test_data_and_unknown_keys_arrive(self, call: Callable[..., Any]) -> None:
        assert call("data").result == {"data": {"Venv": ".venv"}, "unknown": [1]}

    def test_a_crash_has_a_reason(self, call: Callable[..., Any]) -> None:
        reply = call("crash")
        assert reply.outcome is Outcome.CRASHED
        assert "the reason" in reply.message
        assert "the reason" in reply.stderr
        assert reply.result == {}

    def test_a_deadline_ends_everything(self, call: Callable[..., Any], marked: Any) -> None:
        assert call("hang", timeout=1.0).outcome is Outcome.TIMED_OUT
        assert marked.strays() == []

    def test_bad_output(self, call: Callable[..., Any]) -> None:
        reply = call("bad")
        assert reply.outcome is Outcome.BAD_OUTPUT
        assert reply.message
        assert reply.result == {}

    def test_too_much_output(self, call: Callable[..., Any]) -> None:
        reply = call("flood")
        assert reply.outcome is Outcome.BAD_OUTPUT
        assert str(LIMIT) in reply.message
        assert "handler_output_bytes" in reply.message

    def test_what_it_prints_besides_is_kept_apart(self, call: Callable[..., Any]) -> None:
        reply = call("chatter")
        assert reply.result == {"x": 1}
        assert "chatter" in reply.stderr
        assert call("answers").stderr == ""  # and belongs to its own call

    def test_it_knows_the_event_and_its_deadline(self, call: Callable[..., Any]) -> None:
        result = call("echo").result
        assert (result["deadline_ms"], result["event"]) == (5000, "context.extra")

    def test_keys_that_it_does_not_know_do_no_harm(self, call: Callable[..., Any]) -> None:
        payload = event(task={"id": "1", "text": "", "from_the_future": {"a": [None]}}, context={"New": {"x": 1}})
        assert call("echo", payload).outcome is Outcome.OK

    def test_a_megabyte_of_payload(self, call: Callable[..., Any]) -> None:
        reply = call("echo", event(task={"id": "1", "text": "ä" * 500_000}))
        assert reply.result["size"] == 500_000

    def test_many_at_the_same_time(self, call: Callable[..., Any]) -> None:
        with ThreadPoolExecutor(8) as threads:
            numbers = range(self.many)
            replies = list(threads.map(lambda n: call("echo", event(task={"id": str(n), "text": ""})), numbers))
        assert [reply.result["id"] for reply in replies] == [str(n) for n in numbers]

    def test_the_next_call_is_fine_after_every_fault(self, call: Callable[..., Any]) -> None:
        for behaviour in ("crash", "bad", "flood", "hang"):
            call(behaviour, timeout=1.0 if behaviour == "hang" else None)
            assert call("answers").outcome is Outcome.OK, behaviour

    def test_a_handler_that_is_not_there(self, runtime: Runtime, tmp_path: Path) -> None:
        handler = self.handler(tmp_path, "answers")
        Path(handler.path).unlink()
        reply = runtime.call(handler, event(), self.timeout)
        assert reply.outcome is Outcome.NOT_STARTED
        assert "does not exist" in reply.message

    @pytest.fixture
    def permitted(self, runtime: Runtime, tmp_path: Path) -> Permitted:
        """A handler that answers, and the content that its permit covers."""
        if not self.opens_files:
            pytest.skip("it opens no file of its handlers")
        handler = self.handler(tmp_path, "answers")
        file = TrustedFile(signature(os.stat(handler.path)), (digest_file(handler.path),))
        return Permitted(handler, TrustedContent(files={handler.path: file}))

    def test_content_that_was_permitted_runs(self, runtime: Runtime, permitted: Permitted) -> None:
        reply = runtime.call(permitted.handler, event(), self.timeout, permitted.content)
        assert (reply.outcome, reply.changed) == (Outcome.OK, False), reply
        assert reply.result["extras"]

    def test_a_file_that_changed_after_its_permit_is_not_run(self, runtime: Runtime, permitted: Permitted) -> None:
        file = Path(permitted.handler.path)
        file.write_bytes(self.other_content(file.read_bytes()))
        reply = runtime.call(permitted.handler, event(), self.timeout, permitted.content)
        assert (reply.changed, reply.result) == (True, {})
        assert reply.outcome is not Outcome.OK
        # Without a permit to compare with, it would have answered: what kept it from running are its digests.
        assert runtime.call(permitted.handler, event(), self.timeout).outcome is Outcome.OK

    def test_a_file_beside_those_that_were_permitted_is_not_run(
        self, runtime: Runtime, permitted: Permitted
    ) -> None:
        directory = os.path.dirname(permitted.handler.path)
        reply = runtime.call(permitted.handler, event(), self.timeout, TrustedContent(directories=(directory,)))
        assert (reply.changed, reply.result) == (True, {})
        assert reply.outcome is not Outcome.OK

    def test_the_payload_is_not_changed(self, call: Callable[..., Any]) -> None:
        payload = event(task={"id": "1", "text": "", "list": [1]})
        before = msgspec.json.encode(payload)
        call("answers", payload)
        assert msgspec.json.encode(payload) == before
