# hint: a scope
def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy(devices).scope()
