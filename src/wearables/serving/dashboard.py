"""The charts as an AI/BI dashboard: `python -m wearables.serving` writes `fitness.lvdash.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wearables.serving.charts import CHARTS, Chart

__all__ = ["FILE", "dashboard"]

FILE = Path(__file__).with_name("fitness.lvdash.json")

_COLUMNS, _WIDTH, _HEIGHT = 2, 3, 6


def dashboard() -> dict[str, Any]:
    """Return the document of the dashboard; catalog and schema of its tables are settings of the resource."""
    layout = [
        {
            "widget": _widget(chart),
            "position": {
                "x": number % _COLUMNS * _WIDTH,
                "y": number // _COLUMNS * _HEIGHT,
                "width": _WIDTH,
                "height": _HEIGHT,
            },
        }
        for number, chart in enumerate(CHARTS)
    ]
    page = {"name": "fitness", "displayName": "Fitness", "layout": layout, "pageType": "PAGE_TYPE_CANVAS"}
    return {"datasets": [_dataset(chart) for chart in CHARTS], "pages": [page]}


def _dataset(chart: Chart) -> dict[str, Any]:
    return {"name": chart.name, "displayName": chart.title, "queryLines": [chart.query.format(schema="")]}


def _widget(chart: Chart) -> dict[str, Any]:
    fields = [{"name": name, "expression": f"`{name}`"} for name in ("x", "y", "color")]
    labels = {"x": chart.x, "y": chart.y, "color": chart.color}
    encodings = {
        name: {
            "fieldName": name,
            "scale": {"type": "quantitative" if name == "y" else "categorical"},
            "displayName": label,
        }
        for name, label in labels.items()
    }
    query = {"datasetName": chart.name, "fields": fields, "disaggregated": True}
    return {
        "name": chart.name,
        "queries": [{"name": "main_query", "query": query}],
        "spec": {
            "version": 3,
            "widgetType": "bar",
            "encodings": encodings,
            "frame": {"showTitle": True, "title": chart.title},
        },
    }
