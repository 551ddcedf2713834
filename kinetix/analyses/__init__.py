"""Shelf of what is asked of a fitted model: one analysis per file, each a function of plain arrays."""
