"""A small GitHub on a unix socket, for the real `gh`. A request that GitHub does not know is a violation."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

HOST = "github.localhost"
TOKEN = "token-of-the-user"
REPOSITORY = "octo/demo"
WRITERS = {"me": "admin", "alice": "write", "maintainer": "write", "reader": "read"}

_VIEW = re.compile(
    r"query RepositoryInfo\(\$owner: String!, \$name: String!\) \{\s*repository\(owner: \$owner, name: \$name\) "
    r"\{nameWithOwner,url,viewerPermission,hasIssuesEnabled,isFork,parent\{id,name,owner\{id,login\}\}\}\s*\}"
)
_LIST_KEYS = {"state", "sort", "direction", "labels", "milestone", "per_page", "after"}


class Fault(NamedTuple):
    """What the server does in place of an answer."""

    pattern: str
    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b'{"message": "fault"}'
    times: int = 1
    stall: bool = False


class Answer(NamedTuple):
    status: int
    value: Any
    headers: Mapping[str, str] = {}


class GitHubServer:
    """The state of one repository, and what was asked."""

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.blocked_by: dict[int, list[int]] = {}
        self.sub_issues: dict[int, list[int]] = {}
        self.roles = dict(WRITERS)
        self.milestones: dict[str, int] = {}
        self.view: dict[str, Any] = {"viewerPermission": "ADMIN", "hasIssuesEnabled": True, "isFork": False}
        self.page_size = 100
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self.violations: list[str] = []
        self.released = threading.Event()
        self._lock = threading.Lock()

    def issue(self, number: int, title: str, body: str | None = "", **fields: Any) -> dict[str, Any]:
        """Add an issue as the REST interface shows one; `labels`, `assignees` and `author` are names."""
        author = fields.pop("author", "alice")
        issue = {
            "number": number,
            "title": title,
            "body": body,
            "state": "open",
            "user": {"login": author, "id": 1} if author else None,
            "labels": [{"name": name, "color": "ededed"} for name in fields.pop("labels", ())],
            "assignees": [{"login": name} for name in fields.pop("assignees", ())],
            "milestone": None,
            "html_url": f"http://{HOST}/{REPOSITORY}/issues/{number}",
            "repository_url": f"http://api.{HOST}/repos/{REPOSITORY}",
            "author_association": "OWNER",  # not what rights are read from
            "comments": 0,
            **fields,
        }
        self.issues[number] = issue
        return issue

    def comment(self, number: int, author: str | None, body: str) -> None:
        comments = self.comments.setdefault(number, [])
        user = {"login": author} if author else None
        comments.append(
            {"id": len(comments) + 1, "user": user, "body": body, "created_at": "2026-01-02T03:04:05Z"}
        )
        self.issues[number]["comments"] = len(comments)

    def block(self, number: int, *others: int) -> None:
        self.blocked_by[number] = list(others)
        self.issues[number]["issue_dependencies_summary"] = {
            "blocked_by": len(others),
            "total_blocked_by": len(others),
        }

    def parts(self, number: int, *others: int) -> None:
        self.sub_issues[number] = list(others)
        self.issues[number]["sub_issues_summary"] = {"total": len(others), "completed": 0}

    def paths(self) -> list[str]:
        """What was asked for, without queries."""
        return [request.partition("?")[0] for request in self.requests]

    def answer(self, method: str, target: str, body: bytes) -> Answer:
        url = urlsplit(target)
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        routes: list[tuple[str, str, set[str], Callable[..., Answer]]] = [
            ("POST", r"/graphql", set(), lambda: self._graphql(body)),
            ("GET", r"/user", set(), lambda: Answer(200, {"login": "me", "id": 7})),
            ("GET", rf"/repos/{REPOSITORY}/issues", _LIST_KEYS, lambda: self._list(target, query)),
            (
                "GET",
                r"/search/issues",
                {"q", "sort", "order", "per_page", "after"},
                lambda: self._search(target, query),
            ),
            ("GET", rf"/repos/{REPOSITORY}/issues/(\d+)", set(), self._single),
            (
                "GET",
                rf"/repos/{REPOSITORY}/issues/(\d+)/comments",
                {"per_page", "after"},
                lambda number: self._page(target, query, self.comments.get(int(number), [])),
            ),
            (
                "GET",
                rf"/repos/{REPOSITORY}/issues/(\d+)/dependencies/blocked_by",
                {"per_page", "after"},
                lambda number: self._page(target, query, self._of(self.blocked_by, number)),
            ),
            (
                "GET",
                rf"/repos/{REPOSITORY}/issues/(\d+)/sub_issues",
                {"per_page", "after"},
                lambda number: self._page(target, query, self._of(self.sub_issues, number)),
            ),
            (
                "GET",
                rf"/repos/{REPOSITORY}/milestones",
                {"state", "per_page", "after"},
                lambda: self._page(
                    target, query, [{"title": title, "number": n} for title, n in self.milestones.items()]
                ),
            ),
            ("GET", rf"/repos/{REPOSITORY}/collaborators/([^/]+)/permission", set(), self._role),
        ]
        for verb, pattern, keys, handler in routes:
            if verb == method and (match := re.fullmatch(pattern, url.path)):
                if not query.keys() <= keys:
                    self.violations.append(f"unknown parameters: {target}")
                if "per_page" in keys and query.get("per_page") != "100":
                    self.violations.append(f"pages of another size: {target}")
                return handler(*match.groups())
        self.violations.append(f"unknown request: {method} {target}")
        return Answer(404, {"message": "Not Found"})

    def _graphql(self, body: bytes) -> Answer:
        request = json.loads(body)
        if not _VIEW.fullmatch(request["query"].strip()):
            self.violations.append(f"unknown query: {request['query']}")
        name = f"{request['variables']['owner']}/{request['variables']['name']}"
        if name != REPOSITORY:
            message = f"Could not resolve to a Repository with the name '{name}'."
            return Answer(
                200, {"data": {"repository": None}, "errors": [{"message": message, "path": ["repository"]}]}
            )
        view = {"nameWithOwner": REPOSITORY, "url": f"http://{HOST}/{REPOSITORY}", "parent": None, **self.view}
        return Answer(200, {"data": {"repository": view}})

    def _list(self, target: str, query: Mapping[str, str]) -> Answer:
        labels = set(filter(None, query.get("labels", "").split(",")))
        issues = [
            issue
            for _, issue in sorted(self.issues.items())
            if issue["state"] == query["state"]
            and labels <= {label["name"] for label in issue["labels"]}
            and query.get("milestone", "") in ("", str((issue["milestone"] or {}).get("number")))
        ]
        return self._page(target, query, issues)

    def _search(self, target: str, query: Mapping[str, str]) -> Answer:
        words = query["q"]
        if not words.startswith(f"repo:{REPOSITORY} is:issue is:open"):
            self.violations.append(f"a search of more than the open issues of the repository: {words}")
        text = words.split()[-1]
        issues = [issue for _, issue in sorted(self.issues.items()) if text in issue["title"]]
        page = self._page(target, query, issues)
        return page._replace(value={"total_count": len(issues), "incomplete_results": False, "items": page.value})

    def _single(self, number: str) -> Answer:
        issue = self.issues.get(int(number))
        return Answer(200, issue) if issue else Answer(404, {"message": "Not Found"})

    def _role(self, login: str) -> Answer:
        role = self.roles.get(login)
        return Answer(200, {"permission": role}) if role else Answer(404, {"message": f"{login} is not a user"})

    def _of(self, links: Mapping[int, list[int]], number: str) -> list[dict[str, Any]]:
        return [self.issues[other] for other in links.get(int(number), [])]

    def _page(self, target: str, query: Mapping[str, str], values: list[Any]) -> Answer:
        """A page from the cursor on. Like GitHub's, the cursor is not a number of pages."""
        start = int(query.get("after", "c0")[1:])
        end = start + min(self.page_size, int(query.get("per_page", "30")))
        if end >= len(values):
            return Answer(200, values[start:end])
        base = re.sub(r"&after=\w+", "", target)
        link = f'<http://api.{HOST}{base}&after=c{end}>; rel="next", <http://api.{HOST}{base}>; rel="first"'
        return Answer(200, values[start:end], {"Link": link})

    def fault_for(self, target: str) -> Fault | None:
        with self._lock:
            for index, fault in enumerate(self.faults):
                if re.search(fault.pattern, target) and fault.times:
                    self.faults[index] = fault._replace(times=fault.times - 1)
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    github: GitHubServer

    def _handle(self) -> None:
        github = self.github
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        github.requests.append(f"{self.command} {self.path}")
        if self.headers["Host"] != f"api.{HOST}":
            github.violations.append(f"another host: {self.headers['Host']}")
        if self.headers["Authorization"] != f"token {TOKEN}":
            self._send(401, {}, b'{"message": "Bad credentials"}')
            return
        if fault := github.fault_for(self.path):
            if fault.stall:
                github.released.wait(60)
            elif fault.status:
                self._send(fault.status, fault.headers, fault.body)
            self.close_connection = True
            return
        answer = github.answer(self.command, self.path, body)
        self._send(answer.status, answer.headers, json.dumps(answer.value).encode())

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Socket(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def get_request(self) -> tuple[Any, Any]:
        request, _ = super().get_request()
        return request, ("gh", 0)


@contextmanager
def serving(socket: Path) -> Iterator[GitHubServer]:
    """A server on a socket, to the end of the block."""
    github = GitHubServer()
    handler = type("Handler", (_Handler,), {"github": github})
    with _Socket(str(socket), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield github
        finally:
            github.released.set()
            server.shutdown()
            thread.join()


def write_login(directory: Path, socket: Path, token: str = TOKEN) -> None:
    """The settings of `gh`: the socket, and a login if there is a token."""
    directory.mkdir(exist_ok=True)
    (directory / "config.yml").write_text(f"http_unix_socket: {socket}\n")
    login = f"{HOST}:\n    user: me\n    oauth_token: {token}\n    git_protocol: https\n"
    (directory / "hosts.yml").write_text(login if token else "")
