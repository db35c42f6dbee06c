"""Pasted text as the shells of Windows read it: cmd.exe with carets, and PowerShell with backticks."""

import re
from collections.abc import Mapping

from jostle.errors import PlanError
from jostle.plan.curl.command import ShellCommand, value_of

__all__ = ["cmd_commands", "is_cmd", "is_powershell", "powershell_commands"]


def is_cmd(text: str) -> bool:
    """Whether carets are used as cmd.exe does: before a quote, or at the end of a line."""
    return re.search(r'\^"|\^[ \t]*\r?\n', text) is not None


def is_powershell(text: str) -> bool:
    """Whether it is a line of PowerShell: lines end in a backtick, or the program is written curl.exe."""
    return re.search(r" `[ \t]*\r?\n", text) is not None or re.match(r"\s*curl\.exe\b", text) is not None


_HEX = "[0-9A-Fa-f]{2}"
_VARIABLE = re.compile(rf"%(?!{_HEX}%)(?:(?!{_HEX})([A-Za-z_]\w*)%|([A-Za-z]\w*)%(?!{_HEX}))")
"""`%NAME%`, and not what lies between two characters of a URL that are percent-encoded."""


def cmd_commands(text: str, environment: Mapping[str, str]) -> list[ShellCommand]:
    """The commands of a text for cmd.exe. A caret takes the meaning of the character behind it.

    `environment`: values of `%NAME%`.
    """
    plain: list[str] = []
    commands: list[ShellCommand] = []
    quoted, at = False, 0
    text = _VARIABLE.sub(
        lambda found: value_of(found[1] or found[2], environment), text.replace("\r\n", "\n")
    )
    while at < len(text):
        character = text[at]
        if character == "^" and not quoted:
            line_end = text.startswith("\n", at + 1)
            plain.append(
                text[at + 1 + line_end : at + 2 + line_end]
            )  # after a line's end, the next one is kept
            at += 2 + line_end
            continue
        quoted ^= character == '"'
        if character == "\n" and not quoted:
            commands += _command("".join(plain))
            plain.clear()
        else:
            plain.append(character)
        at += 1
    return commands + _command("".join(plain))


def _command(line: str) -> list[ShellCommand]:
    words = _arguments(line)
    return [ShellCommand(words)] if words else []


_BACKSLASHES = re.compile(r'(\\*)(")')
_RUN = re.compile(r"\\+|.", re.DOTALL)


def _arguments(line: str) -> list[str]:
    """The arguments that a program of Windows gets: 2n backslashes before a quote are n, one more escapes it,
    and two quotes within quotes are one.
    """
    words: list[str] = []
    word: list[str] = []
    begun = quoted = False
    at = 0
    while at < len(line):
        if found := _BACKSLASHES.match(line, at):
            word.append(found[1][: len(found[1]) // 2])
            at = found.end()
            begun = True
            if len(found[1]) % 2:
                word.append('"')
            elif quoted and line.startswith('"', at):
                word.append('"')
                at += 1
            else:
                quoted = not quoted
        elif line[at] in " \t" and not quoted:
            words += ["".join(word)] if begun else []
            word, begun = [], False
            at += 1
        else:
            run = _RUN.match(line, at)
            assert run is not None
            word.append(run[0])
            begun = True
            at = run.end()
    if quoted:
        raise PlanError("a quote of the curl command is not closed", "paste the whole command")
    return [*words, "".join(word)] if begun else words


_POWERSHELL = re.compile(
    r"""(?P<blank>(?:[ \t]|`\n)+)|(?P<end>[\n;|])|'(?P<single>(?:[^']|'')*)'"""
    r"""|"(?P<double>(?:[^"`]|""|`.)*)"|(?P<escaped>`.)|(?P<plain>[^\s'"`;|]+)|(?P<open>['"])""",
    re.DOTALL,
)
_BACKTICKS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_EXPANDED = re.compile(r'`(.)|""|\$(?:env:(\w+)|\{env:(\w+)\}|([A-Za-z_]\w*|[({]))', re.DOTALL)


def powershell_commands(text: str, environment: Mapping[str, str]) -> list[ShellCommand]:
    r"""The commands of a text for PowerShell, where `\"` is the quote that reaches curl.

    `environment`: values of `$env:NAME`.
    """

    def character(found: re.Match[str]) -> str:
        if found[1] is not None:
            return _BACKTICKS.get(found[1], found[1])
        if found[0] == '""':
            return '"'
        name = found[2] or found[3]
        if name is None:
            raise PlanError(f"{found[0]} is for PowerShell to work out", "write its value")
        return value_of(name, environment)

    commands: list[ShellCommand] = []
    words: list[str] = []
    word: list[str] | None = None
    for found in _POWERSHELL.finditer(text.replace("\r\n", "\n") + "\n"):
        kind, value = found.lastgroup, found[found.lastgroup or 0]
        if kind == "open":
            raise PlanError("a quote of the curl command is not closed", "paste the whole command")
        if kind in ("blank", "end"):
            words += ["".join(word).replace('\\"', '"')] if word is not None else []
            word = None
            if kind == "end":
                commands += [ShellCommand(words)] if words else []
                words = []
            continue
        if kind == "plain" and word is None and value.startswith(("(", "@(", "@{")):
            raise PlanError(f"{value} … is for PowerShell to work out", "write its value")
        word = word if word is not None else []
        if kind == "single":
            word.append(value.replace("''", "'"))
        else:
            word.append(_EXPANDED.sub(character, value))
    return commands
