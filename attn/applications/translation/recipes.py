"""The settings that train the translators of the course, and the defaults for other translators."""

from dataclasses import dataclass, field, replace
from typing import Any

from attn.training import TrainingConfig

SIZES: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 256,
    "dropout": 0.1,
    "norm": "pre",
    "positions": "rotary",
}
TRAINING = TrainingConfig(steps=2500, learning_rate=5e-3)
# The changes to TRAINING with which `make grammar-model` trains the translator of the grammar.
PRETRAINED = {"n_train": 100_000, "steps": 16_000}


@dataclass(frozen=True)
class Recipe:
    """Arguments of `Translator.fit`."""

    tokenizer: str = "words"
    vocab_size: int | None = None
    joint_vocabulary: bool = False
    sizes: dict[str, Any] = field(default_factory=dict)
    training: TrainingConfig = TRAINING

    def but(
        self,
        tokenizer: str | None,
        vocab_size: int | None,
        sizes: dict[str, Any],
        training: dict[str, Any],
    ) -> "Recipe":
        """Return a recipe with the given values; None leaves a value as it is.

        Examples
        --------
        >>> mine = RECIPES["tatoeba"].but("words", None, {"d_model": 64}, {"steps": None})
        >>> mine.tokenizer, mine.vocab_size, mine.sizes["d_model"], mine.joint_vocabulary
        ('words', None, 64, True)
        """
        if vocab_size is None and tokenizer in (None, self.tokenizer):
            # A size that suits one kind of tokenizer does not suit another.
            vocab_size = self.vocab_size
        return Recipe(
            tokenizer or self.tokenizer,
            vocab_size,
            self.joint_vocabulary,
            self.sizes | _given(sizes),
            replace(self.training, **_given(training)),
        )


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# The keys are names of corpora.
RECIPES = {
    # `python -m experiments recipes` measures the effect of each choice.
    "tatoeba": Recipe(
        tokenizer="bpe",
        vocab_size=3300,
        joint_vocabulary=True,
        sizes={"d_model": 192, "d_ff": 768, "n_layers": 3},
        training=TrainingConfig(
            steps=11_000,
            batch_tokens=1200,
            optimizer="muon",
            learning_rate=2.5e-3,
            warmup_steps=400,
            decayed="matrices",
        ),
    ),
}
# The course offers the pairs of "tatoeba" with other names and numbers, mixed with sentences of its
# grammar. Both translators of real sentences that ship are trained on this mixture.
RECIPES["mixture"] = RECIPES["tatoeba"]
