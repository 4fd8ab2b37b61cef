"""CREATE FUNCTION … LANGUAGE PYTHON, stored as a SQL function that calls the Python code.

The stored body is `lakeward_python(definition, arguments …)`: Spark keeps the function, its parameters,
defaults and comments as those of a SQL function. The JVM asks for the call's Python UDF during analysis.

Source: https://docs.databricks.com/sql/language-manual/sql-ref-syntax-ddl-create-sql-function
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.spark_internals import java_function
from lakeward.sql.construct import Construct, Edit, Edits, Refusal, in_area, register_function
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The name is in session/jvm/SqlFunctions.java, too.
CALL = "lakeward_python"
# Words that can follow the type of RETURNS.
_CLAUSES = {
    *("LANGUAGE", "DETERMINISTIC", "NOT", "COMMENT", "CONTAINS", "READS", "DEFAULT", "HANDLER", "PARAMETER"),
    *("ENVIRONMENT", "AS"),
}
_OPENING, _CLOSING = {"(", "<"}, {")", ">"}


@dataclass(frozen=True)
class PythonFunction:
    """The code of a function.

    Attributes:
        name: Its name, for messages.
        parameters: The names of its parameters.
        returns: The type of its result, as DDL.
        body: The code between the dollar signs.
        handler: The function of `body` that is called; None if `body` is a function's body.
        is_batch: Whether the handler takes and yields batches of pandas.Series (PARAMETER STYLE PANDAS).
        is_deterministic: Whether equal arguments give equal results.
    """

    name: str
    parameters: list[str]
    returns: str
    body: str
    handler: str | None = None
    is_batch: bool = False
    is_deterministic: bool = True

    def encode(self) -> str:
        """Return the definition as text without quotes and without characters that Spark substitutes."""
        return base64.b64encode(json.dumps(asdict(self)).encode()).decode()

    @staticmethod
    def decode(text: str) -> PythonFunction:
        return PythonFunction(**json.loads(base64.b64decode(text)))

    @staticmethod
    def of_stored_body(expression: str) -> PythonFunction | None:
        """Return the function whose stored body `expression` is; None for a function in SQL."""
        is_call = expression.startswith(f"{CALL}('")
        return PythonFunction.decode(expression.split("'")[1]) if is_call else None

    def load(self) -> Callable[..., Any]:
        """Return the function; raises SqlError for code that Python cannot compile."""
        names: dict[str, Any] = {"__name__": f"function_{self.name}"}
        try:
            exec(compile(self._module(), f"<function {self.name}>", "exec"), names)  # noqa: S102
            return names[self.handler or self.name]  # type: ignore[no-any-return]
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, KeyError):
                reason = f"HANDLER '{self.handler}' is not defined in the code"
            raise SqlError(
                "UDF_USER_CODE_ERROR",
                f"The Python code of function {self.name} cannot be loaded: {reason}. "
                "Correct it and create the function again.",
                sql_state="39000",
            ) from error

    def _module(self) -> ast.Module:
        """Return the code as a module that defines the function; literals of several lines stay unchanged."""
        lines = self.body.splitlines()
        first = next((line for line in lines if line.strip()), "pass")
        module = _indented(self.body) if first[0].isspace() else ast.parse(self.body.strip() or "pass")
        if self.handler is not None:
            return module
        signature = ast.parse(f"def {self.name}({', '.join(self.parameters)}): pass").body[0]
        assert isinstance(signature, ast.FunctionDef)
        signature.body = module.body
        return ast.fix_missing_locations(ast.Module([signature], []))


def _indented(code: str) -> ast.Module:
    """Parse indented code; `textwrap.dedent` would change literals of several lines."""
    block = ast.parse(f"if True:\n{code}").body[0]
    assert isinstance(block, ast.If)
    module = ast.Module(block.body, [])
    ast.increment_lineno(module, -1)
    return module


def _create_function(cursor: TokenCursor) -> Edits | Refusal:
    cursor.need("CREATE")
    cursor.words("OR", "REPLACE")
    cursor.words("TEMPORARY")
    cursor.need("FUNCTION")
    cursor.words("IF", "NOT", "EXISTS")
    name = cursor.name(3)[-1]
    cursor.need("(")
    parameters = list(_parameters(cursor))
    cursor.need("RETURNS")
    begin = cursor.at
    while cursor.next is not None and cursor.next.word not in _CLAUSES:
        cursor.at += 1
    returns = cursor.text(begin)
    clauses, body = _clauses(cursor)
    if returns.upper().startswith("TABLE"):
        return Refusal(
            "UNSUPPORTED_SQL",
            "CREATE FUNCTION … RETURNS TABLE … LANGUAGE PYTHON is not supported here. "
            "Use pyspark.sql.functions.udtf and spark.udtf.register in the session.",
            "0A000",
        )
    function = PythonFunction(
        name=name if name.isidentifier() else "function",
        parameters=parameters,
        returns=returns,
        body=body.dollar_quoted or "",
        handler=clauses.handler,
        is_batch=clauses.is_batch,
        is_deterministic=clauses.is_deterministic,
    )
    try:
        function.load()
    except SqlError as error:
        return Refusal.of(error)
    arguments = "".join(f", {quote_name([each])}" for each in parameters)
    call = Edit(body.start, body.end, f"{CALL}('{function.encode()}'{arguments})")
    removed = [Edit(token.start, token.end, "") for token in clauses.removed]
    as_word = Edit(clauses.as_word.start, clauses.as_word.end, "RETURN")
    return Edits(tuple(sorted([*removed, as_word, call])))


def _parameters(cursor: TokenCursor) -> Iterator[str]:
    """Read the parameters and the closing parenthesis; yield their names."""
    if cursor.words(")"):
        return
    while True:
        yield cursor.part()
        depth = 0
        while True:
            token = cursor.next
            if token is None:
                raise Unmatched
            if depth == 0 and token.text in (",", ")"):
                break
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            cursor.at += 1
        cursor.at += 1
        if token.text == ")":
            return


@dataclass(frozen=True)
class _Clauses:
    handler: str | None
    is_batch: bool
    is_deterministic: bool
    removed: Sequence[Token]
    as_word: Token


def _clauses(cursor: TokenCursor) -> tuple[_Clauses, Token]:
    """Read the clauses after the type, and the code; raises Unmatched without LANGUAGE PYTHON."""
    removed: list[Token] = []
    handler, is_batch, is_deterministic, is_python = None, False, True, False
    while True:
        begin = cursor.at
        if cursor.words("LANGUAGE", "PYTHON"):
            is_python = True
        elif cursor.words("HANDLER"):
            handler = cursor.string()
        elif cursor.words("PARAMETER", "STYLE", "PANDAS"):
            is_batch = True
        elif cursor.words("ENVIRONMENT", "("):
            # The packages of the session are used; a missing one fails at its import.
            while not cursor.words(")"):
                cursor.skip()
        else:
            if cursor.words("AS"):
                break
            if cursor.words("NOT", "DETERMINISTIC"):
                is_deterministic = False
            else:
                cursor.skip()
            continue
        removed += cursor.read(begin)
    as_word, body = cursor.read(begin)[0], cursor.next
    if not is_python or body is None or body.dollar_quoted is None:
        raise Unmatched
    cursor.at += 1
    cursor.end()
    return _Clauses(handler, is_batch, is_deterministic, removed, as_word), body


def _python_function(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
    """Return the JVM's Python UDF of a call; the first argument is the encoded definition."""
    from pyspark.sql.functions import udf

    del spark, named
    function = PythonFunction.decode(positional[0])
    code = function.load()
    made = _batch_udf(code, function) if function.is_batch else udf(code, function.returns)
    return java_function(made if function.is_deterministic else made.asNondeterministic())


def _batch_udf(code: Callable[..., Any], function: PythonFunction) -> Any:
    import pandas as pd
    from pyspark.sql.pandas.functions import pandas_udf

    def batches(argument: Any) -> Any:
        return code(argument)

    # pandas_udf chooses the kind of function by the types; the user's code may have none.
    series: Any = pd.Series if len(function.parameters) == 1 else tuple[pd.Series, ...]
    batches.__annotations__ = {"argument": Iterator[series], "return": Iterator[pd.Series]}
    make: Any = pandas_udf
    return make(batches, function.returns)


register_function("python_function", _python_function)

CONSTRUCTS = in_area(
    "Functions",
    Construct(
        name="CREATE FUNCTION … LANGUAGE PYTHON",
        example="CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x $$",
        note="scalar functions, with HANDLER and PARAMETER STYLE PANDAS too; ENVIRONMENT installs nothing",
        statement=_create_function,
        test="tests/sql/test_python_functions.py",
    ),
)
