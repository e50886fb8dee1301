"""The control loops of the cluster. Each reads the store, does what is missing, and may be run again at any time."""
