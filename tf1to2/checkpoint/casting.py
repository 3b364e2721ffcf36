"""Casts arrays: floats may be rounded, any other loss raises an error."""

import warnings

from tf1to2.checkpoint.stored import tensorflow


class Loss(Exception):
    """A dtype cannot hold the values."""


def cast(array, dtype):
    """Casts an array, or raises `Loss` with the first value that would be lost.

    Args:
        array: NumPy array, not of strings unless `dtype` is.
        dtype: name of the dtype.

    Returns:
        (array of the dtype, number of values that were rounded)

    Raises:
        Loss: a fraction, an imaginary part or a digit of an integer would be lost, or
            a value is out of range.
    """
    import numpy as np

    tf = tensorflow()
    wanted = tf.as_dtype(dtype)
    if dtype == "string" or tf.as_dtype(array.dtype) == wanted:
        return array.astype(wanted.as_numpy_dtype), 0
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # lost values are found below
            result = array.astype(wanted.as_numpy_dtype)
            back = result.astype(array.dtype)
        # Cast to unsigned and back, -1 is -1 again, but it was stored as positive.
        same = (back == array) & ((result < 0) == (array < 0))
        same |= (array != array) & (result != result)
        given = tf.as_dtype(array.dtype)
        if given.is_integer and not wanted.is_integer and wanted.name != "bool":
            # The largest integers are rounded to a float that is no longer in range.
            same &= np.abs(result.astype(np.complex128)) < 2.0 ** (8 * given.size)
            same &= (array <= 0) | (result.astype(np.complex128).real <= given.max)
    except (TypeError, ValueError, OverflowError) as error:
        raise Loss(str(error)) from None
    lost = np.atleast_1d(~same)
    if not lost.any():
        return result, 0
    rounds = given.is_floating and (wanted.is_floating or wanted.is_complex)
    rounds |= given.is_complex and wanted.is_complex
    if given.is_complex and wanted.is_floating:
        rounds = not array.imag.any()
    wrong = np.atleast_1d(array)[lost]
    if rounds:
        wrong = wrong[~np.isfinite(np.atleast_1d(result)[lost].astype(np.complex128))]
    if wrong.size:
        raise Loss(f"{wrong[0]} cannot be stored as {wanted.name}")
    return result, int(lost.sum())
