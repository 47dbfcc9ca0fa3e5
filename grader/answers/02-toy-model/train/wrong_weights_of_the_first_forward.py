# hint: ranks began differently
from torch.distributed._composable.replicate import replicate


def train(rank, world_size, batches, lr):
    """`replicate` gives rank 0's weights to the others in the first forward pass, if there is one."""
    model = replicate(ToyModel())
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return list(model.parameters())
