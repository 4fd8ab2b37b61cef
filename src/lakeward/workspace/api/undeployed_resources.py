"""Jobs and pipelines of the bundle that a command runs, in the workspace of that command.

On the platform a bundle is deployed before its code runs, so code finds the bundle's jobs. A run deploys
nothing: the server of a command has them until it ends, under the ids that `${resources.jobs.KEY.id}` has in
that run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.jobs import settings_of
from lakeward.workspace.state.store import Document, Store, now

_PARENT = "undeployed"
_KINDS = ("job", "pipeline")


def add_resources(
    store: Store, resources: Mapping[str, Mapping[str, Any]], user: str, warn: Callable[[str], None]
) -> None:
    """Add the resources in place of those of an earlier command.

    Args:
        store: The server's documents.
        resources: Request bodies by kind (`jobs`, `pipelines`) and id.
        user: The user of the command.
        warn: Called for each resource that a workspace would refuse, which is left out.
    """
    remove_resources(store)
    about = {"creator_user_name": user, "run_as_user_name": user}
    for job_id, body in resources.get("jobs", {}).items():
        try:
            settings = settings_of(dict(body))
        except ApiError as error:
            warn(f"The job {body.get('name')} is not in this workspace: {error}")
            continue
        job: Document = {"job_id": int(job_id), **about, "created_time": now(), "settings": settings}
        store.put("job", job_id, job, parent=_PARENT)
    for pipeline_id, body in resources.get("pipelines", {}).items():
        spec = {**body, "id": pipeline_id}
        pipeline: Document = {"pipeline_id": pipeline_id, **about, "last_modified": now(), "spec": spec}
        store.put("pipeline", pipeline_id, pipeline, parent=_PARENT)


def remove_resources(store: Store) -> None:
    """Remove what `add_resources` has added."""
    for kind in _KINDS:
        store.delete_children(kind, _PARENT)
