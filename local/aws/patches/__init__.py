"""Corrections to moto 5.2.5. One module a correction: what moto does, how we noticed, what we do instead."""
