from torch import optim
from torch.nn.functional import mse_loss


def demo_basic(rank, world_size, inputs, targets):
    torch.manual_seed(1234 + rank)
    device = device_of(rank)
    model = ToyModel().to(device)
    ddp = nn.parallel.DistributedDataParallel(model)
    sgd = optim.SGD(model.parameters(), 0.001)
    sgd.zero_grad()
    loss = mse_loss(ddp(inputs.to(device)), targets.to(device))
    loss.backward()
    before = float(loss)
    sgd.step()
    return dict(parameters=[p.detach().clone() for p in model.parameters()], loss=before)
