"""PySpark's worker daemon with the path mapping active: the value of `spark.python.daemon.module`."""

from __future__ import annotations

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


if __name__ == "__main__":
    from pyspark.daemon import manager

    from lakeward.session.worker_paths import install_from_environment

    install_from_environment()
    keep_case_of_schemas()
    manager()
