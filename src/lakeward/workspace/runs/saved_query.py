"""Files with the texts of saved queries, for the SQL tasks that run them."""

from __future__ import annotations

from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.quoting import use_statement
from lakeward.session import Settings
from lakeward.workspace.state.serving import server_folder
from lakeward.workspace.state.store import Document, Store

KIND = "saved_query"
"""Kind of the documents in the store."""


def inline_saved_query(task: Any, store: Store, settings: Settings) -> None:
    """Replace the saved query of a `sql_task` with a file of its text; other tasks stay as they are."""
    reference = task.get("query") if isinstance(task, dict) else None
    query = store.get(KIND, str(reference.get("query_id"))) if isinstance(reference, dict) else None
    if query is None or query["lifecycle_state"] != "ACTIVE":
        return
    file = server_folder(settings) / "queries" / f"{query['id']}.sql"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic_write(file, _script(query, settings.catalog))
    del task["query"]
    task["file"] = {"path": str(file)}


def _script(query: Document, default_catalog: str) -> str:
    """Return the text of a query, after the statement that selects its catalog and schema.

    >>> print(_script({"catalog": "dev", "query_text": "SELECT 1"}, "main"))
    USE CATALOG `dev`;
    SELECT 1
    >>> print(_script({"schema": "sales", "query_text": "SELECT 1"}, "main"))
    USE SCHEMA `main`.`sales`;
    SELECT 1
    """
    catalog, schema, text = (query.get(name) for name in ("catalog", "schema", "query_text"))
    name = [catalog or default_catalog, schema] if schema else [catalog] if catalog else []
    return f"{use_statement(name)};\n{text or ''}" if name else str(text or "")
