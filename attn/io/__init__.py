"""Files: written whole or not at all, by one process at a time.

=========  ====================================================================
`files`    ``whole_file`` and ``write_whole``: the old content or the new
`locks`    ``locked``: one process at a time, until it ends or dies
=========  ====================================================================
"""

from attn.io.files import NotWritten, place_of, whole_file, write_whole
from attn.io.locks import locked

__all__ = ["NotWritten", "locked", "place_of", "whole_file", "write_whole"]
