"""What click objects to, said in the learner's language."""

from __future__ import annotations

import click

from judge.cli.session import Session
from judge.errors import UsageError


def translate(fault: click.ClickException, session: Session) -> UsageError:
    """Return click's complaint as a fault of ours, with the help page to read as its remedy."""
    ctx = fault.ctx if isinstance(fault, click.UsageError) else None
    command = ctx.command_path if ctx is not None else session.program
    return UsageError(_describe(fault, session), remedy=session.say("cli.see_help", command=command))


def _describe(fault: click.ClickException, session: Session) -> str:
    match fault:
        case click.NoSuchOption():
            what = session.say("cli.no_option", option=fault.option_name)
            if not fault.possibilities:
                return what
            near = session.say("cli.did_you_mean", words=", ".join(fault.possibilities))
            return f"{what} {near}"
        case click.MissingParameter(param=click.Parameter() as param):
            return session.say("cli.missing", name=_name(param))
        case click.BadParameter(param=click.Parameter() as param):
            return _describe_value(fault, param, session)
        case click.BadOptionUsage():
            option = _find_option(fault)
            is_flag = option is not None and option.is_flag
            return session.say("cli.takes_no_value" if is_flag else "cli.needs_value", option=fault.option_name)
    # Nothing of ours raises another one; click's English is better than silence.
    return fault.format_message()


def _describe_value(fault: click.BadParameter, param: click.Parameter, session: Session) -> str:
    name = _name(param)
    if isinstance(param.type, click.Choice):
        choices = session.say("cli.comma").join(map(str, param.type.choices))
        return session.say("cli.no_choice", name=name, choices=choices)
    if isinstance(param.type, click.IntRange):
        return session.say("cli.no_whole_number", name=name, least=param.type.min, most=param.type.max)
    if param.type is click.INT:
        return session.say("cli.no_integer", name=name)
    return f"{name}: {fault.message}"


def _name(param: click.Parameter) -> str:
    """Return what help calls a parameter, without the brackets that say that it may be left out."""
    return max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name.strip("[].")


def _find_option(fault: click.BadOptionUsage) -> click.Option | None:
    params = fault.ctx.command.params if fault.ctx is not None else []
    options = [param for param in params if isinstance(param, click.Option)]
    return next((option for option in options if fault.option_name in option.opts), None)
