"""Which caption belongs to which image: a loss for two models that share a space."""

import numpy as np

from attn._checks import argument_error, check_shape
from attn.reference._numbers import finite_numbers
from attn.reference._types import ArrayLike, Floats
from attn.reference.similarity import cosine_similarity


def contrastive_loss(images: ArrayLike, texts: ArrayLike, temperature: float = 0.07) -> np.floating:
    """Return the mean surprise at the right partner, in both directions.

    Parameters
    ----------
    images, texts : array_like, shape (batch_size, d_model)
        Row i of one belongs to row i of the other. No row is zero.
    temperature : float, default 0.07
        The divisor of the cosines.

    Returns
    -------
    ndarray, shape ()
        Half the cross-entropy of each image over all texts plus half that of each text over
        all images, in nats.

    Raises
    ------
    ValueError
        If the shapes do not fit, a vector is zero, or `temperature` is not above 0.

    References
    ----------
    Radford et al. (2021), Figure 3; van den Oord et al. (2018), for the loss.

    Examples
    --------
    >>> loss = contrastive_loss([[1, 0], [1, 0]], [[5, 0], [5, 0]])
    >>> f"{loss:.3f} = log 2"
    '0.693 = log 2'
    """
    images, texts = finite_numbers(images=images, texts=texts)
    check_shape("images", images, ("batch_size", "d_model"))
    check_shape("texts", texts, images.shape, like="images")
    if not temperature > 0:
        raise argument_error("temperature", "a number above 0", temperature)
    for name, vectors in {"images": images, "texts": texts}.items():
        if len(vectors) == 0 or not vectors.any(axis=-1).all():
            raise argument_error(name, "at least one vector, none of them zero", "none, or a zero")
    logits = cosine_similarity(images, texts) / temperature
    return (_surprise(logits) + _surprise(logits.T)) / 2


def _surprise(logits: Floats) -> np.floating:
    """Return the mean of -log p of the diagonal, each row being a distribution."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    mean: np.floating = -np.diagonal(log_p).mean()
    return mean
