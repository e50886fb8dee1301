"""What the kernel, drivers and Fabric Manager print beside Xids, one line or record for each rule."""

# ruff: noqa: E501 - a line of a log is not wrapped

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.training import parse_training_line
from policies.contract.vocabulary import ComponentType, Severity


@pytest.mark.parametrize(
    ("record", "kind", "attributes"),
    [
        ("NVRM: The NVIDIA GPU 0000:24:00.0\nNVRM: (PCI ID: 10de:2330) installed in this system has\nNVRM: fallen off the bus and is not responding to commands.", "gpu.lost", {"occurrence": "bus:0000:24:00"}),
        ("NVRM: GPU 0000:69:00.0: RmInitAdapter failed! (0x22:0x56:894)", "gpu.init_failed", {}),
        ("NVRM: API mismatch: the client has the version 535.54.03, but#012NVRM: this kernel module has the version 530.30.02.  Please", "gpu.driver_mismatch", {"client_version": "535.54.03", "module_version": "530.30.02"}),
        ("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing", "gpu.peermem_failed", {}),
        ("GPU reset executed: GPU-12ab, success: true", "gpu.reset", {}),
        ("nvidia-nvswitch3: SXid (PCI:0000:84:00.0): 12028, Non-fatal, Link 30 x", "nvswitch.sxid", {"sxid": 12028, "fatal": False, "link": 30}),
        ("nvidia-nvswitch0: SXid (PCI:0004:32:00.0): 26006, SOE HALT data[0] = 0x0", "nvswitch.sxid", {"sxid": 26006}),
        ("[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:B3:00.0 physical id 3 port 33", "nvswitch.sxid", {"sxid": 20034, "fatal": True, "link": 33}),
        ("[Sep 17 2024 06:01:46] [ERROR] [tid 12] failed to find the GPU handle 541 in the multicast team request setup 613.", "fabric_manager.error", {}),
        ("Jan 21 11:18:36 host nv-fabricmanager[77]: detected number of NVSwitches don't match with any supported system topology, aborting", "fabric_manager.error", {}),
        ("pcieport 0000:89:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:89:03.0", "pcie.uncorrected", {"fatal": True}),
        ("pcieport 0000:89:03.0: AER: Uncorrectable (Non-Fatal) error message received from 0000:8a:00.0", "pcie.uncorrected", {"fatal": False}),
        ("pcieport 0000:6e:1c.1: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)", "pcie.corrected", {}),
        ("<0>[ 7251638.364690] Kernel panic - not syncing: Fatal Machine check\n[ 1.1] CPU: 3 PID: 2 Comm: x", "host.panic", {"reason": "Fatal Machine check"}),
        ("BUG: unable to handle page fault for address: ffffea0000000008", "host.oops", {}),
        ("general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP", "host.oops", {}),
        ("Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008", "host.oops", {}),
        ("watchdog: BUG: soft lockup - CPU#7 stuck for 27s! [cuda-EvtHandlr:111089]", "host.soft_lockup", {"seconds": 27, "process": "cuda-EvtHandlr", "pid": 111089}),
        ("NMI watchdog: Watchdog detected hard LOCKUP on cpu 3", "host.hard_lockup", {}),
        ("rcu: INFO: rcu_sched self-detected stall on CPU", "host.rcu_stall", {}),
        ("rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 3-... }", "host.rcu_stall", {}),
        ("INFO: task kworker/u66:7:1234 blocked for more than 120 seconds.", "host.hung_task", {"process": "kworker/u66:7", "pid": 1234, "seconds": 120}),
        ("Memory cgroup out of memory: Killed process 3466669 (python) total-vm:32812kB", "container.oom_kill", {"pid": 3466669, "process": "python"}),
        ("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,task=7,pid=36,uid=0", "host.oom_kill", {"pid": 36, "process": "7"}),
        ("Out of memory: Killed process 9 (train) total-vm:1kB", "host.oom_kill", {"pid": 9, "process": "train"}),
        ("EDAC MC1: 262 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)", "host.memory_corrected", {"errors": 262, "device": "CPU_SrcID#0_Ha#0_Chan#1_DIMM#0"}),
        ("EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1)", "host.memory_uncorrected", {"errors": 1, "device": "CPU_SrcID#0_MC#0_Chan#1_DIMM#0"}),
        ("Memory failure: 0x12ab: recovery action for dirty LRU page: Recovered", "host.memory_uncorrected", {}),
        ("mce: [Hardware Error]: Machine check events logged", "host.machine_check", {}),
        ("VFS: file-max limit 1000000 reached", "host.resource_exhausted", {"resource": "file-max"}),
        ("pt_main_thread[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+d3d3000] likely on CPU 3", "process.segfault", {"process": "pt_main_thread", "pid": 2536443, "library": "libnccl.so.2"}),
        ("traps: python3[12] general protection fault ip:7f sp:7f error:0 in libc.so.6", "process.segfault", {"process": "python3", "pid": 12, "library": "libc.so.6"}),
        ("EXT4-fs (md0): Remounting filesystem read-only", "storage.read_only", {"device": "md0"}),
        ("md/raid10:md2: Disk failure on nvme2n1p1 detected, failing array", "storage.device_failed", {"device": "nvme2n1p1"}),
        ("nvme nvme0: Disabling device after reset failure: -5", "storage.device_failed", {"device": "nvme0"}),
        ("block nvme1n1: no available path - failing I/O", "storage.device_failed", {"device": "nvme1n1"}),
        ("nvme nvme4: I/O tag 22 (2016) opcode 0x2 (Admin Cmd) QID 0 timeout, reset controller", "storage.device_timeout", {"device": "nvme4"}),
        ("EXT4-fs (dm-0): I/O error while writing superblock", "storage.filesystem_error", {"device": "dm-0"}),
        ("EXT4-fs error (device nvme1n1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0", "storage.filesystem_error", {"device": "nvme1n1"}),
        ("XFS (nvme0n1): Metadata CRC error detected at xfs_agf_read_verify", "storage.filesystem_error", {"device": "nvme0n1"}),
        ("blk_update_request: I/O error, dev sde, sector 52428288 op 0x0", "storage.io_error", {"device": "sde"}),
        ("Buffer I/O error on dev dm-0, logical block 0, lost sync page write", "storage.io_error", {"device": "dm-0"}),
        ("nfs: server nfs-01.example.com not responding, still trying", "storage.nfs_stalled", {"server": "nfs-01.example.com"}),
        ("nfs: server nfs-01.example.com OK", "storage.nfs_recovered", {"server": "nfs-01.example.com"}),
        ("LustreError: 167-0: fs-MDT0000-mdc-ff: This client was evicted by fs-MDT0000; in progress operations using this service will fail.", "storage.lustre_evicted", {"server": "fs-MDT0000"}),
        ("Lustre: 2449:0:(client.c:2141:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply", "storage.lustre_stalled", {}),
        ("Lustre: fs-OST0001: Connection restored to 10.0.0.1@tcp (at 10.0.0.1@tcp)", "storage.lustre_recovered", {"server": "10.0.0.1@tcp"}),
        ("mlx5_core 0000:3d:00.0: mlx5_pcie_event:299:(pid 9): Detected insufficient power on the PCIe slot (27W).", "network.power_insufficient", {"watts": 27}),
        ("mlx5_core 0000:d9:00.0: Port module event[error]: module 0, Cable error, High Temperature", "network.module_fault", {"module": 0, "reason": "Cable error, High Temperature"}),
        ("mlx5_core 0000:80:00.1: Port module event: module 1, Cable unplugged", "network.module_fault", {}),
        ("mlx5_core 0000:1a:00.0: mlx5_cmd_out_err:838:(pid 2): ACCESS_REG(0x805) op_mod(0x1) failed", "network.register_access_failed", {}),
        ("mlx5_core 0000:4e:00.0: poll_health:825: device's health compromised - reached miss count.", "network.device_failed", {}),
        ("mlx5_core 0000:c4:00.0 ens15np0: NETDEV WATCHDOG: CPU: 94: transmit queue 3 timed out 5032 ms", "network.device_stalled", {}),
        ("infiniband rdmap85s0: Failed to process command ALLOC_PD (opcode 14) comp_status 1 err -12", "network.efa_errors", {"device": "rdmap85s0"}),
        ("mlx5_core 0000:c4:00.0 ens15np0: Link down", "network.link_down", {"device": "ens15np0"}),
        ("mlx5_core 0000:c4:00.0 ens15np0: Link up", "network.link_up", {"device": "ens15np0"}),
    ],
)  # fmt: skip
def test_a_record_of_each_rule(record: str, kind: str, attributes: Mapping[str, object]) -> None:
    (sighting,) = parse_sightings(parse_record(record))
    assert (sighting.kind.value, dict(sighting.attributes)) == (kind, attributes)


@pytest.mark.parametrize(
    "record",
    [
        "oom_reaper: reaped process 345646 (vector), now anon-rss:0kB, file-rss:0kB, shmem-rss:0",
        "mce: Using 22 MCE banks",
        "{1}[Hardware Error]: fru_text: Card01, ChnA, DIMM0",
        "nfs: server 10.254.7.182 starting",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "nvme nvme0: pci function 0000:81:00.0",
        "mlx5_core 0000:80:00.1: Port module event: module 1, Cable plugged",
        "mlx5_cmd_out_err:838:(pid 1441871): OTHER_CMD(0x123) failed",
        "NMI backtrace for cpu 1 skipped: idling at default_idle+0x1e/0x130",
        "Lustre: 2449:0:(client.c:2141:ptlrpc_expire_one_request()) Skipped 24 previous similar messages",
        "[Jan 15 2025 09:12:34] [ERROR] [tid 5678] Some other error message not related to NVSwitch.",
        "CPU: 1 PID: 1853 Comm: docker Tainted: G         C    3.16.0-4-amd64 #1",
        "Jan 21 11:18:36 host sshd[9]: Out of memory: Killed process 1 (made up)",
        "GPU reset executed: GPU-123, success: false",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_fault(record: str) -> None:
    assert parse_sightings(parse_record(record)) == []


def test_a_port_names_the_device_behind_it_where_it_can() -> None:
    (sighting,) = parse_sightings(
        parse_record("pcieport 0000:75:03.1: AER: Correctable error message received from 0000:76:00.0")
    )
    assert sighting.component is not None
    assert (sighting.component.type, sighting.component.pci) == (ComponentType.PCIE, "0000:76:00")


def test_what_was_written_into_the_kernel_s_log_from_outside_is_marked() -> None:
    kernel, injected = (
        parse_sightings(parse_record(f"{prefix},1,2,-;VFS: file-max limit 1000000 reached"))[0] for prefix in (3, 12)
    )
    assert "injected" not in kernel.attributes
    assert injected.attributes["injected"] is True


@pytest.mark.parametrize(
    ("line", "kind", "severity", "attributes"),
    [
        ("[rank0]:[E321 02:07:08.40 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, ", "training.collective_timeout", Severity.ERROR, {"symptom": True, "rank": 0, "operation": "ALLREDUCE", "sequence": 1580}),
        ("worker-0:3468:3905 [4] NCCL WARN NET/IB : Got completion from peer 10.54.126.70<54862> with status=12", "training.network_error", Severity.ERROR, {"peer": "10.54.126.70"}),
        ("misc/socket.cc:46 NCCL WARN socketProgressOpt: Call to send to 10.148.15.160<52905> failed : Connection reset by peer", "training.peer_lost", Severity.ERROR, {"symptom": True, "peer": "10.148.15.160"}),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "training.gpu_error", Severity.ERROR, {}),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.87 GiB", "training.out_of_memory", Severity.ERROR, {}),
        ("Indexing.cu:1231: indexSelectSmallIndex: block: [31,0,0] Assertion `srcIndex < srcSelectDimSize` failed.", "training.user_error", Severity.WARNING, {}),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'run/checkpoint-600/pytorch_model_0/.metadata'", "training.checkpoint_incomplete", Severity.ERROR, {}),
        ("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory", "training.checkpoint_corrupt", Severity.ERROR, {}),
        ("slurmstepd-gpu1: error: *** JOB 3 ON gpu1 CANCELLED AT 2026-11-29T11:25:29 DUE TO NODE FAILURE ***", "training.peer_lost", Severity.ERROR, {"symptom": True}),
        ("WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 812914 closing signal SIGTERM", "training.killed", Severity.WARNING, {}),
    ],
)  # fmt: skip
def test_a_line_of_a_rank_s_log(line: str, kind: str, severity: Severity, attributes: Mapping[str, object]) -> None:
    (sighting,) = parse_training_line(line)
    assert (sighting.kind.value, sighting.severity, dict(sighting.attributes)) == (kind, severity, attributes)


@pytest.mark.parametrize(
    "line",
    [
        "NCCL INFO NET/IB : Using interface ib0",
        "misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]",
        "step 7 loss 2.1",
    ],
)
def test_a_healthy_line_of_a_rank_s_log(line: str) -> None:
    assert parse_training_line(line) == []


WORDS = st.sampled_from(
    ["BUG: ", "soft lockup - CPU#", "oom-kill:constraint=", ",task=", ",pid=", "EDAC MC", " UE ", "on ", "nvme ", "AER: ",
     "segfault at ", "mlx5_core 0000:1a:00.0", "SXid (", "0000:00:00.0): ", "Lustre: ", "nfs: server ", "1", "[", ":", " "]
)  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=5), max_size=50))
def test_no_text_makes_a_table_raise(pieces: list[str]) -> None:
    text = "".join(pieces)
    for sighting in parse_sightings(parse_record(text)) + parse_training_line(text):
        assert sighting.kind
