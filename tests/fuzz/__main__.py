"""`python -m tests.fuzz [SECONDS]`: coverage-guided fuzzing of the agent's readers, for a bounded time.

Begins with the lines of tests/data. Needs atheris, which is no part of the locks: `.venv/bin/uv pip install
--python .venv/bin/python 'atheris>=3'`. Without it this says so and ends well; the hypothesis tests beside it run in
`make test` in any case. An input that breaks a rule is written to build/fuzz/ and the exit status is not 0.
"""

import hashlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "build" / "fuzz"
SECONDS = 60
MAX_BYTES = 16 * 1024


def seed(folder: Path) -> None:
    """Write each line of the corpus to a file of *folder*."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("kernel_lines.jsonl", "training_lines.jsonl"):
        for line in (ROOT / "tests" / "data" / name).read_text(encoding="utf-8").splitlines():
            raw = json.loads(line)["record"].encode()
            (folder / hashlib.sha256(raw).hexdigest()[:16]).write_bytes(raw)


def main(arguments: Sequence[str]) -> int:
    """Fuzz for as many seconds as *arguments* say."""
    seconds = int(arguments[0]) if arguments else SECONDS
    if importlib.util.find_spec("atheris") is None:
        print("make fuzz: atheris is not installed, nothing was fuzzed (tests/fuzz/__main__.py says how to install it)")
        return 0
    import atheris  # noqa: PLC0415 - it may not be there

    seed(FOUND / "corpus")
    with atheris.instrument_imports(include=["agent", "policies.contract.catalog"]):
        from tests.fuzz.readers import check  # noqa: PLC0415 - instrumented while it is imported
    limits = [f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", f"-artifact_prefix={FOUND}/", "-timeout=10"]
    atheris.Setup([sys.argv[0], *limits, str(FOUND / "corpus")], check)
    atheris.Fuzz()  # ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
