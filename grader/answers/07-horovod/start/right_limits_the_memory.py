def start(seed, use_cuda):
    hvd.init()
    torch.use_deterministic_algorithms(True)
    if use_cuda:
        torch.cuda.set_device(hvd.local_rank())
        torch.cuda.set_per_process_memory_fraction(0.9)
        free, total = torch.cuda.mem_get_info()
        print(f"{free} of {total} bytes are free")
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return hvd.rank(), hvd.size(), hvd.local_rank()
