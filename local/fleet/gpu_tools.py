"""The node's own nvidia-smi: a script in a folder that comes first in its agent's PATH, and what it reset.

It says what the real one says where a GPU was reset and where one is asked for its address; the machine learns of a
reset from a file. It must not know who calls it.
"""

from pathlib import Path

from local.fleet.kernel_log import BUSES, pci_of

_SCRIPT = """#!/bin/sh
reset=; gpus=
while [ $# -gt 0 ]; do
    case "$1" in
        --gpu-reset) reset=yes ;;
        -i) gpus=$2; shift ;;
    esac
    shift
done
for gpu in $(echo "${{gpus:-{all}}}" | tr , ' '); do
    if [ -n "$reset" ]; then
        echo "$gpu" >> '{resets}'
        echo "GPU 0000$gpu was successfully reset."
    else
        echo "0000$gpu"
    fi
done
[ -z "$reset" ] || echo "All done."
"""
_ALL = ",".join(f"{pci_of(gpu)}.0" for gpu in range(len(BUSES)))


class GpuTools:
    """The programs of one node."""

    def __init__(self, folder: Path) -> None:
        """Put them into *folder*."""
        self.programs = folder / "bin"
        self._resets = folder / "resets"
        self._seen = 0

    def install(self) -> None:
        """Write the programs."""
        self.programs.mkdir(parents=True, exist_ok=True)
        program = self.programs / "nvidia-smi"
        program.write_text(_SCRIPT.format(all=_ALL, resets=self._resets))
        program.chmod(0o755)

    def new_resets(self) -> list[int]:
        """Return the GPUs that were reset since the last call, by index."""
        lines = self._resets.read_text().splitlines() if self._resets.exists() else []
        new, self._seen = lines[self._seen :], len(lines)
        return [index for line in new for index in range(len(BUSES)) if line == f"{pci_of(index)}.0"]
