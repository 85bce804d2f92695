"""The scripted model speaks four wire formats, chooses its step by what it was told, and stays on loopback."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from samuel.proving.model.server import FORMATS, ModelServer, user_of
from samuel.proving.model.wire import DONE, FinalText, ToolCall, ToolResult

STEPS = (ToolCall("Bash", {"command": "ls"}), FinalText("All finished."))


class Dialogue(NamedTuple):
    """Requests of one wire format: with a tool, and with one result of it; and where the answer is."""

    path: str
    tools: Any
    result: dict[str, Any]
    call: str
    text: str


DIALOGUES = {
    "anthropic": Dialogue(
        "/v1/messages?beta=true",
        [{"name": "Bash"}],
        {
            "messages": [
                {"role": "user", "content": "do it"},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "out"}]}
                    ],
                },
            ]
        },
        '"partial_json":"{\\"command\\": \\"ls\\"}"',
        '"text":"All finished."',
    ),
    "responses": Dialogue(
        "/v1/responses",
        [{"type": "function", "name": "Bash"}],
        {"input": [{"type": "function_call_output", "call_id": "c", "output": "out"}]},
        '"arguments":"{\\"command\\": \\"ls\\"}"',
        '"text":"All finished."',
    ),
    "chat": Dialogue(
        "/v1/chat/completions",
        [{"type": "function", "function": {"name": "Bash"}}],
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": "out"}]},
        '"arguments":"{\\"command\\": \\"ls\\"}"',
        '"content":"All finished."',
    ),
    "gemini": Dialogue(
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        [{"functionDeclarations": [{"name": "Bash"}]}],
        {"contents": [{"parts": [{"functionResponse": {"id": "c", "response": {"output": "out"}}}]}]},
        '"args":{"command":"ls"}',
        '"text":"All finished."',
    ),
}


def post(model: ModelServer, path: str, body: object) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(model.url).netloc)
    connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode())
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


@contextmanager
def playing(*steps: ToolCall | FinalText) -> Iterator[ModelServer]:
    with ModelServer(steps or STEPS) as model:
        yield model


def frames(text: str) -> list[Any]:
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in data if line != "[DONE]"]


def test_every_wire_format_is_tried_here() -> None:
    assert {wire.name for wire in FORMATS} == set(DIALOGUES)


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_wire_format_streams_a_call_and_then_the_text(name: str) -> None:
    dialogue = DIALOGUES[name]
    with playing() as model:
        status, call = post(model, dialogue.path, {"tools": dialogue.tools, "stream": True})
        assert (status, dialogue.call in call) == (200, True)
        assert frames(call)
        status, text = post(model, dialogue.path, {"tools": dialogue.tools, **dialogue.result, "stream": True})
        assert (status, dialogue.text in text) == (200, True)
        assert frames(text)
        first, second = model.requests
        assert (first.format, first.tools, first.results, first.step) == (name, ("Bash",), (), STEPS[0])
        assert (second.results, second.step) == ((ToolResult("c", "out"),), STEPS[1])
        assert model.tool_results == (ToolResult("c", "out"),)


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_client_that_does_not_stream_gets_one_object(name: str) -> None:
    dialogue = DIALOGUES[name]
    path = dialogue.path.replace("streamGenerateContent", "generateContent")
    with playing() as model:
        status, answer = post(model, path, {"tools": dialogue.tools})
    assert status == 200
    assert '"ls"' in json.dumps(json.loads(answer)).replace('\\"', '"')


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_request_without_the_tool_gets_a_text_and_uses_no_step(name: str) -> None:
    dialogue = DIALOGUES[name]
    with playing() as model:
        post(model, dialogue.path, {"stream": True})
        assert [(request.tools, request.step) for request in model.requests] == [((), DONE)]
        _, call = post(model, dialogue.path, {"tools": dialogue.tools, "stream": True})
        assert dialogue.call in call


def test_after_the_last_step_the_model_is_done() -> None:
    dialogue = DIALOGUES["chat"]
    results = {"messages": dialogue.result["messages"] * 5}
    with playing() as model:
        _, answer = post(model, dialogue.path, {"tools": dialogue.tools, **results})
    assert json.loads(answer)["choices"][0]["message"]["content"] == DONE.text


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b"\xff", b"{" * 100_000])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with playing() as model:
        assert post(model, "/v1/messages", body)[0] == 400
        assert model.requests == []


def test_an_unknown_path_is_not_found() -> None:
    with playing() as model:
        assert post(model, "/v1/embeddings", {})[0] == 404
        connection = http.client.HTTPConnection(urlsplit(model.url).netloc)
        for path, status in (("/v1/models", 200), ("/@opencode-ai%2fplugin", 404)):
            connection.request("GET", path)
            response = connection.getresponse()
            assert (response.status, bool(response.read())) == (status, True)
        connection.close()


def test_tokens_are_counted_without_using_a_step() -> None:
    with playing() as model:
        status, answer = post(model, "/v1/messages/count_tokens", {})
        assert (status, json.loads(answer)["input_tokens"]) == (200, 1)
        assert model.requests == []


def test_a_body_in_chunks_is_read() -> None:
    dialogue = DIALOGUES["chat"]
    with playing() as model:
        connection = http.client.HTTPConnection(urlsplit(model.url).netloc)
        text = json.dumps({"tools": dialogue.tools}).encode()
        connection.request("POST", dialogue.path, iter([text[:7], text[7:]]), encode_chunked=True, headers={
            "Transfer-Encoding": "chunked"
        })  # fmt: skip
        assert connection.getresponse().status == 200
        connection.close()
        assert model.requests[0].tools == ("Bash",)


def test_it_listens_on_loopback_and_stops_with_its_block() -> None:
    with playing() as model:
        assert urlsplit(model.url).hostname == "127.0.0.1"
        port = urlsplit(model.url).port
        assert port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/")


def test_clients_in_many_threads_are_all_recorded() -> None:
    dialogue = DIALOGUES["chat"]
    with playing() as model:
        threads = [
            threading.Thread(target=post, args=(model, dialogue.path, {"tools": dialogue.tools})) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(model.requests) == 8


def test_whose_connection_it_is_stands_in_the_kernels_table(tmp_path: Path) -> None:
    with playing() as model:
        port = urlsplit(model.url).port
        assert port
        with socket.create_connection(("127.0.0.1", port)) as connection:
            assert user_of(connection.getsockname()[1], port) == os.getuid()
    table = tmp_path / "tcp"
    table.write_text("  sl  local rem\n   0: 0100007F:1F90 0100007F:0050 01 0:0 00:0 0 1234 0 5\n")
    assert user_of(0x1F90, 0x50, str(table)) == 1234
    assert user_of(0x1F91, 0x50, str(table)) is None
    assert user_of(1, 2, str(tmp_path / "none")) is None


@pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can be another user")
def test_another_user_cannot_use_up_the_script() -> None:
    ask = (
        "import os, sys, urllib.request\n"
        "os.setuid(65534)\n"
        "try:\n    print(urllib.request.urlopen(sys.argv[1] + '/v1/models', timeout=20).status)\n"
        "except Exception as error:\n    print('refused')\n"
    )
    with playing() as model:
        done = subprocess.run([sys.executable, "-c", ask, model.url], capture_output=True, text=True)
        assert (done.stdout, model.requests) == ("refused\n", [])
