"""Synthesis for programs: the demo and the tests ask for the template and get last time's when nothing changed.

Decides what the template depends on. Runs `python -m infra.app` as a process of its own: jsii and Node end with it.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra import node
from infra.settings import DEFAULT, DeploymentError, read

_STAMP = ".inputs"
# What the template is made of: the app, what it copies, what it is told, and the versions of what makes it.
_FOLDERS = ("infra", "functions", "policies")
_FILES = ("cdk.json", "requirements/dev.txt", "requirements/layer.txt")
_SKIPPED = {"__pycache__", "deployments"}  # of the deployments only the one that is asked for counts
_TIMEOUT_SECONDS = 300
_ASSETS_KEPT_SECONDS = 24 * 3600


def synthesise(outdir: Path, *, settings: Path = DEFAULT, layer: bool = False) -> Path:
    """Return the template in *outdir* (``<name>.template.json``, assets beside it), made anew if anything changed.

    Without *layer* the template names no layer: what the embedded AWS wants, and `make layer` need not have run.
    DeploymentError carries what the app said. Safe to be called by several processes at once.
    """
    name = read(settings).name
    outdir.parent.mkdir(parents=True, exist_ok=True)
    with _lock(outdir.with_name(f"{outdir.name}.lock")):
        inputs = fingerprint(settings, layer=layer)
        if not _is_fresh(outdir, inputs):
            _make(outdir, settings, layer=layer)
            (outdir / _STAMP).write_text(inputs, encoding="utf-8")
    return outdir / f"{name}.template.json"


def fingerprint(settings: Path, *, layer: bool) -> str:
    """Return a hash of everything the template depends on, by name and content."""
    digest = hashlib.sha256(f"layer={layer}\0".encode())
    for path in _inputs(settings):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{_name(path, settings)}\0{content}\0".encode())
    return digest.hexdigest()


def _inputs(settings: Path) -> Iterator[Path]:
    for folder in _FOLDERS:
        found = (node.ROOT / folder).rglob("*")
        yield from sorted(path for path in found if path.is_file() and not _SKIPPED & set(path.parts))
    yield from (node.ROOT / file for file in _FILES)
    yield settings


def _name(path: Path, settings: Path) -> str:
    return "settings" if path == settings else str(path.relative_to(node.ROOT))


def _is_fresh(outdir: Path, inputs: str) -> bool:
    try:
        return (outdir / _STAMP).read_text(encoding="utf-8") == inputs
    except OSError:
        return False


def _make(outdir: Path, settings: Path, *, layer: bool) -> None:
    """Synthesise beside *outdir* and move the result in: a run that breaks off leaves no half template."""
    fresh = outdir.with_name(f"{outdir.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    command = [sys.executable, "-m", "infra.app", "-c", f"settings={settings.resolve()}"]
    run = subprocess.run(
        command if layer else [*command, "-c", "layer=none"],
        cwd=node.ROOT,
        env={**os.environ, **node.environment(), "CDK_OUTDIR": str(fresh.resolve())},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    if run.returncode:
        raise DeploymentError(f"The template could not be made:\n{run.stderr.strip()[-4000:]}")
    _move_in(fresh, outdir)


def _move_in(fresh: Path, outdir: Path) -> None:
    """Replace what *outdir* holds, but leave the assets that another process may run from: their names are hashes."""
    outdir.mkdir(exist_ok=True)
    (outdir / _STAMP).unlink(missing_ok=True)
    made = sorted(fresh.iterdir())
    for path in made:
        target = outdir / path.name
        if not target.is_dir():
            path.rename(target)
    shutil.rmtree(fresh)
    kept = {path.name for path in made}
    for asset in outdir.glob("asset.*"):
        if asset.name not in kept and time.time() - asset.stat().st_mtime > _ASSETS_KEPT_SECONDS:
            shutil.rmtree(asset, ignore_errors=True)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Wait until no other process synthesises into the same folder; the system lets go when a process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
