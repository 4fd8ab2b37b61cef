"""One declaration of charts, a dashboard and a page: equal queries, nothing personal, every text escaped."""

from __future__ import annotations

import json
import re

import pytest

from wearables import privacy
from wearables.serving import CHARTS, Chart, Plot, dashboard, page
from wearables.serving.dashboard import FILE

CHART = Chart("c", "a < b", "", "x & y", "n", "kind")


def test_the_dashboard_of_the_bundle_is_that_of_the_charts() -> None:
    assert json.loads(FILE.read_text(encoding="utf-8")) == dashboard(), "run: python -m wearables.serving"
    names = [each["name"] for each in dashboard()["datasets"]]
    widgets = [each["widget"] for each in dashboard()["pages"][0]["layout"]]
    assert [each["queries"][0]["query"]["datasetName"] for each in widgets] == names
    places = [each["position"] for each in dashboard()["pages"][0]["layout"]]
    cells = {(p["x"] + dx, p["y"] + dy) for p in places for dx in range(3) for dy in range(6)}
    assert len(cells) == 18 * len(places), "no widget covers another"


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_no_chart_reads_a_personal_column(chart: Chart) -> None:
    (table,) = re.findall(r"\{schema\}(\w+)", chart.query)
    words = set(re.findall(r"\w+", chart.query.replace(f"{{schema}}{table}", "")))
    assert not words & set(privacy.PERSONAL.get(table, {}))
    assert words & set(privacy.PLAIN[table])


def test_the_page_escapes_texts_and_scales_bars() -> None:
    text = page("t <1>", [Plot(CHART, [("<w1>", 2.0, "a"), ("<w1>", 4.0, "b"), ("w2", 1.0, None)])])
    assert "<w1>" not in text and "&lt;w1&gt;" in text and "t &lt;1&gt;" in text and "x &amp; y" in text
    heights = {float(height) for height in re.findall(r'height="([\d.]+)" fill', text)}
    assert heights == {204.0, 102.0, 51.0}
    assert "script" not in text


def test_a_chart_without_rows_is_named_as_such() -> None:
    assert "No rows." in page("t", [Plot(CHART, [])])
