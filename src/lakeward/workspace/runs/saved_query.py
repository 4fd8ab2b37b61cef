"""Files with the texts of saved queries, for the SQL tasks that run them."""

from __future__ import annotations

from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.quoting import quote_name
from lakeward.session import Settings
from lakeward.workspace.state.serving import server_folder
from lakeward.workspace.state.store import Store

KIND = "saved_query"
"""Kind of the documents in the store."""


def use_text(task: Any, store: Store, settings: Settings) -> None:
    """Let a `sql_task` run the text of its saved query; other tasks stay as they are."""
    query = task.get("query") if isinstance(task, dict) else None
    found = store.get(KIND, str(query.get("query_id"))) if isinstance(query, dict) else None
    if found is None or found["lifecycle_state"] != "ACTIVE":
        return
    use = [f"USE {word} {quote_name([found[key]])};\n" for word, key in _CONTEXT if found.get(key)]
    file = server_folder(settings) / "queries" / f"{found['id']}.sql"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic_write(file, "".join(use) + str(found.get("query_text") or ""))
    del task["query"]
    task["file"] = {"path": str(file)}


_CONTEXT = (("CATALOG", "catalog"), ("SCHEMA", "schema"))
