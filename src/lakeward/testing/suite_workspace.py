"""Environment variables that lead the clients of a test suite to the suite's local workspace.

Libraries look for `DATABRICKS_HOST` and its relatives in the environment, so these are set before the first
test.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from lakeward.workspace import LOCAL_CLUSTER, WAREHOUSE_ID, ServerProcess
from lakeward.workspace_connection import connection_variables

SUITE_HOST = "LAKEWARD_TESTS_HOST"
"""Variable with the address that this suite set as DATABRICKS_HOST."""
_SELECTS_WORKSPACE = (
    *("DATABRICKS_HOST", "DATABRICKS_TOKEN", "DATABRICKS_CONFIG_PROFILE", "DATABRICKS_CONFIG_FILE"),
    *("DATABRICKS_CLIENT_ID", "DATABRICKS_USERNAME", "DATABRICKS_AUTH_TYPE", "DATABRICKS_AZURE_RESOURCE_ID"),
)


def selects_workspace() -> bool:
    """Return whether the user's variables name a workspace.

    What a pytest-xdist controller set for its own workspace does not count: each worker has a lakehouse, and
    so a workspace, of its own.
    """
    if SUITE_HOST in os.environ:
        return os.environ.get("DATABRICKS_HOST") != os.environ[SUITE_HOST]
    return any(os.environ.get(name) for name in _SELECTS_WORKSPACE)


_SERVERLESS_VARIABLE, _SERVERLESS_SETTING = "DATABRICKS_SERVERLESS_COMPUTE_ID", "serverless_compute_id"


def chooses_serverless(root: Path) -> bool:
    """Return whether a conftest.py at most two folders below `root` chooses serverless compute by itself.

    Such a suite does so where no cluster is named, as the conftest.py of the platform's bundle templates.
    Code that only reads the variable, to skip tests on some compute, works with a cluster.
    """
    files = (file for pattern in ("", "*/", "*/*/") for file in root.glob(f"{pattern}conftest.py"))
    return any(_sets_serverless(file) for file in files if file.is_file())


def _sets_serverless(file: Path) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    if _SERVERLESS_VARIABLE not in text and _SERVERLESS_SETTING not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False  # pytest reports the file.
    return any(_is_choice(node) for node in ast.walk(tree))


def _is_choice(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=name), ctx=ast.Store()):
            return bool(name == _SERVERLESS_VARIABLE)
        case ast.Attribute(attr=name, ctx=ast.Store()) | ast.keyword(arg=name):
            return name in (_SERVERLESS_SETTING, _SERVERLESS_VARIABLE)
        case ast.Call(func=ast.Attribute(attr="setdefault" | "setenv" | "putenv"), args=[first, *_]):
            return isinstance(first, ast.Constant) and first.value == _SERVERLESS_VARIABLE
        case ast.Dict(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == _SERVERLESS_VARIABLE for key in keys)
    return False


def variables_of(workspace: ServerProcess) -> dict[str, str]:
    """Return the environment variables that lead clients to the suite's workspace."""
    connection = workspace.connection
    return {
        "DATABRICKS_HOST": connection.host,
        "DATABRICKS_TOKEN": connection.token,
        "DATABRICKS_CLUSTER_ID": LOCAL_CLUSTER,
        "DATABRICKS_WAREHOUSE_ID": WAREHOUSE_ID,
        SUITE_HOST: connection.host,
        **connection_variables(connection.host, workspace.file),
    }


def set_variables(values: Mapping[str, str], environ: MutableMapping[str, str]) -> dict[str, str | None]:
    """Set `values`, except identifiers of compute that the user chose; return what they replaced."""
    kept = {
        name
        for name in ("DATABRICKS_CLUSTER_ID", "DATABRICKS_WAREHOUSE_ID")
        if environ.get(name) and SUITE_HOST not in environ
    }
    before = {name: environ.get(name) for name in values if name not in kept}
    environ.update({name: value for name, value in values.items() if name not in kept})
    return before
