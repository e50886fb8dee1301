"""The simulated fleet: instances that boot, join, train, checkpoint, and break on command.

The agents on it are the real ones, one process each. Kernel logs, checkpoints and Kubernetes objects have the forms
that real ones have.
"""
