"""A report as one self-contained web page: no scripts, no network, plots as inline SVG.

>>> from layoutdm.data.report import report
>>> to_page(report("sample")).startswith("<!doctype html>")
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from layoutdm import __version__
from layoutdm.data import plots
from layoutdm.data.figures import by_count, percent, split_table
from layoutdm.data.report import Report
from layoutdm.data.statistics import Statistics
from layoutdm.pictures.palette import scheme

MOST_MAPS = 120  # a data set with thousands of labels must still give a page that opens
MOST_CANVASES = 8


def to_page(report: Report) -> str:
    """The whole page."""
    total = report.total
    sections = [
        _section("Splits", report.note, _splits(report)),
        _section(
            "Labels",
            "Commonest first. The small picture shows the mean size on the canvas.",
            _labels(total),
        ),
        _section(
            "Elements per layout",
            f"Mean {total.mean_length:.1f}, median {total.median_length:g}, "
            f"longest {total.longest}.",
            f'<div class="scroll">{plots.columns(total.lengths, total.mean_length)}</div>',
        ),
        _section(
            "Where elements sit",
            "Centres of the elements of each label; the fuller the colour, the more of them. "
            "Each map has a scale of its own.",
            _maps(total),
        ),
        _section("Canvases", _filters_note(report), _canvases(total)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.name)}: statistics</title><style>{_STYLE}</style></head>"
        f"<body><main><header><h1>{escape(report.name)}</h1>{_figures(report)}</header>"
        f"{''.join(sections)}<footer>layoutdm {__version__}</footer></main></body></html>\n"
    )


def _section(title: str, note: str, body: str) -> str:
    return f'<section><h2>{title}</h2><p class="note">{escape(note)}</p>{body}</section>\n'


def _figures(report: Report) -> str:
    total = report.total
    figures = [
        (f"{total.layouts:,}", "layouts"),
        (f"{total.elements:,}", "elements"),
        (f"{len(total.labels):,}", "labels"),
        (f"{total.mean_length:.1f}", "elements per layout"),
        (escape(percent(total.duplicates, total.layouts)), "duplicates"),
    ]
    cells = "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in figures)
    return f'<div class="figures">{cells}</div>'


def _splits(report: Report) -> str:
    headings, rows = split_table(report)
    return _table(headings, [[escape(cell) for cell in row] for row in rows], "numbers")


def _labels(total: Statistics) -> str:
    most = max((stats.elements for stats in total.labels.values()), default=0)
    ratio = plots.canvas_ratio(total.canvases)
    colour = scheme(total.labels).colour
    body = [
        [
            f'<i class="tint" style="--tint:{colour(label)}"></i>{escape(label)}',
            plots.bar(stats.elements, most, colour(label)),
            f"{stats.elements:,}",
            escape(percent(stats.elements, total.elements)),
            escape(percent(stats.layouts, total.layouts)),
            plots.mean_box(stats.mean_width, stats.mean_height, ratio, colour(label)),
        ]
        for label, stats in by_count(total)
    ]
    heads = ["label", "", "elements", "share", "in layouts", "mean size"]
    return _table(heads, body, "labels")


def _maps(total: Statistics) -> str:
    ratio = plots.canvas_ratio(total.canvases)
    ranked = [item for item in by_count(total) if item[1].elements]
    edge = scheme(total.labels).edge
    figures = "".join(
        f"<figure>{plots.heat_map(stats.heat, ratio, edge(label), label)}"
        f"<figcaption>{escape(label)} <small>{stats.elements:,}</small></figcaption></figure>"
        for label, stats in ranked[:MOST_MAPS]
    )
    rest = len(ranked) - MOST_MAPS
    more = f'<p class="note">{rest:,} rarer labels are not drawn.</p>' if rest > 0 else ""
    return f'<div class="maps">{figures}</div>{more}'


def _canvases(total: Statistics) -> str:
    shown = list(total.canvases.items())[:MOST_CANVASES]
    most = max((count for _, count in shown), default=0)
    body = [
        [
            f"{width:g} × {height:g}",
            plots.bar(count, most, "var(--quiet)"),
            f"{count:,}",
            escape(percent(count, total.layouts)),
        ]
        for (width, height), count in shown
    ]
    rest = total.layouts - sum(count for _, count in shown)
    if rest:
        others = len(total.canvases) - len(shown)
        body.append([f"{others:,} others", "", f"{rest:,}", escape(percent(rest, total.layouts))])
    return _table(["size", "", "layouts", "share"], body, "labels")


def _filters_note(report: Report) -> str:
    sentences = []
    outside = report.total.outside_paper
    if report.filtered:
        sentences.append("The paper's filters (portrait, 1 to 25 elements) are applied.")
    elif outside:
        kept = report.total.layouts - sum(outside.values())
        sentences.append(
            f"The paper's filters would keep {kept:,} layouts and remove: {_listed(outside)}."
        )
    else:
        sentences.append("The paper's filters (portrait, 1 to 25 elements) would remove nothing.")
    if report.removed:
        sentences.append(f"Left out: {_listed(report.removed)}.")
    if report.skipped:
        sentences.append(f"{report.skipped:,} bad records were skipped.")
    return " ".join(sentences)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in counts.items())


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], kind: str) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in rows
    )
    return (
        f'<div class="scroll"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf8; --card: #fff; --ink: #1d1f23;
  --quiet: #767b85; --line: #e6e4df; --cell: #f4f2ee; }
@media (prefers-color-scheme: dark) { :root { --paper: #15171a; --card: #1d2024; --ink: #ecebe8;
  --quiet: #979ca6; --line: #30343a; --cell: #262a2f; }
  .tint { --shown: color-mix(in oklab, var(--tint), white 28%); } }
.tint { fill: var(--shown, var(--tint)); background: var(--shown, var(--tint)); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 48px 24px 32px; }
h1 { margin: 0 0 20px; font-size: 34px; line-height: 1.15; letter-spacing: -0.02em;
  overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 18px; letter-spacing: -0.01em; }
.note { margin: 2px 0 18px; color: var(--quiet); max-width: 70ch; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; }
.figures div, section { background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; }
.figures div { padding: 14px 18px; }
.figures b { display: block; font-size: 26px; line-height: 1.2; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.figures span, small, figcaption small, footer { color: var(--quiet); font-size: 13px; }
section { padding: 24px 26px; margin-top: 16px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 500; font-size: 13px; color: var(--quiet); white-space: nowrap; }
th, td { padding: 6px 10px; text-align: right; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
td { white-space: nowrap; }
.labels td { padding-top: 4px; padding-bottom: 4px; }
.labels td:first-child { max-width: 220px; overflow: hidden; text-overflow: ellipsis; }
.labels td:nth-child(2) { width: 45%; min-width: 120px; }
.labels i { display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin-right: 10px; }
svg { display: block; width: 100%; }
.columns { min-width: 640px; }
.bar { height: 12px; }
.mean { width: auto; height: 30px; margin-left: auto; }
.maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(128px, 1fr));
  gap: 22px 18px; }
figure { margin: 0; }
figcaption { margin-top: 7px; font-size: 13px; line-height: 1.3; overflow-wrap: anywhere; }
text { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; }
footer { margin-top: 20px; text-align: right; }
@media print { body { background: #fff; } section { break-inside: avoid; } }
"""
