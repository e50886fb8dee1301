"""The ports of `console/dlq/ports.py` on AWS."""
