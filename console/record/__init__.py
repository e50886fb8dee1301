"""`relight policy record`: a real incident as an example of a policy."""
