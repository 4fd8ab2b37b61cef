"""Environment of a run: replacement modules, `dbutils` of the runner, the runtime's version."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeward.databricks_shims.defaults import release
from lakeward.databricks_shims.installing import install, is_installed, serve_modules, uninstall
from lakeward.databricks_shims.ipython import REPLACED

if TYPE_CHECKING:
    from lakeward.dbutils import Environment

VERSION = "DATABRICKS_RUNTIME_VERSION"
"""The platform sets this variable; nothing of ours ever looks at it to find out where it runs."""


@contextmanager
def use_surroundings(given: Environment | None = None) -> Iterator[None]:
    """Yield a block in which code finds what it finds in a task on Databricks; afterwards all is as before.

    `given` is what `dbutils` works on, that which is in force already if left out.
    With LAKEWARD_DISABLE=1 or on Databricks nothing but `dbutils` of this package is affected.
    """
    from lakeward.dbutils import environment, use_environment

    given = given or environment()
    mine = not is_installed()
    install()
    before = os.environ.get(VERSION)
    if is_installed():
        os.environ[VERSION] = runtime_version(given.settings().profile)
    try:
        with use_environment(given), serve_modules(REPLACED):
            yield
    finally:
        if before is None:
            os.environ.pop(VERSION, None)
        else:
            os.environ[VERSION] = before
        if mine:
            uninstall()


def runtime_version(profile: str) -> str:
    """Return what the platform's variable holds under a runtime profile."""
    return "client.4.0" if profile == "serverless" else release(profile)
