"""Examples of questions about images, to train and to evaluate with."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Example(Protocol):
    """An image, a question about it and the right answer."""

    @property
    def image(self) -> NDArray[np.uint8]: ...
    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...


class MarkedExample(Example, Protocol):
    """An example with its kind and the patches that show what it asks about."""

    @property
    def kind(self) -> str: ...
    @property
    def asked(self) -> NDArray[np.bool_]: ...
