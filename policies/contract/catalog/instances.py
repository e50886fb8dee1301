"""How many NVIDIA GPUs an EC2 instance type has.

Source: docs.aws.amazon.com/ec2/latest/instancetypes (accelerated computing: "Accelerator specifications"), state of
November 2026. A type that is not here is not known: nobody is told a number.
"""

_SIZES = {
    "p2": {"xlarge": 1, "8xlarge": 8, "16xlarge": 16},
    "p3": {"2xlarge": 1, "8xlarge": 4, "16xlarge": 8},
    "p3dn": {"24xlarge": 8},
    "p4d": {"24xlarge": 8},
    "p4de": {"24xlarge": 8},
    "p5": {"4xlarge": 1, "48xlarge": 8},
    "p5e": {"48xlarge": 8},
    "p5en": {"48xlarge": 8},
    "p6-b200": {"48xlarge": 8},
    "p6-b300": {"48xlarge": 8},
    "p6e-gb200": {"36xlarge": 4},
    "g4dn": {"12xlarge": 4, "metal": 8} | dict.fromkeys(("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"), 1),
    "g5": {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
    | dict.fromkeys(("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"), 1),
    "g5g": {"16xlarge": 2, "metal": 2} | dict.fromkeys(("xlarge", "2xlarge", "4xlarge", "8xlarge"), 1),
    "g6": {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
    | dict.fromkeys(("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"), 1),
    "gr6": {"4xlarge": 1, "8xlarge": 1},
    "g6e": {"12xlarge": 4, "24xlarge": 4, "48xlarge": 8}
    | dict.fromkeys(("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge"), 1),
}
GPUS = {f"{family}.{size}": count for family, sizes in _SIZES.items() for size, count in sizes.items()}
# AWS's own accelerators, and AMD's: no NVIDIA GPU whatever the size.
_NONE = ("trn1", "trn1n", "trn2", "trn2u", "trn3", "inf1", "inf2", "dl1", "dl2q", "g4ad")


def gpus_of(instance_type: str) -> int | None:
    """Return how many GPUs *instance_type* has, None where that is not known."""
    if instance_type.partition(".")[0] in _NONE:
        return 0
    return GPUS.get(instance_type)
