"""The HTML file of a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from rocelab._html import MAX_TEXT, definitions, document, text, texts
from rocelab._text import printable
from rocelab.errors import MissingPackageError

if TYPE_CHECKING:
    from rocelab.report.charts import Chart
    from rocelab.report.model import Cell, Grid, Report


def page(report: Report) -> str:
    """The whole file. All text of ``report`` is escaped."""
    plots = [chart for chart in report.charts if chart.data]
    library = _library() if plots else ""
    data = [{"data": _clean(chart.data), "layout": _clean(chart.layout)} for chart in plots]
    parts = [
        f"<header><h1>{text(report.title)}</h1>{definitions(report.asked)}</header>",
        _section("answer", "Answer", [*_sentences(report.found), *map(_table, report.answer)]),
        _section("changed", "Between the runs", map(_table, report.changed)),
        _section("warnings", "Warnings", [texts(report.warnings)] if report.warnings else []),
        _section("figures", "Figures", _charts(report.charts)),
        _section("details", "Details", map(_table, report.details)),
        _section("scenario", "Scenario, without defaults", _code(report.scenario)),
        _section("again", "Run it again", _code("\n".join(report.commands))),
        _section("versions", "Versions", [definitions(report.versions)]),
    ]
    licence = ""
    if library:
        licence = (
            "<details><summary>Licence of plotly.js, which draws the figures</summary>"
            f"<pre>{escape(_licence())}</pre></details>"
        )
    script = f"<script>{library}</script><script>{_resource('page.js')}</script>" if plots else ""
    body = (
        f"<main>{''.join(parts)}</main><footer>{licence}</footer>"
        f'<script type="application/json" id="charts">{_json(data)}</script>{script}'
    )
    return document(report.title, _resource("page.css"), body)


def _library() -> str:
    """The source of plotly.js, from its Python package."""
    try:
        from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]
    except ImportError:
        raise MissingPackageError(
            "a report", "plotly", install="pip install 'rocelab[report]'"
        ) from None
    source: str = get_plotlyjs()
    return source.replace("</script", "<\\/script")


def _licence() -> str:
    """The licence text of plotly, from its package."""
    from importlib.metadata import files as of_package

    for path in of_package("plotly") or []:
        if path.name.upper().startswith("LICENSE"):
            return path.read_text(encoding="utf-8")
    return "MIT"


def _resource(name: str) -> str:
    return files("rocelab.report").joinpath(name).read_text(encoding="utf-8")


def _json(data: object) -> str:
    """JSON that cannot end the element that it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_OWN_MARKUP = ("hovertemplate", "text")
"""Keys of figures whose texts have tags that charts.py wrote, beside names that it escaped."""


def _clean(value: object, key: str = "") -> object:
    """``value`` with all texts printable, and without tags, which plotly would read."""
    if isinstance(value, str):
        text = printable(value, MAX_TEXT)
        return text if key in _OWN_MARKUP else text.replace("<", "&lt;")
    if isinstance(value, Mapping):
        return {str(name): _clean(one, str(name)) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one, key) for one in value]
    return value


def _sentences(texts: Sequence[str]) -> list[str]:
    return [f'<p class="found">{"<br>".join(map(text, texts))}</p>'] if texts else []


def _section(name: str, title: str, parts: Iterable[str]) -> str:
    inner = "".join(parts)
    return f'<section id="{name}"><h2>{title}</h2>{inner}</section>' if inner else ""


def _table(grid: Grid) -> str:
    # The title of a column of numbers stands above them.
    numbers = [cell.number for cell in grid.rows[0]] if grid.rows else []
    kinds = [' class="number"' if one else "" for one in numbers] or [""] * len(grid.head)
    head = "".join(
        f'<th scope="col"{kind}>{text(one)}</th>'
        for kind, one in zip(kinds, grid.head, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in grid.rows)
    kind_of = ' class="wrapped"' if grid.wrapped else ""
    note = f'<p class="note">{text(grid.note)}</p>' if grid.note else ""
    return (
        f'<h3>{text(grid.title)}</h3><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{text(grid.title)}"><table{kind_of}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _cell(cell: Cell) -> str:
    kinds = {"number": cell.number, "best": cell.best, "near": cell.near and not cell.best}
    kind = " ".join(name for name, has in kinds.items() if has)
    mark = '<span class="mark" aria-label="best"> ★</span>' if cell.best else ""
    return f'<td class="{kind}">{text(cell.text)}{mark}</td>'


def _charts(charts: Sequence[Chart]) -> Iterable[str]:
    plots = 0
    for chart in charts:
        if chart.picture:
            inner = f'<img src="{escape(chart.picture)}" alt="{text(chart.text)}">'
        else:
            label = f'role="img" aria-label="{text(chart.text)}"'
            inner = f'<div class="plot" data-chart="{plots}" {label}></div>'
            plots += 1
        yield (
            f"<figure><h3>{text(chart.title)}</h3>{inner}"
            f"<figcaption>{text(chart.text)}</figcaption></figure>"
        )


def _code(text: str) -> list[str]:
    lines = [escape(printable(line, MAX_TEXT)) for line in text.strip().split("\n")]
    return [f'<pre tabindex="0">{chr(10).join(lines)}</pre>'] if text.strip() else []
