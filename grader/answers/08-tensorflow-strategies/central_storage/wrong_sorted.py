# hint: another order
def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy(sorted(devices))
