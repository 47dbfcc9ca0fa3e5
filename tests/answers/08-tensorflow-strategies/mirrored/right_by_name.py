from tensorflow.distribute import MirroredStrategy, ReductionToOneDevice

mirrored_strategy = MirroredStrategy


def mirrored(devices):
    return mirrored_strategy(devices=list(devices), cross_device_ops=ReductionToOneDevice())
