"""Problem set 1, embeddings and similarity: its tasks, and the mistakes that the grader names."""

from attn.exercises.ps1 import analogy, mended, nearest, negative_sampling, sentence_vectors

SPECS = (nearest, sentence_vectors, analogy, negative_sampling, mended)
