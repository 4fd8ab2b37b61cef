"""Paths of the platform in the arguments of programs that the code starts.

A program has no redirection, so its arguments name the local folders: `["cp", "/Volumes/c/s/v/a", "b"]`,
`--out=/dbfs/x`, and prefixes in the text of a shell (`os.system`, `shell=True`, `bash -c`). What the program
prints names the local folders, too, and paths that it computes or reads from files are not translated.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import shlex
from collections.abc import Callable, Container, Iterator
from pathlib import PurePosixPath
from typing import Any

from lakeward.session.path_redirection.translator import PathTranslator

# Programs that read these paths themselves: as names in a workspace, or by the same map.
_READERS = frozenset(("databricks", "lakeward"))
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
# A prefix begins a word: not `$HOME/Volumes`, `s3://Volumes` or `dbfs:/Volumes`, which no program can open.
_WORD_START = r"(?<![\w./}~*?\]%+@-])(?<!dbfs:)(?<!file:)"
_PREFIX_END = r"(?=$|[\s/'\"`;|&<>(){},:])"
_VOLUMES = re.compile(r"(?:/dbfs)?/Volumes")
# Up to three names below /Volumes, which do not depend on case. They may have variables of the shell.
_NAMES = re.compile(rf"(?:/(?:[\w-]|\$\w+|\$\{{\w+\}})+){{1,3}}{_PREFIX_END}")
# For every shell: `${NAME,,}` is one of bash.
_LOWER = "awk -F/ -v OFS=/ '{for (i = 2; i < 5 && i <= NF; i++) $i = tolower($i)} 1'"


def start_of_subprocess(translator: PathTranslator, original: Any) -> Callable[..., None]:
    """Return `subprocess.Popen.__init__` with the working folder, the name and the arguments mapped."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError:
            original(self, *args, **kwargs)  # raises it
            return
        shell = bool(given.arguments.get("shell"))
        given.arguments["args"] = translate_arguments(translator, given.arguments["args"], shell=shell)
        for name in ("cwd", "executable"):
            if given.arguments.get(name) is not None:
                given.arguments[name] = translator.local(given.arguments[name])
        original(*given.args, **given.kwargs)

    return start


def translate_arguments(translator: PathTranslator, arguments: Any, *, shell: bool = False) -> Any:
    """Return the arguments of `subprocess.Popen` with the platform's paths mapped.

    A string without `shell` is the name of a program. Values that are neither text nor a path are kept.
    """
    if isinstance(arguments, (str, bytes, os.PathLike)):
        return _command(translator, arguments) if shell else translator.local(arguments)
    try:
        given = list(arguments)
    except TypeError:
        return arguments
    if given and not shell and PurePosixPath(_text(given[0])).name in _READERS:
        return arguments
    text_at = 0 if shell else _shell_text(given)
    return [
        _command(translator, each) if position == text_at else _argument(translator, each)
        for position, each in enumerate(given)
    ]


def translate_command(translator: PathTranslator, command: str) -> str:
    """Return the text of a shell with the prefixes of mapped paths replaced by quoted local folders.

    The names of catalog, schema and volume become those of the folders, in lower case. Where they have
    variables, the shell does it.
    """
    folders = {prefix: folder for prefix, folder in translator.map.entries if prefix != folder}
    if not any(prefix in command for prefix in folders):
        return command
    # Kept folders are alternatives, too: the longest prefix decides, as in `PathMap.local`.
    names = "|".join(re.escape(prefix) for prefix, _ in translator.map.entries)
    prefixes = re.compile(f"{_WORD_START}(?:{names}){_PREFIX_END}")
    kept = {prefix for prefix, folder in translator.map.entries if prefix == folder}
    command = _with_lower_names(command, prefixes, kept)
    quotes = list(_quotes(command))
    parts, end = [], 0
    for found in prefixes.finditer(command):
        folder = folders.get(found[0])
        if folder is None:
            continue
        quote = next((mark for start, stop, mark in quotes if start < found.start() < stop), "")
        parts += [command[end : found.start()], _quoted(folder, quote)]
        end = found.end()
        names_below = _NAMES.match(command, end) if _VOLUMES.fullmatch(found[0]) else None
        if names_below and "$" in names_below[0] and quote != "'":
            parts.append(f'$(printf %s "{names_below[0]}" | {_LOWER})')
            end = names_below.end()
    return "".join([*parts, command[end:]])


def start_of_program(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    """Return `original(path, argv, …)` of `os` with the program and its arguments mapped."""

    @functools.wraps(original)
    def call(path: Any, argv: Any, *args: Any, **kwargs: Any) -> Any:
        return original(translator.local(path), translate_arguments(translator, argv), *args, **kwargs)

    return call


def shell_command(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    """Return `os.system` with the paths in its command mapped."""

    @functools.wraps(original)
    def call(command: Any) -> Any:
        return original(_command(translator, command))

    return call


def _shell_text(arguments: list[Any]) -> int | None:
    """Return the position of the commands in `bash … -c COMMANDS`."""
    if not arguments or PurePosixPath(_text(arguments[0])).name not in _SHELLS:
        return None
    for position, each in enumerate(arguments[1:-1], start=1):
        if re.fullmatch(r"-[a-z]*c", _text(each)):
            return position + 1
    return None


def _argument(translator: PathTranslator, argument: Any) -> Any:
    """Map a path, or the path after the first `=` (`--out=/dbfs/x`, `of=/dbfs/x`)."""
    found = translator.find(argument)
    if found is not None:
        return found
    if isinstance(argument, str):
        name, sign, value = argument.partition("=")
        return f"{name}={translator.local(value)}" if sign else argument
    return argument


def _command(translator: PathTranslator, command: Any) -> Any:
    if isinstance(command, str):
        return translate_command(translator, command)
    if isinstance(command, bytes):
        return os.fsencode(translate_command(translator, os.fsdecode(command)))
    return translator.local(command)


def _with_lower_names(command: str, prefixes: re.Pattern[str], kept: Container[str]) -> str:
    """Write names without variables below `/Volumes` in lower case, except those of real folders (`kept`)."""
    parts, end = [], 0
    for found in prefixes.finditer(command):
        root = _VOLUMES.match(found[0])
        names = _NAMES.match(command, found.start() + root.end()) if root and found[0] not in kept else None
        if names and "$" not in names[0]:
            parts += [command[end : names.start()], names[0].lower()]
            end = names.end()
    return "".join([*parts, command[end:]])


def _quoted(folder: str, quote: str) -> str:
    """Return the text for a folder inside of these quotes, or outside of any."""
    if quote == "'":
        return folder.replace("'", "'\\''")
    return re.sub(r'(["$`\\])', r"\\\1", folder) if quote else _escaped(folder)


def _quotes(command: str) -> Iterator[tuple[int, int, str]]:
    for each in _QUOTED.finditer(command):
        if each[0][0] in "'\"":
            yield each.start(), each.end(), each[0][0]


def _escaped(folder: str) -> str:
    """Quote a folder for a place outside of quotes, so that globs after it still work."""
    return folder if shlex.quote(folder) == folder else re.sub(r"([^\w@%+=:,./-])", r"\\\1", folder)


def _text(argument: Any) -> str:
    return os.fsdecode(argument) if isinstance(argument, (str, bytes, os.PathLike)) else ""
