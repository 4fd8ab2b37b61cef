"""The documentation site: `make site` builds this folder with Sphinx, and every warning is an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "lakeward"
author = "the authors of lakeward"
release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/lakeward/__init__.py").read_text())[0]
extensions = ["myst_parser", "sphinxcontrib.mermaid"]
html_theme = "furo"
html_title = f"lakeward {release}"
html_show_copyright = False
html_copy_source = False
# Anchors of headings as GitHub makes them: a link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline"]
myst_fence_as_directive = ["mermaid"]
# `$ make run` and output are no code of any language.
highlight_language = "text"
nitpicky = True
# `--json` is an option, not a dash.
smartquotes = False

_HEADING_ANCHOR = re.compile(r'^(#+ .*?) *<a id="([^"]+)"></a>$', re.MULTILINE)
_ANCHOR = re.compile(r'<a id="([^"]+)"></a>(\S+)')
# Rules are unique in the whole site (a test of the repository): the page is found by the id.
_RULE = re.compile(r"\]\([\w/.-]+\.md#((?:AL|SDP|BN|DM|INV)-[^)]+)\)")
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")
_SECTION = re.compile(r"^\*\*(?P<title>.+)\*\*$", re.MULTILINE)
_PAGE = re.compile(r"\]\((?P<page>[\w/-]+)\.md(?:#[^)]*)?\)")


def setup(app: Any) -> None:
    """Connect the changes to pages that GitHub does not need."""
    # The marks of files and results in `auto-loader.md`, which a test executes.
    for name in ("file", "rows"):
        app.add_lexer(name, TextLexer)
    app.connect("source-read", prepare)


def prepare(app: Any, name: str, source: list[str]) -> None:  # noqa: ARG001  # Sphinx calls it so
    """Adapt a page: anchors, links to files of the repository, and the navigation that the index implies.

    Raises ValueError for a link to a file that the repository lacks.
    """
    text = _ANCHOR.sub(r'[\2]{id="\1"}', _HEADING_ANCHOR.sub(r"(\2)=\n\1", source[0]))

    text = _RULE.sub(r"](#\1)", text)

    def without_link(match: re.Match[str]) -> str:
        if not (DOCS / name).parent.joinpath(match[2]).exists():
            raise ValueError(f"{name}: {match[2]} does not exist")
        return match[1]

    # The site holds the pages alone.
    text = _OUTSIDE.sub(without_link, text)
    source[0] = text + navigation(text) if name == "index" else text


def navigation(index: str) -> str:
    """Return a hidden table of contents: a caption for each section of the index, with the pages it links to.

    >>> print(navigation("**Begin**\\n- [A](a.md), [B](spec/b.md#x)\\n").strip())
    ```{toctree}
    :hidden:
    :caption: Begin
    a
    spec/b
    ```
    """
    heads = list(_SECTION.finditer(index))
    ends = [*(head.start() for head in heads[1:]), len(index)]
    parts = []
    for head, end in zip(heads, ends, strict=True):
        pages = list(dict.fromkeys(_PAGE.findall(index[head.end() : end])))
        parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {head['title']}", *pages, "```"]))
    return "\n\n" + "\n\n".join(parts) + "\n"
