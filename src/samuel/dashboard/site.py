"""The addresses of the dashboard, and what answers at each. Only POST changes anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from samuel.base.errors import SamuelError
from samuel.base.paths import User
from samuel.dashboard.access import Access
from samuel.dashboard.actions import ACTIONS, carry_out
from samuel.dashboard.events import event_stream
from samuel.dashboard.index_page import IndexPage
from samuel.dashboard.live_view import LiveView
from samuel.dashboard.project_page import ProjectPage
from samuel.dashboard.projects import run_projects
from samuel.dashboard.security import RequestGuard
from samuel.dashboard.templates_of_pages import page_version, render, static_files
from samuel.dashboard.work_pages import journal_page, log_page, task_page, tasks_page

INDEX = "index"
MOST_STREAMS = 200
MOST_VIEWS = 50
LONGEST_FORM = 64 * 1024


class Site:
    def __init__(self, user: User, access: Access) -> None:
        self._user = user
        self._access = access
        self._pages: dict[str, ProjectPage] = {}
        self._index = LiveView(INDEX, IndexPage(self._project_pages).fragments)
        self._views: dict[str, LiveView] = {}
        self._streams = 0
        self.is_closing: Callable[[], bool] = lambda: False

    def application(self) -> ASGIApp:
        routes = [
            Route("/", self._index_page, methods=["GET"]),
            Route("/events", self._events, methods=["GET"]),
            Route("/address", self._address, methods=["POST"]),
            Route("/static/{name}", self._static, methods=["GET"]),
            Route("/projects/{id}", self._project, methods=["GET"]),
            Route("/projects/{id}/task", self._work_page(task_page), methods=["GET"]),
            Route("/projects/{id}/tasks", self._work_page(tasks_page), methods=["GET"]),
            Route("/projects/{id}/journal", self._work_page(journal_page), methods=["GET"]),
            Route("/projects/{id}/log", self._work_page(log_page), methods=["GET"]),
            Route("/projects/{id}/{action}", self._action, methods=["POST"]),
        ]
        handlers: Any = {HTTPException: _problem_page, SamuelError: _samuel_error}
        # Around everything else, so that the answer to an error of this program has the headers too.
        return RequestGuard(Starlette(routes=routes, exception_handlers=handlers), self._access)

    def _project_pages(self) -> list[ProjectPage]:
        """A page for each project, in the same order as the projects."""
        pages = [self._pages.get(project.id) or ProjectPage(project) for project in run_projects(self._user)]
        self._pages = {page.project.id: page for page in pages}
        return pages

    async def _page(self, request: Request) -> ProjectPage:
        id = request.path_params["id"]
        if id not in self._pages:
            await asyncio.to_thread(self._project_pages)
        if id not in self._pages:
            raise HTTPException(404, "there is no project with a run at this address")
        return self._pages[id]

    def _view(self, page: ProjectPage) -> LiveView:
        return self._views.setdefault(page.project.id, LiveView(page.project.id, page.fragments))

    async def _index_page(self, request: Request) -> Response:
        fragments = await self._index.fragments()
        return HTMLResponse(render("index.html.j2", fragments=fragments, count=len(self._pages)))

    async def _project(self, request: Request) -> Response:
        page = await self._page(request)
        fragments = await self._view(page).fragments()
        return HTMLResponse(render("run.html.j2", fragments=fragments, project=page.project))

    def _work_page(self, make: Callable[[ProjectPage, Any], str]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            page = await self._page(request)
            return HTMLResponse(await asyncio.to_thread(make, page, request.query_params))

        return answer

    async def _events(self, request: Request) -> Response:
        if self._streams >= MOST_STREAMS:
            raise HTTPException(503, "too many pages are open")
        names = list(dict.fromkeys(request.query_params.getlist("view")))[:MOST_VIEWS]
        await asyncio.to_thread(self._project_pages)
        pages = [self._pages[name] for name in names if name in self._pages]
        views = [*([self._index] if INDEX in names else []), *map(self._view, pages)]
        return StreamingResponse(self._counted(views), media_type="text/event-stream")

    async def _counted(self, views: list[LiveView]) -> AsyncIterator[bytes]:
        self._streams += 1
        try:
            async for event in event_stream(views, page_version(), self.is_closing):
                yield event
        finally:
            self._streams -= 1

    async def _static(self, request: Request) -> Response:
        if (file := static_files().get(request.path_params["name"])) is None:
            raise HTTPException(404, "there is no such file")
        return Response(file[0], media_type=file[1])

    async def _action(self, request: Request) -> Response:
        page, name = await self._page(request), request.path_params["action"]
        if name not in ACTIONS:
            raise HTTPException(404, "there is no such action")
        form = await _form(request)
        words = await asyncio.to_thread(carry_out, page.project, name, form)
        self._view(page).hurry()
        self._index.hurry()
        return _result(request, 200, words, page.base)

    async def _address(self, request: Request) -> Response:
        address = f"http://{request.headers['host']}/?token={self._access.new_token()}"
        if _wants_json(request):
            return JSONResponse({"ok": True, "message": address})
        words = "Open it on the other device, through the same tunnel. It works once."
        return HTMLResponse(
            render("text.html.j2", title="An address for another device", words=words, text=address, back="/")
        )


async def _form(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form is expected")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_FORM:
            raise HTTPException(413, "the form is too long")
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20))


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _result(request: Request, status: int, words: str, back: str) -> Response:
    if _wants_json(request):
        return JSONResponse({"ok": status < 400, "message": words}, status_code=status)
    title = "Done" if status < 400 else "Not done"
    return HTMLResponse(render("text.html.j2", title=title, words=words, text="", back=back), status_code=status)


async def _problem_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _result(request, error.status_code, error.detail, "/")


async def _samuel_error(request: Request, error: Exception) -> Response:
    """What a command would print as its error."""
    assert isinstance(error, SamuelError)
    words = f"{error.message}: {error.hint}" if error.hint else error.message
    id = request.path_params.get("id")
    return _result(request, 409, words, f"/projects/{id}" if id else "/")
