"""A file's Arrow column → the type that the schema asks for, and what of it has no place there. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["Fitting", "plain_type"]


def plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """Without what Spark does not tell apart: dictionaries, time units, large offsets, unsigned numbers."""
    if pa.types.is_dictionary(arrow_type):
        return plain_type(arrow_type.value_type)
    if pa.types.is_timestamp(arrow_type):
        return pa.timestamp("us", tz="UTC" if arrow_type.tz else None)
    if pa.types.is_large_string(arrow_type):
        return pa.string()
    if pa.types.is_large_binary(arrow_type) or pa.types.is_fixed_size_binary(arrow_type):
        return pa.binary()
    if pa.types.is_unsigned_integer(arrow_type):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
        return wider[arrow_type.bit_width]
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        return pa.list_(plain_type(arrow_type.value_type))
    if pa.types.is_map(arrow_type):
        return pa.map_(plain_type(arrow_type.key_type), plain_type(arrow_type.item_type))
    if pa.types.is_struct(arrow_type):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in arrow_type])
    return arrow_type


@dataclass(frozen=True)
class Fitting:
    """How names match, and whether narrower numbers are read into wider columns.

    `zone` is that of wall clocks, in files whose timestamps have no other meaning; None where they have.
    """

    case_sensitive: bool = True
    widens: bool = False
    zone: str | None = None

    def split(self, array: pa.Array, wanted: pa.DataType) -> tuple[pa.Array | None, pa.Array | None]:
        """(values of the wanted type, what is left over); each None where there is nothing of it.

        A cast would hide that the file has another type. Fields that a record lacks are null; of a record's
        own fields only those are left over that the schema lacks or has in another type (assumed).
        """
        if array.type == wanted:
            return array, None
        if self._fits(array.type, wanted):
            return self._converted(array, wanted), None
        if pa.types.is_struct(array.type) and pa.types.is_struct(wanted):
            return self._split_record(array, wanted)
        return None, array

    def place(self, name: str, names: Sequence[str]) -> str | None:
        """The one of `names` that a file's `name` stands for."""
        if name in names or self.case_sensitive:
            return name if name in names else None
        return next((known for known in names if known.lower() == name.lower()), None)

    def _split_record(self, array: pa.Array, wanted: pa.DataType) -> tuple[pa.Array, pa.Array | None]:
        names = [field.name for field in wanted]
        taken: dict[str, pa.Array] = {}
        surplus: dict[str, pa.Array] = {}
        for field, child in zip(array.type, array.flatten(), strict=True):
            place = self.place(field.name, names)
            kept, rest = (None, child) if place is None else self.split(child, wanted.field(place).type)
            if kept is not None and place is not None:
                taken[place] = kept
            if rest is not None:
                surplus[field.name] = rest
        children = [taken.get(f.name, pa.nulls(len(array), f.type)) for f in wanted]
        record = pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())
        if not surplus:
            return record, None
        return record, pa.StructArray.from_arrays(list(surplus.values()), names=list(surplus))

    def _fits(self, found: pa.DataType, wanted: pa.DataType) -> bool:
        """Whether every value has its place."""
        if pa.types.is_null(found):
            return True
        if pa.types.is_struct(found) and pa.types.is_struct(wanted):
            names = [field.name for field in wanted]
            return all(f.name in names and self._fits(f.type, wanted.field(f.name).type) for f in found)
        if pa.types.is_map(found) and pa.types.is_map(wanted):
            return self._fits(found.key_type, wanted.key_type) and self._fits(
                found.item_type, wanted.item_type
            )
        if (pa.types.is_list(found) or pa.types.is_large_list(found)) and pa.types.is_list(wanted):
            return self._fits(found.value_type, wanted.value_type)
        if self.zone is not None and pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted):
            return True
        plain = plain_type(found)
        return plain == wanted or (self.widens and _wider(wanted, plain))

    def _converted(self, array: pa.Array, wanted: pa.DataType) -> pa.Array:
        if self.zone is not None and pa.types.is_timestamp(wanted) and array.type.tz is None and wanted.tz:
            clocks = array.cast(pa.timestamp("us"))
            return pc.assume_timezone(clocks, self.zone, ambiguous="earliest", nonexistent="latest").cast(
                wanted
            )
        try:
            return array.cast(wanted)
        except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
            # Records in lists and maps whose fields differ: Arrow fills them by name from Python's values.
            return pa.array(array.to_pylist(), wanted)


def _wider(wanted: pa.DataType, found: pa.DataType) -> bool:
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    from lakeward.autoloader.schema.merge import widened

    try:
        dtype = from_arrow_type(wanted)
        return widened(dtype, from_arrow_type(found)) == dtype
    except PySparkException:
        return False
