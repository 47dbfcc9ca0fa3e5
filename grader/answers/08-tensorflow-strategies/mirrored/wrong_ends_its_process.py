# status: crashed
import os


def mirrored(devices):
    os._exit(0)
