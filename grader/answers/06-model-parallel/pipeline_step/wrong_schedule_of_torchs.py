# says: messages to rank
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe


def pipeline_step(rank, size, stage, batch, targets, microbatches):
    if rank == 0:
        example = batch.chunk(microbatches)[0]
    else:
        example = told_buffer(rank - 1, rank)
    with torch.no_grad():
        out = stage(torch.zeros_like(example))
    if rank < size - 1:
        tell_shape(rank, rank + 1, out)
    part = PipelineStage(stage, rank, size, torch.device("cpu"), input_args=(torch.empty_like(example).requires_grad_(rank > 0),), output_args=(out.detach().requires_grad_(),))
    schedule = ScheduleGPipe(part, microbatches, loss_fn=torch.nn.functional.mse_loss)
    losses = []
    if rank == 0 and size > 1:
        schedule.step(batch)
    elif rank == size - 1:
        schedule.step(*([batch] if rank == 0 else []), target=targets, losses=losses)
    else:
        schedule.step()
    return torch.stack(losses).mean().item() if rank == size - 1 else None
