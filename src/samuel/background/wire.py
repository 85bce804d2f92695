"""What a process of Samuel's sends to the supervisor of its background calls, and what it is told about them.

Each message to the supervisor is a file without a name, whose descriptor goes through the socket. So to send one
takes as long as to write a file, however long the supervisor takes to read it. The answers are lines of JSON.
"""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

import os
import socket
import tempfile
from typing import Any

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.dispatch.background import BackgroundCall
from samuel.dispatch.record import HandlerCall
from samuel.events.catalogue import event_type
from samuel.hooks.handler import Handler

MESSAGE = b"m"  # a descriptor needs a byte to travel with
LONGEST_TEXT = 500  # characters of a message that is told back


class SupervisorSetup(msgspec.Struct, frozen=True):
    """The first message: what the calls of one project are made with."""

    root: str
    journal: str
    parent_id: str  # the event during which this process was started
    environment: dict[str, str]  # of hooks
    cache: str
    limits: dict[str, int]
    state: str  # the user's state directory
    trust_key: str
    trusts_everything: bool
    outlives: bool
    """Whether calls go on when the process that sent them has ended; otherwise they are killed then."""


class Job(msgspec.Struct, frozen=True):
    """A call to make."""

    number: int
    handler: Handler
    event: str
    payload: msgspec.Raw
    position: int
    timeout: float
    serial: bool
    stamp: str

    def call(self) -> BackgroundCall:
        event = msgpack_decoder(event_type(self.event).payload)(self.payload)
        return BackgroundCall(self.handler, event, self.position, self.timeout, self.serial, self.stamp)


class EndedCall(msgspec.Struct, frozen=True):
    """A call that has ended, and is in the journal."""

    number: int  # of its job
    handler: str
    plugin: str
    event: str
    outcome: str
    message: str


def ended_call(number: int, call: HandlerCall) -> EndedCall:
    message = " ".join(call.message.split())[:LONGEST_TEXT]
    handler = call.handler
    return EndedCall(number, handler.name, handler.key, handler.event, call.outcome, message)


def job_of(number: int, call: BackgroundCall) -> Job:
    payload = msgspec.Raw(msgspec.msgpack.encode(call.event))
    handler, kind = call.handler, call.event.event
    return Job(number, handler, kind, payload, call.position, call.timeout, call.serial, call.stamp)


def send(connection: socket.socket, message: SupervisorSetup | Job) -> None:
    """Send a message. OSError if the supervisor is gone."""
    file = _unnamed_file()
    try:
        with os.fdopen(os.dup(file), "wb") as stream:
            stream.write(msgspec.msgpack.encode(message))
        os.lseek(file, 0, os.SEEK_SET)
        socket.send_fds(connection, [MESSAGE], [file])
    finally:
        os.close(file)


def receive(connection: socket.socket) -> bytes | None:
    """The next message; None if there will be no more."""
    while True:
        mark, files, _, _ = socket.recv_fds(connection, len(MESSAGE), 1)
        for file in files:
            with os.fdopen(file, "rb") as stream:
                return stream.read()
        if not mark:
            return None


def _unnamed_file() -> int:
    if create := getattr(os, "memfd_create", None):
        fd: int = create("samuel-background")
        return fd
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


decode_setup: Any = msgpack_decoder(SupervisorSetup)
decode_job: Any = msgpack_decoder(Job)
