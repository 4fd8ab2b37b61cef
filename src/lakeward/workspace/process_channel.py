"""A process as the server sees it: a subprocess that exchanges JSON lines."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lakeward.atomic_files import open_to_append

Message = dict[str, Any]

_STOP_SECONDS = 2.0


class ProcessChannel:
    """A subprocess with one writer thread and one reader thread.

    `send` never blocks: a process that does not read its input delays only itself. `on_message` and
    `on_exit` run in the reader thread; `on_exit` is called once, after the last message.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        log: Path,
        on_message: Callable[[Message], None],
        on_exit: Callable[[int], None],
    ) -> None:
        self._on_message, self._on_exit = on_message, on_exit
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        descriptor = open_to_append(log, mode=0o600)
        try:
            self._process = subprocess.Popen(
                command,
                cwd=log.parent,
                env={**os.environ, **environ},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=descriptor,
                start_new_session=True,
            )
        finally:
            os.close(descriptor)

    def start(self) -> None:
        """Start the reader and the writer."""
        for target in (self._read, self._write):
            threading.Thread(target=target, name=f"channel {target.__name__}", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Return whether the process has not exited."""
        return self._process.poll() is None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a message for the process and return at once."""
        self._outbox.put(json.dumps(message).encode() + b"\n")

    def interrupt(self) -> None:
        """Send SIGINT to the process, not to those that it started."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill the process and all that it started."""
        self._outbox.put(None)
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """End the process and all that it started; what does not end within seconds is killed."""
        self._outbox.put(None)
        self._signal(signal.SIGTERM)
        killer = threading.Timer(_STOP_SECONDS, self._signal, [signal.SIGKILL])
        killer.daemon = True
        killer.start()

    def wait(self, seconds: float) -> None:
        """Wait for the end of a stopped process, and kill it if it takes longer than `seconds`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        # The group outlives its leader as long as Spark's JVM needs to remove its temporary files.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError, ValueError):
            while (line := self._outbox.get()) is not None:
                stdin.write(line)
                stdin.flush()
        with suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with suppress(OSError, ValueError), stdout:
            for line in stdout:
                # What Python's start-up prints, such as a sitecustomize, comes before the messages.
                if line.startswith(b"{"):
                    self._on_message(json.loads(line))
        code = self._process.wait()
        self._outbox.put(None)
        self._on_exit(code)
