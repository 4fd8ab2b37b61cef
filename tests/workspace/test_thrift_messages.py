"""The table of Thrift's messages agrees with the connector's, and its client reads what is written."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("thrift", reason="thrift is not installed")
from lakeward.workspace.thrift.codec import read_call, write_reply, write_unknown_method
from lakeward.workspace.thrift.constants import TYPE_IDS, OperationState, RowSetType, StatusCode
from lakeward.workspace.thrift.messages import STRUCTS
from lakeward.workspace.thrift.metadata import METADATA


@pytest.fixture
def ttypes() -> Any:
    return pytest.importorskip("databricks.sql.thrift_api.TCLIService.ttypes", reason="no connector")


def shape(code: int, arguments: Any) -> Any:
    """A type without its classes."""
    if isinstance(arguments, list):
        return code, arguments[0].__name__
    if isinstance(arguments, tuple):
        kinds = [each for each in arguments if not isinstance(each, bool)]
        return code, tuple(shape(*kinds[n : n + 2]) for n in range(0, len(kinds), 2))
    return code, arguments


# Rows are never sent: their values are not declared.
@pytest.mark.parametrize("name", sorted(STRUCTS.keys() - {"TRow"}))
def test_a_struct_has_the_fields_of_the_connector(ttypes: Any, name: str) -> None:
    theirs = {field[0]: field for field in getattr(ttypes, name).thrift_spec if field}
    for number, code, field, arguments, _ in filter(None, STRUCTS[name].thrift_spec):
        found = theirs[number]
        assert (field, shape(code, arguments)) == (found[2], shape(found[1], found[3]))


def test_enumerations_have_the_values_of_the_connector(ttypes: Any) -> None:
    for state in OperationState:
        assert getattr(ttypes.TOperationState, f"{state.name}_STATE".replace("UNKNOWN", "UKNOWN")) == state
    for code in StatusCode:
        assert getattr(ttypes.TStatusCode, f"{code.name}_STATUS") == code
    for kind in RowSetType:
        assert getattr(ttypes.TSparkRowSetType, kind.name) == kind
    names = {"BYTE": "TINYINT", "SHORT": "SMALLINT", "LONG": "BIGINT", "TIMESTAMP_NTZ": "TIMESTAMP"}
    for name, number in TYPE_IDS.items():
        known = names.get(name, name).removesuffix("_TYPE")
        assert getattr(ttypes.TTypeId, f"{known}_TYPE") == number


def test_calls_and_replies_of_the_connectors_own_client(ttypes: Any) -> None:
    from databricks.sql.thrift_api.TCLIService import TCLIService
    from thrift.protocol.TBinaryProtocol import TBinaryProtocol
    from thrift.transport.TTransport import TMemoryBuffer

    sent, received = TMemoryBuffer(), TMemoryBuffer()
    client = TCLIService.Client(TBinaryProtocol(received), TBinaryProtocol(sent))
    parameter = ttypes.TSparkParameter(
        name="a", type="ARRAY", arguments=[ttypes.TSparkParameterValueArg("INT", "1")]
    )
    client.send_ExecuteStatement(ttypes.TExecuteStatementReq(statement="SELECT 'ä'", parameters=[parameter]))
    call = read_call(sent.getvalue())
    assert (call.method, call.request.statement) == ("ExecuteStatement", "SELECT 'ä'")
    assert call.request.parameters[0].arguments[0].value == "1"
    response = STRUCTS["TExecuteStatementResp"](status=STRUCTS["TStatus"](statusCode=3, errorMessage="ä"))
    received._buffer.write(write_reply(call, response))
    received._buffer.seek(0)
    assert client.recv_ExecuteStatement().status.errorMessage == "ä"


def test_an_unknown_method_is_an_exception_of_the_protocol(ttypes: Any) -> None:
    from databricks.sql.thrift_api.TCLIService import TCLIService
    from thrift.protocol.TBinaryProtocol import TBinaryProtocol
    from thrift.Thrift import TApplicationException
    from thrift.transport.TTransport import TMemoryBuffer

    sent = TMemoryBuffer()
    client = TCLIService.Client(TBinaryProtocol(TMemoryBuffer()), TBinaryProtocol(sent))
    client.send_GetDelegationToken(ttypes.TGetDelegationTokenReq())
    call = read_call(sent.getvalue())
    assert call.request is None
    client = TCLIService.Client(TBinaryProtocol(TMemoryBuffer(write_unknown_method(call))))
    with pytest.raises(TApplicationException, match="Invalid method name: 'GetDelegationToken'"):
        client.recv_GetDelegationToken()


def test_patterns_of_names_are_quoted() -> None:
    request = STRUCTS["TGetTablesReq"](tableName="a'b\\_%", tableTypes=["view'"])
    statement = METADATA["GetTables"].statement(request)
    assert r"table_name LIKE 'a\'b\\_%'" in statement
    assert r"IN ('VIEW\'')" in statement
