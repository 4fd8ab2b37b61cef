"""Command execution (API 1.2) on the local Spark: contexts and commands.

Errors have the form of that API: `{"error": …}` in addition to the fields of the later ones.

Source: https://docs.databricks.com/api/workspace/commandexecution
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import ApiError, Route, invalid_parameter
from lakeward.workspace.api.cluster_records import require_running
from lakeward.workspace.command_contexts.contexts import MAX_CONTEXTS, Command, Context
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_spec import installed_lines
from lakeward.workspace.state.store import Document

_LANGUAGES = ("python", "sql")


def create_context(call: ServerRequest) -> Document:
    """Start an execution context on a running cluster."""
    cluster = require_running(call, _field(call, "clusterId"))
    packages = installed_lines(call.store, cluster["cluster_id"])
    context = call.context.contexts.create(cluster, _language(call), call.caller, packages)
    if context is None:
        message = f"ContextLimitExceeded: there are {MAX_CONTEXTS} execution contexts: destroy one first."
        raise ApiError(400, "RESOURCE_LIMIT_EXCEEDED", message)
    return {"id": context.context_id}


def context_status(call: ServerRequest) -> Document:
    """Return the state of a context: Pending, Running or Error."""
    context = _context(call)
    return {"id": context.context_id, "status": context.status}


def destroy_context(call: ServerRequest) -> Document:
    """End a context."""
    context = _context(call)
    call.context.contexts.destroy(context)
    return {"id": context.context_id}


def execute(call: ServerRequest) -> Document:
    """Queue a command in a context."""
    context = _context(call)
    text = call.body.get("command")
    if not isinstance(text, str):
        raise _missing("command")
    language = _language(call) if call.body.get("language") else context.language
    return {"id": call.context.contexts.execute(context, language, text).command_id}


def command_status(call: ServerRequest) -> Document:
    """Return the state of a command and, once it has ended, its results."""
    command = _command(call, _context(call))
    answer: Document = {"id": command.command_id, "status": command.status}
    if command.results is not None:
        answer["results"] = command.results
    return answer


def cancel(call: ServerRequest) -> Document:
    """Cancel a command."""
    context = _context(call)
    command = _command(call, context)
    call.context.contexts.cancel(context, command)
    return {"id": command.command_id}


def _field(call: ServerRequest, name: str) -> str:
    value = call.query.get(name) or call.body.get(name)
    if not isinstance(value, str) or not value:
        raise _missing(name)
    return value


def _language(call: ServerRequest) -> str:
    value = _field(call, "language").lower()
    if value not in _LANGUAGES:
        raise invalid_parameter(f"Language {value[:20]!r} is not available: use python or sql.")
    return value


def _context(call: ServerRequest) -> Context:
    """Return the caller's context. Raises ApiError for an unknown one, and for another user's."""
    context_id = _field(call, "contextId")
    cluster_id = _field(call, "clusterId")
    context = call.context.contexts.get(context_id)
    if context is None or context.cluster_id != cluster_id or context.user != call.caller:
        raise ApiError(404, "ContextNotFound", f"ContextNotFound: {context_id} does not exist.")
    return context


def _command(call: ServerRequest, context: Context) -> Command:
    command_id = _field(call, "commandId")
    command = context.commands.get(command_id)
    if command is None:
        raise ApiError(404, "CommandNotFound", f"CommandNotFound: {command_id} does not exist.")
    return command


def _missing(name: str) -> ApiError:
    return ApiError(400, "", f"IllegalArgumentException: requirement failed: missing {name}")


ROUTES = (
    Route("POST", "/api/1.2/contexts/create", create_context),
    Route("GET", "/api/1.2/contexts/status", context_status),
    Route("POST", "/api/1.2/contexts/destroy", destroy_context),
    Route("POST", "/api/1.2/commands/execute", execute),
    Route("GET", "/api/1.2/commands/status", command_status),
    Route("POST", "/api/1.2/commands/cancel", cancel),
)
