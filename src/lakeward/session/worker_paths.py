"""The path mapping in Spark's Python workers: UDFs and Python data sources see `/Volumes` too.

The map comes in the environment variable LAKEWARD_PATHS. Spark starts `lakeward.session.worker_daemon` (by
`spark.python.daemon.module`), which forks the workers. A Python data source's stream reader runs in a worker
of its own, without the daemon: `worker_site/sitecustomize.py`, on its PYTHONPATH, does the same there.
Nothing here may start a thread, since the daemon forks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.session.paths import PathMap

__all__ = [
    "FOLDER",
    "PATHS",
    "install_from_environment",
    "point_workers",
    "worker_environment",
    "worker_python_path",
]

PATHS = "LAKEWARD_PATHS"
"""The environment variable that holds `PathMap.as_json()`."""


FOLDER = "LAKEWARD_FOLDER"
"""The environment variable that holds the working folder, where the JVM's own is another one."""


def worker_environment(path_map: PathMap, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a worker needs in its environment; the user's PYTHONPATH stays behind ours."""
    return {PATHS: path_map.as_json(), "PYTHONPATH": worker_python_path(environ)}


def worker_python_path(environ: Mapping[str, str] = os.environ) -> str:
    """PYTHONPATH with our `sitecustomize` in front; without the map of LAKEWARD_PATHS it maps nothing."""
    site = str(Path(__file__).with_name("worker_site"))
    others = [entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != site]
    return os.pathsep.join([site, *others])


def point_workers(context: Any, path_map: PathMap, *, stay: bool = True) -> None:
    """From now on workers of `context` (a SparkContext) start with `path_map`; running ones keep theirs.

    They inherit the JVM's environment and working folder, unless `stay` is False: then they get those of
    this process. Spark hands this environment to every Python function, on a cluster too, and starts other
    workers for another environment: data sources that were registered before the call keep the map they had.
    """
    environment: MutableMapping[str, str] = context.environment
    if not stay:
        environment.update({**os.environ, **environment, FOLDER: str(Path.cwd())})
    environment.update(worker_environment(path_map, {**os.environ, **environment}))


def install_from_environment(environ: Mapping[str, str] = os.environ) -> None:
    """Put the map of LAKEWARD_PATHS in force in this process, and go to the folder of LAKEWARD_FOLDER.

    Nothing without the variables.
    """
    if environ.get(FOLDER):
        with suppress(OSError):
            os.chdir(environ[FOLDER])
        # A program that the user's function starts has a working folder of its own.
        os.environ.pop(FOLDER, None)
    text = environ.get(PATHS)
    if text:
        from lakeward.session import path_redirection

        path_redirection.install(PathMap.from_json(text))
