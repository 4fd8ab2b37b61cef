"""Fields that the schema lacks, and values that their columns cannot hold (AL-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from lakeward.autoloader.read_plan import ReadPlan


class NewFieldsError(Exception):
    """Fields that the schema lacks, or `types` to which columns must widen. `detail` is for the message."""

    def __init__(
        self, condition: str, detail: str, path: str, types: dict[str, DataType] | None = None
    ) -> None:
        super().__init__(detail)
        self.types = types or {}
        self.condition = condition
        self.detail = detail
        self.path = path


def widen_for_value(plan: ReadPlan, name: str, dtype: DataType, text: str) -> DataType | None:
    """Return the type to which a column widens to hold a value (AL-3.4), None if it cannot.

    A hint pins the type of a column (AL-2.3.7).

    Args:
        plan: The read plan.
        name: Name of the column.
        dtype: Type of the column.
        text: The value.
    """
    if plan.mode != "addNewColumnsWithTypeWidening" or name.lower() in plan.pinned:
        return None
    from lakeward.autoloader.conversion.type_merging import infer_text_type, widen_type

    grown = widen_type(dtype, infer_text_type(text))
    return None if grown == dtype else grown
