from pathlib import Path

from agent.check_result import CheckResult
from agent.fabric.checks import checks
from agent.settings import Settings
from tests.tools.trees import lay_out, port, remove_device, write


def results(folder: Path, **more: object) -> dict[str, CheckResult]:
    settings = Settings.model_validate({"cluster": "c", "stream": "s", "sysfs": folder, "imex_ctl": "none", **more})
    return {result.name: result for result in checks(settings)}


def test_it_says_how_many_efa_devices_there_are_and_could_be(tmp_path: Path) -> None:
    lay_out("p5", tmp_path)
    found = results(tmp_path, instance_type="p5.48xlarge")
    assert found["efa"].found == "32 EFA devices of at most 32 on p5.48xlarge"
    assert [(name, one.ok, one.state) for name, one in found.items()] == [
        ("efa", True, "works"),
        ("infiniband", True, "not_here"),
        ("imex", True, "not_here"),
    ]


def test_fewer_devices_or_ports_than_asked_for_fail_with_a_hint(tmp_path: Path) -> None:
    lay_out("p5en", tmp_path / "p5en")
    remove_device(tmp_path / "p5en", "rdmap85s0")
    efa = results(tmp_path / "p5en", efa_devices=16)["efa"]
    assert (efa.state, efa.found) == ("fails", "15 EFA devices, 16 are asked for")
    assert "lspci" in efa.hint
    lay_out("h100-infiniband", tmp_path / "h100")
    found = results(tmp_path / "h100", infiniband_ports_expected=10)["infiniband"]
    assert (found.ok, found.found) == (False, "9 of 11 ports are up, 10 are expected")


def test_a_counter_that_cannot_be_read_fails_with_its_reason(tmp_path: Path) -> None:
    lay_out("p5", tmp_path)
    (port(tmp_path, "rdmap79s0") / "hw_counters/tx_pkts").write_text("what\n")
    assert "no number: 'what'" in results(tmp_path)["efa"].found


def test_exclusive_mode_is_mentioned(tmp_path: Path) -> None:
    lay_out("p5", tmp_path)
    write(tmp_path / "module/ib_core/parameters/netns_mode", "N")
    assert "exclusive" in results(tmp_path)["efa"].found


def test_nothing_here_is_no_failure(tmp_path: Path) -> None:
    assert {one.state for one in results(tmp_path).values()} == {"not_here"}
