"""Show the built site on this machine. See `make serve`."""

import functools
import http.server
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "build" / "site"


def main(port):
    """Serve ``build/site`` until Ctrl+C; return the exit status."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:
        print(f"Port {port} is taken. Choose another: make serve PORT={port + 1}")
        return 1
    print(f"The course is at http://localhost:{port} (Ctrl+C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
