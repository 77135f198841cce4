"""Show the built site on this machine. See `make serve`."""

import errno
import functools
import http.server
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
LAST = 65535  # the highest port number


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the files of the site, and its own error page."""

    def send_error(self, code, message=None, explain=None):
        """Send the course's page for a missing URL."""
        page = SITE / "404.html"
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        text = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


def main(given):
    """Serve ``build/site`` on a port until Ctrl+C; return the exit status."""
    port = int(given) if given.isdecimal() and len(given) <= 5 else 0
    if not 1 <= port <= LAST:
        print(f"PORT: expected a number from 1 to {LAST}, got {given!r}")
        return 1
    handler = functools.partial(Handler, directory=str(SITE))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        is_taken = error.errno == errno.EADDRINUSE
        why = "is taken" if is_taken else f"cannot be used ({error.strerror})"
        other = port + 1 if is_taken and port < LAST else 8000
        print(f"Port {port} {why}. Choose another: make serve PORT={other}")
        return 1
    print(f"The course is at http://localhost:{port} (Ctrl+C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
