"""Auto Loader's options: one declared table, and typed access to what the user set."""

from lakeward.autoloader.options.checks import READABLE, check, warnings_of
from lakeward.autoloader.options.declared import OPTIONS, Option, declared
from lakeward.autoloader.options.document import as_markdown
from lakeward.autoloader.options.options import Options

__all__ = ["OPTIONS", "READABLE", "Option", "Options", "as_markdown", "check", "declared", "warnings_of"]
