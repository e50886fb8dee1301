"""The kernel prints what users name: files, processes, mounts. None of that may accuse a GPU."""

import pytest

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from policies.contract.vocabulary import Kind

XID = "NVRM: Xid (PCI:0000:53:00): 79, pid=1, name=x, GPU has fallen off the bus."
LOST = "NVRM: fallen off the bus and is not responding to commands."
SXID = "nvidia-nvswitch0: SXid (PCI:0000:38:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
REPEATED = (
    "prog[12]: segfault at 0 ip 0000 sp 0000 error 4 in {}[400000+1000]",
    "traps: prog[12] general protection fault ip:0 sp:0 error:0 in a\\x0a{}[400000+1000]",
    "process 'prog' launched '/tmp/a\\x0a{}' with NULL argv: empty string added",
    'audit: type=1400 audit(1.1:1): apparmor="DENIED" name="/tmp/a\\x0a{}" pid=1',
    "EXT4-fs (loop0): mounted filesystem {}",
    "overlayfs: failed to resolve '{}': -2",
)


def _kinds(text: str) -> set[Kind]:
    return {sighting.kind for sighting in parse_sightings(parse_record(f"6,1,5000000,-;{text}"))}


@pytest.mark.parametrize("said", [XID, LOST, SXID])
@pytest.mark.parametrize("repeated", REPEATED)
def test_what_the_driver_says_in_the_name_of_something_else_accuses_no_gpu(said: str, repeated: str) -> None:
    assert _kinds(said), "it is what the driver says"
    assert _kinds(repeated.format(said)) <= {Kind.PROCESS_SEGFAULT}


def test_a_record_of_several_lines_of_the_drivers_is_read_whole() -> None:
    text = f"NVRM: GPU at PCI:0000:53:00: GPU-0\\x0a{XID}"
    assert _kinds(text) == {Kind.GPU_XID}
