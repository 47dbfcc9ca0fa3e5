def central_storage(devices):
    return tf.distribute.experimental.CentralStorageStrategy(
        compute_devices=devices, parameter_device='CPU:0'
    )
