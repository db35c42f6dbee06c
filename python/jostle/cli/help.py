"""What all commands share: how `--help` looks (options in groups, names as a user types them, no types of
Python), and that no argument and no path is empty.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from jostle.cli.foreign import WORDS

__all__ = ["PLAIN", "Command", "group"]

OTHER = "Options"
"""The group of options that name none; it comes last."""


class Command(TyperCommand):
    """A command whose options are grouped by `rich_help_panel`, and with no empty argument or path."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty argument or path (from an unset variable of the shell), which may mean "."."""
        ctx.meta[WORDS] = list(args)
        given = self.make_parser(ctx).parse_args(args=list(args))[0]
        for parameter in self.params:
            if not isinstance(parameter, TyperArgument | TyperOption):
                continue
            value = given.get(parameter.name)
            values = value if isinstance(value, list | tuple) else [value]
            is_path = parameter.type_descriptor.annotation in (Path, list[Path])
            if "" in values and (is_path or isinstance(parameter, TyperArgument)):
                raise typer.BadParameter("it is empty", ctx=ctx, param=parameter)
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, _: Any) -> list[str]:
        arguments = [p.metavar or p.name or "" for p in self.params if isinstance(p, TyperArgument)]
        return ["[OPTIONS]", *arguments]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments = [(p.metavar or "", p.help or "") for p in self.params if isinstance(p, TyperArgument)]
        if shown := [row for row in arguments if row[1]]:
            with formatter.section("Arguments"):
                formatter.write_dl(shown)
        for title, rows in self._groups(ctx):
            with formatter.section(title):
                formatter.write_dl(rows)

    def _groups(self, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            if isinstance(option, TyperOption) and (row := option.get_help_record(ctx)) is not None:
                groups.setdefault(option.rich_help_panel or OTHER, []).append(row)
        rest = groups.pop(OTHER, [])
        yield from groups.items()
        yield OTHER, rest


PLAIN: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 80},
}
"""The settings of every `typer.Typer` of jostle: help as written, and plain tracebacks for our own bugs."""


def group(**settings: Any) -> typer.Typer:
    """A `typer.Typer` for several commands, each of which is registered with `cls=Command`."""
    return typer.Typer(**PLAIN, no_args_is_help=True, **settings)
