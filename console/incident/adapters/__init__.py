"""The ports of `console/incident/ports.py` on AWS."""
