"""The stack with a trail of its own (`policy_trail = "own"`), synthesised once for all tests that look at it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSEMBLY = ROOT / "build" / "cdk.trail.out"
SETTINGS = ROOT / "tests" / "data" / "deployments" / "trail.toml"
