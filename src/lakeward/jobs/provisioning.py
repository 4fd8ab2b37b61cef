"""Create the catalogs, schemas and volumes that a bundle declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.bundle import Bundle

if TYPE_CHECKING:
    from lakeward.session import Settings


def declared_schemas(bundle: Bundle) -> tuple[tuple[str, str], ...]:
    """Return the (catalog, schema) pairs that the schemas, volumes and pipelines of `bundle` name."""
    pairs = [(schema.get("catalog_name"), schema.get("name")) for schema in bundle.schemas.values()]
    pairs += [(volume.get("catalog_name"), volume.get("schema_name")) for volume in bundle.volumes.values()]
    pairs += [(pipeline.get("catalog"), pipeline.get("schema")) for pipeline in bundle.pipelines.values()]
    return tuple(
        dict.fromkeys((str(catalog), str(schema)) for catalog, schema in pairs if catalog and schema)
    )


def ensure_schemas_and_volumes(bundle: Bundle, settings: Settings) -> None:
    """Create missing schemas and volumes of `bundle` in the state folder of its target.

    Starts the Spark session of the target, so that a task's own `SparkSession.builder` returns it.
    """
    for volume in bundle.volumes.values():
        parts = (volume["catalog_name"], volume["schema_name"], volume["name"])
        settings.volumes.joinpath(*map(str, parts)).mkdir(parents=True, exist_ok=True)
    from lakeward.session import ensure_schema, session

    spark = session(settings)
    for catalog, schema in declared_schemas(bundle):
        ensure_schema(spark, catalog, schema)
