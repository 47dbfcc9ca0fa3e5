# status: error
import sys


def central_storage(devices):
    sys.exit(0)
