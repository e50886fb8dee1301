"""The assets of a synthesised app: what stands in `<stack>.assets.json`, and how each gets to its bucket.

Code of functions and layers is not zipped: workers import from the asset's own folder, and the object in S3 only
stands for it. Everything else is uploaded as it is, or as a zip that is the same for the same content.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The earliest time that a zip can hold. Equal content gives equal bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Asset:
    """One file or folder of an assembly, and the object it becomes."""

    source: Path
    packaging: str  # "zip": a folder; "file": as it is
    bucket: str
    key: str


def read_assets(assembly: Path, stack: str, *, account: str, region: str) -> list[Asset]:
    """The assets of a stack, placeholders filled in."""
    manifest: dict[str, Any] = json.loads((assembly / f"{stack}.assets.json").read_text())

    def filled(text: str) -> str:
        return (
            text.replace("${AWS::AccountId}", account)
            .replace("${AWS::Region}", region)
            .replace("${AWS::Partition}", "aws")
        )

    return [
        Asset(
            assembly / entry["source"]["path"],
            entry["source"].get("packaging", "file"),
            filled(target["bucketName"]),
            filled(target["objectKey"]),
        )
        for entry in manifest.get("files", {}).values()
        for target in entry["destinations"].values()
        if "path" in entry["source"]
    ]


def code_keys(template: Mapping[str, Any]) -> set[str]:
    """The S3 keys that a template uses as code of functions and layers."""
    return set(_code_keys(template))


def _code_keys(template: Mapping[str, Any]) -> Iterator[str]:
    places = {"AWS::Lambda::Function": "Code", "AWS::Lambda::LayerVersion": "Content"}
    for resource in template["Resources"].values():
        code = resource.get("Properties", {}).get(places.get(resource["Type"], ""), {})
        if isinstance(code.get("S3Key"), str):
            yield code["S3Key"]


def zipped(folder: Path) -> bytes:
    """A folder as a zip: sorted, with a fixed time, permissions kept."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _ZIP_EPOCH)
            entry.external_attr = (path.stat().st_mode & 0xFFFF) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()


def pointer(folder: Path) -> bytes:
    """A zip that stands for a folder of code: small, and different for different code."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("asset.txt", _ZIP_EPOCH), folder.name)
    return buffer.getvalue()
