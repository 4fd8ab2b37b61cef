"""The files of the server's pages.

Pages hold no data, so no token is needed to load them: their scripts request everything that they show from
the REST API, with the token of the tab.
"""

from __future__ import annotations

from importlib import resources

from starlette.responses import Response

_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_HEADERS = {
    # Styles may be inline: the output of notebooks has its own. Scripts may not.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _read_files() -> dict[str, tuple[bytes, str]]:
    folder = resources.files(__package__).joinpath("pages")
    found = {}
    for file in folder.iterdir():
        media_type = _MEDIA_TYPES.get(file.name.rpartition(".")[2])
        if media_type is not None:
            path = "/" if file.name == "index.html" else f"/ui/{file.name}"
            found[path] = (file.read_bytes(), media_type)
    return found


PAGES = _read_files()
"""Content and media type of every file, by its path on the server."""


def page_response(path: str) -> Response:
    """Return a file of `PAGES`."""
    content, media_type = PAGES[path]
    return Response(content, headers=_HEADERS, media_type=media_type)
