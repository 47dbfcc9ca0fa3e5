import numpy.random as npr
import torch.random as torch_random

python_generator = random.getstate.__self__
numpy_generator = npr.mtrand._rand
torch_generator = torch_random.default_generator


def set_random_seeds(seed):
    python_generator.seed(seed)
    numpy_generator.seed(seed)
    torch_generator.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
