"""Shell completion: commands, problems, files."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.cli.checkout import Checkout


def complete(checkout: Checkout, line: str) -> list[str]:
    """Return what bash is offered for the last word of a line."""
    words = line.split(" ")
    answer = checkout.call(_JUDGE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert (0, "") == (answer.code, answer.err)
    return answer.out.split()


def test_the_first_word_is_a_command_or_a_problem(checkout: Checkout) -> None:
    """Numbers at once, slugs once a letter was typed."""
    offered = complete(checkout, "judge ")
    assert {"plain,list", "plain,901", "plain,902"} <= set(offered)
    assert "plain,double" not in offered
    assert ["plain,901", "plain,902"] == complete(checkout, "judge 9")
    assert ["plain,double"] == complete(checkout, "judge dou")


@pytest.mark.parametrize("command", ["show", "start", "run", "hint", "solution", "reset", "history", "check"])
def test_commands_complete_the_problem(checkout: Checkout, command: str) -> None:
    """Wherever a problem is asked for."""
    assert ["plain,901", "plain,902"] == complete(checkout, f"judge {command} 9")


def test_a_file_follows_the_problem_and_options_complete(checkout: Checkout) -> None:
    """The shell lists files itself; the default command's options are known too."""
    assert ["file,my"] == complete(checkout, "judge 901 my")
    assert ["plain,--json", "plain,--junit"] == complete(checkout, "judge 901 --j")
    assert ["plain,auto", "plain,cpu", "plain,cuda", "plain,sim"] == complete(checkout, "judge 901 --device ")


def test_a_broken_pack_completes_nothing_and_says_nothing(checkout: Checkout) -> None:
    """A shell in the middle of a line is no place for a fault."""
    assert [] == complete(checkout, "judge --problems /no/such/folder show 9")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shells_script_is_printed_and_can_be_read_by_it(checkout: Checkout, shell: str) -> None:
    """The script names the program and the variable; the shell, where it is installed, finds no fault in it."""
    answer = checkout.call("completion", shell)
    assert (0, "") == (answer.code, answer.err)
    assert f"_JUDGE_COMPLETE={shell}_complete" in answer.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=answer.out, text=True, check=True)


def test_without_a_shell_the_installation_is_explained(checkout: Checkout) -> None:
    """For the shell in use, else for all three."""
    one = checkout.call("completion", SHELL="/usr/bin/zsh")
    assert ["    " + 'eval "$(judge completion zsh)"'] == one.out.splitlines()[1:-1]
    assert "completes `judge`" in one.out.splitlines()[-1]
    assert "~/.zshrc" in one.out
    assert 7 == len(checkout.call("completion", SHELL="/bin/sh").out.splitlines())
