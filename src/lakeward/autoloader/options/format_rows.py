"""Options of the file formats, without a prefix (auto-loader.md §1.5)."""

from __future__ import annotations

from lakeward.autoloader.options.row import Option

__all__ = ["FORMAT_ROWS"]

_CSV, _JSON, _XML, _RECORDS = ("csv",), ("json",), ("xml",), ("csv", "json", "xml")
_TEXTS = (*_RECORDS, "text")

_RECORD_ROWS = (
    Option(
        "mode", "choice", "PERMISSIVE", choices=("PERMISSIVE", "DROPMALFORMED", "FAILFAST"), formats=_RECORDS
    ),
    Option("columnNameOfCorruptRecord", "string", "_corrupt_record", formats=_RECORDS),
    Option("multiLine", "bool", "false", formats=("csv", "json")),
    Option("badRecordsPath", "path", note="malformed records go to files there", formats=_RECORDS),
    Option("dateFormat", formats=_RECORDS),
    Option("timestampFormat", formats=_RECORDS),
    Option("timestampNTZFormat", formats=_RECORDS),
    Option("timeZone", formats=_RECORDS, note="default: the session's"),
    Option("locale", "string", "en-US", "accepted", "numbers and dates are read as en-US", formats=_RECORDS),
    Option("encoding", "string", "UTF-8", formats=_TEXTS),
    Option("charset", formats=_TEXTS, note="another name of encoding"),
    Option("lineSep", formats=("csv", "json", "text")),
    Option(
        "inferSchema", "bool", None, "accepted", "cloudFiles.inferColumnTypes decides", formats=("csv", "xml")
    ),
    Option(
        "samplingRatio", "string", "1.0", "accepted", "all of the sampled files is read", formats=_RECORDS
    ),
    Option("prefersDecimal", "bool", "false", formats=("json", "xml")),
    Option("singleVariantColumn", formats=("json", "xml"), note="the whole record as one VARIANT column"),
)

_JSON_ROWS = (
    *(
        Option(name, "bool", default, formats=_JSON)
        for name, default in (
            ("primitivesAsString", "false"),
            ("inferTimestamp", "false"),
            ("dropFieldIfAllNull", "false"),
            ("allowSingleQuotes", "true"),
            ("allowNonNumericNumbers", "true"),
            ("allowComments", "false"),
            ("allowUnquotedFieldNames", "false"),
            ("allowNumericLeadingZeros", "false"),
            ("allowBackslashEscapingAnyCharacter", "false"),
            ("allowUnquotedControlChars", "false"),
        )
    ),
)

_CSV_ROWS = (
    Option("header", "bool", None, formats=_CSV, note="false; true when the schema is inferred"),
    Option("sep", "string", ",", formats=_CSV),
    Option("delimiter", formats=_CSV, note="another name of sep"),
    Option("quote", "string", '"', formats=_CSV),
    Option("escape", "string", "\\", formats=_CSV),
    Option(
        "charToEscapeQuoteEscaping", "string", None, "accepted", "quotes are unescaped once", formats=_CSV
    ),
    Option("comment", formats=_CSV),
    Option("nullValue", "string", "", formats=("csv", "xml"), note="for XML there is none by default"),
    Option("emptyValue", "string", "", formats=_CSV),
    Option("nanValue", "string", "NaN", formats=("csv", "xml")),
    Option("positiveInf", "string", "Inf", formats=("csv", "xml")),
    Option("negativeInf", "string", "-Inf", formats=("csv", "xml")),
    Option("ignoreLeadingWhiteSpace", "bool", "false", formats=_CSV),
    Option("ignoreTrailingWhiteSpace", "bool", "false", formats=_CSV),
    Option("skipRows", "int", "0", formats=_CSV),
    Option("maxColumns", "int", "20480", "accepted", "rows may have any width", formats=_CSV),
    Option("maxCharsPerColumn", "int", "-1", "accepted", "values may have any length", formats=_CSV),
    Option("preferDate", "bool", "true", formats=("csv", "xml"), note="dates are tried before timestamps"),
    Option("unescapedQuoteHandling", "string", "STOP_AT_DELIMITER", "accepted", "always so", formats=_CSV),
    Option(
        "parserCaseSensitive", "bool", None, "accepted", "deprecated; see readerCaseSensitive", formats=_CSV
    ),
    Option("enforceSchema", "bool", None, "accepted", "columns go by name", formats=_CSV),
)

_XML_ROWS = (
    Option("rowTag", note="required for XML: the element that is a row", formats=_XML),
    Option("attributePrefix", "string", "_", formats=_XML),
    Option("valueTag", "string", "_VALUE", formats=_XML, note="the text beside attributes and elements"),
    Option("excludeAttribute", "bool", "false", formats=_XML),
    Option("ignoreNamespace", "bool", "false", formats=_XML),
    Option("ignoreSurroundingSpaces", "bool", "true", formats=_XML),
    Option("rowValidationXSDPath", "path", note="records that it forbids are malformed", formats=_XML),
)

FORMAT_ROWS = (
    *_RECORD_ROWS,
    *_JSON_ROWS,
    *_CSV_ROWS,
    *_XML_ROWS,
    Option(
        "failOnUnknownFields", "bool", None, "accepted", "cloudFiles.schemaEvolutionMode decides", formats=()
    ),
    Option("mergeSchema", "bool", None, "accepted", "the schemas of all sampled files are merged"),
    Option(
        "datetimeRebaseMode",
        "string",
        None,
        "accepted",
        "dates are read as written",
        formats=("parquet", "avro"),
    ),
    Option("int96RebaseMode", "string", None, "accepted", "dates are read as written", formats=("parquet",)),
    Option("avroSchema", formats=("avro",), note="the schema to read with, as JSON"),
    Option("wholeText", "bool", "false", formats=("text",), note="a row a file"),
)
