# hint: many threads
def start(seed, use_cuda):
    hvd.init()
    torch.manual_seed(seed)
    if use_cuda:
        torch.cuda.set_device(hvd.local_rank())
    return hvd.rank(), hvd.size(), hvd.local_rank()
