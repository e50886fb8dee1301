"""How many EFA devices an instance can have, for people and for what to expect to appear: no measure of health.

Fewer may be attached on purpose. It must not know what is here.

Sources, as of 2026-11: EC2 user guide, "Network cards" and "EFA configuration for P5 and P5e instances" (one EFA for
each network card that supports it); for the P6 families the devices that aws-ofi-nccl's topology fixtures list.
"""

AT_MOST = {
    "p3dn.24xlarge": 1,
    "p4d.24xlarge": 4,
    "p4de.24xlarge": 4,
    "p5.48xlarge": 32,
    "p5e.48xlarge": 32,
    "p5en.48xlarge": 16,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "p6e-gb200.36xlarge": 16,
}


def at_most(instance_type: str) -> int | None:
    """Return how many *instance_type* can have, None when it is not in the table."""
    return AT_MOST.get(instance_type.removeprefix("ml."))
