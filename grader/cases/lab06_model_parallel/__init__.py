"""Hidden cases of lab 06.

Models whose best cut is no equal division; every world size, other dtypes and shapes; the same
shapes twice in a row; stages without parameters; tensors that no whole-tensor share divides.
"""
