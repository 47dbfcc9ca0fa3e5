import os


def start(seed, use_cuda):
    """One GPU pinned before CUDA is touched, as TensorFlow people do it."""
    hvd.init()
    if use_cuda:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(hvd.local_rank())
    torch.set_num_threads(1)
    torch.random.manual_seed(seed)
    print("worker", hvd.rank(), "of", hvd.size())
    return [hvd.rank(), hvd.size(), hvd.local_rank()]
