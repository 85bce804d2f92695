"""Who gets an answer: attacks by plain HTTP on a real server."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.cli.run.conftest import Workshop
from tests.dashboard.server_process import REAL, DashboardProcess

from samuel.base.paths import User

POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
)


def test_the_printed_address_is_exchanged_once_for_a_cookie_that_is_not_the_token(servers, project: Path) -> None:
    servers.append(server := DashboardProcess(project))
    assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/\?token=[\w-]{40,}", server.address)
    token = server.address.partition("token=")[2]
    answer = server.request("GET", server.first_path, own=False)
    cookie = answer.headers["set-cookie"]
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    assert server.request("GET", server.first_path, own=False).status == 403
    server.cookie = cookie.partition(";")[0]
    assert server.get("/").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/events", "/static/dashboard.js", "/projects/x", "/?token=wrong", "/nothing"]
)
def test_without_token_and_cookie_nothing_is_answered(dashboard, path: str) -> None:
    assert dashboard.request("GET", path, own=False).status in (401, 403)
    name = dashboard.cookie.partition("=")[0]
    assert dashboard.request("GET", path, {"Cookie": f"{name}=made-up"}, own=False).status in (401, 403)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:4747", "127.0.0.1.evil.example", "localhost.", "[::1]", "0.0.0.0", "10.0.0.1"],
)
def test_a_name_that_was_made_to_point_here_gets_no_answer(dashboard, host: str) -> None:
    assert dashboard.get("/", Host=host).status == 421
    assert dashboard.request("GET", "/", {"Host": host}, own=False).status == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1:9999", "localhost:80"])
def test_a_tunnel_may_have_any_port(dashboard, host: str) -> None:
    assert dashboard.get("/", Host=host).status == 200
    assert dashboard.get("/", Host=host, Origin=f"http://{host}").status == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1", "http://127.0.0.1:1", None],
)
def test_a_page_of_another_origin_changes_nothing(
    dashboard, workshop: Workshop, run_in, origin: str | None
) -> None:
    run_in(workshop, "--iterations", "1")
    base = project_path(dashboard)
    headers = {"Origin": origin or ""}
    assert dashboard.request("POST", f"{base}/pause", headers, "").status == 403
    if origin:
        assert dashboard.get("/", Origin=origin).status == 403
    form = {"Sec-Fetch-Site": "same-site"}
    assert dashboard.request("POST", f"{base}/pause", form, "").status == 403
    assert '"paused": true' not in status_of(workshop)


def test_get_changes_nothing_and_an_action_is_a_post(dashboard, workshop: Workshop, run_in) -> None:
    run_in(workshop, "--iterations", "1")
    base = project_path(dashboard)
    before = status_of(workshop)
    for action in ("pause", "stop", "say", "skip", "retry", "answer"):
        assert dashboard.get(f"{base}/{action}?id=2&reason=x&text=x").status in (404, 405)
        assert dashboard.request("HEAD", f"{base}/{action}?id=2").status in (404, 405)
    assert status_of(workshop) == before
    assert dashboard.act(f"{base}/pause").status == 200
    assert '"paused": true' in status_of(workshop)


def test_each_answer_has_the_headers_that_keep_it_private(dashboard) -> None:
    answers = [dashboard.get("/"), dashboard.get("/nothing"), dashboard.get("/static/dashboard.js")]
    answers += [dashboard.request("GET", "/", own=False), dashboard.get("/", Host="evil.example")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert all(part in policy for part in POLICY)
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"


def test_a_cookie_survives_the_server_and_another_user_can_read_nothing(servers, project: Path) -> None:
    servers.append(first := DashboardProcess(project))
    first.log_in()
    first.process.kill()
    first.stop()
    servers.append(second := DashboardProcess(project, first.port))
    second.cookie = first.cookie
    assert second.get("/").status == 200
    assert second.address != first.address
    directory = User.from_environment().dashboard
    value, tokens = first.cookie.partition("=")[2], [s.address.partition("token=")[2] for s in servers]
    for file in [directory, *directory.iterdir()]:
        assert os.stat(file).st_mode & 0o077 == 0, file
        if file.is_file():
            assert not any(secret in file.read_text() for secret in (value, *tokens))
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command_line = process.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        assert not any(token in command_line for token in tokens)


def test_an_agent_of_a_run_cannot_start_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    command = [*REAL, "dashboard", "--no-open", "--port", "0"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "this is inside the run `run-1`" in done.stderr


def test_a_port_that_is_taken_is_named(dashboard, project: Path) -> None:
    command = [*REAL, "dashboard", "--no-open", "--port", str(dashboard.port)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"error: cannot listen on port `{dashboard.port}`: Address already in use" in done.stderr


def test_without_the_extra_the_command_names_it(project: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "starlette.py").write_text("raise ModuleNotFoundError(name='starlette')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = [*REAL, "dashboard", "--no-open", "--port", "0"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "samuel-loop[web]" in done.stderr


def project_path(dashboard: DashboardProcess) -> str:
    match = re.search(r'href="(/projects/[0-9a-f]+)"', dashboard.get("/").text)
    assert match, dashboard.get("/").text
    return match[1]


def status_of(workshop: Workshop) -> str:
    command = [*REAL, "run", "status", "--json"]
    return subprocess.run(command, cwd=workshop.root, capture_output=True, text=True, check=True).stdout
