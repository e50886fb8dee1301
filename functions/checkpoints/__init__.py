"""Executor of the rungs that look at checkpoints: choose_checkpoint and confirm_resume. It reads and never writes."""
