"""The templates of pages and fragments; everything in them is escaped."""

from __future__ import annotations

import time
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

from samuel.report.html import page_environment, report_source
from samuel.report.model import TONES
from samuel.version import __version__

PHASE_TONES = {
    "none": "idle",
    "at work": "good",
    "waiting": "wait",
    "paused": "ask",
    "ended": "idle",
    "cut off": "bad",
}
STATUS_TONES = {**TONES, "in_progress": "wait"}
VERDICT_TONES = {"ok": "good", "denied": "bad", "asked": "ask", "rewritten": "warn", "failed": "bad"}
OUTCOME_TONES = {"ok": "good", "denied": "bad"}
_OF_REPORT = ("parts.html.j2",)


def render(name: str, **values: Any) -> Markup:
    return Markup(_environment().get_template(name).render(values))


@lru_cache(maxsize=1)
def static_files() -> dict[str, tuple[str, str]]:
    """The text and the media type of each file that pages load."""
    style = report_source("report.css") + _source("static/dashboard.css")
    return {
        "dashboard.css": (style, "text/css"),
        "dashboard.js": (_source("static/dashboard.js"), "text/javascript"),
    }


@lru_cache(maxsize=1)
def page_version() -> str:
    """Another one if the script, the styles or the templates may be others."""
    text = __version__ + "".join(text for text, _ in static_files().values())
    return sha256(text.encode()).hexdigest()[:12]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # The policy of the pages allows no style in an element: the script puts bars to their places.
    environment = page_environment(FunctionLoader(_template), style_attribute="data-style")
    environment.filters["clock"] = _clock
    environment.globals |= {
        "version": page_version(),
        "release": __version__,
        "tones": STATUS_TONES,
        "phase_tones": PHASE_TONES,
        "verdict_tones": VERDICT_TONES,
        "outcome_tones": OUTCOME_TONES,
    }
    return environment


def _template(name: str) -> str:
    return report_source(name) if name in _OF_REPORT else _source(f"templates/{name}")


def _source(name: str) -> str:
    return files("samuel.dashboard").joinpath(name).read_text(encoding="utf-8")


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
