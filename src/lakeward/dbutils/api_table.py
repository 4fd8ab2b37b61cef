"""The table of all functions of `dbutils`, with their local behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["runs", "differs", "no effect", "refused"]


@dataclass(frozen=True)
class Function:
    """One row: `dbutils.<group>.<name><signature>`, its purpose, and any difference from the platform.

    `verdict`: runs (as on Databricks); differs (`note` explains how); no effect (accepted and ignored);
    refused (a clear error).
    """

    group: str
    name: str
    signature: str
    sentence: str
    verdict: Verdict = "runs"
    note: str = ""

    @property
    def full_name(self) -> str:
        """Return the name as written in code."""
        return f"dbutils.{self.group}.{self.name}"

    @property
    def description(self) -> str:
        """Return the purpose, with the local difference if there is one."""
        return f"{self.sentence} Here: {self.note}." if self.note else self.sentence


GROUPS = {
    "credentials": "Roles and service credentials of the cloud",
    "data": "A first look at a dataset",
    "fs": "Files: volumes, DBFS, workspace files and mounts",
    "jobs": "What jobs offer to their tasks",
    "jobs.taskValues": "Values that one task of a job run hands to later ones",
    "library": "Libraries of the session",
    "notebook": "Running other notebooks, and leaving this one",
    "secrets": "Secrets by scope and key",
    "widgets": "Parameters of a notebook",
}

_ROLES = "there is no cloud account behind a local run"

_CACHE = "DBFS caching was the platform's own and is gone there, too"

_MOUNT = "(source, mount_point, encryption_type='', owner=None, extra_configs=None)"

_MOUNTED = "the source is the local folder that a path mapping gives it, else an empty folder"

_CHOICES = "(name, defaultValue, choices, label=None)"

FUNCTIONS: tuple[Function, ...] = (
    Function("credentials", "assumeRole", "(role)", "Takes on a cloud role.", "refused", _ROLES),
    Function(
        "credentials",
        "getServiceCredentialsProvider",
        "(credentialName)",
        "Gives the provider of a Unity Catalog service credential.",
        "refused",
        _ROLES,
    ),
    Function("credentials", "showCurrentRole", "()", "Lists the role in force.", "refused", _ROLES),
    Function("credentials", "showRoles", "()", "Lists the roles that can be taken on.", "refused", _ROLES),
    Function(
        "data",
        "summarize",
        "(df, precise=False)",
        "Prints counts, means, deviations and percentiles of every column.",
        "differs",
        "a text table instead of charts",
    ),
    Function("fs", "cp", "(source, dest, recurse=False)", "Copies a file, or with recurse a directory."),
    Function("fs", "head", "(file, max_bytes=65536)", "Gives the first bytes of a file as text."),
    Function("fs", "ls", "(path)", "Lists a directory."),
    Function("fs", "mkdirs", "(dir)", "Makes a directory and those above it."),
    Function("fs", "mv", "(source, dest, recurse=False)", "Moves a file, or with recurse a directory."),
    Function("fs", "put", "(file, contents, overwrite=False)", "Writes text to a file."),
    Function("fs", "rm", "(dir, recurse=False)", "Removes a file, or with recurse a directory."),
    Function("fs", "mount", _MOUNT, "Makes a source appear under a mount point.", "differs", _MOUNTED),
    Function("fs", "updateMount", _MOUNT, "Mounts, in place of what is there.", "differs", _MOUNTED),
    Function("fs", "unmount", "(mount_point)", "Takes a mount point away, and leaves its source alone."),
    Function("fs", "mounts", "()", "Lists the mount points."),
    Function("fs", "refreshMounts", "()", "Lets all machines see new mounts.", "no effect"),
    Function("fs", "cacheFiles", "(*files)", "Caches files.", "refused", _CACHE),
    Function("fs", "cacheTable", "(name)", "Caches a table.", "refused", _CACHE),
    Function("fs", "uncacheFiles", "(*files)", "Ends the caching of files.", "refused", _CACHE),
    Function("fs", "uncacheTable", "(name)", "Ends the caching of a table.", "refused", _CACHE),
    Function(
        "jobs.taskValues",
        "get",
        "(taskKey, key, default=None, debugValue=None)",
        "Gives what a task of this job run has set; outside of a job the debugValue.",
    ),
    Function("jobs.taskValues", "set", "(key, value)", "Sets a value that later tasks can get."),
    Function(
        "library",
        "restartPython",
        "()",
        "Restarts Python so that installed libraries are imported again.",
        "differs",
        "the notebook's names are cleared; no effect outside of a notebook",
    ),
    Function("notebook", "exit", "(value)", "Ends the notebook and returns a value to its caller."),
    Function(
        "notebook",
        "run",
        "(path, timeout_seconds=0, arguments=None)",
        "Runs another notebook and gives its exit value.",
    ),
    Function("secrets", "get", "(scope, key)", "Gives a secret as text."),
    Function("secrets", "getBytes", "(scope, key)", "Gives a secret as bytes."),
    Function("secrets", "list", "(scope)", "Lists the keys of a scope."),
    Function("secrets", "listScopes", "()", "Lists the scopes."),
    Function("widgets", "combobox", _CHOICES, "Declares a parameter with suggested values."),
    Function("widgets", "dropdown", _CHOICES, "Declares a parameter with fixed values."),
    Function("widgets", "multiselect", _CHOICES, "Declares a parameter of several of the fixed values."),
    Function("widgets", "text", "(name, defaultValue, label=None)", "Declares a parameter of any text."),
    Function("widgets", "get", "(name)", "Gives the value of a parameter."),
    Function("widgets", "getAll", "()", "Gives all parameters and their values."),
    Function(
        "widgets", "getArgument", "(name, defaultValue=None)", "Gives a value, or the default without one."
    ),
    Function("widgets", "remove", "(name)", "Takes a parameter away."),
    Function("widgets", "removeAll", "()", "Takes all parameters away."),
)


def help_text(group: str | None = None, function: str | None = None) -> str:
    """Return the text of `dbutils.help()`: of `dbutils`, of one group, or of one function.

    Raises ValueError for a name that is not in the table.
    """
    if group is None:
        known = [f"{name}: {about}" for name, about in GROUPS.items() if "." not in name]
        return "\n".join(("dbutils", *known, "", 'More: dbutils.fs.help(), dbutils.fs.help("ls") …'))
    rows = [row for row in FUNCTIONS if row.group == group]
    if function is None:
        inner = [f"{name}: {about}" for name, about in GROUPS.items() if name.startswith(f"{group}.")]
        lines = [f"{row.name}{row.signature}: {row.description}" for row in rows]
        return "\n".join((f"dbutils.{group}: {GROUPS[group]}.", *inner, *lines))
    for row in rows:
        if row.name == function:
            return f"{row.full_name}{row.signature}\n{row.description}"
    names = ", ".join(row.name for row in rows)
    raise ValueError(f"dbutils.{group} has no function {function!r}; there are {names}")
