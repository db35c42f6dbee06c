"""The syntax of Hurl files: entries, each a request and what is expected of its response.

Source: the grammar at https://hurl.dev/docs/grammar.html. All of it is read, so that `hurl` can say in which
lines a file uses something that a journey cannot do.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from jostle.errors import BadValue

__all__ = [
    "Body",
    "Entry",
    "HurlItem",
    "HurlMessage",
    "HurlSection",
    "HurlText",
    "Placeholder",
    "Word",
    "read_entries",
]


@dataclass(frozen=True)
class Placeholder:
    """A placeholder `{{…}}`, and the expression between its braces.

    `bare`: it stands in a body, outside JSON strings, so its value is inserted without escapes.
    """

    expression: str
    bare: bool = False


HurlText = tuple[str | Placeholder, ...]


@dataclass(frozen=True)
class Word:
    """A word of a query, filter or predicate.

    `kind`: "text" (quoted), "word" (unquoted), "regex", or "bytes" for `hex,…;` and the like.
    """

    kind: str
    text: HurlText


@dataclass(frozen=True)
class HurlItem:
    """A header or a line of a section: a key with a value, a capture (key and words) or an assert (words)."""

    line: int
    key: HurlText = ()
    value: HurlText = ()
    words: tuple[Word, ...] = ()


@dataclass(frozen=True)
class HurlSection:
    """The heading `[Name]` and the lines below it."""

    line: int
    name: str
    items: tuple[HurlItem, ...]


@dataclass(frozen=True)
class Body:
    """`kind`: "json", "xml", "text", "file", "hex" or "base64", or the language behind three backquotes."""

    line: int
    kind: str
    text: HurlText


@dataclass(frozen=True)
class HurlMessage:
    """A request (`start` is the method), or what is expected of a response (`start` is the status or "*")."""

    line: int
    start: str
    url: HurlText
    headers: tuple[HurlItem, ...]
    sections: tuple[HurlSection, ...]
    body: Body | None


@dataclass(frozen=True)
class Entry:
    """A request, and what is expected of its response, if anything."""

    request: HurlMessage
    response: HurlMessage | None


def read_entries(text: str) -> list[Entry]:
    """Read all entries. Raises `BadValue` with the line of a mistake."""
    return list(_Reader(text.removeprefix("\ufeff")).entries())


_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"[ \t]*\r?(?:#[^\n]*)?(?:\n|\Z)")
_RESPONSE = re.compile(r"HTTP(?:/(?:1\.0|1\.1|2|3))?[ \t]+(\d{3}|\*)")
_METHOD = re.compile(r"([A-Z]+)[ \t]+(?=[^\s:#])")
_SECTION = re.compile(r"\[([A-Z][A-Za-z]*)\]")
_JSON = re.compile(
    r"""\{(?!\{) | \[ | "
    | (?:true|false|null|-?\d[\d.eE+-]*|\{\{[^}\n]*\}\})[ \t\r]*(?:\#[^\n]*)?(?:\n|\Z)""",
    re.VERBOSE,
)
_BYTES = re.compile(r"(file|hex|base64),([^;]*);")
_LANGUAGE = re.compile(r"([a-z0-9]*)((?:,[ \t]*[a-z]+)*)[ \t]*\r?\n")
_PLACEHOLDER = re.compile(r"\{\{([^}\n]*)\}\}")
_UNICODE = re.compile(r"u\{([0-9a-fA-F]{1,8})\}")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\[^\n])*)/")
_BARE_WORD = re.compile(r"[^\s#\"`]+")

_XML = re.compile(
    r"""<\?.*?\?> | <!--.*?--> | <!\[CDATA\[.*?\]\]> | <![^>]*>
    | </?[^\s<>/!?](?:[^<>"']|"[^"]*"|'[^']*')*>""",
    re.VERBOSE | re.DOTALL,
)

_IN_KEY = re.compile(r"[\w.\-\[\]@$]+")
_IN_VALUE = re.compile(r"(?:[^#\n\\{]+|\{(?!\{))+")
_IN_QUOTES = re.compile(r"(?:[^\"\\{]+|\{(?!\{))+")
_IN_BACKQUOTES = re.compile(r"(?:[^`\n\\{]+|\{(?!\{))+")
_IN_FENCE = re.compile(r"(?:[^{]+|\{(?!\{))+")
_IN_JSON_TEXT = re.compile(r"(?:[^\"\\{]+|\\.|\{(?!\{))+", re.DOTALL)
_IN_JSON = re.compile(r"[^\"{}\[\]]+")

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {char: char for char in '"\\#:/`; '}


class _Reader:
    def __init__(self, text: str, line: int = 1) -> None:
        self._text = text
        self._at = 0
        self._counted, self._lines = 0, line

    @property
    def _line(self) -> int:
        self._lines += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._lines

    def _wrong(self, what: str, hint: str = "see https://hurl.dev/docs/grammar.html") -> BadValue:
        return BadValue(f"line {self._line}: {what}", hint)

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match `pattern` at the current position, and move past the match."""
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _next_is(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _take(self, text: str) -> bool:
        taken = self._next_is(text)
        self._at += len(text) if taken else 0
        return taken

    def entries(self) -> Iterator[Entry]:
        while self._more():
            line, method = self._line, self._match(_METHOD)
            if method is None or method[1] == "HTTP":
                raise self._wrong("no request begins here", "write for example GET http://localhost:8080/")
            url = self._text_of(_IN_VALUE)
            self._end_of_line()
            request = self._message(line, method[1], url)
            response = None
            if self._more() and (found := _RESPONSE.match(self._text, self._at)):
                line, self._at = self._line, found.end()
                self._end_of_line()
                response = self._message(line, found[1], ())
            yield Entry(request, response)

    def _more(self) -> bool:
        """Move past blank lines and comments. Returns whether anything follows."""
        self._match(_BLANK)
        return self._at < len(self._text)

    def _end_of_line(self) -> None:
        if not self._match(_LINE_END):
            raise self._wrong("there is something behind the end of what is expected here")

    def _message(self, line: int, start: str, url: HurlText) -> HurlMessage:
        headers: list[HurlItem] = []
        sections: list[HurlSection] = []
        body = None
        while body is None and self._more() and not self._message_begins():
            if found := self._match(_SECTION):
                at = self._line
                self._end_of_line()
                sections.append(HurlSection(at, found[1], tuple(self._items(found[1]))))
            elif (body := self._body()) is None:
                if sections:
                    raise self._wrong("this belongs to no section")
                headers.append(self._key_and_value())
        return HurlMessage(line, start, url, tuple(headers), tuple(sections), body)

    def _message_begins(self) -> bool:
        return any(pattern.match(self._text, self._at) for pattern in (_RESPONSE, _METHOD))

    def _items(self, section: str) -> Iterator[HurlItem]:
        while self._more() and not self._message_begins() and not self._section_ends():
            line = self._line
            if section == "Asserts":
                yield HurlItem(line, words=self._words())
            elif section == "Captures":
                yield HurlItem(line, key=self._key(), words=self._words())
            else:
                yield self._key_and_value()

    def _section_ends(self) -> bool:
        patterns = (_SECTION, _JSON, _BYTES)
        return any(pattern.match(self._text, self._at) for pattern in patterns) or any(
            self._next_is(mark) for mark in ("`", "<")
        )

    def _key(self) -> HurlText:
        key = self._text_of(_IN_KEY)
        self._match(_SPACE)
        if not key or not self._take(":"):
            raise self._wrong("there is no key with a colon", "write for example Accept: text/html")
        self._match(_SPACE)
        return key

    def _key_and_value(self) -> HurlItem:
        line, key = self._line, self._key()
        value = self._text_of(_IN_VALUE)
        self._end_of_line()
        return HurlItem(line, key, value)

    def _text_of(self, plain: re.Pattern[str], *, escapes: bool = True, bare: bool = False) -> HurlText:
        """Read up to the first character that `plain` does not match and no escape or placeholder begins."""
        parts: list[str | Placeholder] = []
        while True:
            if self._next_is("{{"):
                parts.append(self._placeholder(bare))
            elif found := self._match(plain):
                parts.append(found[0])
            elif escapes and self._take("\\"):
                parts.append(self._escaped())
            else:
                return _joined(parts, strip=plain is _IN_VALUE)

    def _placeholder(self, bare: bool) -> Placeholder:
        found = self._match(_PLACEHOLDER)
        if found is None:
            raise self._wrong("{{ is not closed", "write }} behind the variable's name")
        return Placeholder(found[1].strip(), bare)

    def _escaped(self) -> str:
        if found := self._match(_UNICODE):
            code = int(found[1], 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                raise self._wrong(f"\\u{{{found[1]}}} is not a character")
            return chr(code)
        char = self._text[self._at : self._at + 1]
        if char not in _ESCAPES or not char:
            raise self._wrong(f"there is no escape {char!r} behind a backslash")
        self._at += 1
        return _ESCAPES[char]

    def _words(self) -> tuple[Word, ...]:
        words: list[Word] = []
        while not self._match(_LINE_END):
            words.append(self._word())
            self._match(_SPACE)
        return tuple(words)

    def _word(self) -> Word:
        if self._take('"'):
            text = self._text_of(_IN_QUOTES)
            if not self._take('"'):
                raise self._wrong("a quote is not closed")
            return Word("text", text)
        if self._next_is("`"):
            return Word("text", self._backquoted().text)
        if found := self._match(_REGEX):
            return Word("regex", (found[1].replace("\\/", "/"),))
        if found := self._match(_BYTES):
            return Word("bytes", (found[0],))
        if self._next_is("{{"):
            return Word("text", (self._placeholder(False),))
        if found := self._match(_BARE_WORD):
            return Word("word", (found[0],))
        raise self._wrong("this is no query, filter or predicate")

    def _body(self) -> Body | None:
        """The body that begins here, or None."""
        line = self._line
        if found := self._match(_BYTES):
            self._end_of_line()
            return Body(line, found[1], (found[2].strip(),))
        if self._next_is("`"):
            body = self._backquoted()
        elif _JSON.match(self._text, self._at):
            body = Body(line, "json", self._json())
        elif self._next_is("<"):
            body = Body(line, "xml", self._xml())
        else:
            return None
        self._end_of_line()
        return body

    def _backquoted(self) -> Body:
        line = self._line
        if not self._take("```"):
            self._at += 1
            text = self._text_of(_IN_BACKQUOTES)
            if not self._take("`"):
                raise self._wrong("a backquote is not closed")
            return Body(line, "text", text)
        found = self._match(_LANGUAGE)
        end = self._text.find("```", self._at)
        if end < 0:
            raise self._wrong("``` is not closed")
        inside = _Reader(self._text[self._at : end], self._line)
        language = "".join(found.groups()) if found is not None else ""
        if language == "raw":
            language, text = "text", (inside._text,)
        else:
            text = inside._text_of(_IN_FENCE, escapes=False, bare=True)
        self._at = end + len("```")
        return Body(line, language or "text", text)

    def _xml(self) -> HurlText:
        """The XML document that begins here, to the end of its first element."""
        begin, depth = self._line, 0
        for found in _XML.finditer(self._text, self._at):
            tag = found[0]
            if tag.startswith(("<?", "<!")):
                continue
            depth += 0 if tag.endswith("/>") else -1 if tag.startswith("</") else 1
            if depth <= 0:
                inside = _Reader(self._text[self._at : found.end()], begin)
                self._at = found.end()
                return inside._text_of(_IN_FENCE, escapes=False, bare=True)
        raise BadValue(f"line {begin}: this XML is not closed", "text goes between two lines of ```")

    def _json(self) -> HurlText:
        """The JSON value that begins here, as it is written."""
        parts: list[str | Placeholder] = []
        depth = 0
        begins = self._line
        while True:
            before = self._at
            if self._next_is("{{") and _PLACEHOLDER.match(self._text, self._at):
                parts.append(self._placeholder(bare=True))
            elif self._take('"'):
                parts += ['"', *self._text_of(_IN_JSON_TEXT, escapes=False), '"']
                if not self._take('"'):
                    raise BadValue(f"line {begins}: a quote in this JSON is not closed", "")
            elif self._at < len(self._text) and (char := self._text[self._at]) in "{}[]":
                self._at += 1
                depth += 1 if char in "{[" else -1
                parts.append(char)
            elif depth == 0:
                found = self._match(re.compile(r"[\w.+-]+"))
                parts += [found[0]] if found else []
            elif found := self._match(_IN_JSON):
                parts.append(found[0])
            if depth <= 0 or self._at == before:
                break
        text = _joined(parts)
        _check_json(begins, text)
        return text


def _check_json(line: int, text: HurlText) -> None:
    written = "".join(part if isinstance(part, str) else "0" for part in text)
    try:
        json.loads(written)
    except (ValueError, RecursionError) as error:
        raise BadValue(
            f"line {line}: this is not JSON: {error}", "text goes between two lines of ```"
        ) from None


def _joined(parts: list[str | Placeholder], *, strip: bool = False) -> HurlText:
    """Join neighbouring texts; with `strip`, without the white space at the end."""
    joined: list[str | Placeholder] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        found = list(group)
        joined += ["".join(map(str, found))] if is_text else found
    if strip and joined and isinstance(joined[-1], str):
        joined[-1] = joined[-1].rstrip()
    return tuple(part for part in joined if part != "")
