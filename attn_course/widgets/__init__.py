"""The course's interactive figures. They work in a static page, and in JupyterLab as widgets.

- `AnswerBoard`: the answers of several systems, right and wrong at a glance
- `AnswerExplorer`: the answers of a model, and what a reward makes of them
- `AttentionExplorer`: which token attends to which, and the arithmetic behind it
- `SoftmaxPlayground`: what scores and temperature do to the weights
- `MaskPainter`: a mask to paint; its weights, its dead rows, its leaks through layers
- `EmbeddingMap`: users and films as points; drag them, and their dot products follow
- `EmojiSearch`: a word, and the emoji whose pictures a small CLIP places nearest to it
- `FamilyMap`, `load_families`: model families by year, and what each changed in the machine
- `Continuation`: a language model writes on; another token can be taken at each step
- `Quiz`, `load_quiz`: questions with feedback for every answer
- `LayerExplorer`: the six steps of a layer, and a deep stack without one of its parts
- `Learner`: a small translator that learns in the page, or one that its reader breaks
- `LiveMachine`: the drawing of the machine at work on a sentence, part by part, with its numbers
- `LiveTranslator`: the trained translator at work, and what each word attended to
- `SamplingExplorer`: what temperature, top-k and top-p leave of a next word; draws from it
- `PatchAsker`: ask for something in a picture; the weights go to the patches that hold it
- `MovingPair`: two words that move, and their score under each method of telling positions
- `PositionExplorer`: positions as clocks, and how alike two of them are
- `QuerySwing`: a query that turns among the keys, and the weights that follow it
- `RooflineExplorer`: what a token costs on a machine, in arithmetic and in bytes
- `SentenceMap`: sentences, or a word in several, as points by the vectors of MiniLM
- `StateExplorer`: facts written into a memory, and what it recalls under each rule
- `TileExplorer`: a softmax that reads its scores tile by tile
- `TranslationRibbons`: a translation, and ribbons to the words that each of its words attended to
- `TransformerMicroscope`: a sentence through the whole trained model, number by number
- `HeadViewer`: every head of the trained model on a sentence, and what changes without it
- `HeadExplorer`: all heads of SmolLM2 on a sentence, with a word exchanged, and patched
- `TrainingReplay`: a translator while it is trained: its curves, its words, what it attends to
- `TwoHeads`: the outputs of one head or two, when two people change places
- `VisualAsker`: a scene to paint, a question, and what the trained visual model attends to
"""

from attn_course.widgets.answer_board import AnswerBoard
from attn_course.widgets.answer_explorer import AnswerExplorer
from attn_course.widgets.attention_explorer import AttentionExplorer
from attn_course.widgets.continuation import Continuation
from attn_course.widgets.embedding_map import EmbeddingMap
from attn_course.widgets.emoji_search import EmojiSearch
from attn_course.widgets.family_map import FamilyMap, load_families
from attn_course.widgets.head_explorer import HeadExplorer
from attn_course.widgets.head_viewer import HeadViewer
from attn_course.widgets.layer_explorer import LayerExplorer
from attn_course.widgets.learner import Learner
from attn_course.widgets.live_machine import LiveMachine
from attn_course.widgets.live_translator import LiveTranslator
from attn_course.widgets.mask_painter import MaskPainter
from attn_course.widgets.moving_pair import MovingPair
from attn_course.widgets.patch_asker import PatchAsker
from attn_course.widgets.position_explorer import PositionExplorer
from attn_course.widgets.query_swing import QuerySwing
from attn_course.widgets.quiz import Quiz, load_quiz
from attn_course.widgets.ribbons import TranslationRibbons
from attn_course.widgets.roofline_explorer import RooflineExplorer
from attn_course.widgets.sampling_explorer import SamplingExplorer
from attn_course.widgets.sentence_map import SentenceMap
from attn_course.widgets.softmax_playground import SoftmaxPlayground
from attn_course.widgets.state_explorer import StateExplorer
from attn_course.widgets.tile_explorer import TileExplorer
from attn_course.widgets.training_replay import TrainingReplay
from attn_course.widgets.transformer_microscope import TransformerMicroscope
from attn_course.widgets.two_heads import TwoHeads
from attn_course.widgets.visual_asker import VisualAsker
from attn_course.widgets.word_guesser import WordGuesser

__all__ = [
    "AnswerBoard",
    "AnswerExplorer",
    "AttentionExplorer",
    "Continuation",
    "EmbeddingMap",
    "EmojiSearch",
    "FamilyMap",
    "HeadExplorer",
    "HeadViewer",
    "LayerExplorer",
    "Learner",
    "LiveMachine",
    "LiveTranslator",
    "MaskPainter",
    "MovingPair",
    "PatchAsker",
    "PositionExplorer",
    "QuerySwing",
    "Quiz",
    "RooflineExplorer",
    "SamplingExplorer",
    "SentenceMap",
    "SoftmaxPlayground",
    "StateExplorer",
    "TileExplorer",
    "TrainingReplay",
    "TransformerMicroscope",
    "TranslationRibbons",
    "TwoHeads",
    "VisualAsker",
    "WordGuesser",
    "load_families",
    "load_quiz",
]
