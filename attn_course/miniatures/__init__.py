"""Attention for pictures in miniature, for appendix A4: each trained in a minute on one processor.

===========  =====================================================================
`pictures`   ``draw``: grey pictures of simple shapes; ``patches`` cuts them up
`training`   ``fit``, the one loop; ``filled``, a model with its stored weights
`captions`   an encoder and a decoder: a picture, and the words that describe it
`detection`  learned queries: which shapes are there, and where
`upscaling`  attention to neighbours: four pixels for each one
`video`      attention in time and then in space: which way does it go?
===========  =====================================================================
"""
