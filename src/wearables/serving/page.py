"""The charts as one HTML file without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from wearables.serving.charts import Chart

__all__ = ["Plot", "page"]

_COLORS = ("#2b6cb0", "#dd6b20", "#2f855a", "#b83280", "#6b46c1", "#b7791f", "#0987a0", "#718096")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 300, 64, 84, 12


@dataclass(frozen=True)
class Plot:
    """A chart with its rows (x, y, color)."""

    chart: Chart
    rows: Sequence[tuple[str | None, float, str | None]]


def page(title: str, plots: Sequence[Plot]) -> str:
    """Return the page; every text is escaped, a chart without rows is named as such."""
    figures = "".join(
        f"<figure><figcaption>{escape(plot.chart.title)}</figcaption>{_body(plot)}</figure>" for plot in plots
    )
    style = (
        "body{font:14px system-ui,sans-serif;margin:2rem;color:#1a202c}"
        "main{display:flex;flex-wrap:wrap;gap:2rem}figure{margin:0}figcaption{font-weight:600;margin-bottom:.5rem}"
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{style}</style></head><body><h1>{escape(title)}</h1><main>{figures}</main></body></html>\n"
    )


def _body(plot: Plot) -> str:
    if not plot.rows:
        return "<p>No rows.</p>"
    names = list(dict.fromkeys(str(x) for x, _, _ in plot.rows))
    colors = {
        name: _COLORS[n % len(_COLORS)] for n, name in enumerate(sorted({str(c) for _, _, c in plot.rows}))
    }
    highest = max(y for _, y, _ in plot.rows) or 1.0
    slot = (_WIDTH - _LEFT) / len(names)
    width = slot * 0.8 / len(colors)
    bars = []
    for x, y, color in plot.rows:
        left = _LEFT + names.index(str(x)) * slot + list(colors).index(str(color)) * width
        height = (_HEIGHT - _BOTTOM - _TOP) * y / highest
        label = escape(f"{x}, {color}: {y:g}")
        bars.append(
            f'<rect x="{left:.1f}" y="{_HEIGHT - _BOTTOM - height:.1f}" width="{max(width - 1, 0.5):.1f}" '
            f'height="{height:.1f}" fill="{colors[str(color)]}"><title>{label}</title></rect>'
        )
    ticks = "".join(
        f'<text transform="translate({_LEFT + (n + 0.4) * slot:.1f},{_HEIGHT - _BOTTOM + 14}) rotate(40)" '
        f'font-size="10">{escape(name)}</text>'
        for n, name in enumerate(names)
    )
    base = _HEIGHT - _BOTTOM
    axis = (
        f'<text x="{_LEFT - 6}" y="{_TOP + 8}" text-anchor="end" font-size="10">{highest:g}</text>'
        f'<text x="{_LEFT - 6}" y="{_HEIGHT - _BOTTOM}" text-anchor="end" font-size="10">0</text>'
        f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{base}" y2="{base}" stroke="#718096"/>'
    )
    legend = " ".join(
        f'<span style="color:{color}">■ {escape(name)}</span>' for name, color in colors.items()
    )
    svg = f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">{axis}{"".join(bars)}{ticks}</svg>'
    return f"{svg}<p>{legend} · {escape(plot.chart.y)} by {escape(plot.chart.x)}</p>"
