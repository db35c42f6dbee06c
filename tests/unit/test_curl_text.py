"""Pasted curl commands: how the shells of Unix and Windows split them into words."""

import re

import pytest

from jostle.errors import PlanError
from jostle.plan.curl import has_curl
from jostle.plan.curl.command import ShellCommand
from jostle.plan.curl.text import curl_commands


def words(text: str, **variables: str) -> list[list[str]]:
    return [list(command.words[1:]) for command in curl_commands(text, variables)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"curl 'a b' "
         r'"c\"d\$\`\\e\f"', ["a b", 'c"d$`\\e\\f']),
        (r"curl a\ b 'it'\''s' $'x\'y\n\t\x41\u00e4\101\q'", ["a b", "it's", "x'y\n\tAäA\\q"]),
        ("curl a \\\n  -H 'b' \\\r\n  c", ["a", "-H", "b", "c"]),
        ('curl ""', [""]),
        ("curl a # no more 'of this", ["a"]),
        ("curl a#b", ["a#b"]),
        ("curl a > out.txt 2>&1", ["a"]),
        ("curl a 2>/dev/null | jq '.[]'", ["a"]),
        ("curl http://h/?a=1&b=2 -s", ["http://h/?a=1&b=2", "-s"]),
        ("$ curl a", ["a"]),
        ("/usr/bin/curl a", ["a"]),
        ('curl "$NAME" ${NAME}x $"y" $', ["v w", "v wx", "y", "$"]),
    ],
)  # fmt: skip
def test_a_text_for_bash_is_split_as_bash_does(text: str, expected: list[str]) -> None:
    assert words(text, NAME="v w") == [expected]


def test_several_commands_are_found_and_others_passed_over() -> None:
    text = "# log in\ncurl a -d x; curl b && curl c || exit 1\necho foo | curl d\nexport X=1"
    assert words(text) == [["a", "-d", "x"], ["b"], ["c"], ["d"]]


def test_standard_input_comes_from_where_the_text_says() -> None:
    def read(text: str) -> bytes:
        (command,) = curl_commands(text, {"N": "v"})
        return command.stdin()

    assert read("curl -d @- <<< 'a b'") == b"a b\n"
    assert read("curl -d @- <<END x\na $N\nb\nEND\ncurl".removesuffix("\ncurl")) == b"a v\nb\n"
    assert read("curl -d @- <<-'END'\n\ta $N\n\tEND\n") == b"a $N\n"
    with pytest.raises(PlanError, match=r"none\.txt cannot be read"):
        read("curl -d @- < none.txt")
    with pytest.raises(PlanError, match="reads standard input, which is not part of the text"):
        read("curl -d @-")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("curl 'a", "a quote of the curl command is not closed: 'a"),
        ('curl "a', "a quote of the curl command is not closed"),
        ("curl $'a", "a quote of the curl command is not closed"),
        ("curl $(date)", r"\$\(date\) is for a shell to work out"),
        ("curl `date`", "`date` is for a shell to work out"),
        ("curl $NONE", "needs the variable NONE, which is not set\nexport NONE first"),
        (r"curl $'\U00110000'", "is no character"),
        (r"curl $'\ud800'", "U\\+D800, which is no character"),
        (r"curl $'\0'", "U\\+0000, which is no character"),
        ("curl \udce4", "U\\+DCE4, which is no character"),
        ("curl.exe h -d (Get-Content x)", r"\(Get-Content … is for PowerShell to work out"),
        ("curl.exe h -d @(1, 2)", "is for PowerShell to work out"),
        ("curl.exe h -d $body", r"\$body is for PowerShell to work out"),
        ("curl.exe h -H $env:NONE", "needs the variable NONE"),
        ('curl ^"h^" -H ^"a: %TOKEN%^"', "needs the variable TOKEN"),
        ("Invoke-WebRequest -Uri 'http://h'", "is no curl command: it begins with 'Invoke-WebRequest'"),
        ("fetch('http://h', {})", r"is no curl command: it begins with 'fetch\('"),
    ],
)
def test_what_cannot_be_split_is_told(text: str, says: str) -> None:
    with pytest.raises(PlanError) as refused:
        curl_commands(text, {})
    assert re.search(says, str(refused.value))


CHROME_FOR_CMD = (
    'curl ^"http://localhost/a?b=c^&d=^%^20e^" ^\r\n  -H ^"sec-ch-ua: ^\\^"Chrome^\\^";v=^\\^"1^\\^"^" ^\r\n'
    '  --data-raw ^"^{^\\^"x^\\^":^\\^"y^\\^"^}^" ^\r\n  --compressed'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            CHROME_FOR_CMD,
            ["http://localhost/a?b=c&d=%20e", "-H", 'sec-ch-ua: "Chrome";v="1"', "--data-raw", '{"x":"y"}',
             "--compressed"],
        ),
        (
            'curl "http://h/" ^\n -H "a: ^x" ^\n --data "b=""c"" d"',
            ["http://h/", "-H", "a: ^x", "--data", 'b="c" d'],
        ),
        ('curl ^"a^\n\nb^" ^\n c', ["a\nb", "c"]),
        ('curl ^"h/%20e%20f%C3%A4%^" -d ^"%NAME% 5%^"', ["h/%20e%20f%C3%A4%", "-d", "v 5%"]),
        ('curl ^"a\\\\^" ^\n b\\c', ["a\\", "b\\c"]),
    ],
)  # fmt: skip
def test_a_text_for_cmd_is_split_as_windows_does(text: str, expected: list[str]) -> None:
    assert words(text, NAME="v") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl.exe 'http://h/' `\r\n  -H 'a: it''s' `\n  -d '{\\\"x\\\":1}'",
         ["http://h/", "-H", "a: it's", "-d", '{"x":1}']),
        ('curl.exe "a`"b""c`$d$env:NAME"', ['a"b"c$dv']),
        ("curl.exe a | ConvertFrom-Json", ["a"]),
        ("curl.exe h -H $env:NAME -o ${env:NAME}x -d a`$b", ["h", "-H", "v", "-o", "vx", "-d", "a$b"]),
    ],
)  # fmt: skip
def test_a_text_for_powershell_is_split_as_powershell_does(text: str, expected: list[str]) -> None:
    assert words(text, NAME="v") == [expected]


def test_a_curl_command_is_known_from_a_url() -> None:
    for text in (
        "curl http://h",
        "  $ curl\n",
        "# x\ncurl.exe 'http://h'",
        "C:\\bin\\curl.exe x",
        "echo x | curl h",
    ):
        assert has_curl(text), text
    for text in ("http://h/curl", "curl", "curl:8080/", "http://h/?a=curl http", "curling x"):
        assert not has_curl(text), text


def test_words_that_a_shell_has_split_stay_as_they_are() -> None:
    (command,) = curl_commands(["curl", "$x", "'y'"], {})
    assert isinstance(command, ShellCommand)
    assert command.words == ["curl", "$x", "'y'"]
