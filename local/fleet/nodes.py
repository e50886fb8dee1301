"""The Node object that a machine's kubelet registers, with what the device plugin says of its GPUs."""

from local.fleet.machines import Machine
from local.kubernetes.controllers.scheduler import GPU
from local.kubernetes.objects import Obj
from local.kubernetes.resources import NODES
from local.kubernetes.store import Store

UNVERIFIED = {"key": "relight.dev/unverified", "effect": "NoSchedule"}
GPUS_PER_NODE = 8
# p5.48xlarge, from the EC2 instance type's page.
_CAPACITY = {"cpu": "192", "memory": "2097152Mi", "pods": "100", "ephemeral-storage": "1000Gi"}


def join(store: Store, machine: Machine, *, is_verified: bool) -> None:
    """Register the machine as a node; one that is not verified carries the startup taint.

    A kubelet that comes back finds its Node and leaves it as it is.
    """
    if any(node["metadata"]["name"] == machine.name for node in store.select(NODES)[0]):
        return
    labels = {
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.instance_type,
        "topology.kubernetes.io/zone": machine.zone,
    }
    spec: Obj = {"providerID": machine.provider_id, **({} if is_verified else {"taints": [dict(UNVERIFIED)]})}
    store.create(NODES, "", {"metadata": {"name": machine.name, "labels": labels}, "spec": spec})
    tell_status(store, machine)


def tell_status(store: Store, machine: Machine) -> None:
    """Write what kubelet and device plugin report; the plugin takes a GPU with a critical Xid off the allocatable."""
    capacity = {**_CAPACITY, GPU: str(GPUS_PER_NODE)}
    healthy = GPUS_PER_NODE - len(machine.broken_gpus)
    wanted = {
        "capacity": capacity,
        "allocatable": {**capacity, GPU: str(healthy)},
        "addresses": [
            {"type": "InternalIP", "address": machine.address},
            {"type": "InternalDNS", "address": machine.name},
            {"type": "Hostname", "address": machine.name},
        ],
        "nodeInfo": _node_info(machine),
    }

    def change(node: Obj) -> Obj:
        node["status"] = {**node.get("status", {}), **wanted}
        return node

    store.update(NODES, "", machine.name, change, subresource="status")


def _node_info(machine: Machine) -> Obj:
    return {
        "architecture": "amd64",
        "bootID": machine.boot_id,
        "containerRuntimeVersion": "containerd://1.7.27",
        "kernelVersion": "6.8.0-1021-aws",
        "kubeProxyVersion": "v1.34.0",
        "kubeletVersion": "v1.34.0",
        "machineID": machine.instance_id.removeprefix("i-"),
        "operatingSystem": "linux",
        "osImage": "Ubuntu 22.04.5 LTS",
        "systemUUID": machine.instance_id,
    }
