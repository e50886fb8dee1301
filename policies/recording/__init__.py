"""A real incident becomes an example of a policy: what was seen, told again without anybody's names."""
