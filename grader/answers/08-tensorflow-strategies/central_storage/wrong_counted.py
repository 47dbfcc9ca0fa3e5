# hint: other devices
def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy([f'CPU:{i}' for i in range(len(devices))])
