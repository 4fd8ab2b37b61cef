"""An attempt at a task in this process: its result, and the error of a failed one."""

from __future__ import annotations

import traceback
from pathlib import Path

from lakeward.bundle import Bundle
from lakeward.dbutils import redact
from lakeward.error_formatting import describe_error
from lakeward.errors import LakewardError
from lakeward.jobs.task_graph import AttemptResult
from lakeward.jobs.tasks.user_code import Action
from lakeward.python_grammar import newer_python_hint
from lakeward.session import dbfs_paths, is_lost, jvm_lost, keep_interrupts
from lakeward.user_code import is_user_file

_MESSAGE_LIMIT = 4000
_TRACEBACK_LIMIT = 16_000


class CompletedAttempt:
    """A task attempt with a known result."""

    has_started = True

    def __init__(self, end: AttemptResult) -> None:
        self._end = end

    def poll(self) -> AttemptResult:
        """Return the result."""
        return self._end

    def stop(self) -> None:
        """Do nothing: the attempt has ended."""


def attempt(action: Action, bundle: Bundle) -> AttemptResult:
    """Execute `action` and return its result: an exception of user code is a failure, Ctrl-C cancels."""
    try:
        with keep_interrupts(), dbfs_paths():
            update = action()
    except KeyboardInterrupt:
        return AttemptResult("CANCELED", "Interrupted.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever users' code raises is its result
        return AttemptResult("FAILED", attempt_error(error, bundle.root), trace=format_user_traceback(error))
    if update is None or update.state == "COMPLETED":
        return AttemptResult("SUCCESS", update=update)
    first = next((dataset for dataset in update.datasets if dataset.state == "FAILED"), None)
    reason = update.error or (f"{first.name}: {first.error}" if first else None)
    return AttemptResult("CANCELED" if update.state == "CANCELED" else "FAILED", reason, update=update)


def attempt_error(error: BaseException, root: Path) -> str:
    """Return condition or type and message of `error`, and the `file:line` of the user's innermost frame.

    Secrets are redacted. Files below `root` are shown relative to it.
    """
    if is_lost(error):
        return str(jvm_lost())
    if isinstance(error, SystemExit):
        text = f"SystemExit: {error.code}"
    elif isinstance(error, SyntaxError):
        hint = newer_python_hint(error)
        text = f"{type(error).__name__}: {error.msg}{'. ' if hint else ''}{hint}"
    else:
        text = str(describe_error(error))
    text = redact(text)  # before the text is truncated, possibly within a secret
    if len(text) > _MESSAGE_LIMIT:
        text = f"{text[:_MESSAGE_LIMIT]} … ({len(text) - _MESSAGE_LIMIT} more characters)"
    place = _user_place(error, root)
    return f"{text} ({place})" if place else text


def format_user_traceback(error: BaseException) -> str | None:
    """Return the traceback of `error` from the user's outermost frame on; None for errors without one.

    Secrets are redacted. Of a very long one the end is returned, where the error is.
    """
    if isinstance(error, LakewardError | SystemExit) or is_lost(error):
        return None
    report = traceback.TracebackException.from_exception(error)
    own = next((number for number, frame in enumerate(report.stack) if is_user_file(frame.filename)), None)
    if own is None and not isinstance(error, SyntaxError):
        return None
    report.stack = traceback.StackSummary.from_list(list(report.stack)[own:] if own is not None else [])
    return redact("".join(report.format()))[-_TRACEBACK_LIMIT:]


def _user_place(error: BaseException, root: Path) -> str | None:
    if isinstance(error, SyntaxError) and error.filename:
        return _place_text(error.filename, error.lineno, root)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_user_file(frame.filename)]
    return _place_text(frames[-1].filename, frames[-1].lineno, root) if frames else None


def _place_text(filename: str, line: int | None, root: Path) -> str:
    path = Path(filename).resolve()
    shown = path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path
    return f"{shown}:{line}" if line else str(shown)
