# hint: other devices
def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy([name.replace('CPU', 'GPU').replace('cpu', 'GPU') for name in devices])
