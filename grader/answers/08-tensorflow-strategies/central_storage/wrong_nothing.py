# hint: nothing returned
def central_storage(devices):
    tf.distribute.experimental.CentralStorageStrategy(devices)
