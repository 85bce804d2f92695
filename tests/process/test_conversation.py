"""Lines over stdin and stdout, for processes that have no other descriptors. The others are in tests/runtimes."""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator

import pytest

from samuel.process.conversation import Conversation

Start = Callable[[str], Conversation]


@pytest.fixture
def talk(env: dict[str, str]) -> Iterator[Start]:
    started = []

    def start(script: str) -> Conversation:
        started.append(Conversation(["/bin/sh", "-c", script], cwd="/", env=env, over_stdio=True))
        return started[-1]

    yield start
    for conversation in started:
        conversation.close()


def test_conversation_answers_each_line_with_a_line_and_keeps_stderr_apart(talk: Start) -> None:
    conversation = talk('while read -r line; do echo "aside $line" >&2; echo "answer $line"; done')
    for word in (b"one", b"two"):
        reply = conversation.ask(word + b"\n", timeout=60.0, limit=1000)
        assert (reply.ended, reply.answer, reply.stderr) == (
            "answered",
            b"answer %b\n" % word,
            b"aside %b\n" % word,
        )
    assert not conversation.stale


def test_conversation_process_ends_when_its_input_ends(talk: Start) -> None:
    reply = talk("read -r line; echo why >&2; exit 3").ask(b"x\n", timeout=60.0, limit=1000)
    assert (reply.ended, reply.stderr, reply.returncode) == ("died", b"why\n", 3)


def test_conversation_without_an_answer_in_time_ends_with_its_children(talk: Start) -> None:
    conversation = talk("setsid sleep 60 & sleep 60")
    assert conversation.ask(b"x\n", timeout=0.3, limit=1000).ended == "timed_out"
    assert conversation.over


def test_unasked_output_makes_a_conversation_stale(talk: Start) -> None:
    conversation = talk("read -r line; echo answer; echo said >&2; echo more; exec sleep 60")
    answer = conversation.ask(b"x\n", timeout=60.0, limit=1000).answer
    if answer == b"answer\n":  # else the second line came with the first
        select.select([conversation._answer], [], [], 10.0)
        assert conversation.stale
    else:
        assert answer == b"answer\nmore\n"
