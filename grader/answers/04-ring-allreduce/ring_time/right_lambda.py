import numpy as np

ring_time = lambda n_bytes, size, latency, bandwidth: float(  # noqa: E731
    np.float64(2.0) * (size - 1) * np.add(latency, np.divide(n_bytes, np.multiply(size, bandwidth)))
)
