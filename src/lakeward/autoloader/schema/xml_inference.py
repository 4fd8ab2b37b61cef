"""Schema inference for XML (AL-2.2): strings by default, Spark's types with `inferColumnTypes`."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.conversion.type_merging import (
    add_column,
    infer_text_type,
    merge_types,
    sorted_struct,
    to_table_type,
)
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.xml_records import BrokenRecord, Item, XmlText
from lakeward.autoloader.readers.xml_values import XmlRules
from lakeward.autoloader.schema.number_inference import decimal_type, is_double, number_in_text


class XmlInference:
    """Infers the schema over several files; columns are in alphabetical order."""

    def __init__(self, options: Options) -> None:
        self._text = XmlText.of(options)
        self._rules = XmlRules.of(options)
        self._infer = options.infer_types
        self._decimals = options.flag("prefersDecimal")
        self._prefer_date = options.flag("preferDate")
        self._formats = TextFormats.of(options, options.text("timeZone") or "UTC")
        permissive = options.value("mode") == "PERMISSIVE" and not options.is_set("badRecordsPath")
        # Other formats require a declaration (AL-4.5.4).
        self._corrupt = options.text("columnNameOfCorruptRecord") if permissive else None
        self._columns: dict[str, DataType] = {}

    def add(self, data: bytes) -> None:
        """Add the decompressed content of a file. Malformed records are ignored."""
        for record in self._text.records(data):
            if isinstance(record, BrokenRecord):
                if self._corrupt is not None:
                    self._columns.setdefault(self._corrupt, StringType())
                continue
            for key, items in self._rules.fields(record).items():
                dtype = self._together(items) if self._infer else StringType()
                add_column(self._columns, key, dtype, self._merged)

    def schema(self) -> StructType:
        """Return the merged schema of all records."""
        columns = [(name, to_table_type(self._columns[name])) for name in sorted(self._columns)]
        return StructType([StructField(name, dtype) for name, dtype in columns if dtype is not None])

    def _together(self, items: list[Item]) -> DataType:
        merged: DataType = NullType()
        for item in items:
            merged = self._merged(merged, self._type(item))
        return ArrayType(merged) if len(items) > 1 else merged

    def _type(self, item: Item) -> DataType:
        if isinstance(item, str):
            return self._scalar(item)
        attributed = item.attributes and not self._rules.exclude_attributes
        if item.text is not None and not attributed:
            return self._scalar(item.text)
        fields = self._rules.fields(item).items()
        return sorted_struct({name: self._together(items) for name, items in fields})

    def _scalar(self, text: str) -> DataType:
        # `nullValue` is a text for Spark's inference.
        shown = text.strip() if self._rules.trim else text
        return NullType() if not shown else self._number(shown) or self._word(shown)

    def _number(self, text: str) -> DataType | None:
        bare = text[1:] if text[0] in "+-" else text
        if bare.isascii() and bare.isdigit() and int(bare) < 1 << 63:
            return LongType()
        number = number_in_text(text) if self._decimals else None
        if number is not None:
            return decimal_type(number)
        return DoubleType() if is_double(text) else None

    def _word(self, text: str) -> DataType:
        dtype = infer_text_type(text, self._formats, prefer_date=self._prefer_date)
        return dtype if isinstance(dtype, (DateType, TimestampType, BooleanType)) else StringType()

    def _merged(self, a: DataType, b: DataType) -> DataType:
        """Merge types. Repeated elements are arrays; a scalar joins a record that has a `valueTag`."""
        if isinstance(a, ArrayType) or isinstance(b, ArrayType):
            inner = [t.elementType if isinstance(t, ArrayType) else t for t in (a, b)]
            return ArrayType(self._merged(inner[0], inner[1]))
        if isinstance(a, StructType) and isinstance(b, StructType):
            types = {field.name: field.dataType for field in a.fields}
            for field in b.fields:
                known = types.get(field.name)
                types[field.name] = field.dataType if known is None else self._merged(known, field.dataType)
            return sorted_struct(types)
        for record, other in ((a, b), (b, a)):
            if isinstance(record, StructType) and not isinstance(other, (StructType, NullType)):
                if self._rules.value_tag not in record.names:
                    return StringType()
                return self._merged(record, StructType([StructField(self._rules.value_tag, other)]))
        return merge_types(a, b)
