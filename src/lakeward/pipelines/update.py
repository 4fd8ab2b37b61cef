"""Running a pipeline: one update, and a second one where the first has found new columns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.pipelines import sources
from lakeward.pipelines.collect import common_root
from lakeward.pipelines.continuous import seconds_between
from lakeward.pipelines.model import Progress, Update
from lakeward.pipelines.names import Home
from lakeward.pipelines.one_update import Asked, OneUpdate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

__all__ = ["run"]


def run(
    paths: Sequence[Path],
    *,
    session: SparkSession | None = None,
    settings: Settings | None = None,
    name: str = "pipeline",
    catalog: str | None = None,
    schema: str | None = None,
    configuration: Mapping[str, str] | None = None,
    root: Path | None = None,
    storage: Path | None = None,
    refresh: Sequence[str] = (),
    full_refresh: Sequence[str] = (),
    full_refresh_all: bool = False,
    reset_checkpoints: Sequence[str] = (),
    dry_run: bool = False,
    continuous: bool = False,
    development: bool = True,
    on_event: Callable[[Progress], None] | None = None,
) -> Update:
    """Run the pipeline that the files at `paths` declare, and report what it did.

    `storage` holds checkpoints, the event log and the lock (default: the target's folder `pipelines/<name>`).
    `reset_checkpoints` names flows that read everything anew, into tables that keep their rows. `dry_run`
    stops after phase 1 and writes nothing; `continuous` goes on until SIGTERM or Ctrl-C; outside of
    `development` flows that failed for a passing reason are tried again. An update that met new columns in
    the files that it reads starts again, once. A mistake in a user's file, a failing flow or a running
    update of the same pipeline gives an Update with state FAILED; Ctrl-C one with state CANCELED. Raises
    ConfigurationError for paths, names and flags that make no sense.
    """
    from lakeward.session import Settings, current_settings
    from lakeward.session import session as make_session

    started = time.monotonic()
    found = sources.find([Path(path) for path in paths])
    where = settings or current_settings() or Settings.here(root)
    asked = Asked(
        spark=session or make_session(where),
        sources=found,
        home=Home(catalog or where.catalog, schema or where.schema),
        name=name,
        storage=storage or where.pipelines / name,
        user=where.user,
        root=(root or common_root(found)).absolute(),
        conf={str(key): str(value) for key, value in (configuration or {}).items()},
        refresh=refresh,
        full_refresh=full_refresh,
        everything=full_refresh_all,
        checkpoints=reset_checkpoints,
        dry_run=dry_run,
        continuous=continuous,
        development=development,
        on_event=on_event,
    )
    if continuous:
        seconds_between(asked.conf)
    one = OneUpdate(asked)
    state, error = one.run()
    if one.starts_again:
        one = OneUpdate(asked.again(), cause="SCHEMA_CHANGE")
        state, error = one.run()
    return Update(one.update_id, state, one.results(), time.monotonic() - started, error)
