"""Pack build/site into one file for a release: the same pages give the same bytes.

The language model is left out: it is twice as large as all the rest, and the figures say that it is
missing.
"""

import sys
import zipfile
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "build" / "site"


def main(target, site=SITE):
    """Write the archive `target`; its top folder is the site, named like the archive."""
    target = Path(target)
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(site.rglob("*")):
            if path.is_file() and not path.match("model/part-*.bin"):
                # An entry made from a name alone has the earliest date of the format.
                entry = zipfile.ZipInfo(f"{target.stem}/{path.relative_to(site).as_posix()}")
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(*sys.argv[1:])
