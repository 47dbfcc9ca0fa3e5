import warnings


def central_storage(devices):
    print('devices', devices)
    warnings.warn('a warning decides nothing', stacklevel=1)
    strategy = tf.distribute.experimental.CentralStorageStrategy(compute_devices=tuple(devices))
    return strategy
