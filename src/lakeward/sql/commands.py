"""Commands: SQL statements that this process runs instead of Spark.

A command is a frozen dataclass next to its grammar: the fields are what the grammar read, `run` is the
effect. Subclasses register themselves by their class name. The JVM keeps a parsed command as JSON
(`as_json`) and sends it back when the statement is executed (`run_command`).

SQL functions that Spark lacks come from the JVM in the same form, as `function.<name>`, and are served by
the handlers of `register_function`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FUNCTION = "function."

FunctionHandler = Callable[..., Any]


@dataclass(frozen=True)
class Rows:
    """The result of a command: the columns as DDL, and one sequence of values per row.

    Values are None, texts, booleans and integers; a TIMESTAMP is microseconds since the epoch.
    """

    schema: str
    rows: Sequence[Sequence[Any]]


class Command:
    """Base of all commands. Fields have JSON values or are dataclasses of such."""

    _types: ClassVar[dict[str, type[Command]]] = {}
    command_name: ClassVar[str]

    def __init_subclass__(cls, *, name: str | None = None) -> None:
        cls.command_name = name or cls.__name__
        Command._types[cls.command_name] = cls

    def run(self, spark: SparkSession) -> Any:
        """Run the statement.

        Returns:
            Rows, a DataFrame, a Dataset of the JVM, or None for no result.

        Raises:
            SqlError: The statement cannot be run; also what Spark raises.
        """
        handler = _command_handlers.get(type(self))
        if handler is None:
            raise _no_handler(self.command_name)
        return handler(spark, self)

    def as_json(self) -> dict[str, Any]:
        """Return the command as the JVM keeps it."""
        return {"name": self.command_name, "arguments": asdict(self)}  # type: ignore[call-overload]  # subclasses are dataclasses


C = TypeVar("C", bound=Command)

_command_handlers: dict[type[Command], Callable[[SparkSession, Any], Any]] = {}
_function_handlers: dict[str, FunctionHandler] = {}


class HandlerRegistration:
    """A registered handler; leaving the `with` block restores the previous one."""

    def __init__(self, handlers: dict[Any, Any], key: object, handler: object) -> None:
        self._handlers, self._key, self._previous = handlers, key, handlers.get(key)
        handlers[key] = handler

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if self._previous is None:
            self._handlers.pop(self._key, None)
        else:
            self._handlers[self._key] = self._previous


def register_handler(command: type[C], handler: Callable[[SparkSession, C], Any]) -> HandlerRegistration:
    """Run a type of commands without its own `run` with `handler`, until the block ends or for good."""
    return HandlerRegistration(_command_handlers, command, handler)


def register_function(name: str, handler: FunctionHandler) -> HandlerRegistration:
    """Serve a SQL function that Spark lacks, until the block ends or for good.

    The handler is called with the session and the keywords `positional` and `named`; constants arrive as
    text. A table function returns a DataFrame (or its `_jdf`). With STREAM before the call the function is
    `stream_<name>`.
    """
    return HandlerRegistration(_function_handlers, name, handler)


def run_command(spark: SparkSession, name: str, arguments: Mapping[str, Any]) -> Any:
    """Run a command or function that the JVM sent; raises SqlError, or what Spark raises."""
    if name.startswith(_FUNCTION):
        handler = _function_handlers.get(name.removeprefix(_FUNCTION))
        if handler is None:
            raise _no_handler(name.removeprefix(_FUNCTION))
        return handler(spark, **arguments)
    if name not in Command._types:
        raise _no_handler(name)
    import msgspec

    return msgspec.convert(dict(arguments), Command._types[name]).run(spark)


def _no_handler(name: str) -> SqlError:
    return SqlError("UNSUPPORTED_SQL", f"{name} is not available in this session.", sql_state="0A000")
