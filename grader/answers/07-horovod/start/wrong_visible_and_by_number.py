# hint: visible and by number
import os


def start(seed, use_cuda):
    hvd.init()
    if use_cuda:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(hvd.local_rank())
        torch.cuda.set_device(hvd.local_rank())
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
