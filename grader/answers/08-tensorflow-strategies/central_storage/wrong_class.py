# hint: a class
def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy
