"""Which shell a pasted text is for, and the curl commands in it."""

import re
from collections.abc import Mapping, Sequence

from jostle.errors import PlanError
from jostle.plan.curl.command import ShellCommand, check_characters, from_terminal
from jostle.plan.curl.known import is_curl
from jostle.plan.curl.posix import posix_commands
from jostle.plan.curl.windows import cmd_commands, is_cmd, is_powershell, powershell_commands

__all__ = ["curl_commands"]

_PROMPT = re.compile(r"\A\s*[$%>] +(?=\S*curl)")
_NOT_CURL = re.compile(r"\A\s*(Invoke-WebRequest|\$session = New-Object|fetch\(|await fetch\(|wget |http )")


def curl_commands(given: str | Sequence[str], environment: Mapping[str, str]) -> list[ShellCommand]:
    """The curl commands of a pasted text, or of the words that a shell has already split.

    `environment`: values of variables that the text uses. Raises `PlanError`.
    """
    found = _commands(given, environment) if isinstance(given, str) else [ShellCommand(given, from_terminal)]
    for word in (word for command in found for word in command.words):
        check_characters(word)
    return found


def _commands(given: str, environment: Mapping[str, str]) -> list[ShellCommand]:
    check_characters(given)
    text = _PROMPT.sub("", given)
    if other := _NOT_CURL.match(text):
        raise PlanError(
            f"the text is no curl command: it begins with {other[1].strip()!r}",
            "in the browser's network list choose Copy as cURL",
        )
    if is_cmd(text):
        commands = cmd_commands(text, environment)
    elif is_powershell(text):
        commands = powershell_commands(text, environment)
    else:
        commands = posix_commands(text, environment)
    found = [command for command in commands if is_curl(command.words[0])]
    if not found:
        first = commands[0].words[0] if commands else ""
        raise PlanError(
            f"the text has no curl command: it begins with {first!r}"
            if first
            else "there is no curl command",
            "in the browser's network list choose Copy as cURL",
        )
    return found
