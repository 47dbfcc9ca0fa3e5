"""Hidden cases of lab 10.

Every world size; pieces that are all padding, empty tensors, other dtypes, several MB; gradients
that are all zeros; layers whose gradients come in another order than the parameters stand in.
"""
