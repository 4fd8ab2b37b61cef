"""`IPython.display`: objects with a representation of their own, and the functions that show and clear them.

Where IPython is installed, its objects are used, and its functions show in the notebook that runs.
"""

from __future__ import annotations

import base64
import html
import json
import mimetypes
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from lakeward.databricks_shims.display import current_display
from lakeward.databricks_shims.display import display as show_value
from lakeward.patching import PatchSpec, Wrapped


class DisplayObject:
    """Text or bytes that are shown as the type of the class, given as `data`, by file or by URL."""

    binary: ClassVar[bool] = False

    def __init__(
        self,
        data: Any = None,
        url: str | None = None,
        filename: str | Path | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(data, Path):
            data, filename = None, data
        self.data, self.url, self.filename, self.metadata = data, url, filename, dict(metadata or {})
        self.reload()

    def reload(self) -> None:
        """Read the data from the file or the URL."""
        if self.filename is not None:
            file = Path(self.filename)
            self.data = file.read_bytes() if self.binary else file.read_text(encoding="utf-8")
        elif self.url is not None:
            from urllib.request import urlopen

            with urlopen(self.url) as response:  # noqa: S310  # the URL that the user displays
                content = response.read()
            self.data = content if self.binary else content.decode("utf-8")

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


class Pretty(DisplayObject):
    """Text as it is."""

    def __repr__(self) -> str:
        return str(self.data)


class HTML(DisplayObject):
    """HTML, as `displayHTML` shows it."""

    def _repr_html_(self) -> str:
        return str(self.data)

    __html__ = _repr_html_


class Markdown(DisplayObject):
    """Markdown, as a cell with `%md` shows it."""

    def _repr_markdown_(self) -> str:
        return str(self.data)


class Latex(DisplayObject):
    """LaTeX."""

    def _repr_latex_(self) -> str:
        return str(self.data)


class Math(Latex):
    """A formula of LaTeX."""

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {str(self.data).strip('$')}$"


class SVG(DisplayObject):
    """A drawing in SVG."""

    def _repr_svg_(self) -> str:
        return str(self.data)


class Javascript(DisplayObject):
    """A script that the page of the notebook runs."""

    def _repr_javascript_(self) -> str:
        return str(self.data)


class JSON(DisplayObject):
    """A document of JSON."""

    def _repr_json_(self) -> Any:
        return json.loads(self.data) if isinstance(self.data, str) else self.data


class Code(DisplayObject):
    """Source code."""

    def __init__(self, data: Any = None, language: str | None = None, **options: Any) -> None:
        self.language = language
        super().__init__(data, **options)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self.data))}</pre>"

    def __repr__(self) -> str:
        return str(self.data)


class Image(DisplayObject):
    """A picture: bytes, a file, or a URL, which the page loads unless `embed` is true."""

    binary = True

    def __init__(  # the parameters of IPython
        self,
        data: Any = None,
        url: str | None = None,
        filename: str | Path | None = None,
        format: str | None = None,  # IPython's name
        embed: bool | None = None,
        width: int | None = None,
        height: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        alt: str | None = None,
    ) -> None:
        if isinstance(data, str):
            is_url = data.startswith(("http://", "https://"))
            data, url, filename = None, (data if is_url else url), (filename if is_url else data)
        self.embed = embed if embed is not None else url is None
        self.width, self.height, self.alt, self.format = width, height, alt, format
        super().__init__(data, url, filename, metadata)

    def reload(self) -> None:
        """Read the picture, unless the page loads it."""
        if self.embed:
            super().reload()

    def _mime(self) -> str:
        if self.format:
            return f"image/{self.format.lower().replace('jpg', 'jpeg')}"
        by_name = mimetypes.guess_type(str(self.filename or self.url or ""))[0]
        starts = {b"\xff\xd8": "image/jpeg", b"GI": "image/gif", b"RI": "image/webp"}
        return by_name or starts.get(bytes(self.data or b"")[:2], "image/png")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        del include, exclude
        if self.embed:
            source = f"data:{self._mime()};base64,{base64.b64encode(self.data).decode()}"
            if self._mime() in ("image/png", "image/jpeg") and not (self.width or self.height or self.alt):
                return {self._mime(): source.partition(",")[2]}
        else:
            source = str(self.url)
        sizes = {"width": self.width, "height": self.height, "alt": self.alt}
        given = "".join(f' {name}="{html.escape(str(value))}"' for name, value in sizes.items() if value)
        return {"text/html": f'<img src="{html.escape(source)}"{given}>'}


class IFrame:
    """A page within the page."""

    def __init__(self, src: str, width: Any, height: Any, **params: Any) -> None:
        from urllib.parse import urlencode

        self.src = f"{src}?{urlencode(params)}" if params else src
        self.width, self.height = width, height

    def _repr_html_(self) -> str:
        place = html.escape(self.src)
        return f'<iframe width="{self.width}" height="{self.height}" src="{place}" frameborder="0"></iframe>'


class _Bundle:
    """Representations that the caller has made."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return str(self.data.get("text/plain", ""))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Mapping[str, Any]:
        del include, exclude
        return self.data


class DisplayHandle:
    """Shows values in the place of an output of the running cell."""

    def __init__(self, display_id: str | None = None) -> None:
        self.display_id = display_id or uuid.uuid4().hex

    def display(self, obj: Any, **options: Any) -> None:
        """Show a value as a new output."""
        display(obj, display_id=self.display_id, **options)

    def update(self, obj: Any, **options: Any) -> None:
        """Show a value in place of the last one."""
        update_display(obj, display_id=self.display_id, **options)

    def __repr__(self) -> str:
        return f"<DisplayHandle display_id={self.display_id}>"


def display(
    *objs: Any,
    display_id: str | bool | None = None,
    raw: bool = False,
    clear: bool = False,
    update: bool = False,
    **_: Any,
) -> DisplayHandle | None:
    """Show values; with a `display_id`, return the handle that updates their output."""
    if clear:
        clear_output(wait=True)
    handle = None
    if display_id is not None and display_id is not False:
        handle = DisplayHandle(None if display_id is True else display_id)
    options = {} if handle is None else {"display_id": handle.display_id, "update": update}
    for each in objs:
        show_value(_Bundle(each) if raw else each, **options)
    return handle


def update_display(obj: Any, *, display_id: str, **options: Any) -> None:
    """Show a value in place of the output of the running cell that has the id."""
    display(obj, display_id=display_id, update=True, **options)


def publish_display_data(data: Mapping[str, Any], *_: Any, **__: Any) -> None:
    """Show representations by their types."""
    display(data, raw=True)


def clear_output(wait: bool = False) -> None:
    """Remove the outputs of the running cell, with `wait` when the next one comes."""
    show = current_display()
    if show is not None:
        show(None, clear="next" if wait else "now")


_FUNCTIONS = (display, update_display, publish_display_data, clear_output)
_CLASSES = (
    *(DisplayObject, Pretty, HTML, Markdown, Latex, Math, SVG, Javascript, JSON, Code, Image, IFrame),
    DisplayHandle,
)


def fill_module(module: ModuleType) -> None:
    """Fill a module of IPython that is not installed."""
    names = {each.__name__: each for each in (*_FUNCTIONS, *_CLASSES)}
    vars(module).update(names, TextDisplayObject=DisplayObject, __all__=[*names, "TextDisplayObject"])


PATCHES = tuple(
    PatchSpec("IPython.display", each.__name__, "shims", "IPython's display shows in the notebook that runs")
    for each in _FUNCTIONS
)


def patch_display(module: ModuleType) -> None:
    """Let the functions of the installed module show in the notebook that runs."""
    for spec, ours in zip(PATCHES, _FUNCTIONS, strict=True):
        if hasattr(module, spec.attribute):
            spec.install(_leading(ours), owner=module)


def restore_display(module: ModuleType) -> None:
    """Restore IPython's own functions."""
    for spec in PATCHES:
        spec.remove(owner=module)


def _leading(ours: Any) -> Any:
    def make(before: Wrapped) -> Any:
        def show(*values: Any, **options: Any) -> Any:
            return (before if current_display() is None else ours)(*values, **options)

        show.__name__ = ours.__name__
        return show

    return make
