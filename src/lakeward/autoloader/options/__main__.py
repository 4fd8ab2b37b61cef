"""`python -m lakeward.autoloader.options` prints the page of options."""

from lakeward.autoloader.options.document import as_markdown

print(as_markdown(), end="")
