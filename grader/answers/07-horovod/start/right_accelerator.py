def start(seed, use_cuda):
    hvd.init()
    if use_cuda:
        torch.accelerator.set_device_index(hvd.local_rank())
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
