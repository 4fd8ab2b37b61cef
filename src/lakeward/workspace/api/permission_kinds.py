"""The kinds of objects that have access control lists, as one table.

Source: https://docs.databricks.com/api/workspace/permissions
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.workspace.identifiers import LOCAL_CLUSTER, WAREHOUSE_ID

_FILE_LEVELS = ("CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE")
_QUERY_LEVELS = ("CAN_VIEW", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE")


@dataclass(frozen=True)
class ObjectKind:
    """A kind of objects. One that is neither stored nor in a folder, and has no ids, has no objects here.

    Attributes:
        levels: The permission levels, the weakest first.
        object_type: The kind in responses.
        noun: The kind in error messages.
        stored: The kind of its documents in the store.
        has_creator: Whether these documents name the creator, who manages the object.
        in_folders: The types of its objects in folders of the workspace.
        ids: Ids that always exist.
    """

    levels: tuple[str, ...]
    object_type: str
    noun: str = ""
    stored: str = ""
    has_creator: bool = False
    in_folders: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def is_owned(self) -> bool:
        """Whether each object has exactly one owner; that of a warehouse is not kept."""
        return self.stored in ("job", "pipeline")

    @property
    def name(self) -> str:
        """The kind at the beginning of a sentence."""
        return self.noun or (self.stored or self.object_type).capitalize().replace("_", " ")


KINDS = {
    "jobs": ObjectKind(
        ("CAN_VIEW", "CAN_MANAGE_RUN", "IS_OWNER", "CAN_MANAGE"), "job", stored="job", has_creator=True
    ),
    "pipelines": ObjectKind(
        ("CAN_VIEW", "CAN_RUN", "IS_OWNER", "CAN_MANAGE"), "pipelines", stored="pipeline", has_creator=True
    ),
    "directories": ObjectKind(_FILE_LEVELS, "directory", in_folders=("DIRECTORY", "REPO")),
    "notebooks": ObjectKind(_FILE_LEVELS, "notebook", in_folders=("NOTEBOOK",)),
    "files": ObjectKind(_FILE_LEVELS, "file", in_folders=("FILE",)),
    "warehouses": ObjectKind(
        ("CAN_VIEW", "CAN_MONITOR", "CAN_USE", "IS_OWNER", "CAN_MANAGE"),
        "warehouses",
        "SQL warehouse",
        stored="warehouse",
        has_creator=True,
        ids=(WAREHOUSE_ID,),
    ),
    "repos": ObjectKind(_FILE_LEVELS, "repo", stored="repo"),
    "clusters": ObjectKind(
        ("CAN_ATTACH_TO", "CAN_RESTART", "CAN_MANAGE"),
        "cluster",
        stored="cluster",
        has_creator=True,
        ids=(LOCAL_CLUSTER,),
    ),
    "cluster-policies": ObjectKind(("CAN_USE",), "cluster-policy", stored="cluster_policy"),
    "instance-pools": ObjectKind(("CAN_ATTACH_TO", "CAN_MANAGE"), "instance-pool", stored="instance_pool"),
    "authorization": ObjectKind(("CAN_USE", "CAN_MANAGE"), "authorization", ids=("tokens", "passwords")),
    "experiments": ObjectKind(("CAN_READ", "CAN_EDIT", "CAN_MANAGE"), "experiment"),
    "registered-models": ObjectKind(
        (
            *("CAN_READ", "CAN_EDIT", "CAN_MANAGE_STAGING_VERSIONS", "CAN_MANAGE_PRODUCTION_VERSIONS"),
            "CAN_MANAGE",
        ),
        "registered-model",
    ),
    "serving-endpoints": ObjectKind(("CAN_VIEW", "CAN_QUERY", "CAN_MANAGE"), "serving-endpoint"),
    "dashboards": ObjectKind(_FILE_LEVELS, "dashboard", stored="dashboard", has_creator=True),
    "queries": ObjectKind(_QUERY_LEVELS, "query"),
    "alerts": ObjectKind(_QUERY_LEVELS, "alert"),
    "alertsv2": ObjectKind(_FILE_LEVELS, "alertsv2", stored="alert", has_creator=True),
    "apps": ObjectKind(("CAN_USE", "CAN_MANAGE"), "app"),
}
