"""Filter the log lines of Spark and its JVM from the output of the user's code.

Spark's log, the JVM's start-up warnings and PySpark's JSON logger share two file descriptors with the
user's prints. A line is chatter by its form; the lines of a stack trace belong to the line above them.
"""

from __future__ import annotations

import re

__all__ = ["SparkLogLines"]

LOG_LINE = re.compile(
    r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    r'|\{"ts": ?"'
    r"|\r?\[Stage \d+:"
)
START_UP = (
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
TRACE = re.compile(
    r"\s+at [\w$.<>/@-]+\(.*\)|\s*\.\.\. \d+ more|Caused by: |\s*Suppressed: |[\w$]+(?:\.[\w$]+)+(?::|$)"
)


class SparkLogLines:
    """A reader of lines that remembers whether the line before was Spark's."""

    def __init__(self) -> None:
        self.within = False

    def __contains__(self, line: str) -> bool:
        """Whether `line`, the next one of the stream, is Spark's own."""
        if LOG_LINE.match(line) or line.startswith(START_UP):
            self.within = True
        elif not (self.within and TRACE.match(line)):
            self.within = False
        return self.within
