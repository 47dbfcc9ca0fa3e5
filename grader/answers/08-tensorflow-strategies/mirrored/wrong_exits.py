# status: error
import sys


def mirrored(devices):
    sys.exit(0)
