"""Hidden cases of `model_flops_utilization`."""

from grader.cases import like, near

HIDDEN = (
    like(101, parameters=540_350_000_000, tokens_per_second=238_300.0, peak_flops=1.6896e18),
    like(102, parameters=124_000_000, tokens_per_second=150_000, peak_flops=125e12),
    like(103, parameters=3, tokens_per_second=0.5, peak_flops=7.0),
    like(104, parameters=1e9, tokens_per_second=100.0, peak_flops=1e11),  # a wrong peak
)

VISIBLE = (near(), near())
