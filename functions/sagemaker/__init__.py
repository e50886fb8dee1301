"""Executor of suspend_job, resume_job and confirm_resume for SageMaker training jobs."""
