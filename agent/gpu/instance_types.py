"""Whose PCIe slots are narrower than the card."""


def has_narrow_slots(instance_type: str) -> bool:
    """Tell whether its GPUs' PCIe links may be narrower than the cards: the G family's are, the P family's are not."""
    return instance_type.startswith("g")
