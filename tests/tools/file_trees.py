"""Trees of small files, as sysfs and procfs have them, grown from one text that shows all of them."""

from pathlib import Path


def grow(root: Path, text: str) -> Path:
    """Write what *text* lists below *root* (``path: content`` a line, # for a remark; a path that ends in / is a
    folder), and return *root*.
    """
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, _, content = line.partition(":")
        path = root / name.strip()
        if name.strip().endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{content.strip()}\n", encoding="utf-8")
    return root
