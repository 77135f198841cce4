"""Systems built of the Transformer, each a class with ``fit``, ``evaluate``, ``save``, ``load``.

====================  ====================================================================
`translation`         ``Translator``: English to Spanish, or any pairs of sentences
`question_answering`  ``QuestionAnswerer``: the words of a passage that answer, or none
`summarization`       ``Summarizer``: write a headline, or pick sentences by attention
`visual_question`     ``VisualQuestionAnswerer``: questions about small images
====================  ====================================================================
"""
