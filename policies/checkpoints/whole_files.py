"""Whether one file is whole, told from its size and a few bytes of it.

Decides for zip archives (what torch.save writes), pickles, safetensors and JSON. It must not know the layouts.
"""

import json
import struct
from collections.abc import Generator, Mapping
from typing import Any

from policies.checkpoints.listing import UPLOADING, Entry
from policies.checkpoints.model import Check, Read

_END = b"PK\x05\x06"  # end of central directory: PKWARE APPNOTE.TXT, 4.3.16
_END_BYTES = 22
_NEAR_BYTES = 256  # torch.save writes no comment, so the record is at the very end
_FAR_BYTES = 64 * 1024  # a comment has at most 65,535 bytes
_ZIP, _PICKLE = b"PK\x03\x04", b"\x80"
_HEADER_LIMIT_BYTES = 100_000_000  # safetensors/src/tensor.rs, MAX_HEADER_SIZE
_JSON_LIMIT_BYTES = 16 * 1024 * 1024


def present(files: Mapping[str, Entry], name: str) -> str:
    """Return why *name* is not there with at least one byte; an empty text when it is."""
    if name not in files:
        return f"{name} is still being uploaded" if name + UPLOADING in files else f"{name} is missing"
    return "" if files[name].size else f"{name} is empty"


def whole_archive(files: Mapping[str, Entry], name: str) -> Check:
    """Judge what torch.save wrote: a zip needs its end record, a bare pickle its last opcode."""
    absent = present(files, name)
    if absent:
        return absent
    entry = files[name]
    head = yield Read(entry, 0, 4)
    if head == _ZIP:
        for reach in (_NEAR_BYTES, _FAR_BYTES):
            tail = yield Read(entry, max(0, entry.size - reach), min(reach, entry.size))
            if _ends_whole(tail):
                return ""
        return f"{name} is truncated: the zip's end record is missing"
    return "" if head[:1] == _PICKLE else f"{name} begins with neither a zip's nor a pickle's mark"


def _ends_whole(tail: bytes) -> bool:
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        return False
    (comment,) = struct.unpack_from("<H", tail, at + _END_BYTES - 2)
    return len(tail) - at == _END_BYTES + int(comment)


def whole_safetensors(files: Mapping[str, Entry], name: str) -> Check:
    """Judge a safetensors file: 8 bytes of header length, the header, the data up to its highest offset, no more."""
    absent = present(files, name)
    if absent:
        return absent
    entry = files[name]
    prefix = yield Read(entry, 0, 8)
    length = int.from_bytes(prefix, "little") if len(prefix) == 8 else entry.size  # noqa: PLR2004 - see above
    if not 0 < length <= min(_HEADER_LIMIT_BYTES, entry.size - 8):
        return f"{name} is truncated in its header: it has {entry.size} bytes"
    header = yield Read(entry, 8, length)
    end = _data_end(header)
    if end is None:
        return f"{name} has a header that is no safetensors header"
    needs = 8 + length + end
    return "" if entry.size == needs else f"{name} has {entry.size} bytes, its header needs {needs}"


def read_json(files: Mapping[str, Entry], name: str) -> Generator[Read, bytes, dict[str, Any] | str]:
    """Return the JSON object in *name*, or why there is none."""
    absent = present(files, name)
    if absent:
        return absent
    entry = files[name]
    if entry.size > _JSON_LIMIT_BYTES:
        return f"{name} has {entry.size} bytes, more than the {_JSON_LIMIT_BYTES} that are read"
    parsed = parse_object((yield Read(entry, 0, entry.size)))
    return f"{name} is truncated or no JSON object" if parsed is None else parsed


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """Return the JSON object in *raw*, None when it holds none."""
    try:
        parsed = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _data_end(header: bytes) -> int | None:
    parsed = parse_object(header)
    if parsed is None:
        return None
    ends = [
        tensor["data_offsets"][1] for name, tensor in parsed.items() if name != "__metadata__" and _is_tensor(tensor)
    ]
    if len(ends) != len(parsed.keys() - {"__metadata__"}):
        return None
    return max(ends, default=0)


def _is_tensor(value: object) -> bool:
    offsets = value.get("data_offsets") if isinstance(value, dict) else None
    return isinstance(offsets, list) and len(offsets) == 2 and all(type(offset) is int for offset in offsets)  # noqa: PLR2004 - begin and end


def indexed_safetensors(files: Mapping[str, Entry], index: str) -> Check:
    """Judge sharded weights: every file that the index's weight_map names must be there and whole."""
    parsed = yield from read_json(files, index)
    if isinstance(parsed, str):
        return parsed
    shards = parsed.get("weight_map")
    if not isinstance(shards, dict) or not all(isinstance(name, str) for name in shards.values()):
        return f"{index} has no weight_map"
    folder = index.rpartition("/")[0]
    for name in sorted(set(shards.values())):
        path = f"{folder}/{name}" if folder else name
        reason = yield from (whole_safetensors if name.endswith(".safetensors") else whole_archive)(files, path)
        if reason:
            return reason
    return ""
