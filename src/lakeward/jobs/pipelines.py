"""A pipeline of the bundle, from its definition to an update, and the schemas and volumes that it needs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.bundle import Bundle
from lakeward.jobs.packages import layer_of_pipeline, projects_of_pipeline
from lakeward.jobs.pipeline_sources import sources
from lakeward.jobs.run_results import PipelineSelection
from lakeward.quoting import quote_name
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from lakeward.pipelines import Progress, Update
    from lakeward.session import Settings


_log = logging.getLogger(__name__)


def run_pipeline(
    bundle: Bundle,
    key: str,
    *,
    settings: Settings,
    selection: PipelineSelection | None = None,
    continuous: bool = False,
    on_event: Callable[[Progress], None] | None = None,
    storage: Path | None = None,
    event_log: str | None = None,
) -> Update:
    """Run an update of the pipeline `key` of `bundle` and return the result of each dataset.

    Schemas and volumes of the bundle are created first. A failing source, or an active update of the same
    pipeline, gives an Update with state FAILED.

    Args:
        bundle: The bundle with the pipeline.
        key: The key of the pipeline in it.
        settings: The lakehouse to run on.
        selection: What to refresh; default: everything, incrementally.
        continuous: Repeat until SIGTERM or Ctrl-C.
        on_event: Receives progress.
        storage: The folder of checkpoints; default: the pipeline's in `settings`.
        event_log: The table as which the event log is published; default: the one that the bundle names.

    Raises:
        ConfigurationError: The key or a source does not exist.
    """
    pipeline = bundle.pipeline(key)
    files = sources(bundle.root, key, pipeline, settings=settings)
    from lakeward.environments import Layers, active, importable

    layer = layer_of_pipeline(Layers(say=_log.warning), bundle, key, settings)
    ensure_schemas_and_volumes(bundle, settings)
    # Imported here: a job without pipelines has no need for it.
    from lakeward.pipelines import UpdateOptions, run

    with active(layer), importable(projects_of_pipeline(bundle, key)):
        options = UpdateOptions(
            **_declared_options(bundle, key),
            storage=storage or settings.pipelines / key,
            event_log=event_log or event_log_table(pipeline),
            continuous=continuous,
            on_event=on_event,
            **vars(selection or PipelineSelection()),
        )
        return run(files, options, settings=settings)


def _declared_options(bundle: Bundle, key: str) -> dict[str, Any]:
    """Return the options of an update that the pipeline itself declares."""
    pipeline = bundle.pipeline(key)
    root = pipeline.get("root_path")
    return {
        "name": str(pipeline.get("name") or key),
        "catalog": pipeline.get("catalog"),
        "schema": pipeline.get("schema") or pipeline.get("target"),
        "configuration": {name: str(value) for name, value in (pipeline.get("configuration") or {}).items()},
        "root": bundle.root / root if root else None,
        "development": bool(pipeline.get("development")),
    }


def event_log_table(pipeline: Mapping[str, Any]) -> str | None:
    """Return the name of the table as which a pipeline publishes its event log."""
    table = pipeline.get("event_log") or {}
    if not table.get("name"):
        return None
    # A schema without a catalog is one of the pipeline's catalog.
    catalog = table.get("catalog") or (pipeline.get("catalog") if table.get("schema") else None)
    schema = table.get("schema") or (
        (pipeline.get("schema") or pipeline.get("target")) if table.get("catalog") else None
    )
    return quote_name([str(part) for part in (catalog, schema, table["name"]) if part])


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
    from lakeward.session import ensure_schema, session

    spark = session(settings)
    for volume in bundle.volumes.values():
        names = (volume["catalog_name"], volume["schema_name"], volume["name"])
        volume_folder(settings.volumes, *map(str, names)).mkdir(parents=True, exist_ok=True)
    for catalog, schema in declared_schemas(bundle):
        ensure_schema(spark, catalog, schema)
