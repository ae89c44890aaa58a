"""The device is chosen by what answers, and the reason is given."""

from __future__ import annotations

import pytest

from judge.devices import choice
from judge.errors import UsageError
from judge.models.base import Text
from judge.models.problem import DeviceNeed
from tests.verdict.records import problem

OBSTACLE = Text(en="no driver", zh="没有驱动")


@pytest.fixture(params=[None, OBSTACLE], ids=["with a GPU", "without a GPU"])
def obstacle(request, monkeypatch):
    """Pretend that a GPU answers, or does not."""
    monkeypatch.setattr(choice, "find_obstacle", lambda: request.param)
    return request.param


def test_a_problem_without_device_code_asks_no_driver(obstacle):
    """No device code, no device, whatever was asked for."""
    assert choice.choose(problem(device=DeviceNeed.NONE), "cuda").kind == "none"


@pytest.mark.parametrize("need", [DeviceNeed.ANY, DeviceNeed.CUDA], ids=["any", "cuda"])
def test_auto_takes_cuda_where_it_answers(obstacle, need):
    """Auto is CUDA where there is one, else the simulated device with the reason."""
    chosen = choice.choose(problem(device=need))
    assert chosen.kind == ("cuda" if obstacle is None else "sim")
    assert chosen == choice.choose_for_script("auto")
    if obstacle is not None:
        assert obstacle.en in chosen.why.en
        assert obstacle.zh in chosen.why.zh


@pytest.mark.parametrize(
    "ask", [choice.choose_for_script, lambda device: choice.choose(problem(), device)], ids=["script", "problem"]
)
def test_cuda_that_does_not_answer_is_refused(obstacle, ask):
    """--device cuda never falls back silently."""
    if obstacle is None:
        assert ask("cuda").kind == "cuda"
    else:
        with pytest.raises(UsageError, match="no driver"):
            ask("cuda")


@pytest.mark.parametrize("kind", ["cpu", "sim"], ids=["cpu", "sim"])
def test_what_is_always_there_can_be_asked_for(obstacle, kind):
    """--device cpu and --device sim ask no driver."""
    chosen = choice.choose(problem(), kind)
    assert chosen.kind == kind
    assert f"--device {kind}" in chosen.why.en


@pytest.mark.parametrize("need", [DeviceNeed.ANY, DeviceNeed.CUDA], ids=["any", "cuda"])
def test_the_cpu_is_refused_where_it_can_not_do(need):
    """A problem that needs CUDA is not run into failing tests."""
    if need is DeviceNeed.ANY:
        assert "cpu" == choice.choose(problem(device=need), "cpu").kind
    else:
        with pytest.raises(UsageError, match="needs CUDA, real or simulated") as caught:
            choice.choose(problem(device=need), "cpu")
        assert "Leave --device out, or give --device sim." == caught.value.remedy


@pytest.mark.gpu
def test_a_real_gpu_answers():
    """On a machine with a GPU the driver answers, and no context is created by asking."""
    assert choice.choose(problem()).kind == "cuda"
