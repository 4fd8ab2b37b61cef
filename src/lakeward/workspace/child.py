"""The process that carries out one run or update: `python -m lakeward.workspace.child FOLDER EVENTS`.

FOLDER holds the order, EVENTS is the pipe on which each step is told. What is printed, the server keeps.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeward.jobs import Waiting

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Carry out the order; the exit code is 0 whenever the last word was told."""
    folder, pipe = Path(arguments[0]), int(arguments[1])
    os.set_inheritable(pipe, False)
    events = os.fdopen(pipe, "w", encoding="utf-8", buffering=1)
    lock = threading.Lock()

    def tell(event: Mapping[str, Any]) -> None:
        with lock, suppress(OSError):
            events.write(json.dumps(event) + "\n")
            events.flush()

    die_with_parent()
    order = json.loads((folder / "order.json").read_bytes())
    os.chdir(order["settings"]["root"])
    try:
        ahead = first_process(order)
        # Imported only now: meanwhile the other process comes up.
        from lakeward.workspace.carrying_out import carry_out

        result = carry_out(order, folder, tell, ahead)
    except KeyboardInterrupt:
        result = {"state": "CANCELED"}
    tell({"result": result})
    return 0


def die_with_parent() -> None:
    """End with all that was started here when the server is gone; user code finds its input empty."""
    lifeline = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def first_process(order: Mapping[str, Any]) -> list[Waiting]:
    """The process of a job's first task, unless its environment is still to be filled with secrets."""
    if order["kind"] != "job" or (order.get("cluster") or {}).get("spark_env_vars"):
        return []
    from lakeward.jobs import Waiting

    return [Waiting()]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
