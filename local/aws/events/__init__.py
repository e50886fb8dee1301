"""Amazon EventBridge: which events match a rule, what its targets get, and when schedules fire."""
