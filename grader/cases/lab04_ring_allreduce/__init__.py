"""Hidden cases of lab 04.

Rings of every size, one rank among them, and tensors whose length size does not divide, that are
shorter than size, or empty.
"""
