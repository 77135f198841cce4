"""The parts of the machine that each chapter lights, and the shapes of its tensors."""

from dataclasses import dataclass


@dataclass(frozen=True)
# The shapes stand as in the drawing, several a line.
class Here:
    """The parts that a chapter lights, and the shapes of its tensors.

    Parameters
    ----------
    lit : tuple of str
        Parts. The first gets the label "you are here".
    sizes : dict of str to int
        The values that the code of the chapter gives to these names.
    shapes : dict of str to tuple of str
        The shape of a tensor, as names of sizes, by the place where it stands. A size without a
        number is not the same every time, and its name stands for it.
    es, en : str
        The caption: what the chapter does with these parts, in sentences that name the sizes.
    """

    lit: tuple[str, ...]
    sizes: dict[str, int]
    shapes: dict[str, tuple[str, ...]]
    es: str
    en: str

    def written(self):
        """Return the shapes as Python prints them.

        >>> Here((), {"seq_len": 4}, {"scores": ("seq_len", "d_k")}, "", "").written()
        {'scores': '(4, d_k)'}
        """
        return {
            place: "("
            + ", ".join(str(self.sizes.get(name, name)) for name in names)
            + (",)" if len(names) == 1 else ")")
            for place, names in self.shapes.items()
        }


# The machine of these chapters has no encoder.
DECODER_ALONE = {
    *("06_masking", "12_language_model", "13_what_attention_computes", "14_equation_changed"),
    *("15_from_predicting_to_answering", "16_size_and_speed"),
}

_SPLIT = ("batch_size", "n_heads", "seq_len", "d_k")
_SCORES = ("batch_size", "n_heads", "seq_len", "seq_len")
_SOURCE, _TARGET = ("batch_size", "src_len", "d_model"), ("batch_size", "tgt_len", "d_model")
_LOGITS = ("batch_size", "tgt_len", "vocab_size")

# The shapes stand as in the drawing, several a line.
CHAPTERS = {
    "01_why_attention": Here(
        ("cross_attention", "memory", "mean"),
        {"src_len": 9, "d_model": 25},
        {"memory": ("src_len", "d_model"), "query": ("d_model",), "key": ("src_len", "d_model"),
         "value": ("src_len", "d_model"), "scores": ("src_len",), "weights": ("src_len",), "mean": ("d_model",)},
        "Este capítulo trata del paso en que el decodificador elige, para cada palabra que escribe, qué necesita de lo leído. En su "
        "primer ejemplo, lo leído es una imagen: `src_len` = 9 parches, cada uno con `d_model` = 25 números.",
        "This chapter is about the step in which each word being written chooses the part of the input that it needs. "
        "In the first example the input is an image: `src_len` = 9 patches of `d_model` = 25 numbers each.",
    ),
    "02_tokens_and_embeddings": Here(
        ("source", "embeddings", "target"),
        {"seq_len": 7, "d_model": 2},
        {"src_ids": ("seq_len",), "src_x": ("seq_len", "d_model")},
        "Este capítulo convierte un texto en tokens y cada token en un vector. Las formas son las de su primera oración: "
        "`seq_len` = 7 tokens, cada uno con `d_model` = 2 números.",
        "This chapter turns a text into tokens, and each token into a vector. The shapes are those of its first sentence: "
        "`seq_len` = 7 tokens of `d_model` = 2 numbers each.",
    ),
    "03_self_attention": Here(
        ("self_attention", "query", "key", "value", "scores", "weights", "mean"),
        {"seq_len": 3, "d_model": 4, "d_k": 2, "d_v": 2},
        {"src_x": ("seq_len", "d_model"), "query": ("seq_len", "d_k"), "key": ("seq_len", "d_k"),
         "value": ("seq_len", "d_v"), "scores": ("seq_len", "seq_len"), "weights": ("seq_len", "seq_len"),
         "mean": ("seq_len", "d_v")},
        "Este capítulo construye la atención con la que cada token recoge información de los demás. Las formas son las "
        "de su ejemplo: `seq_len` = 3, `d_model` = 4, `d_k` = 2 y `d_v` = 2.",
        "This chapter builds the attention with which each token gathers information from the others. The shapes are "
        "those of its example: `seq_len` = 3, `d_model` = 4, `d_k` = 2 and `d_v` = 2.",
    ),
    "04_multi_head": Here(
        ("heads", "output", "self_attention"),
        {"batch_size": 2, "seq_len": 5, "d_model": 4, "n_heads": 2, "d_k": 2},
        {"src_x": ("batch_size", "seq_len", "d_model"), "query": _SPLIT, "key": _SPLIT, "value": _SPLIT,
         "scores": _SCORES, "weights": _SCORES, "mean": _SPLIT, "output": ("batch_size", "seq_len", "d_model")},
        "Este capítulo reparte cada atención entre varias cabezas y vuelve a mezclar lo que dan. Las formas son las de su "
        "ejemplo: `batch_size` = 2, `seq_len` = 5, `d_model` = 4, `n_heads` = 2 y `d_k` = 2.",
        "This chapter splits every attention into several heads and mixes what they give. The shapes are those of its "
        "example: `batch_size` = 2, `seq_len` = 5, `d_model` = 4, `n_heads` = 2 and `d_k` = 2.",
    ),
    "05_encoder_decoder": Here(
        ("encoder", "decoder", "stream", "norm", "feed_forward", "cross_attention", "memory", "linear", "softmax"),
        {"batch_size": 32, "src_len": 10, "tgt_len": 8, "d_model": 512, "vocab_size": 10_000},
        {"src_ids": ("batch_size", "src_len"), "src_x": _SOURCE, "memory": _SOURCE,
         "tgt_ids": ("batch_size", "tgt_len"), "tgt_x": _TARGET, "logits": _LOGITS},
        "Este capítulo monta la máquina entera alrededor de la atención. Las formas son las del modelo que construye: "
        "`batch_size` = 32, `src_len` = 10, `tgt_len` = 8, `d_model` = 512 y `vocab_size` = 10000.",
        "This chapter assembles the whole machine around attention. The shapes are those of the model that it builds: "
        "`batch_size` = 32, `src_len` = 10, `tgt_len` = 8, `d_model` = 512 and `vocab_size` = 10000.",
    ),
    "06_masking": Here(
        ("causal_attention", "mask"),
        {"batch_size": 32, "tgt_len": 7, "d_model": 32, "n_heads": 2},
        {"tgt_ids": ("batch_size", "tgt_len"), "tgt_x": _TARGET, "mask": ("tgt_len", "tgt_len"),
         "scores": ("batch_size", "n_heads", "tgt_len", "tgt_len"), "logits": _LOGITS},
        "Este capítulo quita de la atención lo que un token no debe ver. Las formas son las del modelo que escribe: "
        "`batch_size` = 32, `tgt_len` = 7, `d_model` = 32 y `n_heads` = 2.",
        "This chapter takes out of attention what a token must not see. The shapes are those of the model that writes: "
        "`batch_size` = 32, `tgt_len` = 7, `d_model` = 32 and `n_heads` = 2.",
    ),
    "07_positional_encoding": Here(
        ("positions",),
        {"seq_len": 4, "d_model": 6},
        {"src_x": ("seq_len", "d_model")},
        "Este capítulo le dice a cada vector en qué lugar de la oración está. En la tabla que calcula, los embeddings "
        "y lo que se les suma tienen la misma forma: `seq_len` = 4 y `d_model` = 6.",
        "This chapter tells each vector where in the sentence it stands. In its table, the embeddings "
        "and what is added to them have the same shape: `seq_len` = 4 and `d_model` = 6.",
    ),
    "08_training": Here(
        ("loss", "target", "linear", "softmax"),
        {"batch_size": 64, "d_model": 64, "vocab_size": 700},
        {"src_ids": ("batch_size", "src_len"), "tgt_ids": ("batch_size", "tgt_len"), "memory": _SOURCE,
         "logits": _LOGITS},
        "Este capítulo mide cuánto se equivoca la máquina y cambia todos sus números para que se equivoque menos. Las formas "
        "son las del primer lote que lee su traductor: `batch_size` = 64, `d_model` = 64 y `vocab_size` = 700.",
        "This chapter measures how wrong the machine is, and changes all its numbers to make it less wrong. The shapes are "
        "those of the first batch that its translator reads: `batch_size` = 64, `d_model` = 64 and `vocab_size` = 700.",
    ),
    "09_decoding": Here(
        ("next_word", "loop", "stop", "softmax"),
        {"batch_size": 1, "d_model": 64, "vocab_size": 691},
        {"tgt_ids": ("batch_size", "tgt_len"), "memory": _SOURCE, "logits": ("batch_size", "vocab_size")},
        "Este capítulo convierte las probabilidades en una oración, palabra por palabra. Las formas son las de un paso del "
        "traductor de la gramática: `batch_size` = 1, `d_model` = 64 y `vocab_size` = 691.",
        "This chapter turns probabilities into a sentence, word by word. The shapes are those of one step of its "
        "translator: `batch_size` = 1, `d_model` = 64 and `vocab_size` = 691.",
    ),
    "10_applications": Here(
        ("source", "memory", "cross_attention", "next_word"),
        {"batch_size": 1, "src_len": 13, "tgt_len": 7, "d_model": 16},
        {"memory": _SOURCE, "tgt_x": _TARGET},
        "Este capítulo cambia lo que entra y lo que se pide a la salida, y conserva lo que hay en medio. Las formas son las "
        "de una pregunta que mira un texto: `batch_size` = 1, `tgt_len` = 7, `src_len` = 13 y `d_model` = 16.",
        "This chapter changes what goes in and what is asked for at the end, and keeps what lies between. The shapes are "
        "those of a question that looks at a text: `batch_size` = 1, `tgt_len` = 7, `src_len` = 13 and `d_model` = 16.",
    ),
    "11_landscape": Here(
        ("encoder", "decoder"),
        {"d_model": 64},
        {"src_x": ("seq_len", "d_model"), "tgt_x": ("seq_len", "d_model")},
        "Este capítulo recorre modelos que se quedan con una mitad de la máquina o con las dos. Los que entrena, en miniatura, "
        "tienen vectores de `d_model` = 64 números.",
        "This chapter goes through models that keep one half of the machine, or both. Those that it trains, in miniature, "
        "have vectors of `d_model` = 64 numbers.",
    ),
    "12_language_model": Here(
        ("decoder", "norm", "feed_forward", "positions", "heads", "linear", "softmax", "next_word"),
        {"tgt_len": 5, "d_model": 576, "n_heads": 9, "n_kv_heads": 3, "d_k": 64, "vocab_size": 49_152},
        {"tgt_ids": ("tgt_len",), "tgt_x": ("tgt_len", "d_model"), "query": ("n_heads", "tgt_len", "d_k"),
         "key": ("n_kv_heads", "tgt_len", "d_k"), "value": ("n_kv_heads", "tgt_len", "d_k"),
         "scores": ("n_heads", "tgt_len", "tgt_len"), "logits": ("tgt_len", "vocab_size")},
        "Este capítulo cambia las piezas del decodificador hasta que es un modelo de 2024. Las formas son las de «The sky is blue "
        "because» en SmolLM2: `tgt_len` = 5, `d_model` = 576, `n_heads` = 9, `n_kv_heads` = 3, `d_k` = 64 y `vocab_size` = 49152.",
        "This chapter changes the pieces of the decoder until it is a model of 2024. The shapes are those of “The sky is blue "
        "because” in SmolLM2: `tgt_len` = 5, `d_model` = 576, `n_heads` = 9, `n_kv_heads` = 3, `d_k` = 64 and `vocab_size` = 49152.",
    ),
    "13_what_attention_computes": Here(
        ("causal_attention", "heads", "stream", "next_word"),
        {"tgt_len": 7, "d_model": 576, "n_heads": 9, "d_k": 64},
        {"tgt_x": ("tgt_len", "d_model"), "query": ("n_heads", "tgt_len", "d_k")},
        "Este capítulo mira dentro del modelo mientras lee y cambia lo que ve. Las formas son las de «John and Paul wrote several "
        "songs when» en SmolLM2: `tgt_len` = 7, `d_model` = 576, `n_heads` = 9 y `d_k` = 64.",
        "This chapter looks inside the model while it reads, and changes what it sees. The shapes are those of “John and Paul wrote "
        "several songs when” in SmolLM2: `tgt_len` = 7, `d_model` = 576, `n_heads` = 9 and `d_k` = 64.",
    ),
    "14_equation_changed": Here(
        ("causal_attention", "query", "key", "value", "scores", "weights", "mean"),
        {"tgt_len": 4, "d_k": 2, "d_v": 2},
        {"query": ("tgt_len", "d_k"), "key": ("tgt_len", "d_k"), "value": ("tgt_len", "d_v"),
         "weights": ("tgt_len", "tgt_len")},
        "Este capítulo cambia la ecuación de dentro de la atención y deja el resto como estaba. Las formas son las de sus cuatro "
        "hechos: `tgt_len` = 4, `d_k` = 2 y `d_v` = 2.",
        "This chapter changes the equation inside attention, and leaves the rest as it was. The shapes are those of its four "
        "facts: `tgt_len` = 4, `d_k` = 2 and `d_v` = 2.",
    ),
    "15_from_predicting_to_answering": Here(
        ("loss", "softmax", "next_word", "loop"),
        {"tgt_len": 8},
        {"tgt_ids": ("tgt_len",)},
        "Este capítulo no toca la máquina: cambia con qué se compara lo que ella escribe, y juzga respuestas enteras. "
        "Su ejemplo son una pregunta y su respuesta, con `tgt_len` = 8 tokens.",
        "This chapter leaves the machine alone: it changes what the model's text is compared with, and judges whole "
        "answers. Its example is a question with its answer, `tgt_len` = 8 tokens.",
    ),
    "16_size_and_speed": Here(
        ("query", "key", "value", "scores", "weights", "mean", "feed_forward", "loop"),
        {"tgt_len": 4},
        {"weights": (1, "tgt_len")},
        "Este capítulo tampoco toca la máquina: cuenta lo que calcula y lo que mueve, y cuánto cuesta hacerla mayor. En su "
        "ejemplo de lápiz, una query reparte su atención entre `tgt_len` = 4 tokens.",
        "This chapter leaves the machine alone as well: it counts what the machine computes and moves, and what a larger "
        "one costs. In the chapter's pencil example one query shares its attention among `tgt_len` = 4 tokens.",
    ),
}  # fmt: skip # Each chapter stays on one screen.
