"""The process's stdout and stderr while Spark and the user's code run.

Both file descriptors, which the JVM inherits, lead into one pipe. What comes out of it is the user's and
goes to stderr, in the order in which it was written; Spark's own log lines are dropped. A log line is known
by its form, and the lines of a stack trace belong to the line above them. The command itself writes to the
real streams, so that nothing but its result is on stdout.
"""

from __future__ import annotations

import logging
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from lakeward.dbutils import redact
from lakeward.session import drain

PATIENCE = 0.1  # seconds that the beginning of a line, such as a prompt, waits for its end
_SETTLED = b"\0lakeward: settled\0"  # in the pipe: what came before it is shown
_LOG_LINE = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    r'|\{"ts": ?"'
    r"|\r?\[Stage \d+:"
    # Of the worker that looks at a stateful processor; each is followed by an empty line.
    r"|(?P<worker>(?:Starting )?Streaming TransformWithStateInPandas Python worker\b)"
)
_START_UP = (
    "WARNING: Using incubator modules",
    "WARNING: A terminally deprecated method in sun.misc.Unsafe",
    "WARNING: sun.misc.Unsafe::",
    "WARNING: A restricted method in java.lang.System has been called",
    "WARNING: java.lang.System::",
    "WARNING: Use --enable-native-access",
    "WARNING: Restricted methods will be blocked",
    "WARNING: Please consider reporting this to the maintainers",
    "WARNING: Unknown module: ",
    "Using Spark's default log4j profile:",
    "Setting default log level to ",
    "To adjust logging level use sc.setLogLevel",
    "Picked up JAVA_TOOL_OPTIONS:",
    "Picked up _JAVA_OPTIONS:",
    "SLF4J: ",
    "SLF4J(",
)
_TRACE = re.compile(
    r"\s+at [\w$.<>/@-]+\(.*\)|\s*\.\.\. \d+ more|Caused by: |\s*Suppressed: |[\w$]+(?:\.[\w$]+)+(?::|$)"
)


@dataclass
class Streams:
    """The real streams, and what shows the lines of the pipe."""

    out: TextIO
    err: TextIO
    show: Callable[[str], None] = field(default=print)
    settled: threading.Event = field(default_factory=threading.Event)

    def settle(self) -> None:
        """Wait until the output so far is shown, and end its last line: the command writes the next one."""
        flush()
        drain()
        self.settled.clear()
        with suppress(OSError):
            os.write(1, _SETTLED + b"\n")
            self.settled.wait(20 * PATIENCE)

    def to_stderr(self, text: str) -> None:
        """Forward the text without secrets; it is lost if the terminal was closed."""
        with suppress(OSError, ValueError):
            # Both may be one log file: its lines are in the order in which they were printed.
            self.out.flush()
        with suppress(OSError, ValueError):
            self.err.write(redact(text))
            self.err.flush()


@contextmanager
def redirect_output() -> Iterator[Streams]:
    """Divert fd 1 and fd 2 for the time of the block; LAKEWARD_VERBOSE lets Spark's own lines through."""
    verbose = bool(os.environ.get("LAKEWARD_VERBOSE"))
    flush()
    real_out, real_err = os.dup(1), os.dup(2)
    reading, writing = os.pipe()
    streams = Streams(
        os.fdopen(real_out, "w", encoding="utf-8", errors="replace"),
        os.fdopen(real_err, "w", encoding="utf-8", errors="replace"),
    )
    streams.show = streams.to_stderr
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    os.close(writing)
    ended, end = os.pipe()  # a byte wakes the thread; forked children may keep `end` open
    pump = threading.Thread(target=forward_lines, args=(reading, ended, streams, verbose), daemon=True)
    buffering = set_line_buffering(True)
    pump.start()
    root, py4j = logging.getLogger(), logging.getLogger("py4j")
    propagate = py4j.propagate
    if not verbose:
        root.addFilter(is_not_py4j)
        py4j.propagate = False
    try:
        yield streams
    finally:
        root.removeFilter(is_not_py4j)
        py4j.propagate = propagate
        flush()
        drain()
        set_line_buffering(buffering)
        os.dup2(real_out, 1)
        os.dup2(real_err, 2)
        os.write(end, b"x")
        os.close(end)
        pump.join(timeout=5)
        os.close(reading)
        os.close(ended)
        for stream in (streams.out, streams.err):
            with suppress(OSError, ValueError):
                stream.close()


def forward_lines(reading: int, ended: int, streams: Streams, verbose: bool) -> None:
    """Move whole lines from the pipe to `streams.show` until `ended` has a byte and nothing is left."""
    chatter, rest, is_over, within_line = SparkLogLines(), b"", False, False
    while True:
        ready, _, _ = select.select([reading, ended], [], [], PATIENCE)
        is_over = is_over or ended in ready
        data = os.read(reading, 65536) if reading in ready else b""
        *lines, rest = (rest + data).split(b"\n")
        if not data and rest and not may_be_log_line(rest):
            lines, rest, within_line = [rest], b"", True
            streams.show(lines.pop().decode(errors="replace"))
        for line in lines:
            before, mark, _ = line.partition(_SETTLED)
            text = before.decode(errors="replace")
            if (before or within_line) if mark else (verbose or text not in chatter):
                streams.show(f"{text}\n")
            within_line = False
            if mark:
                streams.settled.set()
        if not data and is_over:
            if rest and (verbose or rest.decode(errors="replace") not in chatter):
                streams.show(rest.decode(errors="replace"))
            return


def is_not_py4j(record: logging.LogRecord) -> bool:
    """Return whether a record of the root logger is not py4j's.

    Interrupted by Ctrl-C, py4j logs tracebacks, with its own loggers and with the root logger.
    """
    return "py4j" not in Path(record.pathname).parts


def may_be_log_line(beginning: bytes) -> bool:
    """Return whether an unfinished line begins like one of Spark's; it then waits for its end."""
    return beginning[:1].isdigit() or beginning.startswith((b"{", b"\r[Stage", b"[Stage", b"WARNING"))


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


def set_line_buffering(wanted: bool) -> bool:
    """Make Python's stdout write line by line, or not; return the previous setting."""
    before = bool(getattr(sys.stdout, "line_buffering", False))
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=wanted)
    return before


class SparkLogLines:
    """A reader of lines that remembers whether the line before was Spark's."""

    def __init__(self) -> None:
        self.within = False
        self._of_worker = False

    def __contains__(self, line: str) -> bool:
        """Return whether `line`, the next one of the stream, is Spark's own."""
        found = _LOG_LINE.match(line)
        if found or line.startswith(_START_UP):
            self.within = True
        elif not (self.within and (_TRACE.match(line) or (self._of_worker and not line.strip()))):
            self.within = False
        self._of_worker = found is not None and found["worker"] is not None
        return self.within
