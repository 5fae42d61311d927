"""Fuzz one target for a while: `python tests/fuzz/fuzz.py parser SECONDS FOLDER`.

Needs an environment with atheris, which `make fuzz` creates. The corpus starts from the project's
own files, in FOLDER/TARGET. It also receives inputs that broke an invariant, as `found-…` (the
first, second, fourth … one for each place), and those that ended the process, as `crash-…`,
`timeout-…` or `oom-…`. `fuzz.py TARGET FILE` runs one of them again.
"""

import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["toolmd"]):
    import expression_target
    import parser_target
    import reply_target

import fuzz_seeds

MOST_CPU_S = 1.0
"""The longest processor time for one input, in seconds."""
MOST_BYTES = {"parser": 6_000, "replies": 8_192, "expressions": 512}
TARGETS = {
    "parser": (parser_target.one, fuzz_seeds.of_parser, fuzz_seeds.words_of_parser),
    "replies": (reply_target.one, fuzz_seeds.of_replies, fuzz_seeds.words_of_replies),
    "expressions": (
        expression_target.one,
        fuzz_seeds.of_expressions,
        fuzz_seeds.words_of_expressions,
    ),
}


def main(target: str, *rest: str) -> None:
    """Run a target on one file, or for a number of seconds."""
    one, seeds, words = TARGETS[target]
    if len(rest) == 1:
        one(Path(rest[0]).read_bytes())
        return
    seconds, folder = int(rest[0]), Path(rest[1]) / target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for finding in folder.glob("*-*"):
        finding.unlink()
    for number, seed in enumerate(seeds()):
        (corpus / f"seed-{number:04}").write_bytes(seed)
    known = [word.encode() for word in words()]
    listed = folder / "words"
    listed.write_text("".join(f'"{_escaped(word)}"\n' for word in known if word))
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MOST_BYTES[target]}",
        f"-dict={listed}",
        f"-artifact_prefix={folder}/",
        # Hangs are found by the clock, so both are long enough for a busy machine.
        "-timeout=120",
        "-report_slow_units=120",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        str(corpus),
    ]

    atheris.Setup([sys.argv[0], *options], _surviving(one, folder))
    atheris.Fuzz()


def _surviving(one: Callable[[bytes], None], folder: Path) -> Callable[[bytes], None]:
    """Continue after a broken invariant, and keep the inputs that broke it."""
    places: Counter[str] = Counter()

    def run(data: bytes) -> None:
        try:
            began = time.process_time()
            one(data)
            took = time.process_time() - began
            assert took < MOST_CPU_S, f"took {took:.1f} s"
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            frames = traceback.extract_tb(error.__traceback__)[-3:]
            place = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
            places[place] += 1
            times = places[place]
            if times & (times - 1) == 0:
                name = f"found-{list(places).index(place) + 1:03}-{times}"
                (folder / name).write_bytes(data)
                print(f"{name} {place}\n  {error!r:.400}", flush=True)

    return run


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main(*sys.argv[1:])
