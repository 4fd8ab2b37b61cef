"""Calls of TCLIService as bytes of Thrift's binary protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAcceleratedFactory
from thrift.Thrift import TApplicationException, TException, TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.thrift.messages import STRUCTS

_MOST_CONTAINER = 2**20  # of the elements of a list or map that a request may announce
_MOST_TEXT = 2**25
_FACTORY = TBinaryProtocolAcceleratedFactory(
    string_length_limit=_MOST_TEXT, container_length_limit=_MOST_CONTAINER
)


@dataclass(frozen=True)
class Call:
    """A call: name of the method, number of the message, argument (None for an unknown method)."""

    method: str
    sequence: int
    request: Any


def read_call(data: bytes) -> Call:
    """Return the call that a request contains. Raises ApiError for anything else."""
    transport = TMemoryBuffer(data)
    protocol = _FACTORY.getProtocol(transport)
    try:
        method, kind, sequence = protocol.readMessageBegin()
        if kind != TMessageType.CALL:
            raise ApiError(400, "MALFORMED_REQUEST", "The message is not a call.")
        request = _read_argument(protocol, f"T{method}Req")
        protocol.readMessageEnd()
    except (TException, EOFError, ValueError, TypeError, ArithmeticError, LookupError, MemoryError) as error:
        message = f"The body is not a message of Thrift's binary protocol: {error or type(error).__name__}"
        raise ApiError(400, "MALFORMED_REQUEST", message) from None
    return Call(method, sequence, request)


def _read_argument(protocol: Any, name: str) -> Any:
    """Read the arguments' struct: its field 1 is the request."""
    request = None
    protocol.readStructBegin()
    while True:
        _, kind, number = protocol.readFieldBegin()
        if kind == TType.STOP:
            break
        if number == 1 and kind == TType.STRUCT and name in STRUCTS:
            request = STRUCTS[name]()
            request.read(protocol)
        else:
            protocol.skip(kind)
        protocol.readFieldEnd()
    protocol.readStructEnd()
    return request


def write_reply(call: Call, response: Any) -> bytes:
    """Return the reply to a call: a struct, whose field 0 is the response."""
    transport = TMemoryBuffer()
    protocol = _FACTORY.getProtocol(transport)
    protocol.writeMessageBegin(call.method, TMessageType.REPLY, call.sequence)
    protocol.writeStructBegin(f"{call.method}_result")
    protocol.writeFieldBegin("success", TType.STRUCT, 0)
    response.write(protocol)
    protocol.writeFieldEnd()
    protocol.writeFieldStop()
    protocol.writeStructEnd()
    protocol.writeMessageEnd()
    data: bytes = transport.getvalue()
    return data


def write_unknown_method(call: Call) -> bytes:
    """Return the reply to a call of a method that the server does not have."""
    transport = TMemoryBuffer()
    protocol = _FACTORY.getProtocol(transport)
    protocol.writeMessageBegin(call.method, TMessageType.EXCEPTION, call.sequence)
    message = f"Invalid method name: '{call.method}'"
    TApplicationException(TApplicationException.UNKNOWN_METHOD, message).write(protocol)
    protocol.writeMessageEnd()
    data: bytes = transport.getvalue()
    return data
