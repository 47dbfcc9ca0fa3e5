"""Hidden cases of lab 01.

Sizes other than the visible ones, each dtype, empty and large tensors, and the same shape twice in
a row: what is returned must not be a buffer that the next call overwrites. No empty tensor where a
right answer may receive from any rank: gloo's recv without a source cannot take an empty message.
"""
