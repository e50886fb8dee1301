"""The server process: puts the parts together, serves, and takes everything down with itself."""

import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from local.aws import backends, model_files
from local.aws.settings import ServerSettings
from local.aws.workers.pool import WorkerPool

# One machine image instead of the 1,300 that moto knows: nobody chooses here, and listing them costs a second.
IMAGES = Path(__file__).with_name("images.json")
_log = logging.getLogger(__name__)


def run(settings: ServerSettings) -> None:
    """Serve until standard input ends or SIGTERM comes. Prints one JSON line when ready."""
    # First of all: the zygote loads its libraries while this process loads moto, and no thread exists yet.
    hidden = ("", str(settings.code_root), str(Path(__file__).resolve().parents[2]))
    pool = WorkerPool(settings.worker_python, hidden)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    os.environ.update(
        MOTO_ACCOUNT_ID=backends.ACCOUNT,
        MOTO_AMIS_PATH=str(IMAGES),
        AWS_DEFAULT_REGION=settings.region,
    )
    model_files.parse_once()
    from local.aws.assembly import Parts, assemble  # noqa: PLC0415 - after the zygote has started

    parts: Parts = assemble(settings, pool)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    for number in (signal.SIGINT, signal.SIGHUP):  # both reach the whole group; our parent decides
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=parts.server.serve_forever, name="http", daemon=True).start()
    threading.Thread(target=_wait_for_parent, args=(stopping,), daemon=True).start()
    sys.stdout.write(json.dumps({"endpoint": parts.endpoint}) + "\n")
    sys.stdout.flush()
    stopping.wait()
    parts.recorder.dump(settings.data_dir / "calls.jsonl")
    pool.close()
    os._exit(0)  # threads that wait for events must not hold the process


def _wait_for_parent(stopping: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stopping.set()
