"""Questions about small images, answered by words that attend to patches.

============  ===================================================================
`patches`     how an image is cut
`model`       ``VisualQuestionModel``: a decoder whose memory is the patches
`answerer`    ``VisualQuestionAnswerer``: fit, answer, look, measure, save, load
============  ===================================================================

The answerer that comes with the course looks at an image of 6 by 6 patches:

>>> import numpy as np
>>> image = np.full((48, 48, 3), 238, dtype=np.uint8)
>>> answerer = VisualQuestionAnswerer.pretrained()
>>> attention = answerer.attention(image, "What colour is the tree?")
>>> attention.tokens
['<sos>', 'what', 'colour', 'is', 'the', 'tree', '?']
"""

from attn.applications.visual_question.answerer import (
    Answer,
    VisualAttention,
    VisualQuestionAnswerer,
)

__all__ = ["Answer", "VisualAttention", "VisualQuestionAnswerer"]
