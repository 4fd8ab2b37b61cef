"""What a call of `create_auto_cdc_flow` says (spec §3.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lakeward.errors import PipelineError

__all__ = ["Change", "change_of"]

_TYPES: dict[str, Literal[1, 2]] = {"1": 1, "2": 2}
_PAIRS = (
    ("column_list", "except_column_list"),
    ("track_history_column_list", "track_history_except_column_list"),
    ("ignore_null_updates_column_list", "ignore_null_updates_except_column_list"),
)


@dataclass(frozen=True)
class Change:
    """How events become rows. Columns are given as the user gave them: names, SQL text or Columns.

    Of each pair of lists at most one is set; None stands for all columns.
    """

    keys: tuple[Any, ...]
    sequence_by: Any
    scd_type: Literal[1, 2] = 1
    deletes: Any = None
    truncates: Any = None
    columns: tuple[Any, ...] | None = None
    except_columns: tuple[Any, ...] | None = None
    tracked: tuple[Any, ...] | None = None
    untracked: tuple[Any, ...] | None = None
    ignore_null: bool = False
    ignore_null_columns: tuple[Any, ...] | None = None
    ignore_null_except: tuple[Any, ...] | None = None
    columns_to_update: Any = None

    @property
    def partial(self) -> bool:
        """Whether an update may leave some of the columns as they are."""
        return self.ignore_null or self.columns_to_update is not None


def change_of(given: Mapping[str, Any]) -> Change:
    """The change that the arguments of a call describe, a missing one being None.

    Raises PipelineError for those that contradict.
    """
    values: Mapping[str, Any] = defaultdict(lambda: None, given)
    keys = _listed(values["keys"])
    if not keys:
        raise PipelineError(
            "AUTOCDC_EMPTY_KEYS",
            "AUTO CDC got no keys.",
            next_step='Name the columns that identify a row: keys=["id"].',
        )
    scd_type = str(values["stored_as_scd_type"]).lower()
    if scd_type not in _TYPES:
        raise PipelineError(
            "NOT_SUPPORTED" if scd_type == "bitemporal" else "INVALID_SCD_TYPE",
            f"stored_as_scd_type={values['stored_as_scd_type']!r} is not there; types 1 and 2 are.",
        )
    for one, other in _PAIRS:
        if values[one] is not None and values[other] is not None:
            raise PipelineError(
                "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST", f"Give {one} or {other}, not both."
            )
    change = Change(
        keys=keys,
        sequence_by=values["sequence_by"],
        scd_type=_TYPES[scd_type],
        deletes=values["apply_as_deletes"],
        truncates=values["apply_as_truncates"],
        columns=_optional(values["column_list"]),
        except_columns=_optional(values["except_column_list"]),
        tracked=_optional(values["track_history_column_list"]),
        untracked=_optional(values["track_history_except_column_list"]),
        ignore_null=bool(values["ignore_null_updates"])
        or values["ignore_null_updates_column_list"] is not None
        or values["ignore_null_updates_except_column_list"] is not None,
        ignore_null_columns=_optional(values["ignore_null_updates_column_list"]),
        ignore_null_except=_optional(values["ignore_null_updates_except_column_list"]),
        columns_to_update=values["columns_to_update"],
    )
    _check(change)
    return change


def _check(change: Change) -> None:
    tracks = change.tracked is not None or change.untracked is not None
    wrong = {
        "apply_as_truncates is for SCD type 1": change.truncates is not None and change.scd_type == 2,
        "track_history lists are for SCD type 2": tracks and change.scd_type == 1,
        "columns_to_update and ignore_null_updates exclude each other": change.ignore_null
        and change.columns_to_update is not None,
    }
    for what, holds in wrong.items():
        if holds:
            raise PipelineError("INVALID_AUTO_CDC_ARGUMENTS", f"{what}.")


def _listed(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _optional(given: Any) -> tuple[Any, ...] | None:
    return None if given is None else _listed(given)
