"""`samuel dashboard` as a process of its own, and plain HTTP to it."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

REAL = (sys.executable, "-m", "samuel")


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


class DashboardProcess:
    """A server that was started in a directory, until `stop`."""

    def __init__(self, directory: Path, port: int = 0) -> None:
        command = [*REAL, "dashboard", "--port", str(port), "--no-open"]
        self.process = subprocess.Popen(
            command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.communicate()[1]
        self.port = urlsplit(self.address).port or 0
        self.cookie = ""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def first_path(self) -> str:
        """The path with the token."""
        parts = urlsplit(self.address)
        return f"{parts.path}?{parts.query}"

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: str = "", *, own: bool = True
    ) -> Answer:
        """One request; with `own`, with the headers that a browser sends from a page of this server."""
        sent = {"Host": self.host}
        if own:
            sent |= {"Cookie": self.cookie}
            if method == "POST":
                sent |= {"Origin": f"http://{self.host}", "Content-Type": "application/x-www-form-urlencoded"}
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in {**sent, "Content-Length": str(len(body.encode()))}.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body.encode())
            response = connection.getresponse()
            text = "" if path.startswith("/events") else response.read().decode()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)
        finally:
            connection.close()

    def log_in(self) -> None:
        answer = self.request("GET", self.first_path, own=False)
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers)

    def act(self, path: str, **form: str) -> Answer:
        """As the script of a page does it."""
        return self.request("POST", path, {"Accept": "application/json"}, urlencode(form))

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)
