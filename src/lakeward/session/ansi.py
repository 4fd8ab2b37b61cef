"""Errors that a runtime causes, and the runtime without them: ANSI mode, functions that were removed."""

from __future__ import annotations

from lakeward.session.runtimes.profiles import PROFILES, find_profile
from lakeward.session.settings import Settings
from lakeward.session.spark_errors import CONDITION

# Condition → a query that fails with ANSI mode on and succeeds with it off.
ANSI_CONDITIONS = {
    "ARITHMETIC_OVERFLOW": "select 9223372036854775807L + 1L",
    "BINARY_ARITHMETIC_OVERFLOW": "select 127Y + 1Y",
    "CANNOT_PARSE_TIMESTAMP": "select to_timestamp('x', 'yyyy-MM-dd')",
    "CAST_INVALID_INPUT": "select cast('x' as int)",
    "CAST_OVERFLOW": "select cast(3000000000L as int)",
    "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES": "select true = 1",
    "DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION": "select cast(timestamp'2024-01-01' as boolean)",
    "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION": "select cast(date'2024-01-01' as int)",
    "DATETIME_FIELD_OUT_OF_BOUNDS": "select make_date(2024, 13, 1)",
    "DIVIDE_BY_ZERO": "select 1 / 0",
    "ILLEGAL_DAY_OF_WEEK": "select next_day(date'2024-01-01', 'xx')",
    "INVALID_ARRAY_INDEX": "select array(1)[5]",
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT": "select element_at(array(1), 5)",
    "INVALID_URL": "select parse_url('https://a b/c', 'HOST')",
    "NUMERIC_VALUE_OUT_OF_RANGE": "select cast(12345 as decimal(3, 0))",
    "REMAINDER_BY_ZERO": "select 1 % 0",
}
_SETTING = "spark.sql.ansi.enabled"


def ansi_hint(text: str, settings: Settings) -> str | None:
    """Return a hint at older runtimes for the text of an error that ANSI mode causes.

    None for other errors, and if the runtime or ANSI mode was chosen explicitly.
    """
    runtime = find_profile(settings.profile)
    if settings.runtime_chosen or runtime is None or not runtime.ansi or _SETTING in settings.conf:
        return None
    if not any(_is_caused_by_ansi(condition) for condition in CONDITION.findall(text)):
        return None
    without = next(name for name, each in PROFILES.items() if not each.ansi)
    return (
        f"ANSI mode can cause this error. It is on in runtime {runtime.name}, the default where no runtime "
        f"is chosen. For code of runtime {without} or older: --runtime {without}, LAKEWARD_PROFILE={without} "
        f'or runtime = "{without}" under [tool.lakeward] in pyproject.toml.'
    )


def removed_function_hint(text: str, settings: Settings) -> str | None:
    """Return a hint at an older runtime for an error of `input_file_name()`; None for others."""
    runtime = find_profile(settings.profile)
    if runtime is None or "The command(s): input_file_name are not supported" not in text:
        return None
    older = next(name for name, each in PROFILES.items() if each.has_input_file_name)
    default = "" if settings.runtime_chosen else ", the default where no runtime is chosen,"
    return (
        f"Runtime {runtime.name}{default} has no input_file_name() in any catalog: 17.3 removed it. For "
        f"code of older runtimes: --runtime {older}, LAKEWARD_PROFILE={older} or "
        f'runtime = "{older}" under [tool.lakeward] in pyproject.toml.'
    )


def _is_caused_by_ansi(condition: str) -> bool:
    return condition in ANSI_CONDITIONS or condition.partition(".")[0] in ANSI_CONDITIONS
