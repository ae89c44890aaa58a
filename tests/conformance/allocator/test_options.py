"""The configuration string."""

from __future__ import annotations

from types import ModuleType

import pytest

from judge.devices.sim.allocator import Settings, parse_options

MIB = 1 << 20
REFUSED = [
    ("max_split_size_mb:19", ValueError, "CachingAllocator option max_split_size_mb too small, must be >= 20"),
    ("max_split_size_mb:x", ValueError, "stoull"),
    ("max_split_size_mb:99999999999999999999", IndexError, "stoull"),
    (
        "max_non_split_rounding_mb:19",
        ValueError,
        "CachingAllocator option max_non_split_rounding_mb too small, must be >= 20",
    ),
    (
        "large_segment_size_mb:40,max_split_size_mb:39",
        ValueError,
        "CachingAllocator option max_split_size_mb too small, must be >= 40",
    ),
    ("large_segment_size_mb:10", ValueError, "CachingAllocator option large_segment_size_mb must be > 10 MB"),
    ("garbage_collection_threshold:0", ValueError, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
    ("garbage_collection_threshold:1.0", ValueError, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
    ("garbage_collection_threshold:nan", ValueError, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
    ("garbage_collection_threshold:x", ValueError, "stod"),
    ("roundup_power2_divisions:3", ValueError, "For roundups, the divisions has to be power of 2 "),
    ("roundup_power2_divisions:0", ValueError, "For roundups, the divisions has to be power of 2 "),
    (
        "roundup_power2_divisions:[256:3]",
        ValueError,
        "For roundups, the divisions has to be power of 2 or 0 to disable roundup ",
    ),
    ("roundup_power2_divisions:[300:2]", ValueError, "For roundups, the intervals have to be power of 2 "),
    (
        "expandable_segments:true",
        ValueError,
        "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'true'",
    ),
]
CUT_OFF = ["max_split_size_mb", "max_split_size_mb:", "max_split_size_mb=32", "roundup_power2_divisions:[256:1"]
ACCEPTED = [
    "",
    "max_split_size_mb:32",
    "max_split_size_mb: 32 , garbage_collection_threshold:0.6",
    "max_split_size_mb:32.5",
    "max_split_size_mb:-1",
    "large_segment_size_mb:40,max_non_split_rounding_mb:50,max_split_size_mb:64",
    "roundup_power2_divisions:4",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "roundup_power2_divisions:[]",
    "garbage_collection_threshold:0.5x",
    "expandable_segments:True",
    "pinned_use_background_threads:True",
]
DIVISIONS = [
    ("4", [4] * 16),
    ("[256:1,512:2,1024:4,>:8]", [1] * 9 + [2, 4] + [8] * 5),
    ("[64:8,1024:2]", [8] * 7 + [0] * 3 + [2] + [0] * 5),
    ("[512:2,256:4,>:16]", [2] * 8 + [4] + [16] * 7),
    ("[>:2]", [0] + [2] * 15),
    ("[131072:4,>:2]", [4] * 16),
]


@pytest.mark.parametrize(("text", "kind", "message"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_a_wrong_value_is_refused_in_pytorchs_words(text: str, kind: type[Exception], message: str) -> None:
    """Type and text of the error are PyTorch's."""
    with pytest.raises(kind) as caught:
        parse_options(text)
    assert message == str(caught.value)


@pytest.mark.parametrize("text", CUT_OFF)
def test_text_that_ends_inside_an_option_is_pytorchs_internal_error(text: str) -> None:
    """PyTorch runs out of tokens there, and says so as an internal assertion."""
    with pytest.raises(RuntimeError, match="Index out of bounds in ConfigTokenizer"):
        parse_options(text)


@pytest.mark.parametrize("text", ["max_split:32", "max_split:[32,64],max_split_size_mb:32", "max_split:32,other:1"])
def test_an_unknown_key_is_refused(text: str) -> None:
    """A misspelt option never passes silently; the first one is named, after the others were read."""
    with pytest.raises(ValueError, match=r"^Unrecognized key 'max_split' in CUDA allocator config\.$"):
        parse_options(text)


def test_the_list_of_an_unknown_key_needs_an_end() -> None:
    """PyTorch looks for the closing bracket before it complains about the key."""
    with pytest.raises(RuntimeError, match="Expected closing bracket"):
        parse_options("max_split:[32")


@pytest.mark.parametrize(
    "text",
    ["backend:cudaMallocAsync", "graph_capture_record_stream_reuse:True", "throw_on_cudamalloc_oom:True"],
)
def test_an_option_that_is_not_simulated_says_so(text: str) -> None:
    """What PyTorch has and the simulated device has not is refused, not ignored."""
    with pytest.raises(NotImplementedError, match="the simulated device"):
        parse_options(text)


@pytest.mark.parametrize(("value", "expected"), DIVISIONS, ids=[value for value, _ in DIVISIONS])
def test_divisions_are_given_for_all_or_by_interval(value: str, expected: list[int]) -> None:
    """The first value of a list reaches down, ``>`` up from the last one; gaps between two stay off."""
    assert expected == list(parse_options(f"roundup_power2_divisions:{value}").roundup_divisions)


def test_some_options_fall_back_to_their_defaults_when_they_are_not_named_again() -> None:
    """Split limit, threshold and divisions do, the others stay."""
    first = "max_split_size_mb:64,garbage_collection_threshold:0.5,roundup_power2_divisions:2,expandable_segments:True"
    before = parse_options(f"large_segment_size_mb:40,{first}")
    after = parse_options("max_non_split_rounding_mb:50", before)
    assert (
        Settings(
            text="max_non_split_rounding_mb:50",
            large_segment_bytes=40 * MIB,
            max_non_split_rounding_bytes=50 * MIB,
            is_expandable=True,
        )
        == after
    )


def test_the_middle_segment_size_is_also_the_rounding_limit() -> None:
    """``large_segment_size_mb`` sets ``max_non_split_rounding_mb`` along with it."""
    settings = parse_options("large_segment_size_mb:32")
    assert (32 * MIB, 32 * MIB) == (settings.large_segment_bytes, settings.max_non_split_rounding_bytes)


def test_settings_are_shown_as_in_a_snapshot() -> None:
    """Sizes are bytes, -1 is unlimited, divisions are named by megabytes."""
    shown = parse_options("max_split_size_mb:32,roundup_power2_divisions:[2:4]").as_snapshot()
    assert 32 * MIB == shown["max_split_size"]
    assert -1 == shown["max_cached_size"]
    assert "max_split_size_mb:32,roundup_power2_divisions:[2:4]" == shown["PYTORCH_CUDA_ALLOC_CONF"]
    assert ["1", "2", "32768"] == [key for key in shown["roundup_power2_divisions"] if key in ("1", "2", "32768")]
    assert (4, 4, 0) == tuple(shown["roundup_power2_divisions"][key] for key in ("1", "2", "4"))


@pytest.mark.parametrize("text", [*ACCEPTED, *(text for text, _, _ in REFUSED), *CUT_OFF])
def test_pytorchs_own_parser_agrees(text: str, torch: ModuleType) -> None:
    """What PyTorch takes is taken, and what it refuses is refused with the same type and first words."""
    if text == "max_split_size_mb=32" and torch.torch_version.TorchVersion(torch.__version__) >= (2, 14):
        pytest.skip("torch 2.14 names the key where earlier versions fail inside")
    torch._C._accelerator_setAllocatorSettings("large_segment_size_mb:20")
    theirs = _outcome(torch._C._accelerator_setAllocatorSettings, text)
    torch._C._accelerator_setAllocatorSettings("large_segment_size_mb:20")
    assert theirs == _outcome(parse_options, text)


def _outcome(parse, text: str) -> tuple[type[Exception] | None, str]:
    try:
        parse(text)
    except Exception as error:
        return type(error), str(error).partition(" INTERNAL ASSERT")[0]
    return None, ""
