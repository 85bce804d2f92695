"""An MCP server on stdio with one tool, `touch`, which makes the file that it is given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NAME, TOOL = "probe", "touch"
_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    """The result for one request; None for a notification."""
    params = request.get("params") or {}
    match request.get("method"):
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": NAME, "version": "1"},
            }
        case "tools/list":
            return {"tools": [{"name": TOOL, "description": "Make an empty file.", "inputSchema": _SCHEMA}]}
        case "tools/call":
            Path(params["arguments"]["path"]).touch()
            return {"content": [{"type": "text", "text": "made"}]}
        case _:
            return {} if "id" in request else None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        result = answer(request)
        if result is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}), flush=True)


if __name__ == "__main__":
    main()
