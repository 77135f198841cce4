"""Make small changes to the modules of attn, and check that the tests notice them.

`make mutation` runs it, or `make mutation MODULES="masks tokenizer.byte_level"`, and with SAMPLE=10
only every tenth mutant of each module, always the same ones. mutmut changes one operator, constant,
comparison, argument or default at a time, in a copy, and runs the tests of that module that reach
it. They must kill 95% of these mutants. Each of the others must stand in `survivors.toml` beside
this file, with the reason why no test can kill it.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
# These modules are mutated, each with its own tests. Tests of modules that import it do not count.
TESTS = {
    "masks": ["test_masks", "test_reference_length"],
    "_checks": [
        *("test_checks", "test_reference", "test_reference_multi_head", "test_masks"),
        *("test_cache", "test_transformer", "test_attention"),
    ],
    "attention": [
        *("test_attention", "test_multi_head", "test_cache", "test_registered"),
        *("test_linear", "test_torch_weights"),
    ],
    "positions": ["test_positions", "test_registered", "test_unequal_rows", "test_checks"],
    "mixers": [
        *("test_mixers", "test_mixers_softmax", "test_mixers_latent"),
        *("test_recurrent_mixers", "test_state"),
    ],
    "layers": ["test_layers", "test_torch_weights"],
    "experts": ["test_experts"],
    "cache": ["test_cache", "test_unequal_rows", "test_captured", "test_transformer"],
    "decoding": ["test_decoding"],
    "recurrent": ["test_recurrent"],
    "transformer": [
        *("test_transformer", "test_registered", "test_unequal_rows"),
        *("test_captured", "test_checkpoint", "test_quantised", "test_torch_weights"),
    ],
    "training": ["test_training", "test_training_loop", "test_checks"],
    "io": ["test_io"],
    "tokenizer": ["test_tokenizer", "test_tokenizer_pretrained"],
    "metrics": ["test_metrics"],
    "applications": [
        *("test_applications", "test_translation", "test_translation_facts"),
        *("test_translation_lines", "test_no_float64"),
        *("test_question_answering", "test_summarization", "test_visual_question"),
    ],
}
# The slow tests of these modules are left out: they would train for seconds for each mutant.
QUICK = {"applications"}
# Files outside the selected tests that those tests import.
SHARED = [
    *("tests/__init__.py", "tests/conftest.py", "tests/machine.py", "book/_ext/vendor.py"),
    *("Makefile", "tests/refusals.py"),
    *("tests/core/__init__.py", "tests/core/helpers.py"),
    *("tests/core/no_float64.py", "tests/core/other_device.py"),
]
LEAST = 0.95
# The verdict for each exit status of pytest. "Stopped" means that the tests exceeded a time limit.
STOPS = (signal.SIGXCPU, signal.SIGPROF)
FATES = {1: "killed", -signal.SIGSEGV: "killed", **{-stop: "stopped" for stop in STOPS}}


def main(arguments):
    parser = argparse.ArgumentParser(prog="tests/mutation", allow_abbrev=False)
    parser.add_argument("modules", nargs="*", default=list(TESTS))
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="try every Nth mutant")
    cores = os.cpu_count() or 1
    parser.add_argument("--processes", type=int, default=cores, metavar="N", help="at a time")
    options = parser.parse_args(arguments)
    modules, every = options.modules, options.sample
    for module in modules:
        if whole(module) not in TESTS or not find_files(module):
            sys.exit(f"modules: expected some of {', '.join(TESTS)}, got {module}")
    for name, number in (("sample", every), ("processes", options.processes)):
        if number < 1:
            sys.exit(f"{name}: expected at least 1, got {number}")
    BUILD.mkdir(exist_ok=True)
    outcomes = {}
    for together in group(modules):
        tests = " and ".join(TESTS[whole(together[0])])
        print(f"\n{', '.join(together)}: the mutants that the tests in {tests} kill", flush=True)
        folder = TemporaryDirectory(prefix="mutation-", dir=BUILD, ignore_cleanup_errors=True)
        with folder as work, contextlib.chdir(work):
            outcomes |= try_mutants(together, every, options.processes)
    run = tuple(f"attn.{module}." for module in modules)
    argued = {mutant for mutant in read_argued() if mutant[0].startswith(run)}
    if every > 1:  # Only a whole run can tell that an argued mutant survives no more.
        argued &= {mutant for of_file in outcomes.values() for mutant, _ in of_file}
    sys.exit(report(outcomes, argued))


def whole(module):
    """Return the module that contains a part such as ``tokenizer.byte_level``."""
    return module.partition(".")[0]


def find_files(module):
    """Return the files of a module or of a part of it, relative to the root of the repository."""
    source = ROOT.joinpath("attn", *module.split("."))
    paths = source.rglob("*.py") if source.is_dir() else [source.with_suffix(".py")]
    return sorted(str(path.relative_to(ROOT)) for path in paths if path.is_file())


def group(modules):
    """Group the modules by their tests: modules with the same tests share a run of mutmut.

    Each run imports PyTorch four times and runs all the tests twice before its first mutant.
    """
    lists = {}
    for module in modules:
        of_whole = whole(module)
        lists.setdefault((*TESTS[of_whole], of_whole in QUICK), []).append(module)
    return list(lists.values())


def try_mutants(modules, every, processes):
    """Run the tests of modules on every `every`-th mutant; return the outcomes, by file."""
    files = prepare(modules)
    names = []
    for module in modules:
        names += [name for file in find_files(module) for name in list_mutants(file)][::every]
    fixed = {"PYTHONPATH": str(HERE), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **fixed}
    mutmut = Path(sys.executable).with_name("mutmut")
    command = [mutmut, "run", "--max-children", str(processes)]
    # Without names, mutmut tries all mutants.
    command += names if every > 1 else []
    if subprocess.run(command, env=environment, check=False).returncode:
        # mutmut does not say which test failed.
        again = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "mutation_hooks", "tests"]
        environment["MUTANT_UNDER_TEST"] = "stats"
        subprocess.run(again, cwd="mutants", env=environment, check=False)
        sys.exit("No mutant was tried: the tests must pass without any.")
    return {file: found for file in files if (found := list(read_outcomes(file, names)))}


def prepare(modules):
    """Create in this folder what mutmut copies and its settings; return the files to mutate."""
    module = whole(modules[0])
    tests = [f"tests/core/{name}.py" for name in TESTS[module]]
    for name in ("attn", "conftest.py", *SHARED, *tests):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(ROOT / name)
    files = [file for module in modules for file in find_files(module)]
    settings = {
        "source_paths": ["attn"],
        "only_mutate": files,
        "also_copy": ["conftest.py", "book", "Makefile"],
        "pytest_add_cli_args_test_selection": tests,
        "pytest_add_cli_args": ["-p", "mutation_hooks", *(["-m", "not slow"] * (module in QUICK))],
        # A process in which PyTorch has computed cannot be forked safely.
        "process_isolation": "forkserver",
        # The limit is 5 * (18 s + duration of the tests): it stops an endless loop, but not a busy
        # machine.
        "timeout_constant": 18,
        "timeout_multiplier": 5,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = "\n".join([text, "[tool.mutmut]", *lines, ""])
    Path("pyproject.toml").write_text(text, encoding="utf-8")
    return files


def list_mutants(file):
    """Return mutmut's names for the mutants of a file, in the order of the file."""
    # mutmut's parser is imported here, since the tests of the other functions do not need it.
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils import format_utils

    mutated = mutate_file_contents(file, Path(file).read_text(encoding="utf-8"))
    return [format_utils.get_mutant_name(Path(file), name) for name in mutated.mutant_names]


def read_outcomes(file, names):
    """Yield ((function, original, changed), outcome) for each named mutant."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.utils import format_utils

    data = SourceFileMutationData(path=file)
    data.load()
    for name, code in data.exit_code_by_key.items():
        if name not in names:
            continue
        function, of_class = format_utils.orig_function_and_class_names_from_key(name)
        parts = filter(None, (format_utils.get_module_from_key(name), of_class, function))
        change = get_diff_for_mutant(name, path=file).split("\n")[3:]
        original, changed = (
            " ".join(line[1:].strip() for line in change if line.startswith(sign)) for sign in "-+"
        )
        yield (".".join(parts), original, changed), FATES.get(code, "survived")


def read_argued():
    """Return the mutants that `survivors.toml` gives a reason for."""
    entries = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8"))
    return {
        (entry["function"], entry["original"], changed)
        for entry in entries.get("argued", [])
        for changed in entry["mutants"]
    }


def report(outcomes, argued):
    """Print a table by file; return the exit status: 0, or a text that says what is wrong."""
    row = "{:34}{:>8}{:>8}{:>10}{:>8}{:>12}{:>14}"
    print(row.format("", "mutants", "killed", "stopped", "argued", "not argued", "share killed"))
    everything = [outcome for of_file in outcomes.values() for outcome in of_file]
    for file, of_file in (*outcomes.items(), ("all", everything)):
        fates = Counter(fate for _, fate in of_file)
        survivors = [mutant for mutant, fate in of_file if fate == "survived"]
        excused = sum(mutant in argued for mutant in survivors)
        share = 1 - len(survivors) / max(len(of_file), 1)
        numbers = (len(of_file), fates["killed"], fates["stopped"])
        print(row.format(file, *numbers, excused, len(survivors) - excused, f"{share:.1%}"))

    wrong = []
    if share < LEAST:
        wrong.append(f"{share:.1%} of the mutants were killed; at least {LEAST:.0%} must be.")
    unargued = [mutant for mutant in survivors if mutant not in argued]
    for why, mutants in (
        ("A survivor without a reason", unargued),
        ("Argued, but no survivor", sorted(argued.difference(survivors))),
    ):
        for function, original, changed in mutants:
            wrong.append(f"{why}, in {function}:\n- {original}\n+ {changed}")
    return "\n\n".join(["", *wrong]) if wrong else 0


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("\nInterrupted: nothing was changed outside build/.")
