"""Generator of docs/workspace.md: the guide and the table of routes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lakeward.workspace.http.route_table import CLIENTS, ROUTES

_INTRODUCTION = """\
# The local workspace

`lakeward workspace` serves the part of the Databricks REST API that databricks-sdk, the legacy CLI and
bundle deployments use, on 127.0.0.1. Jobs and pipelines really run: each task and each update is a process
that works on the tables, volumes and secrets of the target.

```console
$ lakeward workspace -t dev
The workspace of target dev is at http://127.0.0.1:41507
  page       http://127.0.0.1:41507/#token=dapi…
  clients    export DATABRICKS_HOST=http://127.0.0.1:41507 DATABRICKS_TOKEN=…
  token      in .lakeward/dev/workspace/connection.json
```

| option | effect |
|---|---|
| `-t TARGET` | the target to serve; a target has one server at a time |
| `--port N` | the port; by default the one of the last server, or a free one |
| `--https-port N` | the same for the address with TLS; 443 for clients that know only a host name |
| `--with-schedules` | start jobs by their schedules and triggers |

State survives restarts and kills. It is stored below `.lakeward/<target>/`:

| path | content |
|---|---|
| `workspace/connection.json` | `{"host", "token"}`, mode 600; both stay the same over restarts |
| `workspace/` | the files below `/Workspace` |
| `server/workspace.db` | jobs, runs, pipelines, updates, events, permissions; tokens as hashes (SQLite) |
| `server/runs/` | output of runs: at most 8 MB for an attempt, 20 MB for a task; a cut is marked |
| `server/requests.jsonl` | one JSON line for each request, without body, query and token |
| `secrets/` | encrypted secrets and the access control lists of their scopes |

## Pages

The address behind `page` shows the workspace in a browser. It needs no network and works on phones, with a
keyboard alone, and in light and dark.

![A run in the browser: its tasks as a graph, when each ran, and the log of one](pictures/workspace-run.png)

| page | shows |
|---|---|
| Jobs, Runs | schedules, newest runs, durations; run, cancel, repair |
| a run | graph and times of tasks, attempts, errors, logs, output, [streaming queries](streaming.md) |
| Pipelines | graph, quality over updates, streaming queries, events; start, full refresh, stop |
| Tables | columns, comments, properties, the newest 50 versions; 100 rows by the SQL warehouse |
| SQL editor | statements in a catalog and schema, at most 1,000 rows of a result, earlier queries |
| Secrets | names of scopes and keys |

![A pipeline in the browser: its graph, the datasets of the newest update and their quality
](pictures/workspace-pipeline.png)

![A run with two streaming queries: durations of their batches, rates, state, watermark, stop and restart
](pictures/workspace-streams.png)

Pipelines that only `lakeward run` has updated are listed, too. The files of the pages hold no data: their
scripts send the token, which the tab keeps until it is closed, with every request. HTML that a notebook
displays is shown in a frame without scripts; download the page to run them.

## Tokens and permissions

- The user who starts the server is its administrator. Tokens have a comment and a lifetime of up to 730
  days.
- A wrong or expired token is answered 403 PERMISSION_DENIED, a missing one 401 UNAUTHENTICATED (assumed).
- **Any token runs code as the user who started the server**, also a token of a service principal
  (`token-management/on-behalf-of`). See the [threat model](threat-model.md).
- Requests of service principals are answered by access control lists, for tests of permissions: a job or
  pipeline without CAN_VIEW is not listed, and 403 PERMISSION_DENIED by its id. Clusters of others can be
  neither changed nor restarted. Grants of Unity Catalog are stored and returned, not enforced.

## Runs

- A failed run of several tasks, or one that was submitted, is INTERNAL_ERROR / FAILED, a run of a job
  with one task TERMINATED / FAILED, as on Databricks.
- A run always reaches a final state, with the reason in `state_message`, and frees its slot: also if its
  process cannot start, the disk is full or lakeward itself fails. A run whose server was killed becomes
  INTERNAL_ERROR at the next start. [No process outlives its run](jobs.md).
- Concurrent runs are limited by the number of processors and by one gigabyte of free memory for each run
  but the first; further runs are PENDING. Tasks of a run execute concurrently, with their retries and
  timeouts, as with [`--isolated`](jobs.md). They share one JVM, which starts when the first of them needs
  Spark.
- The update of a pipeline task is also listed by its pipeline. `error_trace` of a failed task starts at the
  user's code.
- Runs and updates are removed after 60 days, as on the platform, statements after 30.
- Settings of jobs and pipelines are checked when they are sent: types against databricks-sdk (400
  MALFORMED_REQUEST); cron expressions, time zones, triggers, task keys and types, keys of job clusters and
  environments, dependencies and their cycles, limits and access control lists as on Databricks (400
  INVALID_PARAMETER_VALUE). An `idempotency_token` is scoped to its job, or to the user who submits a run.

## Schedules and triggers

They are listed with their next times, and fire only with `--with-schedules`. They are evaluated once a
second:

| trigger | behaviour |
|---|---|
| schedule | Quartz expression in its time zone, at most every 10 seconds; missed schedules fire once |
| periodic | at the interval |
| file arrival | new and changed files below a folder of a volume or an external location |
| table update | commits to managed Delta tables |
| continuous | after failures in a row it waits 10 seconds, doubled each time up to an hour (assumed) |

Events that occur while no server is running are ignored. Mode `development` of a bundle pauses all
triggers.

## Secrets

- Secrets that a run reads, and secrets of the target with at least six characters, are `[REDACTED]` in its
  output, errors and events, plain or escaped (HTML, JSON, `repr`, URL, CSV, SQL, shell). The same holds for
  secrets that a statement reads, in its result. As on Databricks, transformed values (base64, reversed, cut
  by `show()`) are not recognized.
- Task values reach later tasks unchanged; values with a secret are stored encrypted.
- A secret that cannot be read affects only the code that reads it.
- `{{secrets/scope/key}}` is resolved in `spark_conf` and `spark_env_vars` of the first cluster of a job or
  pipeline. Spark's UI and event logs redact such settings. No setting is on a command line, except
  `spark.driver.extraJavaOptions` where spark-submit starts the JVM (`spark.jars.packages`, a master other
  than `local`, `SPARK_HOME`, `SPARK_CONF_DIR`).

## Files and paths

- `.lakeward/<target>` has mode 700, which each start restores; files of the server and its runs have mode
  600. Spark's shuffle files are in a private folder below the temporary one, and its ports on loopback need
  its secret (`spark.authenticate`).
- Paths in requests stay below `dbfs:/`, `/Volumes` and `/Workspace` in every spelling: `..` ends at the
  root, `dbfs:` takes no host, names are valid UTF-8 without NUL. A symbolic link that leads out is not
  listed and answered 400, unless `--mount`, `dbutils.fs.mount` or an external volume declares it. The rest
  of the state folder is never served. Code in runs may follow any link and open any local file (`file:/…`).
- DBFS requests write below `/Volumes` only into existing volumes, and do not remove catalogs, schemas and
  volumes. A file whose name is not UTF-8 is listed with U+FFFD in its name.
- Notebooks are exported as SOURCE, JUPYTER (without outputs) and HTML, whatever format they were imported
  in.

## Limits and errors

| limit | value |
|---|---|
| JSON body | 32 MB, 64 levels of nesting, 64-bit numbers |
| upload | 5 GB, in one request: databricks-sdk does not split it |
| read or block of DBFS | 1 MB (MAX_READ_SIZE_EXCEEDED, MAX_BLOCK_SIZE_EXCEEDED) |
| handle of DBFS | 10 minutes without a block; only for the user who created it |
| secret | 128 KB |
| output of a task | 8 MB for an attempt |
| statement | 16 MB; 25 MB for a result INLINE |
| head of a request | 20 seconds, then 408 REQUEST_TIMEOUT |
| body of a request | 60 seconds between two parts, then 408 REQUEST_TIMEOUT |
| connections | half of the file descriptors; beyond, the longest idle ones are closed |

- Malformed requests are answered 400 with `error_code` and the field, and nothing of them is stored:
  MALFORMED_REQUEST for a body that is not a JSON object, exceeds a limit of the table, contains half a
  surrogate pair or a field of the wrong type; INVALID_PARAMETER_VALUE for other errors.
- On a full disk, requests that write are answered 507 IO_ERROR; while another program locks `workspace.db`,
  503 TEMPORARILY_UNAVAILABLE. States of runs that cannot be written are served from memory and written
  later.
- A damaged record is reported at the start and excluded; `jobs/delete` removes it. A missing, empty or
  damaged `workspace.db` is an error (WORKSPACE_DATABASE_MISSING, WORKSPACE_DATABASE_DAMAGED): restore it,
  or move the folder `server/` aside to start with an empty workspace. Other unusable files of the state are
  reported as WORKSPACE_STATE_UNUSABLE. An update of a pipeline with a damaged file of its state fails with
  PIPELINE_STATE_DAMAGED, the file and the next step.
- Routes that are not listed below are answered 501 NOT_IMPLEMENTED, with the methods that their path has, and
  recorded in the request log.
- Lists may change while a client reads their pages: each page continues at the item that was to be its first.

## SQL statements

- They run on the warehouse `1a6e3a4d00000001`, which always exists, or on one that a client created; its size
  is stored without effect. Ids that have the form of the platform's (16 hexadecimal digits) need not exist.
  All warehouses share a process, which the first statement starts and which ends after ten idle minutes. Up
  to ten statements run concurrently; further ones are PENDING.
- Each statement has its own session: catalog, schema, settings, temporary views and variables end with it.
- `cancel` affects one statement. A statement that Spark does not stop within ten seconds ends the process
  once the other statements have ended.
- Results are available for one hour, in all combinations of disposition and format that Databricks has.
  External links are valid for 15 minutes, for one chunk, without a token; requests that add one are
  refused.

## SQL clients

`sql.connect(server_hostname=…, http_path=…, access_token=…)` of databricks-sql-connector, and what is built
on it, talks HiveServer2's Thrift protocol. SQL warehouses and clusters answer it.

- Code that runs here (`lakeward run`, `notebook`, tasks of jobs) reaches the workspace without change, by
  `spark.databricks.workspaceUrl`, `Config().host` or `DATABRICKS_HOST`, with or without `https://`, and with
  a token or a `credentials_provider`. `use_sea=True` does, too.
- `http_path` is `/sql/1.0/warehouses/ID`, `/sql/1.0/endpoints/ID` or `/sql/protocolv1/o/ORG/CLUSTER`. Ids
  that have the form of the platform's (16 hexadecimal digits, `0123-456789-abcdefgh`) need not exist here.
  A warehouse's `odbc_params` and `jdbc_url` have the address that they were requested from.
- `lakeward workspace --https-port 443` serves programs of their own that know only a host name: `127.0.0.1`
  or `localhost`, with no setting but SSL_CERT_FILE and REQUESTS_CA_BUNDLE. On Linux, users other than root
  need `sudo sysctl net.ipv4.ip_unprivileged_port_start=443` once.
- Without port 443, the connector takes the address without TLS as `_connection_uri`. Without
  `enable_telemetry=False` it waits a minute for an answer at port 443:

  ```python
  sql.connect(
      server_hostname="127.0.0.1", http_path=path, access_token=token,
      _connection_uri=f"http://127.0.0.1:{port}{path}", enable_telemetry=False,
  )
  ```

| client | how it connects |
|---|---|
| [dbt](dbt.md) | `dbt_task` and its page |
| SQLAlchemy (`databricks-sqlalchemy` 2.0) | port 443, or the two settings above as `connect_args` |
| ibis 12, dlt 1.31 (its destination `databricks`) | the two settings above |
| sqlmesh 0.236 | port 443 |
| JDBC driver 3.0 | the address without TLS, as below |
| `@databricks/sql` 2.1 for Node.js | the address with TLS, NODE_EXTRA_CA_CERTS |
| ODBC driver | not tested |

- The JDBC driver's URL is `jdbc:databricks://127.0.0.1:PORT/default;transportMode=http;ssl=0;AuthMech=3;httpPath=…`;
  the user is `token`, the password the token. `UseThriftClient=0` works, too. Intervals of years and months
  are strings.
- A session keeps catalog, schema, settings, temporary views and variables until it is closed, has had no
  request for an hour, or the warehouse is stopped; the process does not end while there are sessions. The
  schema of a connection may be created later.
- `session_configuration` takes ANSI_MODE, TIMEZONE, LEGACY_TIME_PARSER_POLICY, MAX_FILE_PARTITION_BYTES and
  settings of Spark; the platform's other parameters have no effect.
- Statements, and requests for metadata, are in the history of queries and can be canceled there. Results are
  sent inline and uncompressed; links to cloud storage are not supported. Intervals are texts
  (`1 00:00:00.000000000`, `2-2`) unless the client reads them from Arrow.
- `PUT 'file' INTO '/Volumes/…' [OVERWRITE]`, `GET '/Volumes/…' TO 'file'` and `REMOVE '/Volumes/…'` transfer
  files (`staging_allowed_local_path`), and streams (`input_stream`), as on the platform.

## Clusters and command execution

- Clusters are records; all of them execute on the local Spark. `lakeward-local` always exists, and a
  created cluster is running at once. Node types, sizes and autotermination are stored without effect.
- Command execution (API 1.2) runs Python and SQL in one process for each context, with a Spark session that
  lasts from command to command. Results are text, tables (10,000 rows) or errors with summary and cause.
  The JVM starts with the first command that needs Spark; `%pip install` adds packages to the context. At
  most 20 contexts exist. A cancelled command that does not stop within 5 seconds ends its context.

## Users, catalogs and other records

- Users, groups and service principals (SCIM) are stored. The owner is a member of `admins`; a new user gets
  a home folder. Filters follow RFC 7644; values may have single quotes, too.
- Tables and views are returned with columns, types and properties, read from their logs without Spark;
  materialized views and streaming tables have their own types. Objects in a catalog, schema or volume that
  does not exist are refused, and so are grants on them. Effective grants contain those of the schema and
  catalog. Catalogs and schemas with content are removed with `force` alone, and cannot be renamed.
- Cluster policies, instance pools, Git credentials, IP access lists, global init scripts, storage
  credentials, external locations, connections, registered models, functions and workspace settings are
  stored without effect; passwords and tokens in them are not stored. Git folders are plain folders; nothing
  is cloned.
- Dashboards are records: they are listed in their folder with the type DASHBOARD, and exported as their
  content. Deleting one by its path, or its folder, moves it to the trash.
- What never exists here (legacy dashboards and alerts, serving endpoints …) is an empty list.

## Legacy CLI

It drops the port from its host. In addition to `databricks configure --host … --token`, set `http_proxy` to
the same host, or serve on port 80 where the system permits it.

## Routes

The columns show which client's test suite requests a route, checked against the server's request log.

"""


def as_markdown(covered: Mapping[str, Collection[str]]) -> str:
    """Return the page. `covered` holds the routes (`METHOD path`) that each client's suite requests."""
    known = [client for client in CLIENTS if client in covered]
    heads = [f"| method | path | {' | '.join(CLIENTS[client] for client in known)} |"]
    heads.append("|---" * (2 + len(known)) + "|")
    rows = []
    for route in sorted(ROUTES, key=lambda each: (each.path, each.method)):
        name = f"{route.method} {route.path}"
        marks = " | ".join("yes" if name in covered[client] else "" for client in known)
        rows.append(f"| {route.method} | `{route.path}` | {marks} |")
    return _INTRODUCTION + "\n".join([*heads, *rows]) + "\n"
