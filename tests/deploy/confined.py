"""Runs a program with no system calls but those on its standard input, as systemd would: confined.py PROGRAM ARGUMENT… <names

What is not among them is refused with EPERM (SystemCallErrorNumber), by a filter of the kernel's seccomp.
"""

import ctypes
import os
import sys

ERRNO_EPERM = 0x00050001
ALLOW = 0x7FFF0000
UNKNOWN = -1
PR_SET_NO_NEW_PRIVS = 38


def main(program, *arguments):
    names = sys.stdin.read().split()
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(ERRNO_EPERM)))
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        # Those of other machines have no number here, or a negative one.
        if number != UNKNOWN:
            seccomp.seccomp_rule_add(rules, ctypes.c_uint32(ALLOW), ctypes.c_int(number), 0)
    assert seccomp.seccomp_load(rules) == 0
    os.execv(program, [program, *arguments])


main(*sys.argv[1:])
