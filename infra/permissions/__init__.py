"""What each function may do, written by hand: `grants.py` has the forms, the others the functions."""
