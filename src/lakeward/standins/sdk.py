"""`WorkspaceClient()` without credentials: answered in this process, from the lakehouse's state folder.

databricks-sdk looks for credentials as it always does. Only where it finds none, and no host is named, does a
client get the host of the local workspace, and requests to that host never leave the process.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

from lakeward.dbutils import dbutils
from lakeward.session import patches
from lakeward.standins.local_workspace import HOST, adapter

__all__ = ["answer", "restore"]

_WHY = "WorkspaceClient() without credentials works on the local lakehouse"
_NONE_FOUND = "cannot configure default credentials"


def answer(sdk: ModuleType) -> None:
    """Let clients of the imported `databricks.sdk` without credentials be answered here."""
    modules = sys.modules
    client: Any = modules["databricks.sdk._base_client"]._BaseClient
    defaults: Any = modules["databricks.sdk.credentials_provider"].DefaultCredentials
    connect = patches.original(client, "__init__")
    choose = patches.original(defaults, "__call__")
    remote = patches.original(sdk, "_make_dbutils")

    @functools.wraps(connect)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        connect(self, *args, **kwargs)
        self._session.mount(HOST, adapter())

    @functools.wraps(choose)
    def __call__(self: Any, cfg: Any) -> Any:  # noqa: N807
        try:
            return choose(self, cfg)
        except ValueError as error:
            if _NONE_FOUND not in str(error) or cfg.host or cfg.auth_type:
                raise
            cfg.host = HOST
            # One request a file: the other ways lead through cloud storage.
            cfg.disable_experimental_files_api_client = True
            self._auth_type = "lakeward"
            return dict

    @functools.wraps(remote)
    def _make_dbutils(config: Any) -> Any:
        return dbutils() if config.host == HOST else remote(config)

    patches.replace(client, "__init__", __init__, why=_WHY)
    patches.replace(defaults, "__call__", __call__, why=_WHY)
    patches.replace(sdk, "_make_dbutils", _make_dbutils, why=_WHY)


def restore(sdk: ModuleType) -> None:
    """databricks-sdk as it was; clients that were made meanwhile stay local."""
    modules = sys.modules
    patches.undo(modules["databricks.sdk._base_client"]._BaseClient, "__init__")
    patches.undo(modules["databricks.sdk.credentials_provider"].DefaultCredentials, "__call__")
    patches.undo(sdk, "_make_dbutils")
