"""The page about the local workspace, from the table of routes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lakeward.workspace.routes import CLIENTS, ROUTES

__all__ = ["as_markdown"]

_INTRODUCTION = """\
# The local workspace

`lakeward workspace [-t TARGET] [--port N] [--with-schedules]` serves, on 127.0.0.1 alone, the part of a
workspace's REST surface that databricks-sdk, the legacy CLI and the deployment of a bundle use. Jobs and
pipelines really run: each task of a run and each update is a process of its own, on the tables, volumes and
secrets of the target. A target has one server, and the server's state survives a restart and a kill.

```console
$ lakeward workspace -t dev
The workspace of target dev is at http://127.0.0.1:41507
  page       http://127.0.0.1:41507/#token=dapi…
  clients    export DATABRICKS_HOST=http://127.0.0.1:41507 DATABRICKS_TOKEN=…
  kept in    .lakeward/dev/workspace/connection.json
```

| where, below `.lakeward/<target>/` | what |
|---|---|
| `workspace/connection.json` | `{"host", "token"}`, mode 600; both stay the same over restarts |
| `workspace/` | the files below `/Workspace` |
| `server/workspace.db` | jobs, runs, pipelines, updates, events, permissions; tokens as hashes (SQLite) |
| `server/runs/` | what runs printed: 8 MB an attempt and its end, 20 MB a task; what is cut is said |
| `server/requests.jsonl` | a JSON line a request: no body, no query, no token |
| `secrets/` | encrypted secrets and the access control lists of their scopes |

- **Tokens** have a comment and live for 1 to 730 days. A wrong or expired one is 403 PERMISSION_DENIED,
  none at all 401 UNAUTHENTICATED (assumed). The user who started the server is its administrator; tokens
  for service principals (`token-management/on-behalf-of`) have the rights that access control lists give
  them: a job or pipeline that they may not view is in no list, and 403 PERMISSION_DENIED by its id. Grants
  of Unity Catalog are kept and shown, and not enforced.
- **Runs**: a failed run of several tasks is INTERNAL_ERROR / FAILED, of one task TERMINATED / FAILED, as on
  Databricks. A run whose server was killed is INTERNAL_ERROR when the next one starts, and its process is
  gone. As many runs go on at once as there are processors, and a gigabyte of free memory for each but the
  first; the others are PENDING. Within a run tasks go on at the same time, with their retries and timeouts,
  as with [`--apart`](jobs.md), and share one JVM, which is started when the first of them needs Spark. The
  update that a pipeline task makes is shown by its pipeline. Of a task that failed, `error_trace` is where
  the user's code did. A server that starts forgets runs and updates after 60 days, as the platform does,
  and results of statements after one.
- **Schedules and triggers** are shown with their next times, and fire with `--with-schedules`, once a
  second: Quartz expressions in their time zone (10 seconds apart at least; what was slept through fires
  once), periods, files that arrive or change below a folder, commits to managed Delta tables, `continuous`
  (after failures in a row it waits 10 seconds, then twice as long each time, up to an hour; assumed). What
  comes while no server is there does not count. In mode development the bundle pauses them all.
- **Secrets** that a run was given, and those of the target with six characters or more, are `[REDACTED]` in
  its output, errors and events. `{{secrets/scope/key}}` is filled into `spark_conf` and `spark_env_vars` of
  the first cluster of a job or pipeline.
- **Limits**: 32 MB a JSON body, 5 GB an upload, 128 KB a secret, 8 MB of output an attempt at a
  task, 100,000 rows a statement.
- **The legacy CLI** drops the port from its host. Besides `databricks configure --host … --token`, set
  `http_proxy` to the same host; or serve on port 80 where the system lets you.
- **SQL statements** run on the one warehouse `1a6e3a4d00000001`: a process with a session, started by the
  first statement and ended after ten idle minutes. Results come INLINE as JSON_ARRAY.
- Another request than these is answered 501 NOT_IMPLEMENTED and noted in the request log.

## Routes

Which suite of tests asks for a route is checked against the server's own request log.

"""


def as_markdown(asked: Mapping[str, Collection[str]]) -> str:
    """The whole page; `asked` says which client's suite asks for which routes, as `METHOD path`."""
    known = [client for client in CLIENTS if client in asked]
    heads = [f"| method | path | {' | '.join(CLIENTS[client] for client in known)} |"]
    heads.append("|---" * (2 + len(known)) + "|")
    rows = []
    for route in sorted(ROUTES, key=lambda each: (each.path, each.method)):
        name = f"{route.method} {route.path}"
        marks = " | ".join("yes" if name in asked[client] else "" for client in known)
        rows.append(f"| {route.method} | `{route.path}` | {marks} |")
    return _INTRODUCTION + "\n".join([*heads, *rows]) + "\n"
