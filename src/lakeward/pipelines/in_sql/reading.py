"""The hand that reads a pipeline's statements: words, names, brackets, and the place where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeward.pipelines.names import quoted, without_live
from lakeward.sql import Cursor, Token, Unmatched, tokenize

__all__ = ["Reader", "dotted", "plain"]

_OPEN = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_ANGLES = {"<": 1, ">": -1, ">>": -2}


class Reader(Cursor):
    """A cursor that can go on up to a word, and take brackets apart."""

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        super().__init__(tokens, text)
        self.whole = text
        self.stopped_at: Token | None = None

    def any_words(self, *phrases: str) -> str | None:
        """Read the first of the phrases that comes next, and give it."""
        return next((phrase for phrase in phrases if self.words(*phrase.split())), None)

    def is_next(self, *phrases: str) -> bool:
        """Whether one of the phrases comes next; nothing is read."""
        here = self.at
        found = self.any_words(*phrases)
        self.at = here
        return found is not None

    def until(self, *phrases: str) -> str:
        """Read up to one of the phrases outside of all brackets, or to the end, and give the text."""
        begin, depth = self.at, 0
        while (token := self.next) is not None:
            if depth == 0 and self.is_next(*phrases):
                break
            depth += _OPEN.get(token.text, 0)
            self.at += 1
        if self.at == begin:
            raise Unmatched
        return self.text(begin)

    def brackets(self) -> Reader:
        """Read `( … )` and give a reader of what is inside."""
        self.need("(")
        begin, depth = self.at, 1
        while (token := self.next) is not None:
            depth += _OPEN.get(token.text, 0)
            if depth == 0:
                break
            self.at += 1
        inside = self._tokens[begin : self.at]
        self.need(")")
        return Reader(inside, self.whole)

    def items(self) -> Iterator[Reader]:
        """What stands between commas outside of all brackets, those of types included."""
        item: list[Token] = []
        depth = angles = 0
        while (token := self.next) is not None:
            self.at += 1
            if token.text == "," and depth == 0 and angles <= 0:
                yield self._item(item, token)
                item = []
                continue
            depth += _OPEN.get(token.text, 0)
            angles += _ANGLES.get(token.text, 0) if depth == 0 else 0
            item.append(token)
        if self._tokens:
            yield self._item(item, self._tokens[-1])

    def _item(self, tokens: list[Token], behind: Token) -> Reader:
        item = Reader(tokens, self.whole)
        item.stopped_at = behind
        return item

    def rest(self) -> tuple[int, int]:
        """Read everything that is left and give where it stands. Raises Unmatched when that is nothing."""
        if self.next is None:
            raise Unmatched
        begin = self.next.start
        self.finish()
        return begin, self._tokens[-1].end

    def names(self) -> list[str]:
        """Read `(a, b.c)`, or the same without brackets, as names."""
        inside = self.brackets() if self.is_next("(") else self
        found = [dotted(inside.name())]
        while inside.words(","):
            found.append(dotted(inside.name()))
        if inside is not self:
            inside.end()
        return found


def dotted(parts: Sequence[str]) -> str:
    """A name as the Python API takes it, in quotes only where it needs them."""
    return ".".join(part if part.isidentifier() else quoted([part]) for part in without_live(tuple(parts)))


def plain(text: str) -> str | None:
    """The dataset that a relation's text names, None for one that is more than a name."""
    reader = Reader(tokenize(text) or (), text)
    try:
        inside = reader.brackets() if reader.words("STREAM") and reader.is_next("(") else reader
        name = inside.name(3)
        inside.end()
        reader.end()
    except Unmatched:
        return None
    return dotted(name)
