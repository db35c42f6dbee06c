"""Hurl files (https://hurl.dev) as journeys: each entry is a step.

Supported are requests with headers, query, form, cookies, basic authentication and bodies; captures that a
journey has too; checks of the status, and one of the body. Everything else is refused with its line: a load
that left out part of the file would be a different load.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jostle.errors import BadValue
from jostle.plan.journeys.hurl_syntax import (
    Body,
    Entry,
    HurlItem,
    HurlMessage,
    HurlText,
    Placeholder,
    Word,
    read_entries,
)
from jostle.plan.requests.request import CODINGS, asking
from jostle.plan.requests.variables import BUILT_IN, GAP, NAME, RAW, as_in_forms, url_in
from jostle.text import one_line, reason
from jostle.url import Url, basic_login

__all__ = ["hurl_journey", "journey_of"]

STATUSES = range(200, 600)
CONTENT_TYPES = {"json": "application/json", "xml": "application/xml"}
WITHOUT_EFFECT = ("verbose", "very-verbose", "verbosity")
"""Options that only change what Hurl prints."""

FUNCTIONS = {"newUuid": "uuid"}
"""Hurl's functions, and the built-in variables that do the same."""

_HINT = "docs/how-to/journeys.md says which part of Hurl a journey can do"
_LOGIN = re.compile(r"(https?://|)(.*)@([^@]*)")
"""A site with a login: what stands before and behind it, and the login itself."""
_SITE = re.compile(r"https?://", re.IGNORECASE)
_STRAY_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


def hurl_journey(path: Path) -> dict[str, Any]:
    """The journey table for a Hurl file. Raises `BadValue` with the file's name and the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"{path} cannot be read: {reason(error)}", "a Hurl file is UTF-8 text") from None
    try:
        return journey_of(text, path.parent)
    except BadValue as error:
        raise BadValue(f"{path}, {error.message}", error.hint) from None


def journey_of(text: str, folder: Path) -> dict[str, Any]:
    """The journey table for a Hurl text, whose files are in `folder`. Raises `BadValue` with the line."""
    entries = read_entries(text)
    if not entries:
        raise BadValue("line 1: there is no request", "write for example GET http://localhost:8080/")
    conversion = _Conversion(folder)
    steps = [conversion.step(entry) for entry in entries]
    if conversion.refused:
        lines = sorted(dict.fromkeys(conversion.refused))
        raise BadValue("; ".join(f"line {line}: {what} is not supported" for line, what in lines), _HINT)
    return {"cookies": True, "steps": steps}


class _Conversion:
    """Converts entries to steps. `refused`: what a journey cannot do, with its line."""

    def __init__(self, folder: Path) -> None:
        self.refused: list[tuple[int, str]] = []
        self._folder = folder
        self._site: str | None = None
        self._names: Counter[str] = Counter()
        self._captured: set[str] = set()

    def _refuse(self, line: int, what: str) -> None:
        self.refused.append((line, one_line(what)))

    def step(self, entry: Entry) -> dict[str, Any]:
        request = entry.request
        if request.start == "CONNECT":
            self._refuse(request.line, "the method CONNECT")
        path, login = self._path(request)
        step: dict[str, Any] = {"name": self._name(request.start, path)}
        headers = [
            (self._plain(item.line, item.key), self._filled(item.line, item.value))
            for item in request.headers
        ]
        for section in request.sections:
            match section.name:
                case "Query" | "QueryStringParams" if url_in(path) is not None:
                    self._refuse(section.line, f"[{section.name}] of a captured URL")
                case "Query" | "QueryStringParams":
                    path += ("&" if "?" in path else "?") + "&".join(self._pairs(section.items, as_in_forms))
                case "Form" | "FormParams":
                    step["form"] = self._form(section.items)
                case "Cookies":
                    headers.append(("Cookie", "; ".join(self._pairs(section.items, str))))
                case "BasicAuth":
                    headers += [("Authorization", self._login(item)) for item in section.items]
                case "Options":
                    step |= self._options(section.items, headers)
                case _:
                    self._refuse(section.line, f"[{section.name}]")
        if login and not any(name.lower() == "authorization" for name, _ in headers):
            headers.append(("Authorization", login))
        if request.body is not None:
            step |= self._body(request.body, headers)
        if headers:
            step["headers"] = _grouped(headers)
        if entry.response is not None:
            step |= self._response(entry.response)
        return {**asking(request.start, path), **step}

    def _name(self, method: str, path: str) -> str:
        """The step's name as the file writes it, made unique by a number."""
        shown = re.sub(r"\{([^{}]+?)(?::raw)?\}", r"{{\1}}", path)
        name = shown if method == "GET" else f"{method} {shown}"
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name} ({self._names[name]})"

    def _path(self, request: HurlMessage) -> tuple[str, str]:
        """The part of the URL after the server, or the variable alone of a captured URL; and the value of a
        header for its login.

        All requests with a server in their URL must go to the same one.
        """
        rest = list(request.url or ("",))
        site = ""
        captured = None
        if isinstance(rest[0], str) and (scheme := _SITE.match(rest[0])):
            site, rest[0] = scheme[0].lower(), rest[0][scheme.end() :]
        elif isinstance(rest[0], str):
            self._refuse(request.line, "a URL without http:// or https:// or a variable before it")
        while rest and captured is None:
            part = rest.pop(0)
            if isinstance(part, Placeholder) and part.expression in self._captured:
                captured = part.expression
            elif isinstance(part, Placeholder):
                site += f"{{{{{part.expression}}}}}"
            elif slash := re.search("[/?]", part):
                site += part[: slash.start()]
                rest.insert(0, part[slash.start() :])
                break
            else:
                site += part
        if captured is not None and rest:
            self._refuse(request.line, f"{{{{{captured}}}}}, captured, before the path")
        login = ""
        if found := _LOGIN.fullmatch(site):
            login, site = found[2], found[1] + found[3]
        if "{{" in login:
            self._refuse(request.line, "a variable in the login of a URL")
        if captured is None or site:
            if self._site not in (None, site):
                self._refuse(request.line, f"another server ({site}, and {self._site} before)")
            self._site = site
        if captured is not None:
            return f"{{{captured}}}", ""
        path = "".join(self._in_url(request.line, rest))
        authorization = Url("http", "", 0, login=login).authorization
        return path if path.startswith("/") else f"/{path}", authorization

    def _in_url(self, line: int, parts: Iterable[str | Placeholder]) -> Iterator[str]:
        """The parts of a path, with values inserted unescaped. It ends at `#`: fragments are not sent."""
        for part in parts:
            if isinstance(part, Placeholder):
                yield self._variable(line, part, raw=True)
                continue
            sent, hash_sign, _ = part.partition("#")
            yield quote(_STRAY_PERCENT.sub("%25", sent), safe="/?%:@!$&'()*+,;=~[]")
            if hash_sign:
                return

    def _variable(self, line: int, placeholder: Placeholder, *, raw: bool) -> str:
        name = placeholder.expression
        if name in FUNCTIONS:
            return f"{{{FUNCTIONS[name]}}}"
        if not NAME.fullmatch(name):
            self._refuse(line, f"{{{{{name}}}}} (filters and functions)")
        elif name in BUILT_IN:
            self._refuse(line, f"a variable of the name {name}, which is built in")
        return f"{{{name}{RAW if raw else ''}}}"

    def _filled(self, line: int, text: HurlText) -> str:
        """Text with variables, in a plan's form."""
        for part in text:
            if isinstance(part, str) and (found := GAP.search(part)):
                self._refuse(line, f"{found[0]} as a text (in a journey it is a variable)")
        return "".join(
            part if isinstance(part, str) else self._variable(line, part, raw=part.bare) for part in text
        )

    def _plain(self, line: int, text: HurlText) -> str:
        """Text without variables."""
        for part in text:
            if isinstance(part, Placeholder):
                self._refuse(line, f"{{{{{part.expression}}}}} in this place")
        return "".join(part for part in text if isinstance(part, str))

    def _pairs(self, items: Iterable[HurlItem], encoded: Callable[[str], str]) -> Iterator[str]:
        for item in items:
            key, value = (encoded(self._filled(item.line, text)) for text in (item.key, item.value))
            yield f"{key}={value}"

    def _form(self, items: Iterable[HurlItem]) -> dict[str, str]:
        form: dict[str, str] = {}
        for item in items:
            key = self._filled(item.line, item.key)
            if key in form:
                self._refuse(item.line, f"a field of a form for the second time ({key})")
            form[key] = self._filled(item.line, item.value)
        return form

    def _login(self, item: HurlItem) -> str:
        pair = ":".join(self._plain(item.line, text) for text in (item.key, item.value))
        return basic_login(pair)

    def _options(self, items: Iterable[HurlItem], headers: list[tuple[str, str]]) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for item in items:
            key, value = _shown(item.key), _shown(item.value)
            if key == "repeat" and value.isdecimal() and 0 < len(value) < 10 and int(value) > 0:
                options["repeat"] = int(value)
            elif key == "compressed" and value == "true":
                headers.append(("Accept-Encoding", CODINGS))
            elif key not in WITHOUT_EFFECT:
                self._refuse(item.line, f"the option {key}: {value}")
        return options

    def _body(self, body: Body, headers: list[tuple[str, str]]) -> dict[str, Any]:
        if body.kind == "file":
            return {"body-file": str(self._folder / self._plain(body.line, body.text))}
        if body.kind not in ("text", *CONTENT_TYPES):
            self._refuse(body.line, f"a body of the kind {body.kind}")
        if body.kind in CONTENT_TYPES and not any(name.lower() == "content-type" for name, _ in headers):
            headers.append(("Content-Type", CONTENT_TYPES[body.kind]))
        return {"body": self._filled(body.line, body.text)}

    def _response(self, response: HurlMessage) -> dict[str, Any]:
        statuses = set(STATUSES) if response.start == "*" else {int(response.start)} & set(STATUSES)
        if not statuses:
            self._refuse(response.line, f"the status {response.start}")
        for item in response.headers:
            self._refuse(item.line, "the check of a header")
        expect: dict[str, Any] = {}
        captures: dict[str, str] = {}
        if response.body is not None:
            if response.body.kind != "text":
                self._refuse(response.body.line, f"a whole body of the kind {response.body.kind}")
            expect["body"] = self._plain(response.body.line, response.body.text)
        for section in response.sections:
            if section.name == "Captures":
                captures |= {self._plain(i.line, i.key): self._source(i.line, i.words) for i in section.items}
            elif section.name == "Asserts":
                for item in section.items:
                    if (passed := _passed(item.words)) is not None:
                        statuses &= passed
                    elif (check := _body_check(item.words)) is None:
                        self._refuse(item.line, f"the check {_written(item.words)}")
                    elif check.keys() & expect.keys() or len((check | expect).keys() - {"lacks"}) > 1:
                        self._refuse(item.line, "a second check of the body")
                    else:
                        expect |= check
            else:
                self._refuse(section.line, f"[{section.name}] of a response")
        if not statuses:
            self._refuse(response.line, "a response whose status can be none")
        self._captured |= captures.keys()
        return {"expect": {"status": sorted(statuses), **expect}, "capture": captures}

    def _source(self, line: int, words: tuple[Word, ...]) -> str:
        """The source of a capture in a plan's form."""
        if words and words[-1] == Word("word", ("redact",)):
            words = words[:-1]  # what is captured is never recorded
        match [_word(word) for word in words]:
            case ["status" | "body" as whole]:
                return whole
            case ["header", str(name)]:
                return f"header:{name}"
            case ["cookie", str(name)] if "[" not in name or name.endswith("[Value]"):
                return f"cookie:{name.removesuffix('[Value]')}"
            case ["regex", str(pattern)] | ["body", "regex", str(pattern)]:
                return f"regex:{pattern}"
            case ["jsonpath", str(path)] if (pointer := json_pointer(path)) is not None:
                return f"json:{pointer}"
        self._refuse(line, f"the capture {_written(words)}")
        return "body"


def _grouped(headers: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """The headers by name; one that is given more than once is sent more than once."""
    grouped: dict[str, list[str]] = {}
    for name, value in headers:
        grouped.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in grouped.items()}


def _word(word: Word) -> str | None:
    """The text of a word; None if it has variables."""
    if any(isinstance(part, Placeholder) for part in word.text):
        return None
    return "".join(part for part in word.text if isinstance(part, str))


def _shown(text: HurlText) -> str:
    """Text as the file writes it."""
    return "".join(part if isinstance(part, str) else f"{{{{{part.expression}}}}}" for part in text)


def _written(words: Iterable[Word]) -> str:
    parts = []
    for word in words:
        text = _shown(word.text)
        parts.append({"text": f'"{text}"', "regex": f"/{text}/"}.get(word.kind, text))
    return " ".join(parts) or "of nothing"


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda status, limit: status == limit,
    "!=": lambda status, limit: status != limit,
    "<": lambda status, limit: status < limit,
    "<=": lambda status, limit: status <= limit,
    ">": lambda status, limit: status > limit,
    ">=": lambda status, limit: status >= limit,
}
_OLD_NAMES = {
    "equals": "==", "notEquals": "!=", "lessThan": "<", "lessThanOrEquals": "<=", "greaterThan": ">",
    "greaterThanOrEquals": ">=",
}  # fmt: skip


def _passed(words: tuple[Word, ...]) -> set[int] | None:
    """The statuses that pass a check of the status; None for any other check."""
    match [_word(word) for word in words]:
        case ["status", str(name), str(number)] if number.isdecimal() and len(number) < 10:
            compare = _COMPARISONS.get(_OLD_NAMES.get(name, name))
            return None if compare is None else {s for s in STATUSES if compare(s, int(number))}
    return None


def _body_check(words: tuple[Word, ...]) -> dict[str, Any] | None:
    """The keys of `expect` for a check of the body; None if no key can express it."""
    match [_word(word) for word in words]:
        case ["body", "==" | "equals", str(text)] if words[-1].kind == "text":
            return {"body": text}
        case ["body", "contains", str(text)] if words[-1].kind == "text":
            return {"contains": text}
        case ["body", "not", "contains", str(text)] if words[-1].kind == "text" and text:
            return {"lacks": text}
        case ["jsonpath", str(path), "==" | "equals", str(text)]:
            pointer, value = json_pointer(path), _value(words[-1].kind, text)
            if pointer is not None and value is not None:
                return {"json": {"pointer": pointer, "value": value}}
    return None


def _value(kind: str, text: str) -> str | int | float | bool | None:
    """The value of a check; None if it is not a text, a finite number or a truth value."""
    if kind == "text":
        return text
    try:
        value = json.loads(text) if kind == "word" else None
    except ValueError:
        return None
    finite = not isinstance(value, float) or abs(value) != float("inf")
    return value if isinstance(value, str | int | float) and finite and value == value else None


_STEP = re.compile(r"""\.([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]""")


def json_pointer(path: str) -> str | None:
    """The JSON pointer (RFC 6901) for a JSONPath (RFC 9535) of names and indices only; None for any other."""
    if not path.startswith("$"):
        return None
    at, pointer = 1, ""
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return None
        name = next(group for group in found.groups() if group is not None)
        pointer += "/" + name.replace("~", "~0").replace("/", "~1")
        at = found.end()
    return pointer
