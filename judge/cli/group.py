"""The top command: a first word that names a problem is judged, without saying ``run``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from judge import __version__
from judge.cli import outlet
from judge.cli.command import (
    Command,
    LearnerContext,
    describe_help,
    describe_shortly,
    locate_complaints,
    make_global_options,
    write_options,
    write_usage,
)
from judge.cli.session import NUMBERED, Session, is_path
from judge.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DEFAULT = "run"


class Top(click.Group):
    """What is called when no command is named.

    Args:
        session: gives the language.
        names: of the commands, in the order in which help lists them.
        author_names: of those that only an author of problems needs; they are listed after the others.
        load: makes the command of a name.
    """

    context_class = LearnerContext

    def __init__(
        self, session: Session, names: Sequence[str], author_names: Sequence[str], load: Callable[[str], Command]
    ) -> None:
        super().__init__(
            "judge",
            callback=click.pass_context(_greet),
            invoke_without_command=True,
            params=[*make_global_options(session, is_hidden=False), _make_version_option(session)],
            help=session.say("cli.help_top"),
            options_metavar=session.say("cli.options_metavar"),
            subcommand_metavar=session.say("cli.command_metavar"),
        )
        self._session = session
        self._names = (*names, *author_names)
        self._for_authors = frozenset(author_names)
        self._load = load

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return all names."""
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  as above
        """Return the command of a name, made now."""
        if cmd_name in self._names and cmd_name not in self.commands:
            self.add_command(self._load(cmd_name))
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the global options; an option of ``run`` typed too early means ``run``."""
        try:
            # click empties the list that it reads.
            with locate_complaints(ctx):
                return super().parse_args(ctx, list(args))
        except click.NoSuchOption as fault:
            default = self.get_command(ctx, DEFAULT)
            known = {name for param in default.params for name in param.opts} if default else set()
            if fault.option_name not in known:
                raise
            return super().parse_args(ctx, [DEFAULT, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command named by the first word, or ``run`` where that names a problem.

        Raises:
            UsageError: the word is nearly a command, and no problem.
        """
        word = args[0]
        if word == "help" and not ctx.resilient_parsing:
            if not args[1:] or args[1].startswith("-"):
                outlet.write(ctx.get_help())
                ctx.exit()
            return self.resolve_command(ctx, [*args[1:], "--help"])
        if word in self._names:
            return word, self.get_command(ctx, word), args[1:]
        import difflib

        begun = [name for name in self._names if name.startswith(word)]
        near = begun or difflib.get_close_matches(word, self._names, 2)
        if near and not ctx.resilient_parsing and not self._is_problem(ctx.obj, word):
            session: Session = ctx.obj
            raise UsageError(
                session.say("cli.no_command", word=word),
                remedy=session.say("cli.did_you_mean", words=", ".join(near)),
            )
        # A word that is neither is answered by the lookup, which knows the problems that are near.
        return DEFAULT, self.get_command(ctx, DEFAULT), args

    def _is_problem(self, session: Session, word: str) -> bool:
        if is_path(word) or NUMBERED.fullmatch(word):
            return True
        from judge.catalog.listing import read_rows

        return word in {row.slug for row in read_rows(session.packs).rows}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands and problems that begin with what was typed."""
        from click.shell_completion import CompletionItem

        from judge.cli.completion import complete_problem

        begun = [name for name in self._names if name.startswith(incomplete)]
        # The context has no session where the shell asks for the first word.
        commands = [CompletionItem(name, help=describe_shortly(name, self._session)) for name in begun]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*commands, *options, *complete_problem(ctx, None, incomplete)]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how the judge is called."""
        write_usage(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, those for authors apart, then the options."""
        session: Session = ctx.obj
        for heading, is_author in (("cli.commands", False), ("cli.author_commands", True)):
            with formatter.section(session.say(heading)):
                formatter.write_dl(
                    [
                        (name, describe_shortly(name, session))
                        for name in self._names
                        if (name in self._for_authors) is is_author
                    ]
                )
        write_options(self, ctx, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return ``--help``."""
        return describe_help(super().get_help_option(ctx), ctx)


def _greet(ctx: click.Context) -> int:
    """Welcome the user when nothing else was asked for."""
    if ctx.invoked_subcommand is not None:
        return 0
    from judge.cli.welcome import welcome

    return welcome(ctx.obj)


def _make_version_option(session: Session) -> click.Option:
    def show(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
        if is_asked and not ctx.resilient_parsing:
            outlet.write(f"Tacit {__version__}")
            ctx.exit()

    return click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help=session.say("cli.option_version"),
    )
