"""Runs first inside the sandbox: limits the files there, and gives up all rights.

bubblewrap bounds the bytes of the folder in memory and not the number of files, and an empty file
takes a kilobyte of the kernel's memory, which no limit on a process counts. So this program keeps
of bubblewrap's rights the one to say so, and gives all up before it starts what runs student code.

Within a user namespace of root, whoever the submission is shown as would be root to the kernel,
and the owner of the machine's own devices. So root makes no such namespace: it sets up the walls
as itself, and here it becomes another user.
"""

import ctypes
import os
import struct
import sys

NOBODY = 65534
MOST_FILES = 4096  # folders and links included
_CAPABILITIES = struct.pack("Ii", 0x20080522, 0)  # linux/capability.h: version 3, this process
_REMOUNT, _NO_SUID_NO_DEVICES = 32, 2 | 4  # linux/mount.h


def main(command):
    """Give up every right and start a Python program, or say what prevents it."""
    libc = ctypes.CDLL(None, use_errno=True)
    limit = f"nr_inodes={MOST_FILES}".encode()
    if libc.mount(None, b"/tmp", None, ctypes.c_ulong(_REMOUNT | _NO_SUID_NO_DEVICES), limit):
        sys.exit(f"the number of files cannot be limited: {os.strerror(ctypes.get_errno())}")
    is_root = os.getuid() == 0
    if is_root:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if libc.capset(_CAPABILITIES, bytes(24)):
        sys.exit("capabilities cannot be given up here")
    # Otherwise students would meet a file that cannot be read as an import that fails.
    needed = [sys.executable, os.path.dirname(os.__file__), os.__file__]
    if os.path.isdir("/packages"):
        needed += [entry.path for entry in os.scandir("/packages")]
    for place in needed:
        if is_root and not os.access(place, os.X_OK if place == sys.executable else os.R_OK):
            sys.exit(
                "the grader is root, student code runs as an unprivileged user, and that one "
                f"cannot read {os.path.basename(place)}, which must be readable by all"
            )
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    main(sys.argv[1:])
