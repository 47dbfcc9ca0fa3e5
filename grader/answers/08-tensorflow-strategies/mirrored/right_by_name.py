from tensorflow import distribute as d


def mirrored(devices):
    return d.MirroredStrategy(devices=list(devices), cross_device_ops=d.ReductionToOneDevice())
