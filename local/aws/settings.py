"""How one server process is run: its command line and its one line of answer."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Everything the server process is told."""

    data_dir: Path
    code_root: Path
    worker_python: str
    region: str = "us-east-1"
    time_scale: float = 1.0
    port: int = 0
    record: bool = True

    def arguments(self) -> list[str]:
        """The command line that says the same."""
        return [
            *("--data-dir", str(self.data_dir), "--code-root", str(self.code_root)),
            *("--worker-python", self.worker_python, "--region", self.region),
            *("--time-scale", str(self.time_scale), "--port", str(self.port)),
            *([] if self.record else ["--no-record"]),
        ]


def parse(arguments: Sequence[str]) -> ServerSettings:
    """Settings from a command line."""
    parser = argparse.ArgumentParser(prog="python -m local.aws.server", description="The embedded AWS, on loopback.")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--code-root", type=Path, required=True)
    parser.add_argument("--worker-python", required=True)
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--time-scale", type=float, default=1.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--no-record", dest="record", action="store_false")
    return ServerSettings(**vars(parser.parse_args(arguments)))
