"""Executor of the rungs that change the cluster: isolate, suspend_job, verify_node, release_node, resume_job."""
