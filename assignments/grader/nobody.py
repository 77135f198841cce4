"""Runs inside the sandbox before all else where the grader is root: becomes nobody.

Within a user namespace of root, whoever the submission is shown as would be root to the kernel,
and the owner of the machine's own devices. So root makes no such namespace: it sets up the walls
as itself, and this program gives up all it is before it starts the one that runs student code.
"""

import ctypes
import os
import struct
import sys

NOBODY = 65534
_CAPABILITIES = struct.pack("Ii", 0x20080522, 0)  # linux/capability.h: version 3, this process


def main(command):
    """Become nobody and start a program of Python, unless nobody could not read it all."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # Of the right to become nobody one set is left, the inheritable.
    if ctypes.CDLL(None).capset(_CAPABILITIES, bytes(24)):
        sys.exit("root cannot give up its capabilities here")
    # What nobody cannot read would be missed one import at a time, by students.
    needed = [sys.executable, os.path.dirname(os.__file__), os.__file__]
    if os.path.isdir("/packages"):
        needed += [entry.path for entry in os.scandir("/packages")]
    for place in needed:
        if not os.access(place, os.X_OK if place == sys.executable else os.R_OK):
            sys.exit(
                "the grader is root, student code runs as an unprivileged user, and that one "
                f"cannot read {os.path.basename(place)}, which must be readable by all"
            )
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    main(sys.argv[1:])
