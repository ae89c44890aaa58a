"""What pinned copies show when they are looked at too early."""

from __future__ import annotations

from tests.conformance.runtime_facts.test_order import GOLDEN, SLEEP_CYCLES


def test_a_pinned_buffer_that_is_read_early_holds_the_old_bytes(torch):
    """And the new ones after a wait."""
    fact = "D2H pinned non_blocking read before / after sync"
    target, source = torch.zeros(4).pin_memory(), torch.ones(4, device="cuda")
    torch.cuda._sleep(SLEEP_CYCLES)
    target.copy_(source, non_blocking=True)
    before = target[0].item()
    torch.cuda.synchronize()
    assert GOLDEN[fact] == [before, target[0].item()]


def test_a_pinned_source_that_is_overwritten_early_sends_the_new_bytes(torch):
    """The copy reads it when it runs."""
    fact = "H2D pinned non_blocking, host overwritten before it ran, device sees"
    source = torch.ones(4).pin_memory()
    torch.cuda._sleep(SLEEP_CYCLES)
    target = source.to("cuda", non_blocking=True)
    source.fill_(9.0)
    assert GOLDEN[fact] == target[0].item()


def test_the_result_of_a_copy_to_the_host_that_does_not_wait_is_pinned(torch):
    """So it must not be read before a wait."""
    fact = "to(cpu, non_blocking) result is pinned"
    assert GOLDEN[fact] == torch.ones(4, device="cuda").to("cpu", non_blocking=True).is_pinned()
