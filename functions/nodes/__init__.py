"""Executor of the rungs that are done on the node itself, by commands that its agent fetches."""
