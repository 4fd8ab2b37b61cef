"""The process of one run or update: `python -m lakeward.workspace.runs.run_main FOLDER EVENTS`.

FOLDER contains `order.json`; EVENTS is the file descriptor of a pipe for events. The server keeps the output.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree

if TYPE_CHECKING:
    from lakeward.jobs import PrestartedWorker


def main(arguments: list[str]) -> int:
    """Execute the order; return 0 once the result has been reported."""
    folder, pipe = Path(arguments[0]), int(arguments[1])
    os.set_inheritable(pipe, False)
    events = os.fdopen(pipe, "w", encoding="utf-8", buffering=1)
    lock = threading.Lock()

    def emit(event: Mapping[str, Any]) -> None:
        with lock, suppress(OSError):
            events.write(json.dumps(event) + "\n")
            events.flush()

    adopt_orphans()
    exit_with_parent()
    order = json.loads((folder / "order.json").read_bytes())
    os.chdir(order["settings"]["root"])
    try:
        ahead = prestart_task_process(order)
        # Imported only now: meanwhile the other process comes up.
        from lakeward.workspace.runs.run_executor import execute_run

        result = execute_run(order, folder, emit, ahead)
    except KeyboardInterrupt:
        result = {"state": "CANCELED"}
    kill_detached()
    emit({"result": result})
    return 0


def exit_with_parent() -> None:
    """End this process and its children when the server is gone; user code reads an empty standard input."""
    lifeline = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        kill_tree(os.getpid())

    threading.Thread(target=wait, daemon=True).start()


def prestart_task_process(order: Mapping[str, Any]) -> list[PrestartedWorker]:
    """Return the process of a job's first task, unless its environment is still to be filled with secrets."""
    if order["kind"] != "job" or (order.get("cluster") or {}).get("spark_env_vars"):
        return []
    from lakeward.jobs import PrestartedWorker

    return [PrestartedWorker()]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
