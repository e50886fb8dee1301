"""`relight incident`: what Relight is doing about which node, and closing what a person has seen to."""
