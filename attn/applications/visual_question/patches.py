"""How an image is cut into patches, the tokens of the visual answerer."""

N_ROWS, N_COLUMNS, PATCH_SIZE = 6, 6, 8
# The RGB colour of an empty patch.
GROUND = (238, 236, 228)
