"""Tokens of SQL by the rules of Databricks, a cursor over them for parsers, and the split into statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeVar

T = TypeVar("T")

_WORD = re.compile(r"\w+|\S")
_WORD_ALONE = re.compile(r"\w+")
_NAME_FROM_DIGIT = "NAME_FROM_DIGIT"
"""The kind of a name that begins with a digit, as `01_bronze`."""
# What begins and ends the code of a function in Spark's grammar.
_DOLLAR_TAG = re.compile(r"\$[A-Za-z]*\$")
_QUOTES = "'\"`"


class Token(NamedTuple):
    """One token: its kind, its characters, and their position; `end` is exclusive."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """Return the text in upper case; empty for strings and quoted names, which are never keywords."""
        return "" if self.is_quoted else self.text.upper()

    @property
    def is_quoted(self) -> bool:
        """Return whether it is a string or a quoted name."""
        return self.text[0] in _QUOTES or self.text[-1] in _QUOTES or self.dollar_quoted is not None

    @property
    def dollar_quoted(self) -> str | None:
        """Return what is between two `$$` or `$tag$`: a function's code, or a metric view's YAML."""
        tag = _DOLLAR_TAG.match(self.text)
        if tag is None or len(self.text) < 2 * tag.end() or not self.text.endswith(tag[0]):
            return None
        return self.text[tag.end() : -tag.end()]

    @property
    def is_string(self) -> bool:
        """Return whether it is a string literal, also a raw one."""
        return self.is_quoted and self.text[0] not in "`$"

    @property
    def is_name(self) -> bool:
        """Return whether it can be an identifier: a word or a quoted name."""
        if self.text[0] == "`" or self.kind == _NAME_FROM_DIGIT:
            return True
        return not self.is_quoted and (self.text[0].isalpha() or self.text[0] == "_")


def tokenize(text: str) -> tuple[Token, ...] | None:
    """Return the tokens without comments; None if a quote or comment is not closed.

    >>> [t.text for t in tokenize("select a:b -- c")]
    ['select', 'a', ':', 'b']
    >>> [t.text for t in tokenize("'it''s' 'a'")]
    ["'it''s'", "'a'"]
    >>> [t.text for t in tokenize("a.01_b, 3L")]
    ['a', '.', '01_b', ',', '3L']
    >>> [t.text for t in tokenize("a?::int, ? ::int")]
    ['a', '?::', 'int', ',', '?', '::', 'int']
    """
    from sqlglot.errors import SqlglotError

    try:
        found = _tokenizer(frozenset(_DOLLAR_TAG.findall(text))).tokenize(text)
    except (SqlglotError, IndexError, ValueError, RecursionError):
        return None
    tokens: list[Token] = []
    for each in found:
        own = text[each.start : each.end + 1]
        # sqlglot reads 3L as `3 :: BIGINT`: three tokens with the text of the literal.
        if not own or (tokens and tokens[-1].start == each.start):
            continue
        token = Token(each.token_type.name, own, each.start, each.end + 1)
        if tokens and _continues_string(tokens[-1], token):
            before = tokens.pop()
            token = Token(before.kind, text[before.start : token.end], before.start, token.end)
        elif tokens and _continues_name(tokens[-1], token):
            before = tokens.pop()
            token = Token(_NAME_FROM_DIGIT, text[before.start : token.end], before.start, token.end)
        elif tokens and own == "::" and tokens[-1].text == "?" and tokens[-1].end == token.start:
            before = tokens.pop()
            token = Token(token.kind, "?::", before.start, token.end)
        tokens += _split_words(token) if re.search(r"\s", own) and not token.is_quoted else [token]
    return tuple(tokens)


def _continues_string(before: Token, token: Token) -> bool:
    """Return whether two tokens are one literal: 'it''s' has a quote between them."""
    return before.end == token.start and token.text[0] in "'\"" and before.text[0] == token.text[0]


def _continues_name(before: Token, token: Token) -> bool:
    """Return whether a number and the word behind it are one name: Spark's names may begin with a digit."""
    return (
        before.end == token.start
        and before.text[0].isdigit()
        and bool(_WORD_ALONE.fullmatch(before.text) and _WORD_ALONE.fullmatch(token.text))
    )


def _split_words(token: Token) -> list[Token]:
    """Split tokens such as ORDER BY into their words."""
    return [
        Token("VAR", m.group(), token.start + m.start(), token.start + m.end())
        for m in _WORD.finditer(token.text)
    ]


@lru_cache(maxsize=8)
def _tokenizer(dollar_tags: frozenset[str]) -> Any:
    from sqlglot.dialects.databricks import Databricks

    class Tokenizer(Databricks.Tokenizer):
        # Otherwise SHOW, VACUUM … become one token up to the next semicolon, quoted or not.
        COMMANDS: ClassVar[set[Any]] = set()
        # One token in some versions of sqlglot, and two in others: they are joined here in all of them.
        KEYWORDS: ClassVar[dict[str, Any]] = {
            word: kind for word, kind in Databricks.Tokenizer.KEYWORDS.items() if word != "?::"
        }
        RAW_STRINGS: ClassVar[list[Any]] = [*Databricks.Tokenizer.RAW_STRINGS, *dollar_tags]

    return Tokenizer()


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([01][0-7]{2})|(.))", re.DOTALL)


class Unmatched(Exception):
    """The tokens are not those of the statement; `expected` are the words that it allows next, if known."""

    def __init__(self, *expected: str) -> None:
        super().__init__(*expected)
        self.expected = expected


class TokenCursor:
    """A position in the tokens of one statement; trailing semicolons are ignored.

    `at` is the index of the next token. Methods that read a word, name or literal advance it.
    """

    def __init__(self, tokens: Sequence[Token], text: str = "") -> None:
        self._text = text
        end = len(tokens)
        while end and tokens[end - 1].text == ";":
            end -= 1
        self._tokens = tokens[:end]
        self.at = 0

    @property
    def next(self) -> Token | None:
        """Return the next token; None at the end."""
        return self._tokens[self.at] if self.at < len(self._tokens) else None

    @property
    def word(self) -> str:
        """Return the word of the next token; empty at the end, and for strings and quoted names."""
        return self.next.word if self.next is not None else ""

    @property
    def is_string(self) -> bool:
        """Return whether the next token is a string literal."""
        return self.next is not None and self.next.is_string

    def words(self, *words: str) -> bool:
        """Read the words if all of them come next; return whether they did."""
        ahead = self._tokens[self.at : self.at + len(words)]
        if len(ahead) == len(words) and all(t.word == w for t, w in zip(ahead, words, strict=True)):
            self.at += len(words)
            return True
        return False

    def one_of(self, *words: str) -> str:
        """Read one of the words and return it; raises Unmatched."""
        for word in words:
            if self.words(word):
                return word
        raise Unmatched(*words)

    def phrase(self, *phrases: str) -> str | None:
        """Read one of the phrases, such as `STREAMING TABLE`, and return it; None if none comes next."""
        return next((phrase for phrase in phrases if self.words(*phrase.split())), None)

    def separated(self, read: Callable[[], T]) -> list[T]:
        """Read items separated by commas, each with `read`; at least one."""
        items = [read()]
        while self.words(","):
            items.append(read())
        return items

    def need(self, *words: str) -> None:
        """Read the words; raises Unmatched."""
        if not self.words(*words):
            raise Unmatched(" ".join(words))

    def part(self) -> str:
        """Read one part of a name, also as IDENTIFIER('…'); raises Unmatched."""
        if self.words("IDENTIFIER", "("):
            value = self.string()
            self.need(")")
            return value
        token = self.next
        if token is None or not token.is_name:
            raise Unmatched("a name")
        self.at += 1
        return unquote_token(token.text)

    def name(self, max_parts: int = 4) -> list[str]:
        """Read a dotted name of at most `max_parts` parts; raises Unmatched."""
        if [t.word for t in self.ahead(2)] == ["IDENTIFIER", "("]:
            inside = TokenCursor(tokenize(self.part()) or ())
            found = inside.name(max_parts)
            inside.end()
            return found
        found = [self.part()]
        while self.words("."):
            found.append(self.part())
        if len(found) > max_parts:
            raise Unmatched
        return found

    def part_or_string(self) -> str:
        """Read one part of a name, or a string literal; raises Unmatched."""
        return self.string() if self.is_string else self.part()

    def part_list(self) -> list[str]:
        """Read names separated by commas and the closing parenthesis after them; raises Unmatched."""
        names = self.separated(self.part)
        self.need(")")
        return names

    def string(self) -> str:
        """Read a string literal, or several adjacent ones, and return its value; raises Unmatched."""
        found = []
        while self.next is not None and self.next.is_string:
            found.append(unquote_token(self.next.text))
            self.at += 1
        if not found:
            raise Unmatched("a string")
        return "".join(found)

    def integer(self) -> int:
        """Read a whole number; raises Unmatched."""
        token = self.next
        if token is None or not token.text.isdigit():
            raise Unmatched("a whole number")
        self.at += 1
        return int(token.text)

    def skip(self) -> None:
        """Read the next token, or everything in parentheses if it opens them; raises Unmatched at the end."""
        depth = 0
        while True:
            if self.next is None:
                raise Unmatched
            depth += {"(": 1, ")": -1}.get(self.next.text, 0)
            self.at += 1
            if depth <= 0:
                return

    def skip_to(self, *words: str) -> str:
        """Read up to one of the words outside of parentheses and return the word, which is not read.

        Returns an empty text at the end, and at a closing parenthesis that was opened before.
        """
        while self.next is not None and self.next.text != ")":
            if self.next.word in words:
                return self.next.word
            self.skip()
        return ""

    def ahead(self, count: int) -> Sequence[Token]:
        """Return the next `count` tokens without reading them, fewer at the end."""
        return self._tokens[self.at : self.at + count]

    def finish(self) -> None:
        """Read all remaining tokens."""
        self.at = len(self._tokens)

    def read(self, begin: int) -> Sequence[Token]:
        """Return the tokens that were read from position `begin` on."""
        return self._tokens[begin : self.at]

    def text(self, begin: int, end: int | None = None) -> str:
        """Return the user's text from token `begin` to before token `end`, by default the next one."""
        tokens = self._tokens[begin : self.at if end is None else end]
        return self._text[tokens[0].start : tokens[-1].end] if tokens else ""

    def end(self) -> None:
        """Require the end of the statement; raises Unmatched."""
        if self.next is not None:
            raise Unmatched


def unquote_token(text: str) -> str:
    """Return the value of a string literal or of a name, quoted or not.

    >>> unquote_token("`a``b`"), unquote_token("'it\\\\'s'"), unquote_token("r'a\\\\b'"), unquote_token("Abc")
    ('a`b', "it's", 'a\\\\b', 'Abc')
    """
    if text[0] == "`":
        return text[1:-1].replace("``", "`")
    if text[0] in "'\"":
        return _ESCAPE.sub(_unescape, text[1:-1].replace(text[0] * 2, text[0]))
    if text[-1] in "'\"":
        return text[text.index(text[-1]) + 1 : -1]
    return text


def _unescape(match: re.Match[str]) -> str:
    short, long, octal, other = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    return chr(int(octal, 8)) if octal else _ESCAPES.get(other, other)


# END before one of these closes neither BEGIN nor CASE.
OTHER_BLOCKS = ("IF", "LOOP", "WHILE", "FOR", "REPEAT")
# BEGIN before one of these opens no block.
TRANSACTION_WORDS = ("TRANSACTION", "WORK")
# A text without these has no quotes and comments: it needs no tokenizer, which takes 50 ms to import.
_NOT_PLAIN = re.compile(r"[^\w\s.,()*=<>+]", re.ASCII)
_NOTHING = Token("", " ", 0, 0)


def split(text: str) -> list[str]:
    """Return the statements of a text, without their semicolons.

    A semicolon in a string, a quoted name, a comment or BEGIN … END does not separate. Comments alone are
    not a statement. A text with an unclosed quote is one statement, for which Spark reports the position.

    >>> split("select ';' as a; -- done;")
    ["select ';' as a"]
    """
    return [text[start:end] for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each statement of `split`."""
    plain = text.rstrip("; \t\r\n")
    start = len(plain) - len(plain.lstrip(" \t\r\n"))
    if plain[start : start + 1].isalpha() and not _NOT_PLAIN.search(plain):
        return [(start, len(plain))]
    tokens = tokenize(text)
    if tokens is None:
        start = len(text) - len(text.lstrip())
        return [(start, max(start, len(text.rstrip())))]
    return [(first.start, last.end) for first, last in groups(tokens)]


def is_complete(text: str) -> bool:
    """Return whether the typed text ends with a separating semicolon, or contains no statement."""
    tokens = tokenize(text)
    if tokens is None:
        return False
    parts = list(groups(tokens))
    return not parts or parts[-1][1] is not tokens[-1]


def groups(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the first and the last token of each statement."""
    statement: list[Token] = []
    depth = 0
    for token, following in zip(tokens, chain(tokens[1:], [_NOTHING]), strict=False):
        before = statement[-1].word if statement else ""
        if token.word == ";" and not depth:
            if statement:
                yield statement[0], statement[-1]
            statement = []
            continue
        statement.append(token)
        is_body = before in ("", ":") or (before == "AS" and creates_procedure(statement))
        if depth or (token.word == "BEGIN" and is_body):
            depth += nesting_change(token.word, before, following.word)
    if statement:
        yield statement[0], statement[-1]


def nesting_change(word: str, before: str, following: str) -> int:
    """Return how many blocks and CASE a word of a script opens, or closes (-1), by the words next to it."""
    if word == "END":
        return -(following not in OTHER_BLOCKS)
    return int(
        (word == "BEGIN" and following not in TRANSACTION_WORDS) or (word == "CASE" and before != "END")
    )


def creates_procedure(statement: Sequence[Token]) -> bool:
    """Return whether a statement begins with CREATE [OR REPLACE] PROCEDURE."""
    words = [token.word for token in statement[:4]]
    return words[:1] == ["CREATE"] and "PROCEDURE" in words
