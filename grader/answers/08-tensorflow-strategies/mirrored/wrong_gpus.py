# hint: other devices
def mirrored(devices):
    return tf.distribute.MirroredStrategy([name.replace('CPU', 'GPU').replace('cpu', 'GPU') for name in devices])
