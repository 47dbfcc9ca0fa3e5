CentralStorageStrategy = tf.distribute.experimental.CentralStorageStrategy


def central_storage(devices):
    return CentralStorageStrategy(devices, devices[0])
