"""The version, in the header of every beat file."""

VERSION = "0.1.0"
