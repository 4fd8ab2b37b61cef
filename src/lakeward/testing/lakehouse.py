"""An empty lakehouse for one test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.testing.frames import is_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.pipelines import Update
    from lakeward.session import Settings

__all__ = ["Lakehouse"]


class Lakehouse:
    """Tables, volumes and pipelines in a folder of their own; names without a schema are in `schema`."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self.spark = spark
        self.settings = settings
        self.catalog = settings.catalog
        self.schema = settings.schema

    def seed(
        self,
        name: str,
        data: DataFrame | Iterable[Mapping[str, Any] | Sequence[Any]],
        schema: StructType | str | None = None,
    ) -> DataFrame:
        """Make the table `name` out of a frame or of rows, and return it.

        Rows are dicts, or tuples with a `schema` (DDL such as `"id bigint, name string"` will do). An
        existing table is replaced. `name` may have one, two or three parts.
        """
        frame = data if is_frame(data) else self.frame(data, schema)
        catalog, namespace, table = self.parts(name)
        from lakeward.session import ensure_schema

        ensure_schema(self.spark, catalog, namespace)
        frame.write.mode("overwrite").option("overwriteSchema", "true").saveAsTable(
            quoted(catalog, namespace, table)
        )
        return self.table(name)

    def run(self, *paths: Path | str, **options: Any) -> Update:
        """Update the pipeline whose sources are `paths` (files or folders) and return what became of it.

        `options` are those of `lakeward.pipelines.run`: `configuration`, `full_refresh`, `dry_run` …
        A pipeline that fails does not raise: see the update's `state` and `datasets`.
        """
        from lakeward.pipelines import run

        defaults: dict[str, Any] = {"catalog": self.catalog, "schema": self.schema}
        return run(
            [Path(path) for path in paths],
            session=self.spark,
            settings=self.settings,
            **{**defaults, **options},
        )

    def table(self, name: str) -> DataFrame:
        """The table `name`."""
        return self.spark.table(quoted(*self.parts(name)))

    def volume(self, name: str) -> Path:
        """The folder behind the volume `name`, made if need be: `/Volumes/<catalog>/<schema>/<name>`."""
        folder = self.settings.volumes.joinpath(*self.parts(name))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def frame(self, data: Any, schema: StructType | str | None) -> DataFrame:
        rows = list(data)
        if schema is None and rows and not isinstance(rows[0], Mapping):
            raise TypeError("rows that are not dicts need a schema, such as schema='id bigint, name string'")
        if schema is None:
            return self.spark.createDataFrame(rows)
        return self.spark.createDataFrame(rows, schema)

    def parts(self, name: str) -> tuple[str, str, str]:
        """Catalog, schema and table of a name that may leave the first ones out."""
        *above, table = name.split(".")
        if len(above) > 2:
            raise ValueError(f"{name!r} has more than three parts: catalog.schema.table")
        catalog, schema = [*(self.catalog, self.schema)[: 2 - len(above)], *above]
        return catalog, schema, table


def quoted(*parts: str) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
