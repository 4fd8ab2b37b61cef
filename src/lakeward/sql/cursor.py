"""A small hand for grammars of statements: read tokens one after the other, or give up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeward.sql.tokens import Token, tokenize

__all__ = ["Cursor", "Unmatched", "unquoted"]

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)


class Unmatched(Exception):
    """The tokens are not those of the statement that was tried."""


class Cursor:
    """The tokens of one statement and how many of them are read."""

    def __init__(self, tokens: Sequence[Token], text: str = "") -> None:
        self._text = text
        end = len(tokens)
        while end and tokens[end - 1].text == ";":
            end -= 1
        self._tokens = tokens[:end]
        self.at = 0

    @property
    def next(self) -> Token | None:
        """The token to be read."""
        return self._tokens[self.at] if self.at < len(self._tokens) else None

    def words(self, *wanted: str) -> bool:
        """Read the words if all of them come next."""
        ahead = self._tokens[self.at : self.at + len(wanted)]
        if len(ahead) == len(wanted) and all(t.word == w for t, w in zip(ahead, wanted, strict=True)):
            self.at += len(wanted)
            return True
        return False

    def one_of(self, *wanted: str) -> str:
        """Read one of the words and give it; raises Unmatched."""
        for word in wanted:
            if self.words(word):
                return word
        raise Unmatched

    def need(self, *wanted: str) -> None:
        """Read the words; raises Unmatched."""
        if not self.words(*wanted):
            raise Unmatched

    def part(self) -> str:
        """Read one name, by IDENTIFIER('…') too; raises Unmatched."""
        if self.words("IDENTIFIER", "("):
            value = self.string()
            self.need(")")
            return value
        token = self.next
        if token is None or not token.is_name:
            raise Unmatched
        self.at += 1
        return unquoted(token.text)

    def name(self, parts: int = 4) -> list[str]:
        """Read a dotted name of at most `parts` parts; raises Unmatched."""
        if [t.word for t in self.ahead(2)] == ["IDENTIFIER", "("]:
            inside = Cursor(tokenize(self.part()) or ())
            found = inside.name(parts)
            inside.end()
            return found
        found = [self.part()]
        while self.words("."):
            found.append(self.part())
        if len(found) > parts:
            raise Unmatched
        return found

    def string(self) -> str:
        """Read a string literal, or several side by side, and give its value; raises Unmatched."""
        found = []
        while self.next is not None and self.next.is_string:
            found.append(unquoted(self.next.text))
            self.at += 1
        if not found:
            raise Unmatched
        return "".join(found)

    def integer(self) -> int:
        """Read a whole number; raises Unmatched."""
        token = self.next
        if token is None or not token.text.isdigit():
            raise Unmatched
        self.at += 1
        return int(token.text)

    def ahead(self, count: int) -> Sequence[Token]:
        """The next tokens, as many as there are."""
        return self._tokens[self.at : self.at + count]

    def finish(self) -> None:
        """Read everything that is left."""
        self.at = len(self._tokens)

    def text(self, begin: int, end: int | None = None) -> str:
        """What the user wrote from the token `begin` to before the next one, or to before `end`."""
        tokens = self._tokens[begin : self.at if end is None else end]
        return self._text[tokens[0].start : tokens[-1].end] if tokens else ""

    def end(self) -> None:
        """Nothing may be left; raises Unmatched."""
        if self.next is not None:
            raise Unmatched


def unquoted(text: str) -> str:
    """The value of a string literal or of a name, quoted or not.

    >>> unquoted("`a``b`"), unquoted("'it\\\\'s'"), unquoted("r'a\\\\b'"), unquoted("Abc")
    ('a`b', "it's", 'a\\\\b', 'Abc')
    """
    if text[0] == "`":
        return text[1:-1].replace("``", "`")
    if text[0] in "'\"":
        return _ESCAPE.sub(_escaped, text[1:-1].replace(text[0] * 2, text[0]))
    if text[-1] in "'\"":
        return text[text.index(text[-1]) + 1 : -1]
    return text


def _escaped(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    return chr(int(octal, 8)) if octal else _ESCAPES.get(other, other)
