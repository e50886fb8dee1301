#!/usr/bin/env python3
"""Stands for journalctl in tests: prints the entries of a file (JOURNAL_FILE) as journalctl -f -o json prints them.

An entry is one line of the file, JSON with MESSAGE and whatever else; its cursor is its number from 1. The file
JOURNAL_FILE.first, if there, holds the first number that is left (the rest was vacuumed). Like the real one it ends
when nobody listens any more.
"""

import json
import os
import select
import sys
import time
from pathlib import Path


def main() -> None:
    path = Path(os.environ["JOURNAL_FILE"])
    asked = next((word.partition("=")[2] for word in sys.argv if word.startswith("--cursor=")), "")
    if asked and not asked.startswith("n="):
        sys.exit("Failed to seek to cursor: Invalid argument")
    number = 0
    with path.open(encoding="utf-8") as file:
        while True:
            line = file.readline()
            if not line.endswith("\n"):
                if select.select([], [], [sys.stdout], 0)[2] or os.getppid() == 1:
                    return
                sys.stdout.flush()
                time.sleep(0.005)
                file.seek(file.tell() - len(line.encode()))
                continue
            number += 1
            first = path.with_name(path.name + ".first")
            if number < int(asked[2:] or 1 if asked else 1) or (first.exists() and number < int(first.read_text())):
                continue
            if line.startswith("!"):
                sys.exit(int(line[1:]))
            print(json.dumps({**defaults(number), **json.loads(line)}))


def defaults(number: int) -> dict[str, object]:
    return {
        "__CURSOR": f"n={number}",
        "__REALTIME_TIMESTAMP": str(time.time_ns() // 1000),
        "_SYSTEMD_UNIT": "containerd.service",
        "SYSLOG_IDENTIFIER": "containerd",
    }


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(1)
