"""The second look: what the hardware could have produced, and that every byte is put back."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from judge.devices.sim.races import undo as undo_module
from judge.devices.sim.races.geometry import Access
from judge.devices.sim.races.report import Race
from judge.devices.sim.races.second_look import SecondLook
from judge.devices.sim.races.undo import Undo
from judge.devices.sim.races.values import show_element
from judge.devices.sim.races.vectors import HOST, merge
from tests.devices.sim.races.timeline import COMPUTE, COPY, MAIN, Timeline, span

X, Y = 0, 64


class Device:
    """A little memory of float32, whose operations run at once and are looked at a second time."""

    def __init__(self) -> None:
        self.bytes = bytearray(256)
        self.timeline = Timeline()
        self.look = SecondLook(self.view, self.timeline.vectors[HOST])

    def view(self, address: int, size: int) -> memoryview:
        """Return bytes to read and to write."""
        return memoryview(self.bytes)[address : address + size]

    def get(self, address: int, count: int = 1) -> list[float]:
        """Return elements."""
        return list(struct.unpack_from(f"<{count}f", self.bytes, address))

    def put(self, address: int, *values: float) -> None:
        """Write elements."""
        struct.pack_into(f"<{len(values)}f", self.bytes, address, *values)

    def run(
        self, actor: int, reads: list[Access], writes: list[Access], effect: Callable[[], None], name: str
    ) -> list[Race]:
        """Run an operation as the machine does."""
        timeline = self.timeline
        self.look.preserve(actor, timeline.vectors[actor], writes)
        effect()
        races = timeline.run(actor, reads, writes, name)
        before = bytes(self.bytes)
        self.look.examine(races, actor, timeline.vectors[actor], reads, writes, effect)
        assert before == bytes(self.bytes)
        return races

    def fill(self, actor: int, address: int, value: float, count: int = 4) -> list[Race]:
        """Fill elements."""
        write = span(address, 4 * count)
        return self.run(actor, [], [write], lambda: self.put(address, *[value] * count), "fill_")

    def double(self, actor: int, source: int, target: int, count: int = 4) -> list[Race]:
        """Write twice the elements of a source."""

        def effect() -> None:
            self.put(target, *[2 * value for value in self.get(source, count)])

        return self.run(actor, [span(source, 4 * count)], [span(target, 4 * count)], effect, "mul")


@pytest.fixture
def device() -> Device:
    """Return a device with empty memory."""
    return Device()


def sentences(races: list[Race]) -> list[str]:
    """Return what looks at races found."""
    return [look.words["en"] for race in races for look in race.looks]


def test_a_reader_could_have_come_before_the_writer(device: Device) -> None:
    """The input as it was before what is not ordered, and the result that follows from it."""
    device.fill(MAIN, X, 1.0)
    device.timeline.wait(COPY, MAIN)
    device.timeline.wait(COMPUTE, MAIN)
    device.fill(COPY, X, 5.0)
    assert [
        "`mul` of line 3 read 5 in element 0; it could have read 1",
        "`mul` of line 3 gave 10 in element 0; it could have given 2",
    ] == sentences(device.double(COMPUTE, X, Y)[-1:])


def test_what_is_ordered_stays(device: Device) -> None:
    """Only work that nothing orders before the reader is undone, even where ordered work came after it."""
    device.fill(COPY, X, 5.0)
    device.fill(MAIN, X + 4, 7.0, count=1)
    device.timeline.wait(COMPUTE, MAIN)
    (race,) = device.double(COMPUTE, X, Y)
    assert [("input", 0, "5", "0"), ("output", 0, "10", "0")] == [
        (look.what, look.element, look.saw, look.could) for look in race.looks
    ]
    undone = device.look._undo.restore(X, X + 16, lambda image: image.actor == COPY)
    assert (0.0, 7.0, 0.0, 0.0) == struct.unpack("<4f", undone)


def test_a_reader_could_have_come_after_the_writer(device: Device) -> None:
    """A later write that nothing orders may run first: the reader then finds the new bytes."""
    device.put(X, 1.0, 2.0, 3.0, 4.0)
    device.double(COPY, X, Y)
    races = device.fill(MAIN, X + 8, 9.0, count=2)
    assert ["`mul` of line 1 read 3 in element 2; it could have read 9"] == sentences(races)


def test_either_of_two_writers_could_have_been_the_last(device: Device) -> None:
    """Memory ends as one of the two left it."""
    device.fill(COPY, X, 1.0)
    assert ["element 0 ended as 2; it could have ended as 1"] == sentences(device.fill(MAIN, X, 2.0))


def test_an_operation_in_place_is_run_again_from_its_own_input(device: Device) -> None:
    """Its target holds the result by now; the look begins from what was there before."""
    device.put(X, 1.0, 1.0, 1.0, 1.0)
    device.fill(COPY, X, 5.0)
    (race,) = device.double(COMPUTE, X, X)
    assert [("input", "5", "1"), ("output", "10", "2")] == [(look.what, look.saw, look.could) for look in race.looks]


def test_equal_values_are_no_finding(device: Device) -> None:
    """Where the bytes would have been the same, a race has no other value to show."""
    device.put(X, 5.0, 5.0, 5.0, 5.0)
    device.fill(COPY, X, 5.0)
    races = device.double(COMPUTE, X, Y)
    assert (1, []) == (len(races), sentences(races))


def test_an_operation_that_fails_on_other_inputs_has_no_other_result(device: Device) -> None:
    """An index that would be out of range, say; the input is shown all the same."""
    device.fill(COPY, X, 5.0)

    def effect() -> None:
        if device.get(X) != [5.0]:
            raise IndexError("out of range")
        device.put(Y, 1.0)

    races = device.run(COMPUTE, [span(X, 4)], [span(Y, 4)], effect, "index")
    assert ["`index` of line 2 read 5 in element 0; it could have read 0"] == sentences(races)


def test_strided_views_are_looked_at_element_by_element(device: Device) -> None:
    """A column is undone without its neighbours, and elements are counted within the view."""
    device.put(X, *range(8))
    column = Access(X + 4, X + 32, ((4, 8),), 4, "float32")

    def effect() -> None:
        for row in range(4):
            device.put(X + 4 + 8 * row, 50.0 + row)

    device.run(COPY, [], [column], effect, "fill_")
    races = device.run(COMPUTE, [column._replace(low=X + 12, strides=((3, 8),))], [], lambda: None, "sum")
    assert ["`sum` of line 2 read 51 in element 0; it could have read 3"] == sentences(races)


@pytest.mark.parametrize(
    ("name", "value"),
    [pytest.param("IMAGE_BYTES", 8, id="one_too_large"), pytest.param("BUDGET_BYTES", 8, id="too_many")],
)
def test_nothing_is_claimed_when_an_image_is_missing(
    name: str, value: int, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images have a budget; a look that would need a dropped one stays silent."""
    monkeypatch.setattr(undo_module, name, value)
    device.fill(COPY, X, 5.0)
    races = device.double(COMPUTE, X, Y)
    assert (1, []) == (len(races), sentences(races))


def test_images_that_the_host_knows_to_be_over_are_dropped(device: Device) -> None:
    """After a synchronisation nothing of the past can be seen in another order."""
    device.fill(COPY, X, 5.0)
    device.timeline.wait(HOST, COPY)
    device.fill(MAIN, Y, 1.0)
    undo = device.look._undo
    assert (1, 16) == (len(undo._images), undo._size_bytes)


def test_no_images_are_taken_while_nobody_watches() -> None:
    """A program with a single stream pays nothing."""
    memory = bytearray(64)
    look = SecondLook(lambda address, size: memoryview(memory)[address : address + size], [0], lambda: False)
    look.preserve(MAIN, [0, 0], [span(0, 16)])
    assert 0 == len(look._undo._images)


def test_restoring_follows_several_writes_back(device: Device) -> None:
    """Of two undone writes the older one's image counts, under whatever still stands."""
    undo = Undo(device.view, [])
    for clock, value in enumerate((1.0, 2.0, 3.0), 1):
        undo.take(COPY, clock, [span(X, 4)])
        device.put(X, value)

    def restore(kept: int) -> float:
        return float(struct.unpack("<f", undo.restore(X, X + 4, lambda image: image.clock > kept))[0])

    assert [3.0, 2.0, 0.0] == [restore(kept) for kept in (3, 2, 0)]


@pytest.mark.parametrize("seed", range(100))
def test_undoing_leaves_what_the_ordered_writes_alone_would(seed: int) -> None:
    """Random writes and waits: undone are exactly those that an actor's next step is not ordered after."""
    choose = random.Random(seed)
    device = Device()
    actors = (MAIN, COPY, COMPUTE)
    writes: list[tuple[int, int, Access, float]] = []
    for value in range(1, 40):
        actor = choose.choice(actors)
        if choose.random() < 0.3:
            device.timeline.wait(choose.choice((*actors, HOST)), actor)
            continue
        low = 4 * choose.randrange(32)
        count, step = choose.randrange(1, 8), choose.choice((4, 4, 8, 12))
        access = Access(low, low + (count - 1) * step + 4, ((count, step),) if step > 4 else None, 4, "float32")
        places = range(low, access.high, step)

        def effect(places: range = places, value: int = value) -> None:
            for place in places:
                device.put(place, float(value))

        device.run(actor, [], [access], effect, "fill_")
        writes.append((actor, device.timeline.vectors[actor][actor], access, float(value)))
        vector = device.timeline.vectors[choose.choice(actors)].copy()
        merge(vector, device.timeline.vectors[HOST])
        expected = bytearray(256)
        for writer, clock, written, number in writes:
            if clock <= vector[writer]:
                for place in range(written.low, written.high, written.strides[0][1] if written.strides else 4):
                    struct.pack_into("<f", expected, place, number)
        found = device.look._undo.restore(0, 256, lambda image, vector=vector: image.clock > vector[image.actor])
        assert expected == found


@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (b"\x00\x00\x80\x3f", "float32", "1"),
        (b"\x80\x3f", "bfloat16", "1"),
        (b"\x00\x3c", "float16", "1"),
        (b"\xff\xff\xff\xff", "int32", "-1"),
        (b"\x01", "bool", "True"),
        (struct.pack("<2f", 1.0, -2.0), "complex64", "1-2j"),
        (b"\x12\x34", "float8_e4m3fn", "0x3412"),
        (b"\x12\x34", "", "0x3412"),
    ],
    ids=["float32", "bfloat16", "float16", "int32", "bool", "complex64", "not_known", "not_given"],
)
def test_elements_are_shown_by_their_type(data: bytes, dtype: str, expected: str) -> None:
    """Numbers as numbers; bytes of a type that is not known in hexadecimal."""
    assert expected == show_element(data, dtype)
