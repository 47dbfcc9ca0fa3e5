# hint: another collective
# says: DistributedDataParallel calls others
from torch.nn.parallel import DistributedDataParallel


def overlapped_ddp(model, bucket_bytes):
    wrapped = DistributedDataParallel(model, bucket_cap_mb=bucket_bytes / 2**20)

    def finish():
        return wrapped

    return finish
