"""The course's interactive figures. They work in a static page, and in JupyterLab as widgets.

- `AttentionExplorer`: who attends to whom, and the arithmetic behind it
- `SoftmaxPlayground`: what scores and temperature do to the weights
- `Quiz`, `load_quiz`: questions with feedback for every answer
"""

from attn.widgets.attention_explorer import AttentionExplorer
from attn.widgets.quiz import Quiz, load_quiz
from attn.widgets.softmax_playground import SoftmaxPlayground

__all__ = ["AttentionExplorer", "Quiz", "SoftmaxPlayground", "load_quiz"]
