# hint: devices beside those given
def mirrored(devices):
    names = [device.name for device in tf.config.list_logical_devices()]
    return tf.distribute.MirroredStrategy(names)
