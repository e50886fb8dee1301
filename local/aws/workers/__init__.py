"""Lambda workers: processes forked from one preloaded parent, so that a cold start costs milliseconds."""
