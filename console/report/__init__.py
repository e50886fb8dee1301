"""`relight policy report`: what policies in shadow would have done."""
