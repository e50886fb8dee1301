"""Synthesis for programs: the demo and the tests ask for the template and get last time's when nothing changed.

Decides what the template depends on, and what of it somebody needs who runs the code. Runs `python -m infra.app` as a
process of its own: jsii and Node end with it.
"""

import compileall
import fcntl
import hashlib
import json
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
    with _lock(outdir):
        _make_if_needed(outdir, settings, layer=layer)
    return outdir / f"{read(settings).name}.template.json"


def own_copy(outdir: Path, folder: Path, *, settings: Path = DEFAULT) -> Path:
    """Synthesise into *outdir* and return *folder* with a copy: *outdir* is replaced by whoever synthesises next.

    Of the assets only those that this template names are copied. Their code is compiled, or each process that runs it
    would compile it for itself.
    """
    name = read(settings).name
    with _lock(outdir):
        _make_if_needed(outdir, settings, layer=False)
        shutil.copytree(outdir, folder, ignore=shutil.ignore_patterns("asset.*"), dirs_exist_ok=True)
        files = json.loads((folder / f"{name}.assets.json").read_text(encoding="utf-8"))["files"].values()
        named = {file["source"]["path"] for file in files if file["source"]["packaging"] == "zip"}
        for asset in _compiled(outdir, named):
            shutil.copytree(asset, folder / asset.name, dirs_exist_ok=True)
    return folder


def _compiled(outdir: Path, named: set[str]) -> list[Path]:
    """Return compiled copies of the assets of these names, kept for the next who asks; others are let go."""
    kept = outdir.with_name(f"{outdir.name}.compiled")
    kept.mkdir(exist_ok=True)
    for left in kept.iterdir():
        if left.name not in named:
            shutil.rmtree(left)
    for name in named - {path.name for path in kept.iterdir()}:
        unfinished = kept / f"{name}.part"
        shutil.copytree(outdir / name, unfinished)
        compileall.compile_dir(unfinished, quiet=2)  # what does not compile says so when it is imported
        unfinished.rename(kept / name)
    return [kept / name for name in named]


def _make_if_needed(outdir: Path, settings: Path, *, layer: bool) -> None:
    inputs = fingerprint(settings, layer=layer)
    if not _is_fresh(outdir, inputs):
        _make(outdir, settings, layer=layer)
        (outdir / _STAMP).write_text(inputs, encoding="utf-8")


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
def _lock(outdir: Path) -> Iterator[None]:
    """Wait until no other process synthesises into the same folder; the system lets go when a process dies."""
    outdir.parent.mkdir(parents=True, exist_ok=True)
    with outdir.with_name(f"{outdir.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
