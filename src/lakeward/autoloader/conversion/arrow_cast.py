"""Arrow columns of a file to the column types of the schema, and the values that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

FieldSplit = Callable[[pa.Array, pa.Field], tuple[pa.Array | None, pa.Array | None]]
"""Returns (values of the field's type, remaining values) of an array; None for an empty part."""


def is_list(arrow_type: pa.DataType) -> bool:
    """Return whether a type is one of Arrow's kinds of lists, which are all ARRAY in Spark."""
    kinds = pa.types
    checks = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    views = (kinds.is_list_view, kinds.is_large_list_view)
    return any(check(arrow_type) for check in (*checks, *views))


def record_fields(array: pa.Array) -> dict[str, pa.Array]:
    """Return the fields of records by name."""
    return dict(zip((field.name for field in array.type), array.flatten(), strict=True))


def build_record(array: pa.Array, target: pa.DataType, fields: Mapping[str, pa.Array]) -> pa.Array:
    """Return the records of `array` with the values of `fields`; other fields of the target are null."""
    children = [fields.get(f.name, pa.nulls(len(array), f.type)) for f in target]
    return pa.StructArray.from_arrays(children, fields=list(target), mask=array.is_null())


def cast_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Cast an array to a type that has all its values."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        array = _list_of_view(array)
    try:
        return array.cast(target)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        # Arrow cannot cast records in lists and maps to other fields, but builds them from Python values.
        return pa.array(array.to_pylist(), target)


def _list_of_view(array: pa.Array) -> pa.Array:
    """Return the lists of a list view; Arrow's own cast makes an invalid array of them (seen with 26.0)."""
    lengths = pc.fill_null(array.value_lengths(), 0).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
    return pa.ListArray.from_arrays(offsets, array.flatten(), mask=array.is_null())


@dataclass(frozen=True)
class ColumnCast:
    """Casts columns of a file to types of the schema.

    Attributes:
        case_sensitive: Whether names must match exactly.
        widens: Whether narrower numbers are read into wider columns.
        zone: Zone of timestamps without one, for files whose timestamps have no other meaning; else None.
    """

    case_sensitive: bool = True
    widens: bool = False
    zone: str | None = None

    def split(self, array: pa.Array, target: pa.DataType) -> tuple[pa.Array | None, pa.Array | None]:
        """Return (values of the target type, remaining values); None for an empty part.

        A plain cast would hide a type mismatch. Missing fields of records are null. Remaining record fields
        are those that the schema lacks or has with another type (assumed).
        """
        named = self.adopt_names(array, target)
        if named.type == target:
            return named, None
        if self.fits(named.type, target):
            return self._cast(named, target), None
        if pa.types.is_struct(array.type) and pa.types.is_struct(target):
            return self._split_record(array, target)
        return None, array

    def adopt_names(self, array: pa.Array, target: pa.DataType) -> pa.Array:
        """Return lists and maps with the schema's names of fields, where names match in another case."""
        if self.case_sensitive or not pa.types.is_nested(array.type) or pa.types.is_struct(array.type):
            return array
        return array.view(self._renamed(array.type, target))

    def _renamed(self, found: pa.DataType, target: pa.DataType) -> pa.DataType:
        if pa.types.is_list(found) and pa.types.is_list(target):
            return pa.list_(found.value_field.with_type(self._renamed(found.value_type, target.value_type)))
        if pa.types.is_map(found) and pa.types.is_map(target):
            keys = self._renamed(found.key_type, target.key_type)
            items = self._renamed(found.item_type, target.item_type)
            return pa.map_(found.key_field.with_type(keys), found.item_field.with_type(items))
        if pa.types.is_struct(found) and pa.types.is_struct(target):
            names = [field.name for field in found]
            wanted = {self.match_name(field.name, names): field for field in target}
            return pa.struct([self._renamed_field(field, wanted.get(field.name)) for field in found])
        return found

    def _renamed_field(self, found: pa.Field, target: pa.Field | None) -> pa.Field:
        if target is None:
            return found
        return pa.field(target.name, self._renamed(found.type, target.type))

    def match_name(self, name: str, names: Sequence[str]) -> str | None:
        """Return the name in `names` that matches a file's `name`."""
        if name in names or self.case_sensitive:
            return name if name in names else None
        return next((known for known in names if known.lower() == name.lower()), None)

    def split_fields(
        self, found: Mapping[str, pa.Array], fields: Iterable[pa.Field], split: FieldSplit
    ) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
        """Return the fields of the schema that a file has, by name, and what remains of the file.

        Of a file's fields that differ in case alone, a field of the schema has one; the others remain.
        """
        kept: dict[str, pa.Array] = {}
        rest: dict[str, pa.Array | None] = dict(found)
        for field in fields:
            name = self.match_name(field.name, [name for name, array in rest.items() if array is not None])
            if name is not None:
                values, rest[name] = split(found[name], field)
                if values is not None:
                    kept[field.name] = values
        return kept, {name: array for name, array in rest.items() if array is not None}

    def _split_record(self, array: pa.Array, target: pa.DataType) -> tuple[pa.Array, pa.Array | None]:
        kept, rest = self.split_fields(
            record_fields(array), target, lambda child, field: self.split(child, field.type)
        )
        surplus = pa.StructArray.from_arrays(list(rest.values()), names=list(rest)) if rest else None
        return build_record(array, target, kept), surplus

    def fits(self, source: pa.DataType, target: pa.DataType) -> bool:
        """Return whether all values of a type are valid in the target type."""
        if pa.types.is_null(source):
            return True
        if pa.types.is_struct(source) and pa.types.is_struct(target):
            names = [field.name for field in target]
            return all(f.name in names and self.fits(f.type, target.field(f.name).type) for f in source)
        if pa.types.is_map(source) and pa.types.is_map(target):
            return self.fits(source.key_type, target.key_type) and self.fits(
                source.item_type, target.item_type
            )
        if is_list(source) and pa.types.is_list(target):
            return self.fits(source.value_type, target.value_type)
        if self.zone is not None and pa.types.is_timestamp(source) and pa.types.is_timestamp(target):
            # Those of ORC itself have nanoseconds; Spark's TIMESTAMP_NTZ is not read as TIMESTAMP.
            return bool(source.unit == "ns" or source == target)
        # The CHAR of ORC.
        plain = pa.binary() if pa.types.is_fixed_size_binary(source) else source
        return plain == target or (self.widens and _is_wider(target, plain))

    def _cast(self, array: pa.Array, target: pa.DataType) -> pa.Array:
        if self.zone is not None and pa.types.is_timestamp(target) and array.type.tz is None and target.tz:
            clocks = array.cast(pa.timestamp("us"))
            return pc.assume_timezone(clocks, self.zone, ambiguous="earliest", nonexistent="latest").cast(
                target
            )
        return cast_array(array, target)


def _is_wider(target: pa.DataType, source: pa.DataType) -> bool:
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    from lakeward.autoloader.conversion.type_merging import widen_type

    try:
        dtype = from_arrow_type(target)
        return widen_type(dtype, from_arrow_type(source)) == dtype
    except PySparkException:
        return False
