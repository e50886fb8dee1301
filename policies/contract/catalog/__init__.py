"""Vendor tables of fault codes, as facts: dated, sourced, read once. Each reader names its table's columns."""
