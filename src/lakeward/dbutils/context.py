"""The notebook context: path of the notebook, user, job and run.

Field names and the layout of the two JSON forms are the platform's. Address and token are those of the local
workspace that the command offers, else of a host that does not exist, with a token that grants no access.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.dbutils.failures import JavaError
from lakeward.dbutils.secret_stores import record_secret
from lakeward.session import Settings
from lakeward.workspace_connection import NO_WORKSPACE, Connection, process_connection

LOCAL_ID = "0"


@dataclass(frozen=True)
class Context:
    """Values of the context. A field is None where the platform has none either, for example outside of a
    job.
    """

    user: str
    notebook_path: str | None = None
    connection: Connection = NO_WORKSPACE
    workspace_id: str = LOCAL_ID
    cluster_id: str = "lakeward-local"
    notebook_id: str | None = None
    job_id: str | None = None
    run_id: str | None = None
    task_key: str | None = None
    extra_tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Context:
        """Return the context of a process that runs no notebook; the project folder replaces the notebook's
        path.
        """
        connection = process_connection()
        if connection is not None:
            record_secret(connection.token.encode())
        return cls(
            user=settings.user,
            notebook_path=f"/Users/{settings.user}/{settings.root.name}",
            connection=connection or NO_WORKSPACE,
        )

    @property
    def host(self) -> str:
        """Return the workspace's host name, without scheme."""
        return self.connection.host.partition("://")[2]

    def tags(self) -> dict[str, str]:
        """Return the tags that have a value."""
        known = {
            "user": self.user,
            "orgId": self.workspace_id,
            "clusterId": self.cluster_id,
            "browserHostName": self.host,
            "notebookId": self.notebook_id,
            "notebookPath": self.notebook_path,
            "jobId": self.job_id,
            "runId": self.run_id,
            "multitaskParentRunId": self.run_id,
            "taskKey": self.task_key,
            **self.extra_tags,
        }
        return {key: value for key, value in known.items() if value is not None}

    def as_json(self) -> dict[str, Any]:
        """Return the content of `toJson()`: tags, ids, and an `extraContext` with the token."""
        return {
            "rootRunId": {"id": self.run_id} if self.run_id else None,
            "currentRunId": {"id": self.run_id} if self.run_id else None,
            "jobGroup": None,
            "tags": self.tags(),
            "extraContext": {
                "notebook_path": self.notebook_path,
                "api_url": self.connection.host,
                "api_token": self.connection.token,
                "notebook_id": self.notebook_id,
            },
        }

    def as_safe_json(self) -> dict[str, Any]:
        """Return the content of `safeToJson()`: one flat `attributes` object, without the token."""
        attributes = {
            "user": self.user,
            "workspace_id": self.workspace_id,
            "cluster_id": self.cluster_id,
            "api_url": self.connection.host,
            "browserHostName": self.host,
            "notebook_path": self.notebook_path,
            "notebook_id": self.notebook_id,
            "jobId": self.job_id,
            "currentRunId": self.run_id,
            "rootRunId": self.run_id,
            "multitaskParentRunId": self.run_id,
            "taskKey": self.task_key,
            "notebookType": "python",
        }
        return {"attributes": {key: value for key, value in attributes.items() if value is not None}}


class ReplContext:
    """The context as Python has it: what `dbruntime.databricks_repl_context.get_context()` returns.

    It has no `isInNotebook`, `isInJob` and `isInCluster`: MLflow takes them as a reason to look for the
    experiments of a workspace.
    """

    def __init__(self, facts: Context) -> None:
        self.user = facts.user
        self.apiUrl = facts.connection.host
        self.apiToken = facts.connection.token
        self.browserHostName = self.workspaceUrl = facts.host
        self.workspaceId = facts.workspace_id
        self.clusterId = facts.cluster_id
        self.notebookId = facts.notebook_id
        self.notebookPath = facts.notebook_path
        self.jobId = facts.job_id
        self.currentRunId = self.rootRunId = self.multitaskParentRunId = facts.run_id
        self.taskKey = facts.task_key

    def __repr__(self) -> str:
        return f"ReplContext({', '.join(name for name in vars(self))})"


class JavaContext:
    """The context as py4j exposes it: every value is a method that returns an Option."""

    def __init__(self, facts: Context) -> None:
        self._facts = facts
        # Methods on the instance: a name that the platform lacks raises AttributeError.
        for name, value in {
            "apiUrl": facts.connection.host,
            "apiToken": facts.connection.token,
            "notebookPath": facts.notebook_path,
            "notebookId": facts.notebook_id,
            "browserHostName": facts.host,
            "userName": facts.user,
            "workspaceId": facts.workspace_id,
            "clusterId": facts.cluster_id,
            "jobId": facts.job_id,
            "currentRunId": facts.run_id,
            "rootRunId": facts.run_id,
            "jobGroup": None,
            "aclPathOfAclRoot": None,
        }.items():
            setattr(self, name, lambda value=value: _Option(value))

    def tags(self) -> _ScalaMap:
        return _ScalaMap(self._facts.tags())

    def extraContext(self) -> _ScalaMap:
        extra = self._facts.as_json()["extraContext"]
        return _ScalaMap({key: value for key, value in extra.items() if value is not None})

    def toJson(self) -> str:
        return json.dumps(self._facts.as_json())

    def safeToJson(self) -> str:
        return json.dumps(self._facts.as_safe_json())


class EntryPoint:
    """`dbutils.notebook.entry_point`, through which code reaches the context."""

    def __init__(self, facts: Context) -> None:
        self._facts = facts

    def getDbutils(self) -> EntryPoint:
        return self

    def notebook(self) -> EntryPoint:
        return self

    def getContext(self) -> JavaContext:
        return JavaContext(self._facts)


class _Option:
    """A value that may be absent: `None` represents Scala's None."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        """Return the value. Raises JavaError(NoSuchElementException) without one, as py4j does."""
        if self._value is None:
            raise JavaError("o.get", "java.util.NoSuchElementException", "None.get")
        return self._value

    def getOrElse(self, default: Any) -> Any:
        """Return the value, or `default`: a value, or a function that returns one."""
        if self._value is not None:
            return self._value
        return default() if isinstance(default, Callable) else default  # type: ignore[arg-type]  # an ABC

    def isDefined(self) -> bool:
        return self._value is not None

    nonEmpty = isDefined

    def isEmpty(self) -> bool:
        return self._value is None

    def toString(self) -> str:
        return "None" if self._value is None else f"Some({self._value})"

    __str__ = __repr__ = toString


class _ScalaMap:
    """An immutable map: `get` returns an Option, `apply` the value."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._entries = dict(entries)

    def get(self, key: str) -> _Option:
        return _Option(self._entries.get(key))

    def getOrElse(self, key: str, default: Any) -> Any:
        return self.get(key).getOrElse(default)

    def apply(self, key: str) -> str:
        """Return the value. Raises JavaError(NoSuchElementException) for an unknown key."""
        if key not in self._entries:
            raise JavaError("o.apply", "java.util.NoSuchElementException", f"key not found: {key}")
        return self._entries[key]

    def contains(self, key: str) -> bool:
        return key in self._entries

    def size(self) -> int:
        return len(self._entries)

    def keys(self) -> list[str]:
        return list(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def asJava(self) -> dict[str, str]:
        """Return the entries, as the converters of Scala do: see `scala.collection.JavaConversions`."""
        return dict(self._entries)

    def toString(self) -> str:
        return f"Map({', '.join(f'{key} -> {value}' for key, value in self._entries.items())})"

    __str__ = __repr__ = toString
