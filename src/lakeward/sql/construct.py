"""One row of the table of SQL constructs, and what a statement becomes: edits, a command or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from lakeward.errors import SqlError
from lakeward.sql.token_cursor import Token, TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces the characters from `start` to before `end` with `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Edits:
    """Spark parses the text after these edits, which are sorted and do not overlap."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Refusal:
    """The statement fails with this error.

    For a condition that Spark knows, `parameters` fill Spark's own message.
    """

    condition: str
    message: str
    sql_state: str | None = None
    parameters: Mapping[str, str] | None = None

    @classmethod
    def of(cls, error: SqlError) -> Refusal:
        """Return the refusal with an error's condition and text."""
        return cls(error.condition, error.text, error.sql_state)


@dataclass(frozen=True)
class Rows:
    """The result of a command: the columns as DDL, and one sequence of values per row.

    Values are None, texts, booleans and integers; a TIMESTAMP is microseconds since the epoch.
    """

    schema: str
    rows: Sequence[Sequence[Any]]


class Command:
    """A statement that this process runs instead of Spark: a frozen dataclass next to its grammar.

    The fields are what the grammar read, JSON values or dataclasses of such; `run` is the effect. Subclasses
    register themselves by their class name. The JVM keeps a parsed command as JSON (`as_json`) and sends it
    back when the statement is executed (`run_command`).
    """

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


RewriteResult = Edits | Command | Refusal


def syntax_error(cursor: TokenCursor, statement: str) -> Refusal:
    """Return the error of `statement` at the next token, for statements that no other parser has."""
    token = cursor.next
    near = "end of input" if token is None else f"'{token.text}'"
    return Refusal("PARSE_SYNTAX_ERROR", f"{near} in {statement}", "42601", {"error": near, "hint": ""})


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with the edits applied.

    >>> apply_edits("abc", [Edit(1, 2, "-")])
    'a-c'
    """
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


# The beginning of a statement, for triggers, which see the text without its comments.
BEGINNING = r"^\s*+"

Verdict = Literal["supported", "rewritten", "emulated", "unsupported"]


@dataclass(frozen=True)
class Construct:
    """A piece of Databricks SQL and how it runs here.

    Attributes:
        name: Shown in docs/sql.md and by `lakeward check`; unique.
        example: One statement that has it.
        verdict: How it runs; most statements are commands of this package.
        note: What users should know, in one line.
        starts: The words that `statement` can begin with; by default the example's.
        statement: Parses a whole statement; raises Unmatched if it is a different one.
        edits: Finds the edits in an expression or clause of any statement.
        trigger: A pattern of texts that Spark parses with a different meaning. Only those, and what Spark
            cannot parse, are looked at.
        test: The test file that shows it.
        area: The heading of docs/sql.md; `in_area` sets it.
    """

    name: str
    example: str
    verdict: Verdict = "emulated"
    note: str = ""
    starts: tuple[str, ...] = ()
    statement: Callable[[TokenCursor], RewriteResult] | None = None
    edits: Callable[[Sequence[Token]], list[Edit]] | None = None
    trigger: str = ""
    test: str = "tests/sql/test_corpus.py"
    area: str = ""

    @property
    def first_words(self) -> tuple[str, ...]:
        """The words that a whole statement can begin with; none for parts of statements."""
        return () if self.statement is None else self.starts or (self.example.split()[0],)


def in_area(area: str, *constructs: Construct) -> tuple[Construct, ...]:
    """Return the constructs of one heading of docs/sql.md."""
    return tuple(replace(each, area=area) for each in constructs)


def supported(name: str, example: str, note: str = "") -> Construct:
    """Declare what Spark runs itself; the statement reaches Spark unchanged."""
    return Construct(name, example, "supported", note)


def unsupported(name: str, *, example: str, starts: str, reason: str) -> Construct:
    """Declare a statement that fails with UNSUPPORTED_SQL.

    Args:
        name: The construct's name.
        example: One such statement.
        starts: The words that it begins with.
        reason: Why it cannot run, or what to use instead.
    """
    first, *others = starts.split()

    def statement(cursor: TokenCursor) -> RewriteResult:
        cursor.need(first, *others)
        return Refusal("UNSUPPORTED_SQL", f"{name} is not supported here: {reason}", "0A000")

    return Construct(name, example, "unsupported", reason, statement=statement)


# SQL functions that Spark lacks come from the JVM in the form of commands, with this prefix.
_FUNCTION = "function."

FunctionHandler = Callable[..., Any]
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


def wrong_argument_count(routine: str, expected: int | str, actual: int) -> SqlError:
    """Return the error of a call with too many or too few arguments; `routine` is a quoted name."""
    return SqlError(
        "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        f"The {routine} requires {expected} parameters but the actual number is {actual}.",
        sql_state="42605",
        parameters={
            "functionName": routine,
            "expectedNum": str(expected),
            "actualNum": str(actual),
            "docroot": "https://spark.apache.org/docs/latest",
        },
    )


def _no_handler(name: str) -> SqlError:
    return SqlError("UNSUPPORTED_SQL", f"{name} is not available in this session.", sql_state="0A000")
