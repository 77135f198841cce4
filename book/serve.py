"""Show the built site on this machine. See `make serve`."""

import functools
import http.server
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "build" / "site"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of the site, and its own page where there is none."""

    def send_error(self, code, message=None, explain=None):
        """Say with the page of the course that an address leads nowhere."""
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


def main(port):
    """Serve ``build/site`` until Ctrl+C; return the exit status."""
    handler = functools.partial(Handler, directory=str(SITE))
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
