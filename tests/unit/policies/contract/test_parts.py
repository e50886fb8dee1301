import pytest

from policies.contract.parts import gpu_names, is_same_part

UUID = "GPU-1f0c9a7e-5a3b-4a57-9f1d-3c5d3c0b7a11"


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("gpu:0000:4b:00", {"0000:4b:00"}),
        (f"gpu:{UUID}", {UUID}),
        (f"gpu:0000:4b:00:{UUID}:1650:2", {"0000:4b:00", UUID}),
        ("nvlink:0000:4b:00:6", {"0000:4b:00"}),
        ("gpu:2", set()),
        ("nic:0000:4b:00", set()),
    ],
)
def test_a_gpu_is_named_by_its_address_and_its_uuid(key: str, names: set[str]) -> None:
    assert gpu_names(key) == names


@pytest.mark.parametrize(
    ("well", "faulty", "also", "same"),
    [
        ("gpu:0000:4b:00", f"gpu:0000:4b:00:{UUID}:2", (), True),
        (f"gpu:{UUID}", "gpu:0000:4b:00", ("0000:4b:00",), True),
        (f"gpu:{UUID}", "gpu:0000:4b:00", (), False),
        (f"gpu:{UUID}", "nvlink:0000:4b:00:6", ("0000:4b:00",), True),  # a reset trains its links anew
        ("nvlink:0000:4b:00:6", "nvlink:0000:4b:00:7", (), False),
        ("nvlink:0000:4b:00:6", "gpu:0000:4b:00", (), False),
        ("gpu:0000:4b:00", "gpu:0000:5d:00", (), False),
        ("gpu:2", "gpu:2", (), True),
        ("gpu:2", "gpu:3", (), False),
    ],
)
def test_two_keys_mean_one_part(well: str, faulty: str, also: tuple[str, ...], *, same: bool) -> None:
    assert is_same_part(well, faulty, also) is same
