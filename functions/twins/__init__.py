"""In-memory twins of the ports: they behave as AWS and Kubernetes do, count effects, and can be told to fail.

Each passes the same contract tests as its adapter (tests/unit/functions/ports).
"""
