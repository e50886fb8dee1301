"""Executor of collect_evidence: what dies with the instance is kept under the incident's id."""
