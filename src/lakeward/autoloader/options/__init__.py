"""Auto Loader's options: one table that declares them, and typed access to the values of a stream."""

from lakeward.autoloader.options.option_table import OPTIONS, Option, find_option
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.validation import READABLE_FORMATS, option_warnings, validate_options

__all__ = [
    "OPTIONS",
    "READABLE_FORMATS",
    "Option",
    "Options",
    "find_option",
    "option_warnings",
    "validate_options",
]
