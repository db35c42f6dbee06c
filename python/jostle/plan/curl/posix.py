"""Pasted text as bash and zsh read it: words, quotes, continuation lines, redirections of standard input."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jostle.errors import PlanError
from jostle.plan.curl.command import ShellCommand, check_characters, file_bytes, nothing_to_read, value_of

__all__ = ["posix_commands"]

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_SEPARATOR = re.compile(r"\n|;|&&|\|\||\|&?|&(?!>)")
_REDIRECTION = re.compile(r"(?:\d*|&)(<<<|<<-?|>>|>\||>&|<&|<>|<|>)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_ENDS_A_WORD = " \t\r\n;|&<>"
_IN_A_QUERY = re.compile(r"&[^\s&>]")
"""An ampersand that a shell would take for its own, and whoever pasted a URL without quotes would not."""
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI_C = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)


def posix_commands(text: str, environment: Mapping[str, str]) -> list[ShellCommand]:
    """The commands of a shell text. `environment`: values of the variables in it.

    Pipes and what reads them are told apart by their first words; output goes nowhere. Raises `PlanError` for
    what only a shell can do.
    """
    return _Shell(text, environment).commands()


@dataclass
class _Shell:
    text: str
    environment: Mapping[str, str]
    at: int = 0
    here: list[tuple[str, bool, list[bytes]]] = field(default_factory=list)
    """Here-documents that begin on the next line: end mark, whether tabs are stripped, the lines."""

    def commands(self) -> list[ShellCommand]:
        found: list[ShellCommand] = []
        words: list[str] = []
        stdin: Callable[[], bytes] = nothing_to_read
        while self.at < len(self.text):
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            elif self.text[self.at] == "#":
                self.at = self._line_end()
            elif separator := _SEPARATOR.match(self.text, self.at):
                self.at = separator.end()
                if separator[0] == "\n":
                    self._read_here_documents()
                if words:
                    found.append(ShellCommand(words, stdin))
                words, stdin = [], nothing_to_read
            elif redirection := _REDIRECTION.match(self.text, self.at):
                self.at = redirection.end()
                stdin = self._redirected(redirection[1]) or stdin
            else:
                words.append(self._word())
        self._read_here_documents()
        return [*found, ShellCommand(words, stdin)] if words else found

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def _redirected(self, sign: str) -> Callable[[], bytes] | None:
        """What standard input is then; None if the redirection is one of output."""
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        quoted = self.text[self.at : self.at + 1] in ("'", '"')
        word = self._word()
        if sign == "<":
            return lambda: file_bytes(Path(word))
        if sign == "<<<":
            return lambda: word.encode() + b"\n"
        if sign.startswith("<<"):
            body: list[bytes] = []
            self.here.append((word, sign == "<<-", body))
            if not quoted:
                return lambda: self._expanded(b"".join(body).decode()).encode()
            return lambda: b"".join(body)
        return None

    def _read_here_documents(self) -> None:
        for mark, tabs, body in self.here:
            while self.at < len(self.text):
                end = self._line_end()
                line, self.at = self.text[self.at : end], end + 1
                line = line.lstrip("\t") if tabs else line
                if line == mark:
                    break
                body.append(f"{line}\n".encode())
        self.here.clear()

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in _ENDS_A_WORD and not (parts and _IN_A_QUERY.match(self.text, self.at)):
                break
            if character == "'":
                parts.append(self._until("'"))
            elif self.text.startswith("$'", self.at):
                self.at += 1
                parts.append(self._ansi_c())
            elif character == '"' or self.text.startswith('$"', self.at):
                self.at += character == "$"
                parts.append(self._double_quoted())
            elif character == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                parts.append("" if following == "\n" else following)
                self.at += 2
            elif character in "$`":
                parts.append(self._substituted())
            else:
                parts.append(character)
                self.at += 1
        return "".join(parts)

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            raise _not_closed(self.text[self.at :])
        text, self.at = self.text[self.at + 1 : end], end + 1
        return text

    def _ansi_c(self) -> str:
        closed = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self.text, self.at)
        if closed is None:
            raise _not_closed(self.text[self.at :])
        self.at = closed.end()
        return _ANSI_C.sub(_ansi_c_character, closed[1])

    def _double_quoted(self) -> str:
        begin = self.at
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character == "\\" and self.text[self.at + 1 : self.at + 2] in tuple('$`"\\\n'):
                parts.append(self.text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif character in "$`":
                parts.append(self._substituted())
            else:
                parts.append(character)
                self.at += 1
        raise _not_closed(self.text[begin:])

    def _substituted(self) -> str:
        """The value of the variable that begins here; a dollar before anything else is itself."""
        if found := _VARIABLE.match(self.text, self.at):
            self.at = found.end()
            return self._value(found)
        if self.text[self.at] == "`" or self.text.startswith(("$(", "${"), self.at):
            raise PlanError(
                f"{_begin(self.text[self.at :])} is for a shell to work out",
                "write its value; or give the command behind --, as words that the shell has read",
            )
        self.at += 1
        return "$"

    def _value(self, found: re.Match[str]) -> str:
        value = value_of(found[1] or found[2], self.environment)
        check_characters(value)
        return value

    def _expanded(self, text: str) -> str:
        return _VARIABLE.sub(self._value, text)


def _ansi_c_character(found: re.Match[str]) -> str:
    two, four, eight, octal, other = found.groups()
    digits = two or four or eight
    if not digits and not octal:
        return _ESCAPES.get(other, f"\\{other}")
    code = int(digits, 16) if digits else int(octal, 8)
    if code > sys.maxunicode:
        raise PlanError(f"{found[0]} in the curl command is no character", "leave it out")
    return chr(code)


def _not_closed(text: str) -> PlanError:
    return PlanError(f"a quote of the curl command is not closed: {_begin(text)}", "paste the whole command")


def _begin(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 40 else f"{line[:40]}…"
