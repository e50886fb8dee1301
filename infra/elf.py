"""Whether a folder of wheels holds code for the processor that Lambda will run it on.

Reads nothing but the first bytes of each shared object: a name such as `…aarch64-linux-gnu.so` proves nothing.
"""

import struct
import sys
from pathlib import Path

# ELF header, System V ABI: magic, then e_machine as two bytes at offset 18; EI_DATA (offset 5) tells their order.
MAGIC = b"\x7fELF"
_HEADER_BYTES = 20
_LITTLE_ENDIAN = 1
AARCH64 = 183  # EM_AARCH64
MACHINES = {3: "x86", 40: "arm", 62: "x86-64", AARCH64: "aarch64"}


def machine(header: bytes) -> int | None:
    """Return e_machine of the ELF file that starts with *header*, None when it is no ELF file."""
    if len(header) < _HEADER_BYTES or not header.startswith(MAGIC):
        return None
    order = "<" if header[5] == _LITTLE_ENDIAN else ">"
    return int(struct.unpack_from(f"{order}H", header, 18)[0])


def strangers(folder: Path) -> list[str]:
    """Return a line for each shared object below *folder* that is built for another processor than arm64."""
    found = []
    for path in sorted(folder.rglob("*.so*")):
        with path.open("rb") as file:
            built_for = machine(file.read(_HEADER_BYTES))
        if built_for != AARCH64:
            found.append(f"{path.relative_to(folder)}: {MACHINES.get(built_for or 0, built_for)}")
    return found


def main() -> int:
    """Check the folder named on the command line; exit 1 and say which files are wrong."""
    folder = Path(sys.argv[1])
    wrong = strangers(folder)
    if wrong or not any(folder.rglob("*.so")):
        sys.stderr.write(f"{folder} is no layer for arm64: {'; '.join(wrong) or 'no shared object in it'}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
