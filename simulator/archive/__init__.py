"""Reads the archive: in order, each line once, in little memory."""
