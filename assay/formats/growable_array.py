"""A growable array for files of unknown length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowableArray:
    """An array to which rows can be added, without a second copy at the end. All rows get the width
    of the widest row and are padded with 0."""

    def __init__(self, dtype: type) -> None:
        self._array: NDArray[Any] = np.empty((0, 1), dtype)
        self._n = 0
        self.expected = 0
        """Expected number of rows, or 0 if unknown."""

    def __len__(self) -> int:
        return self._n

    @property
    def width(self) -> int:
        return self._array.shape[1]

    def extend(self, part: NDArray) -> None:
        """Add rows of shape (n) or (n, width)."""
        part = part.reshape(len(part), -1)
        n, width = self._n + len(part), max(self.width, part.shape[1])
        if n > len(self._array) or width > self.width:
            capacity = (
                len(self._array)
                if n <= len(self._array)
                else max(n, self.expected, min(2 * n, n + (1 << 24)), 1 << 10)
            )
            array = np.empty((capacity, width), self._array.dtype)
            array[: self._n, : self.width] = self._array[: self._n]
            array[: self._n, self.width :] = 0
            self._array = array
        self._array[self._n : n, : part.shape[1]] = part
        self._array[self._n : n, part.shape[1] :] = 0
        self._n = n

    def take(self) -> NDArray:
        """Return all rows, shape (n_rows, width), and empty this object."""
        whole, self._array = self._array[: self._n], self._array[:0]
        self._n = 0
        return whole
