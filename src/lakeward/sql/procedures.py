"""Stored procedures: their definitions, which are files of the schema, and their calls.

A call becomes a block of a script: variables for the arguments, the procedure's body, and the assignment of
results. So the body runs as a script does, with the conditions and handlers of the caller.
Sources: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-create-procedure
and https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-call
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Literal

from lakeward.errors import SqlError
from lakeward.quoting import quote_identifier, quote_name, quote_string
from lakeward.sql.construct import Edit, apply_edits, wrong_argument_count
from lakeward.sql.script import is_atomic, is_script, statements
from lakeward.sql.session_context import SessionContext
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched, tokenize

KIND = "PROCEDURE"
Mode = Literal["IN", "OUT", "INOUT"]
FullName = tuple[str, ...]
_FILE = ".procedure.about.json"


@dataclass(frozen=True)
class Parameter:
    """A parameter: `default` is an expression, None for a parameter that needs an argument."""

    name: str
    mode: Mode
    type: str
    default: str | None = None
    comment: str | None = None

    @property
    def is_result(self) -> bool:
        """Return whether its value is assigned to a variable of the caller."""
        return self.mode != "IN"

    def __str__(self) -> str:
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{self.mode} {quote_identifier(self.name)} {self.type}{default}"


@dataclass(frozen=True)
class Procedure:
    """A procedure: `body` is a compound statement as it was written, `created` microseconds since 1970."""

    parameters: list[Parameter]
    body: str
    comment: str | None = None
    security: str = "INVOKER"
    owner: str = ""
    created: int = 0

    @property
    def is_atomic(self) -> bool:
        """Return whether its body is a transaction."""
        return is_atomic(tokenize(self.body) or ())


def find_procedure(context: SessionContext, name: FullName) -> Procedure | None:
    """Return the procedure of this full name, None if it does not exist."""
    stored = context.metadata(KIND, name)
    if "body" not in stored:
        return None
    parameters = [Parameter(**each) for each in stored.pop("parameters")]
    known = {key: value for key, value in stored.items() if key in Procedure.__dataclass_fields__}
    return Procedure(parameters, **known)


def store_procedure(context: SessionContext, name: FullName, procedure: Procedure) -> None:
    """Store a procedure; one of this name is replaced, and keeps its grants."""
    context.update_metadata(KIND, name, **asdict(procedure))


def procedures_of(context: SessionContext, catalog: str, schema: str) -> Iterator[tuple[FullName, Procedure]]:
    """Yield full name and definition of the procedures of a schema, sorted."""
    folder = context.metadata_file(KIND, (catalog, schema, "x")).parent
    for path in sorted(folder.glob(f"[!.]*{_FILE}")):
        name = (catalog, schema, path.name.removesuffix(_FILE))
        found = find_procedure(context, name)
        if found is not None:
            yield name, found


def require_procedure(context: SessionContext, name: Sequence[str]) -> tuple[FullName, Procedure]:
    """Return full name and definition; raises SqlError for a procedure that does not exist."""
    full = context.qualify(name)
    found = find_procedure(context, full)
    if found is None:
        raise SqlError(
            "ROUTINE_NOT_FOUND",
            f"The procedure {quote_name(full)} cannot be found.",
            parameters={"routineName": quote_name(full)},
        )
    return full, found


@dataclass(frozen=True)
class Argument:
    """An argument of a call: `name` is None for one by position, `text` None for DEFAULT."""

    name: str | None
    text: str | None


def has_calls(tokens: Sequence[Token]) -> bool:
    """Return whether a script calls a procedure."""
    return any(part[0].word == "CALL" for part in statements(tokens))


def expand_calls(
    text: str,
    find: Callable[[Sequence[str]], tuple[FullName, Procedure]],
    *,
    in_transaction: bool = False,
    active: frozenset[FullName] = frozenset(),
    numbers: Iterator[int] | None = None,
) -> str:
    """Return a script, or a CALL alone, with the bodies of the called procedures.

    Args:
        text: The statement.
        find: Returns full name and definition of a procedure; raises SqlError for one that does not exist.
        in_transaction: Whether a transaction that has begun contains the text. Bodies with BEGIN ATOMIC are
            a part of it; elsewhere, one that a script calls is a statement of its own, which Spark executes.
        active: The procedures whose bodies the text is in.
        numbers: Numbers of the variables for arguments.

    Raises:
        SqlError: A procedure does not exist, or its arguments do not fit.
    """
    numbers = numbers or count(1)
    tokens = tokenize(text) or ()
    edits = []
    in_script = is_script(tokens)
    joins = in_transaction or is_atomic(tokens)
    for part in statements(tokens) if in_script else [tokens]:
        if part[0].word != "CALL":
            continue
        cursor = TokenCursor(part, text)
        name, arguments = parse_call(cursor)
        full, procedure = find(name)
        values = _assign(procedure, arguments, quote_name(full))
        if full in active:
            block = _dynamic_call(full, procedure, values, numbers, "calls itself")
        elif in_script and not joins and procedure.is_atomic:
            block = _dynamic_call(
                full, procedure, values, numbers, "is a transaction in a script that is none"
            )
        else:
            body = expand_calls(
                procedure.body, find, in_transaction=joins, active=active | {full}, numbers=numbers
            )
            block = _block(full[-1], procedure, body, values, numbers)
        edits.append(Edit(part[0].start, part[-1].end, block))
    return apply_edits(text, edits)


def parse_call(cursor: TokenCursor) -> tuple[list[str], list[Argument]]:
    """Parse `CALL name(…)`. Raises Unmatched for another statement."""
    cursor.need("CALL")
    name = cursor.name(3)
    cursor.need("(")
    arguments: list[Argument] = []
    while not cursor.words(")"):
        if arguments:
            cursor.need(",")
        ahead = cursor.ahead(2)
        named = cursor.part() if len(ahead) == 2 and ahead[0].is_name and ahead[1].text == "=>" else None
        if named is not None:
            cursor.need("=>")
        begin = cursor.at
        cursor.skip_to(",")
        text = cursor.text(begin)
        if not text:
            raise Unmatched
        arguments.append(Argument(named, None if text.upper() == "DEFAULT" else text))
    cursor.end()
    return name, arguments


def _assign(procedure: Procedure, arguments: Sequence[Argument], routine: str) -> list[str | None]:
    """Return the argument of each parameter, None for its default."""
    parameters = procedure.parameters
    if len(arguments) > len(parameters):
        raise wrong_argument_count(routine, len(parameters), len(arguments))
    positions = {each.name.lower(): position for position, each in enumerate(parameters)}
    found: dict[int, str | None] = {}
    last_name = ""
    for at, argument in enumerate(arguments):
        if argument.name is None and last_name:
            raise _call_error("UNEXPECTED_POSITIONAL_ARGUMENT", routine, parameterName=last_name)
        last_name = "" if argument.name is None else quote_identifier(argument.name)
        position = at if argument.name is None else positions.get(argument.name.lower())
        if position is None:
            known = ", ".join(quote_identifier(each.name) for each in parameters)
            names = {"argumentName": last_name, "proposal": known}
            raise _call_error("UNRECOGNIZED_PARAMETER_NAME", routine, **names)
        if position in found:
            by_position = arguments[position].name is None
            by = "BOTH_POSITIONAL_AND_NAMED" if by_position else "DOUBLE_NAMED_ARGUMENT_REFERENCE"
            condition = f"DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.{by}"
            raise _call_error(condition, routine, parameterName=quote_identifier(parameters[position].name))
        found[position] = argument.text
    for position, parameter in enumerate(parameters):
        if found.get(position) is None and parameter.default is None:
            names = {"parameterName": quote_identifier(parameter.name), "index": str(position)}
            raise _call_error("REQUIRED_PARAMETER_NOT_FOUND", routine, **names)
    return [found.get(position) for position in range(len(parameters))]


def _call_error(condition: str, routine: str, **names: str) -> SqlError:
    given = ", ".join(names.values())
    return SqlError(
        condition,
        f"The arguments of {routine} do not fit its parameters: {given}.",
        parameters={"routineName": routine, **names},
    )


def _block(
    label: str, procedure: Procedure, body: str, values: Sequence[str | None], numbers: Iterator[int]
) -> str:
    """Return the statement that a call becomes.

    The arguments are computed before the parameters are declared: both may have the same names.
    """
    variables = [f"lakeward_argument_{next(numbers)}" for _ in procedure.parameters]
    outer, before, inner, after, results = [], [], [], [], []
    for parameter, variable, value in zip(procedure.parameters, variables, values, strict=True):
        name = quote_identifier(parameter.name)
        outer.append(f"DECLARE {variable} {parameter.type};")
        given = parameter.default if value is None else value
        if given is not None and (parameter.mode != "OUT" or value is None):
            before.append(f"SET {variable} = {given};")
        inner.append(f"DECLARE {name} {parameter.type} DEFAULT {variable};")
        if parameter.is_result:
            after.append(f"SET {variable} = {name};")
            if value is not None:
                results.append(f"SET {_variable(value, parameter)} = {variable};")
    lines = [
        "BEGIN",
        *outer,
        *before,
        f"{quote_identifier(label)}: BEGIN",
        *inner,
        f"{body};",
        *after,
        f"END {quote_identifier(label)};",
        *results,
        "END",
    ]
    return "\n".join(lines)


def _dynamic_call(
    full: FullName, procedure: Procedure, values: Sequence[str | None], numbers: Iterator[int], reason: str
) -> str:
    """Return the statement for a call that is read when it is executed; `reason` is why the body is not."""
    given = [
        (parameter, value)
        for parameter, value in zip(procedure.parameters, values, strict=True)
        if value is not None
    ]
    if any(parameter.is_result for parameter, _ in given):
        raise SqlError(
            "UNSUPPORTED_SQL",
            f"The procedure {quote_name(full)} {reason}, and has a parameter OUT or INOUT.",
            sql_state="0A000",
            next_step="Write the result to a table, or use a loop.",
        )
    variables = [f"lakeward_argument_{next(numbers)}" for _ in given]
    arguments = ", ".join(f"{quote_identifier(parameter.name)} => ?" for parameter, _ in given)
    call = quote_string(f"CALL {quote_name(full)}({arguments})")
    using = f" USING {', '.join(variables)}" if variables else ""
    declared = [
        f"DECLARE {variable} {parameter.type};"
        for variable, (parameter, _) in zip(variables, given, strict=True)
    ]
    computed = [f"SET {variable} = {value};" for variable, (_, value) in zip(variables, given, strict=True)]
    return "\n".join(["BEGIN", *declared, *computed, f"EXECUTE IMMEDIATE {call}{using};", "END"])


def _variable(text: str, parameter: Parameter) -> str:
    """Return the argument of a result, which has to be the name of a variable. Raises SqlError otherwise."""
    cursor = TokenCursor(tokenize(text) or ())
    try:
        name = cursor.name(3)
        cursor.end()
    except Unmatched:
        raise SqlError(
            "UNSUPPORTED_SQL",
            f"The argument {text} of the parameter {quote_identifier(parameter.name)} is not a variable.",
            sql_state="42601",
            next_step="Declare a variable, and pass its name: the procedure assigns a value to it.",
        ) from None
    return quote_name(name)
