"""`relight node`: asks a node's agent for an operation, and shows what was asked of it."""
