"""The course's interactive figures. They work in a static page, and in JupyterLab as widgets.

- `AttentionExplorer`: who attends to whom, and the arithmetic behind it
- `SoftmaxPlayground`: what scores and temperature do to the weights
- `Quiz`, `load_quiz`: questions with feedback for every answer
- `LiveTranslator`: the trained translator at work, and where each word looked
- `TransformerMicroscope`: a sentence through the whole trained model, number by number
"""

from attn.widgets.attention_explorer import AttentionExplorer
from attn.widgets.live_translator import LiveTranslator
from attn.widgets.quiz import Quiz, load_quiz
from attn.widgets.softmax_playground import SoftmaxPlayground
from attn.widgets.transformer_microscope import TransformerMicroscope

__all__ = [
    "AttentionExplorer",
    "LiveTranslator",
    "Quiz",
    "SoftmaxPlayground",
    "TransformerMicroscope",
    "load_quiz",
]
