# hint: GPU by rank
def start(seed, use_cuda):
    hvd.init()
    torch.manual_seed(seed)
    if use_cuda:
        torch.cuda.set_device(hvd.rank())
        torch.cuda.manual_seed(seed)
    torch.set_num_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
