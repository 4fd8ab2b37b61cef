"""PySpark's worker daemon with the path mapping active: the value of `spark.python.daemon.module`."""

from __future__ import annotations

if __name__ == "__main__":
    from pyspark.daemon import manager

    from lakeward.session.worker_paths import install_from_environment

    install_from_environment()
    manager()
