"""A report as one HTML file that loads nothing: no script, no font, no picture. Everything in it is escaped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.resources import files

from jinja2 import BaseLoader, Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from samuel.base.printable import shell_word
from samuel.base.wording import block, details, headline, line, moment_with_zone, plural, span, time_of_day, until
from samuel.history.outcome_words import DECIDED, OUTCOMES
from samuel.report.markdown import check_tone, check_words
from samuel.report.model import HEADLINE, TONES, RunReport
from samuel.version import __version__

_CODE = re.compile(r"`([^`]+)`")
_PATCH_CLASSES = {"+": "plus", "-": "minus", "@": "place"}
TICKS = 5
"""Times that the timeline's axis names."""


def to_html(report: RunReport) -> str:
    """The whole page."""
    return "".join(html_pieces(report))


def html_pieces(report: RunReport) -> Iterator[str]:
    """The page in many pieces."""
    run = report.run
    attempts = [attempt for task in report.tasks for attempt in task.attempts]
    words = {attempt.word for attempt in (*attempts, *report.discoveries)}
    return _template().generate(
        report=report,
        run=run,
        style=Markup(report_source("report.css")),
        ticks=timeline_ticks(report),
        legend=_legend(words),
        headline=[(word, report.counts[word], TONES[word]) for word in HEADLINE],
        others=[(word, count) for word, count in report.counts.items() if word not in HEADLINE and count],
        shares=[(word, count, TONES.get(word, "idle")) for word, count in report.counts.items() if count],
        total=sum(report.counts.values()),
        version=__version__,
    )


def timeline_ticks(report: RunReport) -> list[tuple[float, str]]:
    """The times on the axis of the timeline, each with its place in percent."""
    start, seconds, last = report.run.started_at, report.seconds, TICKS - 1
    return [(100 * tick / last, time_of_day(start + seconds * tick / last)) for tick in range(TICKS)]


def _legend(words: Collection[str]) -> dict[str, str]:
    """Each tone on the timeline with the outcomes that it stands for."""
    legend: dict[str, str] = {}
    for word, tone in (*OUTCOMES.values(), *DECIDED.values()):
        if word in words:
            legend[tone] = f"{legend[tone]}, {word}" if tone in legend else word
    return legend


def prose(text: str, longest: int = 500) -> Markup:
    """Text on one line, escaped, with what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(line(text, longest)))))


def patch_lines(text: str) -> Markup:
    """A patch, escaped, with a class for each line that was added, removed or says where."""
    return Markup("\n").join(
        Markup('<span class="{}">{}</span>').format(_PATCH_CLASSES[text_line[:1]], text_line)
        if text_line[:1] in _PATCH_CLASSES and not text_line.startswith(("+++", "---"))
        else escape(text_line)
        for text_line in block(text, len(text)).split("\n")
    )


def page_environment(loader: BaseLoader, style_attribute: str = "style") -> Environment:
    """Templates of pages, with the filters and macros of the report. `style_attribute` says where a bar is."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    # What people, agents and checks wrote passes one of the first four: control characters become visible.
    environment.filters |= {
        "line": line,
        "prose": prose,
        "block": block,
        "patch": patch_lines,
        "span": span,
        "moment": moment_with_zone,
    }
    environment.filters |= {"headline": headline, "details": details, "command_word": shell_word}
    environment.filters |= {
        "plural": plural,
        "time_of_day": time_of_day,
        "until": until,
        "check_tone": check_tone,
        "check_words": check_words,
    }
    environment.globals["style_attribute"] = style_attribute
    return environment


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_environment(FunctionLoader(report_source)).get_template("report.html.j2")


def report_source(name: str) -> str:
    """The text of a template or a style sheet of the report."""
    return files("samuel.report").joinpath(name).read_text(encoding="utf-8")
