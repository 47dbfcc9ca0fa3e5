from tensorflow.distribute.experimental import CentralStorageStrategy


def central_storage(devices):
    return CentralStorageStrategy(devices, devices[0])
