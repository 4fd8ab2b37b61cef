"""Format Spark's errors: condition, message and root cause, without query plan and stack trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import lakeward
from lakeward.session.daemon import is_lost, jvm_lost

_STACK = re.compile(r"\n\s*(?:JVM stacktrace:|at [\w$.<>/@-]+\([^)]*\)|Driver stacktrace:|=== )")
_PLAN = re.compile(r";\n(?=['+~!:*( ]|[A-Z]\w+)[\s\S]*$|\n(?=['+~])[\s\S]*$")
_EXCEPTION_NAME = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error): ")
# The cause from a Python worker is a traceback of many lines.
_TRACEBACK = "Traceback (most recent call last):"
_CAUSE = re.compile(
    rf"^\s*Caused by: (.+(?:(?<={re.escape(_TRACEBACK)})(?:\n(?!\s*at [\w$.]+|Caused by: ).*)+)?)$",
    re.MULTILINE,
)
# Frames of a traceback in Py4J, PySpark and lakeward, above those of the user's function.
_INNER_FRAME = re.compile(
    rf'^[ \t]*File "(?:[^"\n]*/(?:site-packages|dist-packages|pyspark\.zip)/(?:py4j|pyspark|lakeward)/'
    rf'|{re.escape(str(Path(lakeward.__file__).parent))}/)[^"\n]*", line \d+, in .*\n(?:[ \t]{{4,}}.*\n)*',
    re.MULTILINE,
)
CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
# Statements of a file are padded with empty lines, so that Spark reports lines of the file.
_BLANK = re.compile(r"(== SQL[^\n]*\n)(?:[ \t]*\n)+")
# Wrappers that only report that something else failed.
_WRAPPER = re.compile(r"\[TASK_WRITE_FAILED\]|Exception thrown in awaitResult")
_FULL = "No space left on device"


def condense_error(text: str) -> str:
    """Return the text before the stack and the plan, with the last cause of the stack.

    Tracebacks in it lose the frames of PySpark and lakeward.

    >>> condense_error("[X] no `a`. SQLSTATE: 42703; line 1 pos 7;\\n'Project ['a]\\n+- OneRowRelation")
    '[X] no `a`. SQLSTATE: 42703; line 1 pos 7'
    >>> condense_error("x.AnError: a\\n\\tat x.y(Z.java:1)\\nCaused by: x.AnError: b\\n\\tat x.y(Z.java:2)")
    'a Cause: b'
    >>> condense_error("[X] near 'c'\\n== SQL ==\\n\\n  \\nselect c")
    "[X] near 'c'\\n== SQL ==\\nselect c"
    >>> worker = "Caused by: x.AnError: Traceback (most recent call last):\\n  File 'f.py'\\nValueError: b"
    >>> condense_error(f"x.AnError: a\\n\\tat x.y(Z.java:1)\\n{worker}\\n\\tat x.y(Z.java:2)")[-13:]
    'ValueError: b'
    """
    causes = [_EXCEPTION_NAME.sub("", cause) for cause in _CAUSE.findall(text)]
    text = _STACK.split(text.strip(), maxsplit=1)[0]
    text = _EXCEPTION_NAME.sub("", text)
    if "== SQL" not in text:
        text = _PLAN.sub("", text)
    text = _INNER_FRAME.sub("", _BLANK.sub(r"\1", text.strip().rstrip("; \n")))
    return f"{text} Cause: {causes[-1]}" if causes and causes[-1] not in text else text


def message_of(error: BaseException) -> str:
    """Return a short message for an error of Spark or the JVM; any other error's own text."""
    if is_lost(error):
        return jvm_lost().message
    java = getattr(error, "java_exception", None)
    if java is not None:
        chain = _cause_texts(java)
        text = condense_error(next((each for each in reversed(chain) if ": [" in each), chain[0]))
    else:
        text = condense_error(str(error))
        chain = _cause_texts(getattr(error, "_origin", None)) if _WRAPPER.search(text) else []
    reason = _main_line(chain[-1]) if chain else ""
    return text if reason in text else f"{text} Cause: {reason}"


def _cause_texts(java: Any) -> list[str]:
    """Return the texts of an exception and its causes, from the outermost."""
    messages: list[str] = []
    while java is not None and len(messages) < 20:
        messages.append(str(java.toString()))
        java = java.getCause()
    return messages


def _main_line(message: str) -> str:
    """Return the first line; for a Python traceback the last one, for that of a Python worker all lines."""
    text = condense_error(message)
    if "[PYTHON_EXCEPTION]" in text:
        return text
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if _TRACEBACK in message else lines[0]


def condition_of(error: BaseException) -> str | None:
    """Return the condition of an error, from its attribute or the start of its text; None without one."""
    if is_lost(error):
        return jvm_lost().condition
    own = getattr(error, "getCondition", None)
    condition = own() if callable(own) else None
    if condition is None:
        of_the_jvm = hasattr(error, "java_exception") or hasattr(error, "_origin")
        found = (CONDITION.search if of_the_jvm else CONDITION.match)(message_of(error))
        condition = found.group(1) if found else None
    return condition


def full_text(error: BaseException | None) -> str:
    """Return the texts of an exception, its stack and its causes: a reader's error may be deeply nested."""
    said: list[str] = []
    each: Any = error
    while each is not None:
        said += [str(getattr(each, "_desc", None) or each), str(getattr(each, "_stackTrace", ""))]
        each = getattr(each, "_cause", None)
    return "\n".join(said)


def is_disk_full(error: BaseException) -> bool:
    """Return whether a full disk caused the error, however deeply nested."""
    return _FULL in str(error) or _FULL in message_of(error)
