def parameter_server_time(n_bytes, size, latency, bandwidth):
    one_way = latency + sum([n_bytes]) * (size - 1) / bandwidth
    return one_way + one_way
