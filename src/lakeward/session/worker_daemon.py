"""PySpark's worker daemon with the path mapping active: the value of `spark.python.daemon.module`."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def keep_case_of_schemas() -> None:
    """Give workers the schemas of state and keys as the JVM sends them.

    The workers of PySpark 4.2 put the text of a setting in lower case, also the JSON of a state's schema:
    `applyInPandasWithState` fails with `KeyError: 'elementType'` for a state with an array or a map.
    """
    from pyspark import worker

    conf = getattr(worker, "EvalConf", None)
    if conf is None:
        return

    def get(self: Any, key: str, default: Any = "", *, lower_str: bool = True) -> Any:
        return super(conf, self).get(key, default, lower_str=lower_str and not key.endswith("_schema"))

    conf.get = get


def hide_closed_connections() -> None:
    """Let a worker end without a traceback when the JVM closes its socket, as it does to cancel a task.

    `pyspark.daemon` prints every error that ends a worker; those of user code reach the JVM before.
    """
    from pyspark import daemon

    def print_exc() -> None:
        if not isinstance(sys.exc_info()[1], (ConnectionError, EOFError, KeyboardInterrupt)):
            traceback.print_exc()

    vars(daemon)["traceback"] = SimpleNamespace(**{**vars(traceback), "print_exc": print_exc})


def remove_start_folder() -> str | None:
    """Remove the folder in which the JVM was started from `sys.path`, where `python -m` puts it first."""
    is_first = bool(sys.path) and Path(sys.path[0]) == Path.cwd()
    return sys.path.pop(0) if is_first else None


if __name__ == "__main__":
    from pyspark.daemon import manager

    from lakeward.session.worker_modules import follow_user_modules
    from lakeward.session.worker_paths import install_from_environment

    start_folder = remove_start_folder()
    install_from_environment()
    keep_case_of_schemas()
    hide_closed_connections()
    follow_user_modules(start_folder)
    manager()
