"""Rows of a workspace's table as a local file: by databricks-sdk's statement execution, as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.atomic_files import atomic_replace
from lakeward.errors import SeedError, SetupError, first_line
from lakeward.seeds.names import TableName

if TYPE_CHECKING:
    import pyarrow as pa

_WAIT = "30s"


def client(profile: str | None = None) -> Any:
    """Return a client of the workspace that the environment or the profile names. Raises SetupError."""
    try:
        from databricks.sdk import WorkspaceClient
    except ImportError:
        raise SetupError(
            "DATABRICKS_SDK_MISSING",
            "databricks-sdk, which reads from a workspace, is not installed.",
            next_step="Install it: pip install databricks-sdk",
        ) from None
    try:
        return WorkspaceClient(profile=profile)
    except ValueError as error:
        raise SetupError(
            "WORKSPACE_NOT_CONFIGURED",
            f"No workspace can be reached: {first_line(str(error), type(error).__name__)}",
            next_step="Set DATABRICKS_HOST and DATABRICKS_TOKEN, or name a profile with --profile.",
        ) from None


def pull(
    workspace: Any,
    name: TableName,
    *,
    limit: int,
    to: Path,
    warehouse: str | None = None,
    sleep: Callable[[float], None],
) -> int:
    """Write at most `limit` rows of the workspace's table into the Parquet file `to`; how many they are.

    The file is written atomically. Raises SeedError with the workspace's message, SetupError when it
    has no SQL warehouse.
    """
    import pyarrow.parquet as pq
    from databricks.sdk.errors.base import DatabricksError

    try:
        table = _rows(workspace, name, limit, warehouse or _warehouse(workspace), sleep)
    except (DatabricksError, OSError) as error:
        raise _pull_error(name, first_line(str(error), type(error).__name__)) from None
    to.parent.mkdir(parents=True, exist_ok=True)
    with atomic_replace(to) as aside:
        pq.write_table(table, aside)
    return int(table.num_rows)


def _warehouse(workspace: Any) -> str:
    """Return the warehouse of the configuration, else one that runs, else any."""
    configured = workspace.config.warehouse_id
    if configured:
        return str(configured)
    there = list(workspace.warehouses.list())
    running = [each for each in there if str(getattr(each.state, "value", each.state)) == "RUNNING"]
    if not there:
        raise SetupError(
            "NO_SQL_WAREHOUSE",
            "The workspace has no SQL warehouse, through which tables are read.",
            next_step="Name one with --warehouse, or set DATABRICKS_WAREHOUSE_ID.",
        )
    return str((running or there)[0].id)


def _pull_error(name: TableName, why: str) -> SeedError:
    return SeedError("PULL_FAILED", f"{name} cannot be read from the workspace: {why}")


def _rows(
    workspace: Any, name: TableName, limit: int, warehouse: str, sleep: Callable[[float], None]
) -> pa.Table:
    import pyarrow as pa
    from databricks.sdk.service import sql

    api = workspace.statement_execution
    answer = api.execute_statement(
        statement=f"SELECT * FROM {name.quoted} LIMIT {limit}",  # noqa: S608  # quoted, and a number
        warehouse_id=warehouse,
        disposition=sql.Disposition.EXTERNAL_LINKS,
        format=sql.Format.ARROW_STREAM,
        wait_timeout=_WAIT,
    )
    while answer.status.state in (sql.StatementState.PENDING, sql.StatementState.RUNNING):
        sleep(1)
        answer = api.get_statement(answer.statement_id)
    if answer.status.state is not sql.StatementState.SUCCEEDED:
        said = answer.status.error.message if answer.status.error else answer.status.state.value
        raise _pull_error(name, str(said))
    links = list(_links(api, answer))
    if not links:
        raise SeedError("PULL_FAILED", f"The workspace gave no rows of {name}, and so no schema.")
    tables = [pa.ipc.open_stream(_content(link)).read_all() for link in links]
    return pa.concat_tables(tables)


def _links(api: Any, answer: Any) -> Iterator[str]:
    result = answer.result
    while result is not None and result.external_links:
        link = result.external_links[0]
        yield str(link.external_link)
        following = link.next_chunk_index
        if following is None:
            return
        result = api.get_statement_result_chunk_n(answer.statement_id, following)


def _content(link: str) -> bytes:
    import urllib.request

    # A signed link: the workspace's credentials must not go along with it.
    if not link.startswith(("https://", "http://")):
        raise SeedError("PULL_FAILED", f"The workspace returned a link that is not HTTP: {link[:80]}")
    with urllib.request.urlopen(link, timeout=300) as answer:  # noqa: S310  # the scheme was looked at
        content: bytes = answer.read()
    return content
