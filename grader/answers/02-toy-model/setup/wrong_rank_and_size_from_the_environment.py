# status: error
# says: The check leaves another program's RANK and WORLD_SIZE in the environment.
def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)
    back_end = "nccl" if torch.cuda.device_count() >= world_size else "gloo"
    dist.init_process_group(back_end)
