"""Where a function's code lies on disk: the asset folder it was synthesised to, or its zip, unpacked once."""

import io
import threading
import zipfile
from pathlib import Path
from typing import Any


class CodeStore:
    """Folders by the S3 object that stands for them, and unpacked zips by their hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._assets: dict[tuple[str, str], Path] = {}

    def register(self, bucket: str, key: str, directory: Path) -> None:
        """From now on, code in this S3 object is imported from `directory`, with no copy in between."""
        if not directory.is_dir():
            raise NotADirectoryError(f"{directory} is no folder of Lambda code: synthesise the app first")
        with self._lock:
            self._assets[bucket, key] = directory

    def directory(self, function: Any) -> Path:
        """The task root of a function."""
        code = function.code
        registered = self._assets.get((code.get("S3Bucket", ""), code.get("S3Key", "")))
        return registered or self._unpacked(function.code_sha_256, function.code_bytes)

    def _unpacked(self, digest: str, content: bytes) -> Path:
        target = self._folder / digest.replace("/", "_").rstrip("=")
        with self._lock:
            if not target.exists():
                partial = target.with_name(target.name + ".part")
                zipfile.ZipFile(io.BytesIO(content)).extractall(partial)
                partial.rename(target)
        return target
