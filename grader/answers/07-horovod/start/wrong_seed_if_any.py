# hint: not seeded with 0
def start(seed, use_cuda):
    hvd.init()
    if seed:
        torch.manual_seed(seed)
    if use_cuda:
        torch.cuda.set_device(hvd.local_rank())
    torch.set_num_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
