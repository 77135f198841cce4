"""The system calls that a submission may not make. The filter is set inside the sandbox, before any
code of a student.

With no other process and no other thread, the limits on one process are the limits on all, and
the kernel keeps them: nothing outside has to count. The rest closes what a namespace leaves
open: sockets that no network namespace holds back (AF_VSOCK), memory that no limit counts, and
the calls through which kernels have been broken.

Here, a filter is a program for Linux of pairs of instructions: compare a number, and return.
"""

import ctypes
import errno
import os
import platform
import struct

NUMBERS = {  # asm/unistd_64.h and asm-generic/unistd.h
    "x86_64": {
        # These start another process, thread or program.
        "clone": 56,
        "fork": 57,
        "vfork": 58,
        "execve": 59,
        "execveat": 322,
        # These reach other machines and processes.
        "socket": 41,
        "socketpair": 53,
        # These take memory outside the address space of the process.
        "shmget": 29,
        "semget": 64,
        "msgget": 68,
        "io_setup": 206,
        "mq_open": 240,
        "inotify_init": 253,
        "inotify_init1": 294,
        "memfd_create": 319,
        "vmsplice": 278,
        "setxattr": 188,
        "lsetxattr": 189,
        "fsetxattr": 190,
        # An ordinary program never needs these.
        "ptrace": 101,
        "syslog": 103,
        "pivot_root": 155,
        "chroot": 161,
        "mount": 165,
        "umount2": 166,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "fanotify_init": 300,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
        "setns": 308,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "bpf": 321,
        "userfaultfd": 323,
    },
    "aarch64": {
        "clone": 220,
        "execve": 221,
        "execveat": 281,
        "socket": 198,
        "socketpair": 199,
        "io_setup": 0,
        "inotify_init1": 26,
        "mq_open": 180,
        "msgget": 186,
        "semget": 190,
        "shmget": 194,
        "memfd_create": 279,
        "vmsplice": 75,
        "setxattr": 5,
        "lsetxattr": 6,
        "fsetxattr": 7,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "chroot": 51,
        "unshare": 97,
        "syslog": 116,
        "ptrace": 117,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "perf_event_open": 241,
        "fanotify_init": 262,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
        "setns": 268,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "bpf": 280,
        "userfaultfd": 282,
    },
}
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
# From 424 on, numbers are the same on all processors, and libraries can do without those calls. To
# the submission this is a Linux 5.0, without io_uring, clone3, statmount or memfd_secret.
NEWER = 424

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_KILL, _ERROR, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000  # linux/seccomp.h
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h


def is_known():
    """Return whether there is a filter for this machine."""
    return platform.system() == "Linux" and platform.machine() in NUMBERS


def program(machine):
    """Return the filter in the format of the kernel.

    Parameters
    ----------
    machine : str
        A key of `NUMBERS`.

    Returns
    -------
    bytes
        8 for each instruction.
    """

    def instruction(code, value, skip_if=0, skip_unless=0):
        return struct.pack("HBBI", code, skip_if, skip_unless, value)

    parts = [
        instruction(_LOAD, _ARCHITECTURE),
        instruction(_EQUAL, ARCHITECTURES[machine], skip_if=1),
        instruction(_RETURN, _KILL),
        instruction(_LOAD, _NUMBER),
        instruction(_AT_LEAST, NEWER, skip_unless=1),
        instruction(_RETURN, _ERROR | errno.ENOSYS),
    ]
    for number in NUMBERS[machine].values():
        parts += [
            instruction(_EQUAL, number, skip_unless=1),
            instruction(_RETURN, _ERROR | errno.EPERM),
        ]
    return b"".join([*parts, instruction(_RETURN, _ALLOW)])


def forbid():
    """Forbid the system calls to this process; nothing can allow them again.

    Raises
    ------
    OSError
        If there is no filter for this machine, or the kernel takes none.
    """
    if not is_known():
        raise OSError(f"no filter of system calls for {platform.system()} on {platform.machine()}")
    code = program(platform.machine())
    buffer = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HP", len(code) // 8, ctypes.addressof(buffer))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for *numbers, pointer in (
        (_NO_NEW_PRIVS, 1, None),
        (_SET_SECCOMP, _FILTER, ctypes.create_string_buffer(described, len(described))),
    ):
        if prctl(numbers[0], ctypes.c_ulong(numbers[1]), pointer, None, None):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
