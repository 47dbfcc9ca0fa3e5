# hint: devices beside those given
def central_storage(devices):
    names = [device.name for device in tf.config.list_logical_devices()]
    return tf.distribute.experimental.CentralStorageStrategy(names)
