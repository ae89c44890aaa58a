"""Commands that speak the learner's language, and take the global options wherever they are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from judge.cli import outlet
from judge.cli.layout import Page
from judge.cli.session import Session
from judge.errors import UsageError


class LearnerContext(click.Context):
    """Context whose help is a :class:`Page`."""

    formatter_class = Page


class Command(click.Command):
    """A command of the judge.

    Args:
        name: the word to type; ``help_<name>`` of the messages describes it.
        session: gives the language.
        callback: called with the session and the parameters; returns the exit status.
        params: what the command takes beside the global options.
    """

    context_class = LearnerContext

    def __init__(
        self, name: str, session: Session, callback: Callable[..., int], params: Sequence[click.Parameter] = ()
    ) -> None:
        super().__init__(
            name,
            callback=click.pass_obj(callback),
            params=[*params, *make_global_options(session, is_hidden=True)],
            help=session.say(f"cli.help_{name}"),
            short_help=describe_shortly(name, session),
            options_metavar=session.say("cli.options_metavar"),
            # Left-over words are refused in parse_args, in the learner's language.
            context_settings={"allow_extra_args": True},
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a word too many is refused."""
        with locate_complaints(ctx):
            surplus = super().parse_args(ctx, args)
        if surplus and not ctx.resilient_parsing:
            session: Session = ctx.obj
            raise UsageError(
                session.say("cli.surplus_words", words=" ".join(surplus)),
                remedy=session.say("cli.see_help", command=ctx.command_path),
            )
        return surplus

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how the command is called."""
        write_usage(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        write_options(self, ctx, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return ``--help``."""
        return describe_help(super().get_help_option(ctx), ctx)


def describe_shortly(name: str, session: Session) -> str:
    """Return the first line of a command's help, without making the command."""
    return session.say(f"cli.help_{name}").partition("\n")[0]


@contextmanager
def locate_complaints(ctx: click.Context) -> Iterator[None]:
    """Tell click's complaints about options where they arose; its parser leaves some without a context."""
    try:
        yield
    except click.UsageError as fault:
        fault.ctx = fault.ctx or ctx
        raise


def make_global_options(session: Session, *, is_hidden: bool) -> list[click.Option]:
    """Return the options of every command; only the top one shows them."""

    def add_packs(ctx: click.Context, _param: click.Parameter, packs: tuple[Path, ...]) -> None:
        ctx.obj = replace(ctx.obj, packs=(*ctx.obj.packs, *packs))

    shared: dict[str, Any] = {"expose_value": False, "hidden": is_hidden}
    return [
        click.Option(
            ["--problems"],
            type=click.Path(path_type=Path),
            metavar=session.say("cli.folder_metavar"),
            multiple=True,
            callback=add_packs,
            help=session.say("cli.option_problems"),
            **shared,
        ),
        # Was read before the commands were made, so that their texts are in that language already.
        click.Option(["--lang"], type=click.Choice(["en", "zh"]), help=session.say("cli.option_lang"), **shared),
    ]


def write_usage(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the usage line under a heading in the learner's language."""
    session: Session = ctx.obj
    pieces = " ".join(command.collect_usage_pieces(ctx))
    formatter.write_usage(ctx.command_path, pieces, prefix=session.say("cli.usage"))


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the table of options under a heading in the learner's language."""
    session: Session = ctx.obj
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    records = [(option.get_help_record(ctx), option.help or "") for option in options]
    with formatter.section(session.say("cli.options")):
        # click's own second column adds ranges and defaults in its notation.
        formatter.write_dl([(record[0], text) for record, text in records if record is not None])


def describe_help(option: click.Option | None, ctx: click.Context) -> click.Option | None:
    """Return click's own ``--help``, described in the learner's language, and safe from a closed pipe."""
    if option is not None:
        option.help = ctx.obj.say("cli.option_help")
        option.callback = _show_help
    return option


def _show_help(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        outlet.write(ctx.get_help())
        ctx.exit()
