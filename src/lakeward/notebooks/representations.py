"""The representations of a value: its text, and what the display methods of IPython's protocol return.

Source: https://ipython.readthedocs.io/en/stable/config/integrating.html
"""

from __future__ import annotations

import base64
import traceback
from collections.abc import Mapping
from typing import Any

from lakeward.notebooks.pretty import pretty
from lakeward.notebooks.recorder import TEXT, Bundle

_METHODS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}


def plain(value: object) -> Bundle:
    """Return the representations of a cell's last expression."""
    bundle: Bundle = {TEXT: pretty(value)}
    bundle.update(_content(_result(value, "_repr_mimebundle_")))
    for name, kind in _METHODS.items():
        content = _content({kind: _result(value, name)})
        bundle.update((each, made) for each, made in content.items() if each not in bundle)
    return bundle


def _result(value: object, name: str) -> Any:
    """Return what the method returns, None without one; as in IPython, its errors are printed."""
    method = getattr(type(value), name, None)
    if not callable(method):
        return None
    try:
        made = getattr(value, name)()
    except NotImplementedError:
        return None
    except Exception:  # noqa: BLE001  # of the user's class
        traceback.print_exc()
        return None
    # With metadata it is a pair.
    return made[0] if isinstance(made, tuple) and len(made) == 2 else made


def _content(made: Any) -> Bundle:
    """Return the representations that have a content which a notebook can store."""
    if not isinstance(made, Mapping):
        return {}
    found = {kind: _text(content) for kind, content in made.items() if isinstance(kind, str)}
    return {
        kind: content
        for kind, content in found.items()
        if isinstance(content, str) or (kind == "application/json" and isinstance(content, dict | list))
    }


def _text(content: Any) -> Any:
    return base64.b64encode(content).decode() if isinstance(content, bytes | bytearray) else content
