"""Helpers for servers that a test starts: free ports, and waiting until a server answers."""

import socket
import time
import urllib.request


def wait(done, seconds=300):
    """Wait until a condition is true."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "no answer"
        time.sleep(0.2)


def free_ports(number):
    """Return free ports of this machine."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def wait_for(url, running, log):
    """Wait until a server that was just started answers at a URL.

    A server may name its address in a file before it listens there, so only an answer counts.
    """

    def answers():
        assert running.poll() is None, log.read_text()[-3000:]
        try:
            return urllib.request.urlopen(url, timeout=5)
        except OSError:
            return False

    wait(answers)
