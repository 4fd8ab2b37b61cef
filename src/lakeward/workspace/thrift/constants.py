"""Values of the enumerations of TCLIService."""

from __future__ import annotations

from enum import IntEnum

PROTOCOL_VERSION = 0xA508
"""SPARK_CLI_SERVICE_PROTOCOL_V8: parameters of statements are sent apart from their text."""


class StatusCode(IntEnum):
    """Outcome of a request (TStatusCode)."""

    SUCCESS = 0
    SUCCESS_WITH_INFO = 1
    STILL_EXECUTING = 2
    ERROR = 3
    INVALID_HANDLE = 4


class OperationState(IntEnum):
    """State of a statement (TOperationState)."""

    INITIALIZED = 0
    RUNNING = 1
    FINISHED = 2
    CANCELED = 3
    CLOSED = 4
    ERROR = 5
    UNKNOWN = 6
    PENDING = 7


class RowSetType(IntEnum):
    """Encoding of result rows (TSparkRowSetType)."""

    ARROW_BASED_SET = 0
    COLUMN_BASED_SET = 1


class FetchOrientation(IntEnum):
    """Where a fetch begins (TFetchOrientation)."""

    NEXT = 0
    FIRST = 4


class InfoType(IntEnum):
    """TGetInfoType, as far as it has an answer here."""

    SERVER_NAME = 13
    DBMS_NAME = 17
    DBMS_VER = 18
    MAX_COLUMN_NAME_LEN = 30
    MAX_SCHEMA_NAME_LEN = 32
    MAX_CATALOG_NAME_LEN = 34
    MAX_TABLE_NAME_LEN = 35


TYPE_IDS = {
    "BOOLEAN": 0,
    "BYTE": 1,
    "SHORT": 2,
    "INT": 3,
    "LONG": 4,
    "FLOAT": 5,
    "DOUBLE": 6,
    "STRING": 7,
    "TIMESTAMP": 8,
    "TIMESTAMP_NTZ": 8,
    "BINARY": 9,
    "ARRAY": 10,
    "MAP": 11,
    "STRUCT": 12,
    "USER_DEFINED_TYPE": 14,
    "DECIMAL": 15,
    "NULL": 16,
    "DATE": 17,
    "CHAR": 19,
}
"""TTypeId of the type names of the REST API; intervals depend on their unit, other types are strings."""

STRING_TYPE, YEAR_MONTH_TYPE, DAY_TIME_TYPE = 7, 20, 21
