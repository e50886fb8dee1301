"""What policies in shadow would have done, beside what was done."""
