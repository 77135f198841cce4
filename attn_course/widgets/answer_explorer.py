"""`AnswerExplorer`: the answers of a model to one prompt, and what a reward makes of them."""

import numpy as np
import traitlets

from attn._checks import argument_error, check_choice
from attn_course.widgets._base import (
    Widget,
    check_labels,
    check_list,
    check_real,
    check_whole,
    table,
)
from attn_course.widgets._source import module, stylesheet

TEXT = {
    "es": {
        "caption": "«{prompt}»: probabilidad de cada respuesta antes de premiar, y tras {steps} pasos "
        "de {draws} respuestas con cada premio.",
        "head": ["respuesta", "correcta", "antes", "premio del verificador", "después"],
        "hole": ["premio con agujero", "después"],
        "right": {True: "sí", False: "no"},
        "silence": "(nada)",
        "percent": "{} %",
    },
    "en": {
        "caption": "“{prompt}”: probability of each answer before any reward, and after {steps} steps of "
        "{draws} answers with each reward.",
        "head": ["answer", "right", "before", "reward of the verifier", "after"],
        "hole": ["reward with a hole", "after"],
        "right": {True: "yes", False: "no"},
        "silence": "(nothing)",
        "percent": "{}%",
    },
}
REWARDS = ("verifier", "hole", "hand")
ADVANTAGES = ("reward", "baseline", "group")
DRAWS, RATE, MOST, LEASH, ON_PAPER = 8, 1.0, 200, 2.0, 40


class AnswerExplorer(Widget):
    """Reward the answers of a model, and watch the policy gradient move their probabilities.

    Each step draws eight answers from the policy, a softmax over as many logits as there are
    answers, and moves the logits by REINFORCE. All steps are computed again when a setting
    changes, with the same random numbers.

    Parameters
    ----------
    prompt : str
        What the model is asked.
    answers : list of (str, float, float, float)
        From two to twelve: an answer, which may be empty, its probability before any reward (they are divided by their
        sum), the reward of a perfect verifier and that of one with a hole, from 0 to 1.
    reward : {"verifier", "hole", "hand"}, default "verifier"
    hand : list of int, optional
        The rewards by hand, 0 or 1; at first those of the verifier.
    advantage : {"reward", "baseline", "group"}, default "baseline"
        The reward as it is, less the mean of its group, or divided by the deviation of the group too.
    leash : float, default 0.0
        What the divergence from the first policy costs, from 0 to 2.
    steps : int, default 0
        At most 200.
    seed : int, default 1
        Of the draws, from 1 to 999.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    policy : list of float
        The probability of each answer after the steps. It and the settings follow the reader's hand in
        JupyterLab.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> answers = [("la casa rojo", 0.6, 0, 0), ("la casa roja", 0.4, 1, 1)]
    >>> AnswerExplorer("the red house", answers, steps=40).policy[1] > 0.9
    True
    """

    _stem = "answer_explorer"
    _state = (
        *("prompt", "answers", "probabilities", "verified", "holed"),
        *("reward", "hand", "advantage", "leash", "steps", "seed"),
    )
    _esm = module(_stem)
    _css = stylesheet()

    prompt = traitlets.Unicode().tag(sync=True)
    answers = traitlets.List(traitlets.Unicode()).tag(sync=True)
    probabilities = traitlets.List(traitlets.Float()).tag(sync=True)
    verified = traitlets.List(traitlets.Float()).tag(sync=True)
    holed = traitlets.List(traitlets.Float()).tag(sync=True)
    reward = traitlets.Unicode().tag(sync=True)
    hand = traitlets.List(traitlets.Int()).tag(sync=True)
    advantage = traitlets.Unicode().tag(sync=True)
    leash = traitlets.Float().tag(sync=True)
    steps = traitlets.Int().tag(sync=True)
    seed = traitlets.Int(1).tag(sync=True)
    policy = traitlets.List().tag(sync=True)

    def __init__(
        self,
        prompt,
        answers,
        reward="verifier",
        *,
        hand=None,
        advantage="baseline",
        leash=0.0,
        steps=0,
        seed=1,
        language=None,
    ):
        answers = check_list("answers", answers, "a list of answers")
        if not 2 <= len(answers) <= 12 or any(len(one) != 4 for one in answers):
            raise argument_error(
                "answers", "from 2 to 12, each with a probability and two rewards", repr(answers)
            )
        texts, probabilities, *rewards = zip(*answers, strict=True)
        probabilities = np.array([check_real("answers", p, above=0) for p in probabilities])
        verified, holed = ([_check_reward(x) for x in one] for one in rewards)
        hand = [int(x > 0.5) for x in verified] if hand is None else hand
        super().__init__(
            language,
            prompt=check_labels("prompt", prompt)[0],
            answers=list(texts),
            probabilities=(probabilities / probabilities.sum()).round(6).tolist(),
            verified=verified,
            holed=holed,
            reward=_checked("reward", reward),
            hand=_check_hand(hand, len(texts)),
            advantage=_checked("advantage", advantage),
            leash=_checked("leash", leash),
            steps=_checked("steps", steps),
            seed=_checked("seed", seed),
        )
        self._learn()

    @traitlets.validate("reward", "advantage", "leash", "steps", "seed")
    def _validate(self, proposal):
        return _checked(proposal["trait"].name, proposal["value"])

    @traitlets.validate("hand")
    def _validate_hand(self, proposal):
        return _check_hand(proposal["value"], len(self.answers) or len(proposal["value"]))

    @traitlets.observe("reward", "hand", "advantage", "leash", "steps", "seed")
    def _learn(self, change=None):
        # The answers are not there yet while the constructor sets the traits.
        if self.probabilities and self.holed and self.advantage:
            paid = {"verifier": self.verified, "hole": self.holed}.get(self.reward, self.hand)
            self.policy = self._after(paid, self.steps).tolist()

    def _after(self, paid, steps):
        """Return the policy after some steps with these rewards."""
        random, paid = _generator(self.seed), np.array(paid, dtype=float)
        reference = np.array(self.probabilities)
        logits = np.log(reference)
        for _ in range(steps):
            policy = _softmax(logits)
            drawn = np.array([_drawn(policy, next(random)) for _ in range(DRAWS)])
            gained = paid[drawn]
            if self.advantage != "reward":
                gained = gained - gained.mean()
            deviation = np.sqrt((gained**2).mean())
            if self.advantage == "group":
                gained = gained / deviation if deviation >= 1e-9 else 0 * gained
            own = np.bincount(drawn, gained, minlength=len(policy))
            # A probability may become zero, whose term of the divergence is zero as well.
            far = np.log(np.maximum(policy, 1e-300) / reference)
            pull = policy * (far - policy @ far)
            logits = logits + RATE * ((own - gained.sum() * policy) / DRAWS - self.leash * pull)
        return _softmax(logits)

    def _fallback(self):
        text = TEXT[self.language]

        def percent(p):
            return text["percent"].format(round(100 * p))

        after = [self._after(paid, ON_PAPER) for paid in (self.verified, self.holed)]
        rows = [
            [
                *(
                    answer or text["silence"],
                    text["right"][self.verified[i] > 0.5],
                    percent(self.probabilities[i]),
                ),
                *(f"{self.verified[i]:g}", percent(after[0][i])),
                *(f"{self.holed[i]:g}", percent(after[1][i])),
            ]
            for i, answer in enumerate(self.answers)
        ]
        caption = text["caption"].format(prompt=self.prompt, steps=ON_PAPER, draws=DRAWS)
        return table(caption, [*text["head"], *text["hole"]], rows)

    def __repr__(self):
        return (
            f"AnswerExplorer({self.prompt!r}, reward={self.reward!r}, language={self.language!r})"
        )


def _checked(name, value):
    """Return a setting; refuse it by its name."""
    if name in ("reward", "advantage"):
        check_choice(name, value, {"reward": REWARDS, "advantage": ADVANTAGES}[name])
        return value
    if name == "leash":
        value = float(value)
        if not 0 <= value <= LEASH:
            raise argument_error(name, f"from 0 to {LEASH:g}", value)
        return value
    return check_whole(name, value, *{"steps": (0, MOST), "seed": (1, 999)}[name])


def _check_reward(x):
    if not 0 <= float(x) <= 1:
        raise argument_error("answers", "rewards from 0 to 1", x)
    return float(x)


def _check_hand(hand, n):
    hand = check_list("hand", hand, "one reward, 0 or 1, for each answer", n)
    return [check_whole("hand", x, 0, 1) for x in hand]


def _softmax(logits):
    powers = np.exp(logits - logits.max())
    return powers / powers.sum()


def _generator(seed):
    """Yield the random numbers of `dice.js` (mulberry32)."""
    state, whole = seed, 2**32
    while True:
        state = (state + 0x6D2B79F5) % whole
        t = (state ^ (state >> 15)) * (1 | state) % whole
        t = ((t + (t ^ (t >> 7)) * (61 | t)) % whole) ^ t
        yield (t ^ (t >> 14)) / whole


def _drawn(policy, uniform):
    """Return the place that a uniform number draws, with the sums in the order of `dice.js`."""
    left = uniform
    for i, p in enumerate(policy):
        left -= p
        if left < 0:
            return i
    return int(np.flatnonzero(policy)[-1])
