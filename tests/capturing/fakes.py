"""Modules and tensors that look like those of PyTorch, in NumPy alone: what `capture` asks of them, and no more."""

import ml_dtypes
import numpy as np

TYPES = {"bfloat16": ml_dtypes.bfloat16}


class Dtype:
    """A type whose name is seen in its text, as that of a framework."""

    def __init__(self, name):
        self._name = name

    def __str__(self):
        return f"fake.{self._name}"


class Tensor:
    """Numbers that NumPy does not see unless they are asked for."""

    device = "cpu"
    is_meta = False

    def __init__(self, values, dtype="float32"):
        self.values = np.asarray(values).astype(TYPES.get(dtype, dtype))

    def __array__(self, *_, **__):
        raise TypeError("call numpy()")

    @property
    def name(self):
        return self.values.dtype.name

    @property
    def dtype(self):
        return Dtype(self.name)

    @property
    def shape(self):
        return self.values.shape

    @property
    def real(self):
        return Tensor(self.values.real, self.values.real.dtype.name)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        if self.name == "bfloat16":
            raise TypeError("got unsupported ScalarType BFloat16")
        return self.values

    def cast(self, dtype):
        return Tensor(self.values, dtype)

    def float(self):
        return self.cast("float32")

    def double(self):
        return self.cast("float64")

    def long(self):
        return self.cast("int64")

    def to(self, device):
        assert device == self.device
        return self

    def new_tensor(self, values):
        return Tensor(values, self.name)

    def new_zeros(self, shape):
        return Tensor(np.zeros(shape), self.name)


class Module:
    """A module: buffers and parameters by name, modules in it, and what it does when it is called."""

    def __init__(self, **buffers):
        self._buffers, self._parameters, self._modules, self.training = dict(buffers), {}, {}, True

    def __getattr__(self, name):
        for held in ("_buffers", "_parameters", "_modules"):
            if name in self.__dict__.get(held, {}):
                return self.__dict__[held][name]
        raise AttributeError(name)

    def __call__(self, *given, **named):
        return self.forward(*given, **named)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, one in self._modules.items():
            yield from one.named_modules(f"{prefix}.{name}".lstrip("."))

    def named_buffers(self, recurse=True):
        assert not recurse
        yield from self._buffers.items()

    def named_parameters(self, recurse=True):
        for path, one in self.named_modules() if recurse else [("", self)]:
            yield from ((f"{path}.{name}".lstrip("."), tensor) for name, tensor in one._parameters.items())

    def eval(self):
        self.training = False
        return self

    def cast(self, dtype):
        for one in [module for _, module in self.named_modules()]:
            for held in (one._buffers, one._parameters):
                held |= {name: tensor.cast(dtype) for name, tensor in held.items() if "float" in tensor.name}
        return self

    def half(self):
        return self.cast("float16")

    def bfloat16(self):
        return self.cast("bfloat16")


class Model(Module):
    """Modules under their names."""

    def __init__(self, **modules):
        super().__init__()
        self._modules = modules


class Embedding(Module):
    """A learned table."""

    def __init__(self, weight):
        super().__init__()
        self._parameters = {"weight": Tensor(weight)}


def make_ladder(pairs=16, base=10000.0):
    return base ** -(np.arange(pairs) / pairs)


def turn(angles, kind=np.float32):
    """Cosines and sines of angles, each pair in both halves."""
    whole = np.concatenate([angles, angles], axis=-1)
    return Tensor(np.cos(whole), np.dtype(kind).name), Tensor(np.sin(whole), np.dtype(kind).name)


class SideBySide(Module):
    """As Cohere's in transformers: each value twice, beside itself."""

    def forward(self, x, position_ids):
        phases = np.repeat(position_ids.values[..., None] * make_ladder(), 2, axis=-1)
        return Tensor(np.cos(phases), x.name), Tensor(np.sin(phases), x.name)


class Once(Module):
    """As GPT-J's: each value once."""

    def forward(self, x, position_ids):
        phases = position_ids.values[..., None] * make_ladder()
        return Tensor(np.cos(phases), x.name), Tensor(np.sin(phases), x.name)


class Rotary(Module):
    """As transformers has it: positions of shape (1, S), phases in float32."""

    def __init__(self, ladder=None, dtype="float32", scale=1.0):
        super().__init__(inv_freq=Tensor(make_ladder() if ladder is None else ladder, dtype))
        self.scale = scale

    def forward(self, x, position_ids):
        phases = position_ids.values[..., None].astype(np.float32) * self.inv_freq.float().values
        cosines, sines = turn(phases)
        return tuple(Tensor(self.scale * one.values, x.name) for one in (cosines, sines))
