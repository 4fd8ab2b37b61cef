"""Runs commands of an execution context in one namespace and gives results as API 1.2 does.

A result is `text` (what was printed, then the value of the last expression), `table` (rows of a SQL query or
of `display`), or `error` with `summary` and `cause`.

Source: https://docs.databricks.com/api/workspace/commandexecution
"""

from __future__ import annotations

import html
import io
import json
import linecache
import math
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

from lakeward.databricks_shims import DatabricksShell, main_names, use_display, use_shell
from lakeward.dbutils import NotebookExit, environment, redact
from lakeward.errors import LakewardError
from lakeward.notebooks import (
    MAGIC,
    WITHOUT_EFFECT,
    Cell,
    Compiler,
    Notebook,
    install_packages,
    restart,
    statements_of,
    without_indent,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

MAX_ROWS = 10_000
MAX_TEXT = 2**20  # characters

Result = dict[str, Any]


class Interpreter:
    """The state of one execution context. Not thread-safe: commands run one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compiler = Compiler()
        self._count = 0
        self._table: Result = {}
        self.namespace: dict[str, Any] = {**main_names(), "__name__": "__main__", MAGIC: self._magic}
        self._shell = DatabricksShell(self.namespace, self._magic)
        self.namespace["get_ipython"] = lambda: self._shell
        self._first_names = dict(self.namespace)

    def restart_python(self) -> None:
        """Clear the names of the context, and import packages of `%pip` again."""
        restart()
        self.namespace.clear()
        self.namespace.update(self._first_names)

    def run(self, language: str, command: str) -> Result:
        """Run a command; whatever it raises is its result."""
        self._count += 1
        self._table = {}
        name = f"<command-{self._count}>"
        output = io.StringIO()
        try:
            with (
                redirect_stdout(output),
                redirect_stderr(output),
                use_display(self._show),
                use_shell(self._shell),
            ):
                if language == "sql":
                    self._sql(command)
                else:
                    self._python(command, name)
        except NotebookExit as leaving:
            return _text(str(leaving))
        except KeyboardInterrupt:
            return {"resultType": "error", "summary": "Cancelled", "cause": "Command cancelled"}
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a command may raise anything
            return _error(error, name, output.getvalue())
        return self._table or _text(output.getvalue())

    def _python(self, command: str, name: str) -> None:
        command = without_indent(command.lstrip("\n"))
        linecache.cache[name] = (len(command), None, command.splitlines(keepends=True), name)
        magic = command.lstrip().split(None, 1)[0] if command.strip() else ""
        if magic in ("%sql", "%python", "%md"):
            rest = command.lstrip()[len(magic) :].lstrip(" ")
            if magic == "%sql":
                self._sql(rest)
            elif magic == "%python":
                self._python(rest, name)
            return
        code = self._compiler.compile(Notebook("python", "source", ()), Cell(1, "python", command), name)
        exec(code.body, self.namespace)  # noqa: S102  # running commands is what this is for
        value = eval(code.last, self.namespace) if code.last is not None else None  # noqa: S307  # as above
        if value is not None:
            self.namespace["_"] = value
            print(repr(value))

    def _sql(self, command: str) -> None:
        frame = None
        for statement in statements_of(command, 1, {}):
            frame = self.namespace["spark"].sql(statement)
        if frame is not None and frame.columns:
            self.namespace["_sqldf"] = frame
            self._table = _table(frame)

    def _show(self, value: Any = None, *_: object, **options: object) -> None:
        if hasattr(value, "to_spark"):
            value = value.to_spark()
        if hasattr(value, "toDF") and hasattr(value, "limit"):
            self._table = _table(value)
        elif value is not None or "html" in options:
            print(options.get("html", value))

    def _magic(self, name: str, text: str) -> None:
        """Run a line magic. Raises LakewardError for one that commands do not have here."""
        if name == "sql":
            self._sql(text)
        elif name in ("pip", "conda"):
            local = environment().paths.local
            unknown = install_packages(
                text, self._folder, local=lambda path: str(local(path)), names=self.namespace
            )
            for line in unknown:
                print(f"%{name} {line} has no effect here.")
        elif name == "restart_python":
            self.restart_python()
        elif name not in WITHOUT_EFFECT:
            raise ValueError(f"The magic %{name} is not available in commands.")


def _table(frame: DataFrame) -> Result:
    """Return rows as JSON values, with the types of their columns."""
    kinds = [
        {
            "name": field.name,
            "type": json.dumps(field.dataType.jsonValue()),
            "metadata": json.dumps(field.metadata),
        }
        for field in frame.schema.fields
    ]
    rows = frame.limit(MAX_ROWS + 1).collect()
    data = [[_value(value) for value in row] for row in rows[:MAX_ROWS]]
    return {
        "resultType": "table",
        "schema": kinds,
        "data": data,
        "truncated": len(rows) > MAX_ROWS,
        "isJsonSchema": True,
    }


def _value(value: object) -> Any:
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "asDict"):
        return {name: _value(each) for name, each in value.asDict().items()}
    if isinstance(value, dict):
        return {redact(str(key)): _value(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(each) for each in value]
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    return redact(str(value))


def _text(text: str) -> Result:
    shown = redact(text).rstrip("\n")
    result: Result = {"resultType": "text", "data": shown[:MAX_TEXT]}
    if len(shown) > MAX_TEXT:
        result["truncated"] = True
    return result


def _error(error: BaseException, name: str, printed: str) -> Result:
    """Return the error with the frames of the command, after what the command had printed."""
    kind = getattr(error, "condition", None) if isinstance(error, LakewardError) else None
    kind = kind or type(error).__name__
    message = redact(str(error)).split("\n\nJVM stacktrace")[0]
    frames = traceback.extract_tb(error.__traceback__)
    first = next((at for at, frame in enumerate(frames) if frame.filename == name), len(frames))
    trace = "".join(traceback.format_list(frames[first:]))
    head = f"{'-' * 75}\n{kind:<42}Traceback (most recent call last)\n"
    before = redact(printed)[-MAX_TEXT:]
    return {
        "resultType": "error",
        "summary": f'<span class="ansi-red-fg">{html.escape(kind)}</span>: {html.escape(message)}',
        "cause": f"{before}{head}{redact(trace)}{kind}: {message}",
    }
