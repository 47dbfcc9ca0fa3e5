def start(seed, use_cuda):
    hvd.init()
    torch.manual_seed(seed)
    if use_cuda:
        torch.cuda.set_device(hvd.local_rank())
        torch.cuda.manual_seed(seed)
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
