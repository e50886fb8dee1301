"""A small, true Kubernetes API on loopback with the controllers that a training cluster lives by.

It stands for the control plane of an EKS cluster. What it does not represent is refused with a Status that says so.
"""
