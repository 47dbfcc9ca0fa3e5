import warnings


def mirrored(devices):
    print('devices', devices)
    warnings.warn('a warning decides nothing', stacklevel=1)
    strategy = tf.distribute.MirroredStrategy(devices=tuple(devices))
    return strategy
