"""attn: attention and the Transformer, small enough to read in an evening.

===================  =====================================================
`attn.reference`     the mathematics in NumPy, one function per equation
`attn.masks`         causal and padding masks in PyTorch
`attn.attention`     scaled dot-product attention and ``SelfAttention``
`attn.exercises`     ``check``: is my function right, and if not, why not?
`attn.widgets`       the interactive figures
`attn.plots`         the matplotlib figures
`attn.palette`       the colours that figures, widgets and site share
`attn.language`      Spanish or English: ``attn.set_language("en")``
===================  =====================================================

Read them in that order. In every mask of the package True means *may attend*.
Importing `attn` or `attn.reference` does not import PyTorch.
"""

from attn.language import get_language, set_language

__all__ = ["get_language", "set_language"]
__version__ = "0.1.0"
