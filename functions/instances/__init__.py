"""Executor of the rungs that change machines: fence_node and replace_node, through EC2 and Auto Scaling."""
