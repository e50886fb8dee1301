"""What the functions run: our code (exactly `functions/` and `policies/`) and the layer of what it imports.

Decides what is uploaded. No Docker: the layer is made by `make layer`. It must not import the code it copies.
"""

from pathlib import Path

from aws_cdk import IgnoreMode
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import elf
from infra.node import ROOT
from infra.settings import DeploymentError

RUNTIME = lambda_.Runtime.PYTHON_3_14
ARCHITECTURE = lambda_.Architecture.ARM_64
LAYER = ROOT / "build" / "layer"
# Everything is left out, then two folders are taken back in (gitignore's rules), without what a run leaves in them.
_OURS = ("functions", "policies")
EXCLUDE = [
    "*",
    *[pattern for folder in _OURS for pattern in (f"!/{folder}/", f"!/{folder}/**")],
    "__pycache__/",
    "*.pyc",
]


def code() -> lambda_.Code:
    """Return our code; its hash depends on names and contents alone."""
    return lambda_.Code.from_asset(str(ROOT), exclude=EXCLUDE, ignore_mode=IgnoreMode.GIT)


def layer(scope: Construct, folder: Path = LAYER) -> lambda_.LayerVersion:
    """Return the layer in *folder*; DeploymentError when it was not made or is made for another processor."""
    if not (folder / "python").is_dir():
        raise DeploymentError(f"There is no layer in {folder}. Run `make layer`, or synthesise with -c layer=none.")
    wrong = elf.strangers(folder)
    if wrong:
        raise DeploymentError(f"The layer is not for arm64: {'; '.join(wrong)}. Run `make layer` again.")
    return lambda_.LayerVersion(
        scope,
        "Layer",
        code=lambda_.Code.from_asset(str(folder), exclude=[".ok", "__pycache__", "*.pyc"]),
        compatible_runtimes=[RUNTIME],
        compatible_architectures=[ARCHITECTURE],
        description="What Relight's functions import besides boto3: requirements/layer.txt",
    )
