"""A training that can be paused at any step to measure the model."""

from functools import partial

from attn import checks
from attn.applications._sequences import collate, sequence_loss
from attn.training.batches import Batches
from attn.training.processes import join
from attn.training.run import Run


class Training:
    """A translator in training.

    Parameters
    ----------
    translator : attn.applications.translation.Translator
        A translator whose model is untrained.
    pairs : sequence of attn.corpus.Pair
    config : attn.training.TrainingConfig

    Attributes
    ----------
    batches : attn.training.batches.Batches
    run : attn.training.run.Run
    """

    def __init__(self, translator, pairs, config):
        self.translator = translator
        self.batches = Batches(
            translator._examples(pairs),
            collate,
            lambda e: len(e[0]) + len(e[1]),
            config.batch_size,
            config.seed,
            batch_tokens=config.batch_tokens,
        )
        loss = partial(sequence_loss, label_smoothing=config.label_smoothing)
        self.run = Run(translator.model, loss, config, join("cpu"))

    def go_to(self, step):
        """Train up to a step; return the translator, in evaluation mode."""
        self.run.model.train()
        with checks(False):
            while self.run.step < step:
                self.run.update(self.batches)
        self.run.model.eval()
        return self.translator
