"""Entry point `publish`: the charts as a static page in the volume of reports."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from wearables.files import replacing
from wearables.serving import CHARTS, Plot, page

__all__ = ["main", "publish"]


def main(argv: Sequence[str] | None = None) -> None:
    """Write the page into the folder that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="publish", description=__doc__)
    for name in ("catalog", "schema", "reports"):
        parser.add_argument(f"--{name}", required=True)
    given, _ = parser.parse_known_args(argv)
    place = f"`{given.catalog}`.`{given.schema}`."
    print(f"published {publish(SparkSession.builder.getOrCreate(), place, Path(given.reports))}")


def publish(spark: SparkSession, place: str, reports: Path) -> Path:
    """Write `fitness.html` from the tables at `place` (`catalog.schema.`) and return its path."""
    plots = [
        Plot(
            chart,
            [
                (row["x"], row["y"], row["color"])
                for row in spark.sql(chart.query.format(schema=place)).collect()
            ],
        )
        for chart in CHARTS
    ]
    reports.mkdir(parents=True, exist_ok=True)
    file = reports / "fitness.html"
    with replacing(file) as new:
        new.write(page("Fitness", plots).encode())
    return file


if __name__ == "__main__":
    main()
