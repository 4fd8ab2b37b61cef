"""The messages of TCLIService: one table, from which the classes are made.

A line declares a struct; a field has an id, a type and a name. Fields below 1281 are those of Apache Hive's
`TCLIService.thrift`, the others are Databricks' own, as databricks-sql-connector sends and reads them. Fields
that the server neither reads nor writes are left out: Thrift skips unknown fields.
"""

from __future__ import annotations

import re
from typing import Any

from thrift.protocol.TBase import TBase
from thrift.Thrift import TType
from thrift.TRecursive import fix_spec

TABLE = """
THandleIdentifier: 1 binary guid; 2 binary secret
TSessionHandle: 1 THandleIdentifier sessionId; 3329 i32 serverProtocolVersion
TOperationHandle: 1 THandleIdentifier operationId; 2 i32 operationType; 3 bool hasResultSet; 4 double modifiedRowCount
TNamespace: 1 string catalogName; 2 string schemaName
TStatus: 1 i32 statusCode; 2 list<string> infoMessages; 3 string sqlState; 4 i32 errorCode; 5 string errorMessage; 6 string displayMessage
TGetInfoValue: 1 string stringValue; 2 i16 smallIntValue; 3 i32 integerBitmask; 4 i32 integerFlag; 5 i32 binaryValue; 6 i64 lenValue
TSparkGetDirectResults: 1 i64 maxRows; 2 i64 maxBytes
TSparkArrowTypes: 1 bool timestampAsArrow; 2 bool decimalAsArrow; 3 bool complexTypesAsArrow; 4 bool intervalTypesAsArrow; 5 bool nullTypeAsArrow
TSparkParameterValue: 1 string stringValue; 2 double doubleValue; 3 bool booleanValue
TSparkParameterValueArg: 1 string type; 2 string value; 3 list<TSparkParameterValueArg> arguments
TSparkParameter: 1 i32 ordinal; 2 string name; 3 string type; 4 TSparkParameterValue value; 5 list<TSparkParameterValueArg> arguments
TTypeQualifierValue: 1 i32 i32Value; 2 string stringValue
TTypeQualifiers: 1 map<string,TTypeQualifierValue> qualifiers
TPrimitiveTypeEntry: 1 i32 type; 2 TTypeQualifiers typeQualifiers
TTypeEntry: 1 TPrimitiveTypeEntry primitiveEntry
TTypeDesc: 1 list<TTypeEntry> types
TColumnDesc: 1 string columnName; 2 TTypeDesc typeDesc; 3 i32 position; 4 string comment
TTableSchema: 1 list<TColumnDesc> columns
TSparkArrowBatch: 1 binary batch; 2 i64 rowCount
TBoolColumn: 1 list<bool> values; 2 binary nulls
TByteColumn: 1 list<byte> values; 2 binary nulls
TI16Column: 1 list<i16> values; 2 binary nulls
TI32Column: 1 list<i32> values; 2 binary nulls
TI64Column: 1 list<i64> values; 2 binary nulls
TDoubleColumn: 1 list<double> values; 2 binary nulls
TStringColumn: 1 list<string> values; 2 binary nulls
TBinaryColumn: 1 list<binary> values; 2 binary nulls
TColumn: 1 TBoolColumn boolVal; 2 TByteColumn byteVal; 3 TI16Column i16Val; 4 TI32Column i32Val; 5 TI64Column i64Val; 6 TDoubleColumn doubleVal; 7 TStringColumn stringVal; 8 TBinaryColumn binaryVal
TRow: 1 list<string> colVals
TRowSet: 1 i64 startRowOffset; 2 list<TRow> rows; 3 list<TColumn> columns; 5 i32 columnCount; 1281 list<TSparkArrowBatch> arrowBatches
TGetOperationStatusResp: 1 TStatus status; 2 i32 operationState; 3 string sqlState; 4 i32 errorCode; 5 string errorMessage; 7 i64 operationStarted; 8 i64 operationCompleted; 9 bool hasResultSet; 11 i64 numModifiedRows; 1281 string displayMessage; 1282 string diagnosticInfo
TGetResultSetMetadataResp: 1 TStatus status; 2 TTableSchema schema; 1281 i32 resultFormat; 1282 bool lz4Compressed; 1283 binary arrowSchema; 1287 bool isStagingOperation
TFetchResultsResp: 1 TStatus status; 2 bool hasMoreRows; 3 TRowSet results; 1281 TGetResultSetMetadataResp resultSetMetadata
TCloseOperationResp: 1 TStatus status
TSparkDirectResults: 1 TGetOperationStatusResp operationStatus; 2 TGetResultSetMetadataResp resultSetMetadata; 3 TFetchResultsResp resultSet; 4 TCloseOperationResp closeOperation
TOpenSessionReq: 1 i32 client_protocol; 2 string username; 4 map<string,string> configuration; 1282 i64 client_protocol_i64; 1284 TNamespace initialNamespace; 1285 bool canUseMultipleCatalogs
TOpenSessionResp: 1 TStatus status; 2 i32 serverProtocolVersion; 3 TSessionHandle sessionHandle; 4 map<string,string> configuration; 1284 TNamespace initialNamespace; 1285 bool canUseMultipleCatalogs
TCloseSessionReq: 1 TSessionHandle sessionHandle
TCloseSessionResp: 1 TStatus status
TGetInfoReq: 1 TSessionHandle sessionHandle; 2 i32 infoType
TGetInfoResp: 1 TStatus status; 2 TGetInfoValue infoValue
TExecuteStatementReq: 1 TSessionHandle sessionHandle; 2 string statement; 3 map<string,string> confOverlay; 4 bool runAsync; 5 i64 queryTimeout; 1281 TSparkGetDirectResults getDirectResults; 1282 bool canReadArrowResult; 1286 TSparkArrowTypes useArrowNativeTypes; 1287 i64 resultRowLimit; 1288 list<TSparkParameter> parameters
TExecuteStatementResp: 1 TStatus status; 2 TOperationHandle operationHandle; 1281 TSparkDirectResults directResults
TGetCatalogsReq: 1 TSessionHandle sessionHandle; 1281 TSparkGetDirectResults getDirectResults
TGetSchemasReq: 1 TSessionHandle sessionHandle; 2 string catalogName; 3 string schemaName; 1281 TSparkGetDirectResults getDirectResults
TGetTablesReq: 1 TSessionHandle sessionHandle; 2 string catalogName; 3 string schemaName; 4 string tableName; 5 list<string> tableTypes; 1281 TSparkGetDirectResults getDirectResults
TGetColumnsReq: 1 TSessionHandle sessionHandle; 2 string catalogName; 3 string schemaName; 4 string tableName; 5 string columnName; 1281 TSparkGetDirectResults getDirectResults
TGetFunctionsReq: 1 TSessionHandle sessionHandle; 2 string catalogName; 3 string schemaName; 4 string functionName; 1281 TSparkGetDirectResults getDirectResults
TGetTypeInfoReq: 1 TSessionHandle sessionHandle; 1281 TSparkGetDirectResults getDirectResults
TGetTableTypesReq: 1 TSessionHandle sessionHandle; 1281 TSparkGetDirectResults getDirectResults
TGetPrimaryKeysReq: 1 TSessionHandle sessionHandle; 2 string catalogName; 3 string schemaName; 4 string tableName; 1281 TSparkGetDirectResults getDirectResults
TGetCrossReferenceReq: 1 TSessionHandle sessionHandle; 2 string parentCatalogName; 3 string parentSchemaName; 4 string parentTableName; 5 string foreignCatalogName; 6 string foreignSchemaName; 7 string foreignTableName; 1281 TSparkGetDirectResults getDirectResults
TGetOperationStatusReq: 1 TOperationHandle operationHandle; 2 bool getProgressUpdate
TGetResultSetMetadataReq: 1 TOperationHandle operationHandle
TFetchResultsReq: 1 TOperationHandle operationHandle; 2 i32 orientation; 3 i64 maxRows; 4 i16 fetchType; 1281 i64 maxBytes; 1282 i64 startRowOffset; 1283 bool includeResultSetMetadata
TCancelOperationReq: 1 TOperationHandle operationHandle
TCancelOperationResp: 1 TStatus status
TCloseOperationReq: 1 TOperationHandle operationHandle
"""  # noqa: E501  # a struct is one line

_SCALARS = {
    "bool": (TType.BOOL, None),
    "byte": (TType.BYTE, None),
    "i16": (TType.I16, None),
    "i32": (TType.I32, None),
    "i64": (TType.I64, None),
    "double": (TType.DOUBLE, None),
    "string": (TType.STRING, "UTF8"),
    "binary": (TType.STRING, "BINARY"),
}


def struct(name: str, fields: list[str]) -> type[TBase]:
    """Return the class of a struct: its fields are attributes, None by default."""
    named = {field.split()[2]: field.split() for field in fields}
    spec: list[Any] = [None] * (1 + max((int(parts[0]) for parts in named.values()), default=0))
    for attribute, (number, kind, _) in named.items():
        code, arguments = _type(kind)
        spec[int(number)] = (int(number), code, attribute, arguments, None)

    def __init__(self: Any, **values: object) -> None:  # noqa: N807
        for attribute in named:
            setattr(self, attribute, values.pop(attribute, None))
        if values:
            raise TypeError(f"{name} has no field {', '.join(values)}.")

    return type(name, (TBase,), {"__init__": __init__, "__module__": __name__, "thrift_spec": tuple(spec)})


def _type(text: str) -> tuple[int, Any]:
    """Return code and arguments of a type, as `thrift_spec` has them."""
    if text in _SCALARS:
        return _SCALARS[text]
    if found := re.fullmatch(r"list<(.+)>", text):
        code, arguments = _type(found[1])
        return TType.LIST, (code, arguments, False)
    if found := re.fullmatch(r"map<(\w+),(.+)>", text):
        return TType.MAP, (*_type(found[1]), *_type(found[2]), False)
    # `fix_spec` puts the spec of the class in place of None: structs may contain themselves.
    return TType.STRUCT, [STRUCTS.setdefault(text, type(text, (TBase,), {})), None]


STRUCTS: dict[str, Any] = {}
"""The class of each struct by its name."""


def _declare() -> None:
    for line in TABLE.strip().splitlines():
        name, _, fields = line.partition(": ")
        made = struct(name, fields.split("; "))
        known = STRUCTS.setdefault(name, made)
        if known is not made:  # a struct before has a field of this type
            known.__init__, known.thrift_spec = made.__init__, made.thrift_spec
    fix_spec(list(STRUCTS.values()))


_declare()
