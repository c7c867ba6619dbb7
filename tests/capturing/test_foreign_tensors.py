"""Tensors of other frameworks as arrays of NumPy."""

import numpy as np
import pytest

from pe_spectra.capturing.foreign_tensors import is_tensor, make_positions, make_zeros, name_type, take_array
from pe_spectra.errors import InputError
from tests.capturing.fakes import Tensor


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "int64", "uint8"])
@pytest.mark.parametrize("wrap", [Tensor, lambda values, dtype: Tensor(values, dtype).values])
def test_numbers_of_every_type_are_taken_with_its_name(wrap, dtype):
    taken = take_array(wrap([[1.0, 3.0]], dtype))
    assert taken.dtype == dtype
    assert taken.values.dtype.name in ("float64", "complex128", "int64")
    assert taken.squeezed.tolist() == [1, 3]


def test_what_holds_no_numbers():
    assert take_array(Tensor([True], "bool")) is None
    assert take_array(np.array(["a"])) is None
    assert not is_tensor(np.ndarray)
    assert not is_tensor("text")


def test_a_tensor_on_the_meta_device_is_refused():
    meta = Tensor(np.ones((4, 2)))
    meta.is_meta = True
    with pytest.raises(InputError, match=r"meta device has no numbers \(shape \(4, 2\)\); a loaded model"):
        take_array(meta)


def test_new_tensors_are_like_the_module_s_own():
    own = Tensor(np.ones(2), "complex64")
    assert name_type(make_zeros(own, (1, 3))) == "float32"
    assert make_positions(own, np.arange(2), (3, 1, 2)).values.tolist() == [[[0, 1]]] * 3
    assert make_positions(np.ones(1), np.arange(2), (3, 1, 2)).tolist() == [[[0, 1]]] * 3
    assert make_zeros(np.ones(1, dtype=np.float16), (2,)).dtype == np.float16
