"""What the executor is told by its environment: what all executors are told."""

from functions.acts.executor import ExecutorSettings as Settings

__all__ = ["Settings"]
