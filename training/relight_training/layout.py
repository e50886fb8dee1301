"""Where what stands in a beat file (FORMAT.md), and nothing else.

The agent has a description of its own; tests hold the two against each other.
"""

MAGIC = b"RLBEAT01"
SIZE = 4096
HEADER_LENGTH_AT = 8
HEADER_AT = 512
HEADER_LIMIT = SIZE - HEADER_AT

# Places of the 8-byte fields, counted in fields of 8 bytes.
BEATS = 16 // 8
BEAT_AT = 24 // 8
STEP = 32 // 8
FULFILLED = 48 // 8
SAVED_STEP = 56 // 8
SAVES = 64 // 8
SAVE_AT = 72 // 8
SAVE_STEP = 80 // 8
OWN = 88 // 8
REQUEST = 256 // 8
# The only 4-byte field, counted in fields of 4 bytes.
PHASE = 40 // 4

PHASES = {
    "unknown": 0,
    "starting": 1,
    "compile": 2,
    "train": 3,
    "save": 4,
    "evaluate": 5,
    "load": 6,
    "ended": 7,
}
STARTING, TRAIN, ENDED = PHASES["starting"], PHASES["train"], PHASES["ended"]
UNKNOWN_STEP = -1
