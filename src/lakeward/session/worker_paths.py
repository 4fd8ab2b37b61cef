"""The path mapping in Spark's Python workers: UDFs and Python data sources see `/Volumes` too.

The environment variable LAKEWARD_PATHS holds the map. Spark starts `lakeward.session.worker_daemon` (by
`spark.python.daemon.module`), which forks the workers. A Python data source's stream reader runs in a
separate worker without the daemon: `worker_site/sitecustomize.py`, on its PYTHONPATH, installs the map there.
This module must not start threads, because the daemon forks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.newer_fstrings import read_newer
from lakeward.session.mount_table import BIND_MOUNTS_VARIABLE
from lakeward.session.paths import PathMap

PATHS = "LAKEWARD_PATHS"
"""The environment variable that holds `PathMap.as_json()`."""


FOLDER = "LAKEWARD_FOLDER"
"""The environment variable with the working folder, if it differs from the JVM's."""


def worker_environment(path_map: PathMap, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers; the user's PYTHONPATH follows ours."""
    return {PATHS: path_map.as_json(), "PYTHONPATH": worker_python_path(environ)}


def worker_python_path(environ: Mapping[str, str] = os.environ) -> str:
    """Return PYTHONPATH with our `sitecustomize` first; without LAKEWARD_PATHS it maps nothing."""
    site = str(Path(__file__).with_name("worker_site"))
    others = [entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != site]
    return os.pathsep.join([site, *others])


def point_workers(context: Any, path_map: PathMap, *, stay: bool = True, bind_mounts: bool = False) -> None:
    """Start workers of `context` (a SparkContext) with `path_map` from now on; running ones keep theirs.

    With `bind_mounts` native libraries of the workers see it, too.

    They inherit the JVM's environment and working folder, unless `stay` is False: then they get those of this
    process. Spark passes this environment to every Python function, on a cluster too, and starts new workers
    for another environment. Data sources registered before the call keep their map.
    """
    environment: MutableMapping[str, str] = context.environment
    if not stay:
        environment.update({**os.environ, **environment, FOLDER: str(Path.cwd())})
    environment.update(worker_environment(path_map, {**os.environ, **environment}))
    environment[BIND_MOUNTS_VARIABLE] = "1" if bind_mounts else "0"


def install_from_environment() -> None:
    """Activate the map of LAKEWARD_PATHS, and change to the folder of LAKEWARD_FOLDER.

    No effect without the variables. Modules of the user that workers import may have newer
    f-strings, as in the process of the user's code.
    """
    # Programs that the user's function starts must not inherit the variable.
    if folder := os.environ.pop(FOLDER, None):
        with suppress(OSError):
            os.chdir(folder)
    text = os.environ.get(PATHS)
    if text:
        from lakeward.session import path_redirection

        path_redirection.install(PathMap.from_json(text))
        read_newer()
