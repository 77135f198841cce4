"""Problem set 4, `pre_norm_decoder_layer`: three sub-layers on given weights, and their traps."""

import numpy as np

from attn import reference
from attn.exercises import ch03_softmax as wrong
from attn.exercises.spec import Exercise, Misconception
from attn.reference import causal_mask


def pre_norm_decoder_layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
    """Return one decoder layer of a single head, with the norms before and without biases.

    Parameters
    ----------
    x : ndarray, shape (..., tgt_len, d_model)
        What is written so far.
    memory : ndarray, shape (..., src_len, d_model)
        What the encoder made of the source; it is not normalised here.
    w_self, w_cross : ndarray, shape (4, d_model, d_model)
        The matrices of query, key, value and output.
    w_1 : ndarray, shape (d_model, d_ff)
    w_2 : ndarray, shape (d_ff, d_model)
    real : ndarray of bool, shape (..., src_len), optional
        True = a token of the source that is no padding.

    Returns
    -------
    ndarray, shape (..., tgt_len, d_model)

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020) for where the norms go.
    """
    names = "w_q", "w_k", "w_v", "w_o"
    d_model, d_ff = w_1.shape
    plain = {"gain": np.ones(d_model), "bias": np.zeros(d_model)}
    parameters = {
        "self_attention": dict(zip(names, w_self, strict=True)),
        "cross_attention": dict(zip(names, w_cross, strict=True)),
        "feed_forward": {"w_1": w_1, "b_1": np.zeros(d_ff), "w_2": w_2, "b_2": np.zeros(d_model)},
        "norm_1": plain,
        "norm_2": plain,
        "norm_3": plain,
    }
    return reference.decoder_layer(
        x,
        memory,
        parameters,
        n_heads=1,
        mask=causal_mask(x.shape[-2]),
        memory_mask=None if real is None else real[..., None, :],
        norm="pre",
    )


def cases(seed):
    """Return pairs of sentences, with padding and large numbers in the source, and batches.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``x``, ``memory``, ``w_self``, ``w_cross``, ``w_1``, ``w_2`` and, in
        some, ``real``.
    """
    rng = np.random.default_rng(seed)

    def draw(tgt_len, src_len, d_model, d_ff, batch=(), real=None):
        shift = rng.uniform(0.5, 1, (*batch, 1, 1))  # no sentence with mean 0
        case = {
            "x": rng.uniform(-1, 1, (*batch, tgt_len, d_model)) + shift,
            "memory": rng.uniform(-1, 1, (*batch, src_len, d_model)) - shift,
            "w_self": rng.uniform(-0.8, 0.8, (4, d_model, d_model)),
            "w_cross": rng.uniform(-0.8, 0.8, (4, d_model, d_model)),
            "w_1": rng.uniform(-1, 1, (d_model, d_ff)),
            "w_2": rng.uniform(-0.8, 0.8, (d_ff, d_model)),
        }
        return case if real is None else case | {"real": np.array(real)}

    # Keys in a row, along the first query and against the second: scores near 1000 and -1000.
    large = draw(2, 3, 4, 5)
    large["x"] = rng.uniform(0.5, 1.5) * np.array([[1.0, -1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
    large["memory"] = large["x"][0] / abs(large["x"][0, 0])
    large["memory"] = large["memory"] * (500 + rng.uniform(-0.3, 0.3, (3, 1)))
    large["memory"][:, 0] += rng.uniform(-0.3, 0.3, 3)
    large["w_self"][2] = 0
    large["w_cross"][:2] = np.eye(4)
    large["w_cross"][2] = rng.uniform(-0.8, 0.8, (4, 4))

    some = [[True, True, False, False], [True, False, True, True], [False, True, True, True]]
    return [
        draw(2, 4, 3, 5),
        draw(3, 5, 4, 6),
        large,
        draw(3, 4, 5, 6, real=some[0]),
        draw(4, 4, 3, 5, real=some[2]),
        draw(3, 4, 5, 7, real=[False] * 4),
        draw(3, 5, 4, 6, batch=(2,)),
        draw(4, 2, 3, 5, batch=(2, 3)),
        draw(3, 4, 5, 6, batch=(3,), real=some),
    ]


def _masked(scores, mask):
    return scores if mask is None else np.where(mask, scores, -np.inf)


def _share(scores):
    """Take the softmax, NaN or not; a row without anybody gives zeros."""
    peak = scores.max(-1, keepdims=True)
    exponentials = np.exp(scores - np.where(peak == -np.inf, 0, peak))
    total = exponentials.sum(-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def _attend(query, memory, weights, mask, *, weigh=_share, hide=_masked, scale=True, out=True):
    w_q, w_k, w_v, w_o = weights
    scores = (query @ w_q) @ (memory @ w_k).mT
    if scale:
        scores = scores / np.sqrt(w_q.shape[1])
    found = weigh(hide(scores, mask)) @ (memory @ w_v)
    return found @ w_o if out else found


def _fed(x, w_1, w_2):
    return np.maximum(0, x @ w_1) @ w_2


def _norm(x, eps=1e-5, axis=-1):
    """Normalise, NaN or not: the norm of the course takes only numbers."""
    centred = x - x.mean(axis, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis, keepdims=True) + eps)


def _pre(x, step):
    return x + step(_norm(x))


def _post(x, step):
    return _norm(x + step(x))


def _with_eps(eps):
    def join(x, step):
        return x + step(_norm(x, eps))

    return join


def _no_sum(x, step):
    return step(_norm(x))


def _no_norm(x, step):
    return x + step(x)


def _norm_of_the_answer(x, step):
    return x + _norm(step(x))


def _normed_path(x, step):
    return _norm(x) + step(_norm(x))


def _over_tokens(x, step):
    return x + step(_norm(x, axis=-2))


def _causal(shape):
    return np.tri(*shape, dtype=bool)


def _source(real, shape):
    return None if real is None else real[..., None, :]


def _with(
    joins=(_pre, _pre, _pre), own=_causal, source=_source, attend=_attend, look_up=_attend,
    feed=_fed, memory_of=lambda memory, x: memory, order=(0, 1, 2), last=lambda x: x,
):  # fmt: skip
    """Return the layer with one of its parts replaced."""

    def layer(x, memory, w_self, w_cross, w_1, w_2, real=None):
        def see_own(y):
            return attend(y, y, w_self, own((y.shape[-2], y.shape[-2])))

        def see_source(y):
            shape = y.shape[-2], memory.shape[-2]
            return look_up(y, memory_of(memory, y), w_cross, source(real, shape))

        def think(y):
            return feed(y, w_1, w_2)

        steps = see_own, see_source, think
        for i in order:
            x = joins[i](x, steps[i])
        return last(x)

    return layer


def _each(join):
    """Return the layer with one of its three sums made in another way, and with all of them."""
    lonely = [tuple(join if i == j else _pre for j in range(3)) for i in range(3)]
    return tuple(_with(joins) for joins in (*lonely, (join,) * 3))


def _nan(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _after_softmax(query, memory, weights, mask):
    def weigh(scores):
        shared = _share(scores)
        return shared if mask is None else shared * mask

    return _attend(query, memory, weights, mask, weigh=weigh, hide=lambda scores, mask: scores)


def _finite(scores, mask):
    return scores if mask is None else np.where(mask, scores, -1e9)


def _using(**changes):
    return lambda *arguments: _attend(*arguments, **changes)


def _one_norm_for_all(x, memory, w_self, w_cross, w_1, w_2, real=None):
    """Give every step the same vectors, normalised once at the start."""
    normed = _norm(x)
    own = _attend(normed, normed, w_self, _causal((x.shape[-2],) * 2))
    return x + own + _attend(normed, memory, w_cross, _source(real, None)) + _fed(normed, w_1, w_2)


def _exchanged(x, memory, w_self, w_cross, w_1, w_2, real=None):
    return _with()(x, memory, w_cross, w_self, w_1, w_2, real)


def _two_axes(x, memory, w_self, w_cross, w_1, w_2, real=None):
    _tgt_len, _d_model = x.shape
    return _with()(x, memory, w_self, w_cross, w_1, w_2, real)


def _real_without_axis(real, shape):
    return real


def _real_on_queries(real, shape):
    return None if real is None else real[..., :, None]


MISCONCEPTIONS = (
    Misconception(
        "post_norm",
        (_with((_post,) * 3), _with(last=_norm)),
        {
            "es": "Normalizas lo que ya está sumado. En esta capa la norma va antes: solo la ve la "
            "subcapa, y la suma sale sin normalizar.",
            "en": "You normalise what is already summed. In this layer the norm goes before: only "
            "the sub-layer sees it, and the sum comes out without being normalised.",
        },
    ),
    Misconception(
        "residual_missing",
        _each(_no_sum),
        {
            "es": "A alguna subcapa le falta sumar lo que recibió. Son tres, y cada una devuelve "
            "`x` más lo que calcula.",
            "en": "Some sub-layer does not add what it was given. There are three, and each "
            "returns `x` plus what it computes.",
        },
    ),
    Misconception(
        "residual_normalised",
        (_with((_normed_path,) * 3), _with((_normed_path, _pre, _pre))),
        {
            "es": "En alguna subcapa sumas el vector ya normalizado: es el fallo de la tarea 4. Da "
            "otro nombre a lo que entra en la subcapa y deja `x` como está.",
            "en": "In some sub-layer you add the vector already normalised: it is the fault of task "
            "4. Give another name to what goes into the sub-layer and leave `x` as it is.",
        },
    ),
    Misconception(
        "norm_missing",
        _each(_no_norm),
        {
            "es": "Alguna subcapa recibe `x` sin normalizar. Hay tres normas, una delante de cada "
            "una.",
            "en": "Some sub-layer is given `x` without a norm. There are three norms, one before "
            "each.",
        },
    ),
    Misconception(
        "norm_of_the_answer",
        (_with((_norm_of_the_answer,) * 3),),
        {
            "es": "Normalizas lo que una subcapa devuelve, no lo que recibe. La norma cuida los "
            "puntajes, y esos se calculan con la entrada.",
            "en": "You normalise what a sub-layer returns, not what it is given. The norm looks "
            "after the scores, and those are computed from the input.",
        },
    ),
    Misconception(
        "one_norm_for_all",
        (_one_norm_for_all,),
        {
            "es": "Todas las subcapas parten de la misma `x` normalizada. Cada una trabaja sobre lo "
            "que dejó la anterior: normaliza de nuevo tras cada suma.",
            "en": "All the sub-layers start from the same normalised `x`. Each works on what the "
            "one before it left: normalise again after every sum.",
        },
    ),
    Misconception(
        "memory_normalised",
        (_with(memory_of=lambda memory, x: _norm(memory)),),
        {
            "es": "Normalizas `memory`. El codificador ya la entregó normalizada, con sus propias "
            "ganancias; aquí se usa como llega.",
            "en": "You normalise `memory`. The encoder handed it over normalised already, with its "
            "own gains; here it is used as it comes.",
        },
    ),
    Misconception(
        "norm_over_tokens",
        (_with((_over_tokens,) * 3),),
        {
            "es": "Tus normas toman medias a lo largo de la oración. Además de mezclar tokens, dejan "
            "pasar noticias del futuro: la media es la de las componentes.",
            "en": "Your norms average along the sentence. Besides mixing tokens, they let news of "
            "the future through: the mean is that of the components.",
        },
    ),
    Misconception(
        "other_eps",
        tuple(_with((_with_eps(eps),) * 3) for eps in (0.0, 1e-6, 1e-8)),
        {
            "es": "Todo está en su sitio menos ε: tus normas no suman 1e-5 a la varianza. El "
            "resultado difiere a partir de unas pocas cifras.",
            "en": "Everything is in place but ε: your norms do not add 1e-5 to the variance. The "
            "result differs after a few figures.",
        },
    ),
    Misconception(
        "future_seen",
        (_with(own=lambda shape: None),),
        {
            "es": "La autoatención lo ve todo. Lo escrito no puede depender de lo que aún no se ha "
            "escrito: falta la máscara causal.",
            "en": "Self-attention sees everything. What is written cannot depend on what has not "
            "been written yet: the causal mask is missing.",
        },
    ),
    Misconception(
        "triangle",
        (
            _with(own=lambda shape: _causal(shape).T),
            _with(own=lambda shape: np.tri(*shape, k=-1, dtype=bool)),
            _with(own=lambda shape: ~_causal(shape)),
        ),
        {
            "es": "Tu triángulo no es el debido. El token `i` se mira a sí mismo y a los "
            "anteriores: `True` en la diagonal y por debajo.",
            "en": "Your triangle is not the right one. Token `i` looks at itself and at those "
            "before it: `True` on the diagonal and below.",
        },
    ),
    Misconception(
        "causal_source",
        (
            _with(
                source=lambda real, shape: (
                    _causal(shape) & (True if real is None else real[..., None, :])
                )
            ),
        ),
        {
            "es": "Aplicas la máscara causal también a la fuente. Está escrita entera desde el "
            "principio, y cualquier palabra puede mirarla toda.",
            "en": "You apply the causal mask to the source too. It is written in full from the "
            "beginning, and any word may look at all of it.",
        },
    ),
    Misconception(
        "source_ignored",
        (_with(memory_of=lambda memory, x: x, source=lambda real, shape: None),),
        {
            "es": "En la atención cruzada, keys y values salen otra vez de lo escrito. Deben salir "
            "de `memory`, o la traducción no sabría qué traducir.",
            "en": "In cross-attention, keys and values come from what is written once more. They "
            "should come from `memory`, or the translation would not know what to translate.",
        },
    ),
    Misconception(
        "weights_exchanged",
        (_exchanged,),
        {
            "es": "Cada atención usa las matrices de la otra. `w_self` es la de lo escrito y "
            "`w_cross`, la de la fuente.",
            "en": "Each attention uses the matrices of the other. `w_self` belongs to what is "
            "written and `w_cross` to the source.",
        },
    ),
    Misconception(
        "another_order",
        (_with(order=(1, 0, 2)), _with(order=(0, 2, 1))),
        {
            "es": "Las tres subcapas están, en otro orden. Primero lo escrito, después la fuente y "
            "al final la red.",
            "en": "The three sub-layers are there, in another order. First what is written, then "
            "the source, and last the network.",
        },
    ),
    Misconception(
        "step_missing",
        (_with(order=(0, 2)), _with(order=(1, 2)), _with(order=(0, 1))),
        {
            "es": "Falta una subcapa entera. El decodificador tiene tres: autoatención, atención "
            "cruzada y red prealimentada.",
            "en": "A whole sub-layer is missing. The decoder has three: self-attention, "
            "cross-attention and feed-forward network.",
        },
    ),
    Misconception(
        "output_matrix_missing",
        (
            _with(attend=_using(out=False), look_up=_using(out=False)),
            _with(attend=_using(out=False)),
            _with(look_up=_using(out=False)),
        ),
        {
            "es": "Lo que la atención encuentra se suma sin pasar por su cuarta matriz, la de "
            "salida. Como todo mide d_model, ninguna forma lo delata.",
            "en": "What attention finds is added without going through its fourth matrix, that of "
            "the output. As everything has size d_model, no shape gives it away.",
        },
    ),
    Misconception(
        "unscaled",
        (
            _with(attend=_using(scale=False), look_up=_using(scale=False)),
            _with(look_up=_using(scale=False)),
        ),
        {
            "es": "En alguna de tus atenciones los puntajes no se dividen entre la raíz de d_k, que "
            "aquí es d_model.",
            "en": "In one of your attentions the scores are not divided by the root of d_k, which "
            "here is d_model.",
        },
    ),
    Misconception(
        "no_activation",
        (_with(feed=lambda x, w_1, w_2: x @ w_1 @ w_2),),
        {
            "es": "Tu red es lineal: entre sus dos productos, lo negativo debe cambiarse por 0.",
            "en": "Your network is linear: between its two products, what is negative must be "
            "replaced by 0.",
        },
    ),
    Misconception(
        "padding_seen",
        (_with(source=lambda real, shape: None),),
        {
            "es": "El relleno de la fuente recibe peso: `real` no interviene. Donde sea False, el "
            "puntaje debe ser −inf.",
            "en": "The padding of the source is given weight: `real` takes no part. Where it is "
            "False the score must be −inf.",
        },
    ),
    Misconception(
        "padding_only",
        (_with(source=lambda real, shape: None if real is None else ~real[..., None, :]),),
        {
            "es": "Miras solo el relleno. `real` es True en los tokens de verdad, los que se pueden "
            "mirar.",
            "en": "You look at the padding alone. `real` is True at the true tokens, those that may "
            "be looked at.",
        },
    ),
    Misconception(
        "padding_on_another_axis",
        (_with(source=_real_on_queries), _with(source=_real_without_axis)),
        {
            "es": "`real` se alinea con un eje que no es el suyo. Habla de keys, así que le falta "
            "el de las queries, justo delante del último: `real[..., None, :]`.",
            "en": "`real` lines up with an axis that is not its own. It speaks of keys, so it lacks "
            "that of the queries, just before the last: `real[..., None, :]`.",
        },
    ),
    Misconception(
        "mask_after_softmax",
        (_with(look_up=_after_softmax), _with(attend=_after_softmax, look_up=_after_softmax)),
        {
            "es": "Borras pesos después de repartirlos, y los que quedan ya no suman 1. La "
            "prohibición va en los puntajes.",
            "en": "You erase weights after sharing them out, and those left no longer sum to 1. "
            "The ban goes into the scores.",
        },
    ),
    Misconception(
        "without_if",
        (
            _with(source=lambda real, shape: real[..., None, :]),
            _with(
                source=lambda real, shape: _source(
                    np.array([False]) if real is None else real, shape
                )
            ),
        ),
        {
            "es": "Cuando no hay relleno, `real` es `None`, y tu código lo trata como una máscara. "
            "Comprueba antes si la hay.",
            "en": "When there is no padding `real` is `None`, and your code treats it as a mask. "
            "Check first whether there is one.",
        },
    ),
    Misconception(
        "finite_fill",
        (_with(look_up=_using(hide=_finite)),),
        {
            "es": "Rellenas con un número finito. Si toda la fuente es relleno, los puntajes "
            "empatan y la atención devuelve una media de nada: con −inf puedes detectarlo y "
            "devolver ceros.",
            "en": "You fill with a finite number. If the whole source is padding the scores tie and "
            "attention returns a mean of nothing: with −inf you can detect it and return zeros.",
        },
    ),
    Misconception(
        "empty_source",
        (_with(look_up=_using(weigh=_nan)),),
        {
            "es": "Si toda la fuente es relleno, tu softmax divide 0 entre 0. Sin nadie a quien "
            "mirar, la atención cruzada suma 0 y la capa sigue adelante.",
            "en": "If the whole source is padding, your softmax divides 0 by 0. With nobody to look "
            "at, cross-attention adds 0 and the layer goes on.",
        },
    ),
    Misconception(
        "overflow",
        (
            _with(look_up=_using(weigh=wrong.unstable)),
            _with(look_up=_using(weigh=wrong.unstable_or_zero)),
        ),
        {
            "es": "`memory` llega sin normalizar y sus puntajes pueden pasar de mil: la "
            "exponencial se desborda. Resta a cada fila su máximo.",
            "en": "`memory` comes without a norm and its scores may pass a thousand: the "
            "exponential overflows. Subtract from each row its maximum.",
        },
    ),
    Misconception(
        "global_maximum",
        (
            _with(look_up=_using(weigh=wrong.global_peak)),
            _with(look_up=_using(weigh=wrong.global_peak_or_zero)),
        ),
        {
            "es": "Un máximo común a todas las queries deja sin peso a las de puntajes más bajos. "
            "Cada fila tiene el suyo.",
            "en": "One maximum for all the queries leaves those with the lowest scores without "
            "weight. Each row has its own.",
        },
    ),
    Misconception(
        "one_pair_only",
        (_two_axes,),
        {
            "es": "Con lotes no funciona: `.T` da la vuelta a todos los ejes. Usa `.mT`, que solo "
            "intercambia los dos últimos.",
            "en": "It does not work on batches: `.T` reverses all the axes. Use `.mT`, which "
            "exchanges only the last two.",
        },
    ),
)

EXERCISE = Exercise(
    "pre_norm_decoder_layer",
    5,
    ("output",),
    pre_norm_decoder_layer,
    cases,
    MISCONCEPTIONS,
    problem_set="ps4",
)
