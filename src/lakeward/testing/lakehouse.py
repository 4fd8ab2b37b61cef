"""An empty lakehouse for one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lakeward.testing.frames import is_frame
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.pipelines import Update
    from lakeward.seeds import TableName
    from lakeward.session import Settings


class Lakehouse:
    """Tables, volumes and pipelines in a folder of their own; names without a schema are in `schema`."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self.spark = spark
        self.settings = settings
        self.catalog = settings.catalog
        self.schema = settings.schema
        self.update: Update | None = None

    def seed(
        self,
        name: str,
        data: DataFrame | Iterable[Mapping[str, Any] | Sequence[Any]],
        schema: StructType | str | None = None,
    ) -> DataFrame:
        """Make the table `name` out of a frame or of rows, and return it.

        Rows are dicts, or tuples with a `schema` (DDL such as `"id bigint, name string"` will do). An
        existing table is replaced. `name` may have one, two or three parts. Raises SeedError for rows that
        do not fit their schema; the table is then as it was.
        """
        from lakeward.seeds import frame_of_rows, seed_frame

        frame = data if is_frame(data) else frame_of_rows(self.spark, cast("Any", data), schema)
        seed_frame(self.spark, self.named(name), frame)
        return self.table(name)

    def run(self, *paths: Path | str, **options: object) -> Update:
        """Update the pipeline whose sources are `paths` (files or folders) and return what became of it.

        `options` are fields of `lakeward.pipelines.UpdateOptions`: `configuration`, `full_refresh` …
        A pipeline that fails does not raise: see the update's `state` and `datasets`.
        """
        from lakeward.pipelines import UpdateOptions, run

        defaults: dict[str, Any] = {"catalog": self.catalog, "schema": self.schema}
        self.update = run(
            [Path(path) for path in paths],
            UpdateOptions(**{**defaults, **options}),
            session=self.spark,
            settings=self.settings,
        )
        return self.update

    def expectations(self, name: str) -> dict[str, tuple[int, int]]:
        """Return what the last `run` counted for the dataset `name`: expectation to (passed, failed) records.

        Raises AssertionError where that run has not completed, or has no such dataset.
        """
        __tracebackhide__ = True
        if self.update is None:
            raise AssertionError("no pipeline has been run: call lakehouse.run(…) first")
        if self.update.state != "COMPLETED":
            failed = [f"{each.name}: {each.error}" for each in self.update.datasets if each.error]
            reason = self.update.error or "\n".join(failed)
            raise AssertionError(f"the last run is {self.update.state}: {reason}")
        found = {each.name.lower(): each.expectations for each in self.update.datasets}
        if name.lower() not in found:
            raise AssertionError(f"the last run has no dataset {name!r}; there are: {', '.join(found)}")
        return {rule.name: (rule.passed, rule.failed) for rule in found[name.lower()]}

    def table(self, name: str) -> DataFrame:
        """Return the table `name`."""
        return self.spark.table(self.named(name).quoted)

    def volume(self, name: str) -> Path:
        """Return the folder of the volume `/Volumes/<catalog>/<schema>/<name>`, created if missing."""
        named = self.named(name)
        folder = volume_folder(self.settings.volumes, named.catalog, named.schema, named.table)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def named(self, name: str) -> TableName:
        """Return the table of a name that may leave catalog and schema out."""
        from lakeward.seeds import TableName

        return TableName.of(name, catalog=self.catalog, schema=self.schema)
