"""`WorkspaceClient()` without credentials: answered in this process, from the lakehouse's state folder.

databricks-sdk looks for credentials as it always does. Only where it finds none, and no host is named, does a
client get the host of the local workspace. Requests to that host are answered in this process, or by the
workspace's server, see `adapter`.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from lakeward import patching
from lakeward.databricks_shims.local_workspace import HOST, adapter
from lakeward.dbutils import dbutils
from lakeward.patching import PatchSpec, Wrapped
from lakeward.workspace_connection import process_connection, process_host

_NONE_FOUND = "cannot configure default credentials"


def patch_sdk(_sdk: ModuleType) -> None:
    """Let clients of the imported `databricks.sdk` without credentials use the local workspace."""
    patching.install(PATCHES)


def restore_sdk(_sdk: ModuleType) -> None:
    """Restore databricks-sdk; clients that were created before keep using the local workspace."""
    patching.uninstall(PATCHES)


def _mounting(before: Wrapped) -> Any:
    @functools.wraps(before)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        before(self, *args, **kwargs)
        for host in _hosts():
            self._session.mount(host, adapter())

    return __init__


def _choosing(before: Wrapped) -> Any:
    @functools.wraps(before)
    def __call__(self: Any, cfg: Any) -> Any:  # noqa: N807
        try:
            return before(self, cfg)
        except ValueError as error:
            if _NONE_FOUND not in str(error) or cfg.host or cfg.auth_type:
                raise
            connection = process_connection()
            cfg.host = connection.host if connection else HOST
            # One request a file: the other ways lead through cloud storage.
            cfg.disable_experimental_files_api_client = True
            self._auth_type = "lakeward"
            headers = {"Authorization": f"Bearer {connection.token}"} if connection else {}
            return headers.copy

    return __call__


def _making_dbutils(before: Wrapped) -> Any:
    @functools.wraps(before)
    def _make_dbutils(config: Any) -> Any:
        return dbutils() if config.host in _hosts() else before(config)

    return _make_dbutils


def _hosts() -> tuple[str, ...]:
    host = process_host()
    return (HOST, host) if host else (HOST,)


_REASON = "WorkspaceClient() without credentials works on the local lakehouse"
PATCHES = (
    PatchSpec("databricks.sdk._base_client:_BaseClient", "__init__", "shims", _REASON, _mounting),
    PatchSpec(
        "databricks.sdk.credentials_provider:DefaultCredentials", "__call__", "shims", _REASON, _choosing
    ),
    PatchSpec("databricks.sdk", "_make_dbutils", "shims", _REASON, _making_dbutils),
)
