"""Which topics the prober offers: name -> where its class lies. Loaded in the child alone, when first asked."""

from collections.abc import Mapping

TOPICS: Mapping[str, str] = {
    "gpu": "agent.gpu.nvml.topic:GpuTopic",
    "mounts": "agent.host.mounts.topic:MountTopic",
}
