"""On PYTHONPATH, it lets programs without distlab import torchvision's CUDA build beside a CPU
build of torch, as `distlab.training.vision` does.
"""

import sys


class _DeclareOperators:
    """Asked where torchvision is, declares the operators that its import looks for."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            if not torch.cuda.is_available():
                self.library = torch.library.Library("torchvision", "DEF")
                for one in ("nms", "qnms"):
                    self.library.define(f"{one}(Tensor dets, Tensor scores, float t) -> Tensor")
                sys.meta_path.append(self)  # kept: a library that is collected takes them along
        return None


sys.meta_path.insert(0, _DeclareOperators())
