"""Event source mappings: what the Lambda service does between a stream or a queue and a function."""
