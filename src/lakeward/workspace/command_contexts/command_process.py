"""The process of an execution context: `python -m lakeward.workspace.command_contexts.command_process`.

Standard input: a JSON line with settings, then one with `id`, `language` and `command` for each command.
Standard output: one JSON line with `id` and `results` for each; what commands print goes to standard error.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from lakeward.workspace.command_contexts.interpreter import Interpreter
    from lakeward.workspace.state.store import Document


def main() -> int:
    """Run commands until the input ends."""
    lines, answers = _open_streams()
    order = json.loads(lines.readline())

    from lakeward.databricks_shims import use_surroundings
    from lakeward.dbutils import Environment
    from lakeward.notebooks import install_commands, install_packages, notebook_packages
    from lakeward.session import dbfs_paths, serve_on_demand, use_daemon
    from lakeward.workspace.command_contexts.interpreter import Interpreter
    from lakeward.workspace.runs.run_main import settings_of

    use_daemon()
    settings = settings_of(order)
    os.chdir(settings.root)
    # The JVM starts with the first command that needs Spark.
    serve_on_demand(settings)
    busy = threading.Event()
    process = os.getpid()

    def interrupt(*_: object) -> None:
        # Between commands an interrupt has nothing to cancel.
        if busy.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    interpreter = Interpreter(settings.root)
    environment = Environment(settings=lambda: settings, restart_python=interpreter.restart_python)
    with notebook_packages(), use_surroundings(environment), dbfs_paths():
        install_packages(
            install_commands(order["packages"]),
            settings.root,
            local=lambda path: str(environment.paths.local(path)),
            names=None,
        )
        answers.write(json.dumps({"ready": True}) + "\n")
        for line in lines:
            command = json.loads(line)
            busy.set()
            results = _run_command(interpreter, command)
            if os.getpid() != process:
                os._exit(0)  # a child that the command has forked takes no further commands
            busy.clear()
            answers.write(json.dumps({"id": command["id"], "results": results}) + "\n")
    return 0


def _open_streams() -> tuple[TextIO, TextIO]:
    """Return the input, which commands then find empty, and the output, which they do not write to."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    # One stream for all lines: another would lose what the first has read ahead.
    lines = os.fdopen(os.dup(0), encoding="utf-8")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return lines, answers


def _run_command(interpreter: Interpreter, command: Mapping[str, str]) -> Document:
    """Return the results of a command; an error is a result, too."""
    from lakeward.dbutils import redact

    try:
        return interpreter.run(command["language"], command["command"])
    except KeyboardInterrupt:
        return {"resultType": "error", "summary": "Cancelled", "cause": "Command cancelled"}
    except BaseException as error:  # noqa: BLE001  # of the command: the context continues
        summary = redact(f"{type(error).__name__}: {error}")
        return {"resultType": "error", "summary": summary, "cause": summary}


if __name__ == "__main__":
    raise SystemExit(main())
