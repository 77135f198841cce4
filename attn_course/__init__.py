"""attn_course: what the course needs around the machine of `attn`.

==============================  ================================================================
the lessons
------------------------------  ----------------------------------------------------------------
`attn_course.exercises`         ``check``: is my function right, and if not, why not?
`attn_course.in_page`           what runs cells and exercises in the pages of the site
`attn_course.own_machine`       the learner's own code translates, with the trained weights
`attn_course.widgets`           the interactive figures
`attn_course.plots`             the matplotlib figures
`attn_course.tables`            results with their numbers aligned
`attn_course.drawings`          the machine and the ideas that have a shape, as SVG of our own
`attn_course.palette`           the colours that figures, widgets and site share
`attn_course.language`          Spanish or English: ``attn_course.set_language("en")``
more of the machine
------------------------------  ----------------------------------------------------------------
`attn_course.journey`           the numbers that a sentence becomes on its way through a translator
`attn_course.smollm2`           the pretrained model of chapter 12, or how to fetch it
`attn_course.minilm`            the pretrained model that makes vectors of sentences, likewise
`attn_course.miniatures`        attention for pictures and videos, in miniature, for appendix A4
`attn_course.position_schemes`  two that chapter 07 compares with those of `attn.positions`
`attn_course.interpret`         what a model has inside while it reads, and parts of it exchanged
`attn_course.answering`         a verifier, and the losses that teach a model to answer
`attn_course.scaling`           what a training costs, and the curves through its losses
`attn_course.serving`           what a token costs; a cache in pages, weights of few bits
`attn_course.parallel`          a layer whose heads, units or experts several processes share
`attn_course.low_rank`          LoRA: what a pretrained model learns beside its own weights
`attn_course.speculative`       a quick model proposes, a slow one decides
`attn_course.streaming`         attention to the last tokens and to the first
data, mostly by rules
------------------------------  ----------------------------------------------------------------
`attn_course.contrasts`         pairs of texts that call for different words, for chapter 13
`attn_course.everyday`          everyday sentences and their translations, written for the course
`attn_course.grammar`           English and Spanish made by a grammar, with every alignment known
`attn_course.mixture`           real sentences with other names, and the grammar's among them
`attn_course.passages`          ``questions`` about passages, for a system that answers them
`attn_course.readings`          fifty passages with summary and question, fifty sentences to translate
`attn_course.stories`           ``stories`` and headlines, for a system that summarises
`attn_course.tasks`             opinions of a line, to ask a language model about
`attn_course.images`            images and questions, for a system that looks
`attn_course.emoji`             a small CLIP that searches emoji by typing, in two languages
`attn_course.subjects`          lines on four subjects, to be told apart
`attn_course.templates`         sentences with slots, from which passages and stories are made
==============================  ================================================================

`attn` never imports this package.
"""

from attn_course.language import get_language, set_language

__all__ = ["get_language", "set_language"]
