"""The language model in the page: the kernel that multiplies its packed matrices.

`attn_course/widgets/packed.ts` is AssemblyScript. Its compiler comes from npm, pinned and checksummed,
and what it makes is kept until the source or the compiler is another.
"""

from pathlib import Path

from vendor import made

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "book" / "kernel"
SOURCE = ROOT / "attn_course" / "widgets" / "packed.ts"


def kernel(*, kept_only=False):
    """Return the path of the compiled kernel.

    Parameters
    ----------
    kept_only : bool, default False
        Whether it is refused if it is not compiled yet.

    Returns
    -------
    Path

    Raises
    ------
    VendorError
        If the compiler cannot be fetched.
    """
    inputs = [COMPILER / name for name in ("package.json", "package-lock.json")]
    options = ["-O3", "--runtime", "stub", "--noAssert", "--importMemory", "--enable", "simd"]
    command = ["assemblyscript/bin/asc.js", SOURCE.name, "-o", "out.wasm", *options]
    return made("packed", ".wasm", [*inputs, SOURCE], command, kept_only=kept_only)
