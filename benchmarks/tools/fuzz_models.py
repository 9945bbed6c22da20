"""Edit model files in every way that comes to mind, and let 'bayesfloor predict' read them.

    python -m benchmarks.tools.fuzz_models                    # 5000 edits, some minutes
    python -m benchmarks.tools.fuzz_models --cases 300 --seed 7
    python -m benchmarks.tools.fuzz_models --case 1234        # one of them again, with what it says
    python -m benchmarks.tools.fuzz_models --folder models    # keep the models there, or take those that are there

Models of every kind that 'fit' writes, of tables with numbers, categories, dates, text and gaps, are taken apart. An
edit changes one place: a field or an array, whatever these are called, an entry of an array, a byte, a member of the
zip, or its description. Each model then has to predict, with probabilities that are finite and sum to one, or finite
numbers between the ends of their intervals, or to be refused in one short line with exit code 3. A crash, a hang, a
traceback, a warning, an error that nobody expects and memory beyond a bound are faults. Cases run in child processes,
many in each; one that dies is started again behind the case that killed it.
"""

import argparse
import base64
import contextlib
import copy
import csv
import io
import json
import math
import os
import re
import resource
import select
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
from skops import io as skops_io

from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import memory_mib, reset_peak
from benchmarks.tools.pages import ROOT

#: Memory that a case may take beside the process before it, in bytes: so much, and so many times the size of its file.
FREE_BYTES, PER_BYTE = 200 * 2**20, 25
#: Address space of a child beyond what it has at the start, in bytes.
ADDRESS_SPACE = 3 * 2**30
#: Seconds for one case, and letters of an error line.
PATIENCE_S, LONGEST_LINE = 30.0, 1000
#: Values that take the place of a number, a text, and entries of arrays.
NUMBERS = (
    0, 1, -1, 2, 0.5, -0.5, 1e-300, 5e-324, 1e4, 2e7, 1e30, -1e30, 1e155, 1e300, 1e308, -1e308, math.nan, math.inf,
    -math.inf, 2**31, 2**53 + 1, 2**63, -(2**63), 10**30, 10**400, True, False,
)  # fmt: skip
TEXTS = ("", "x", "\x00", "a\nb\x1b[31m\u202e", "x" * 1_000_000, "nan", "%Y", "codes", "dummies", "time", "𝔘" * 300)
DTYPES = ("f2", "f4", "f8", ">f4", ">f8", "i1", "i4", "i8", "u1", "u8", "?", "c8", "U5", "S3", "M8[s]", "O", "V0")
#: Options of a model of numbers, of which intervals are asked for.
OF_NUMBERS = "--target num"


# --- the models


def write_models(folder: Path) -> dict[str, str]:
    """Write tables and models of them; return the table of each model."""
    from bayesfloor.cli import main

    rng = np.random.default_rng(0)
    write_tables(folder, rng)
    table_of = {}
    for table, options in (
        ("mixed", "--target kind --effort fast"),
        ("mixed", "--target kind --effort default"),
        ("mixed", "--target kind --model smartsvm"),
        ("numbers", "--target kind"),
        ("numbers", "--target kind --effort fast"),
        ("letters", "--target kind --effort fast"),
        ("letters", "--target kind --model smartsvm"),
        ("wide", "--target kind --effort fast"),
        ("mixed", f"{OF_NUMBERS} --effort default"),
        ("mixed", "--target kind --model stack --effort fast"),
        ("numbers", "--target kind --model stack --effort fast"),
        ("letters", "--target kind --model stack --effort fast"),
        ("mixed", f"{OF_NUMBERS} --model stack --effort fast"),
    ):
        name = f"{table}-{re.sub('[^a-z]+', '-', options)}.skops"
        command = f"fit {folder / table}.csv --out {folder / name} --quiet --threads 1 {options}"
        with contextlib.redirect_stdout(io.StringIO()):
            if code := main(command.split()):
                raise SystemExit(f"'{command}' exits with {code}")
        table_of[name] = f"{table}.csv"
    stored = [skops_io.load(folder / name) for name in table_of]
    maps = [each["parts"]["feature_map_"]["fields"] for each in stored if "feature_map_" in each["parts"]]
    if not any(each["parts"].get("members_") for each in stored):
        raise SystemExit("no model has members beside its landmarks")
    if all(each["axes"] is None for each in maps):
        raise SystemExit("no model has axes")
    return table_of


def write_tables(folder: Path, rng: np.random.Generator) -> None:
    """Write a table with columns of all kinds, one of numbers, one of letters, and one of many columns."""
    n = 240
    y = rng.integers(0, 3, n)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    rows = [
        {
            "num": f"{rng.normal() + y[i]:.4f}",
            "gap": "" if rng.random() < 0.3 else f"{rng.normal():.3f}",
            "cat": ["red", "green", "blue"][(y[i] + rng.integers(0, 2)) % 3],
            "many": f"v{rng.integers(0, 45)}",
            "when": f"20{rng.integers(10, 24)}-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}",
            "text": " ".join(rng.choice(words, 12)),
            "flag": ["True", "False"][rng.integers(0, 2)],
            "kind": "abc"[y[i]],
        }
        for i in range(n)
    ]
    write_rows(folder / "mixed.csv", rows)
    points = rng.uniform(0, 6, (700, 2))  # squares of a grid: the nearest rows know better than landmarks
    labels = np.floor(points).sum(axis=1).astype(int) % 2
    rows = [{"x": x, "z": z, "kind": f"k{label}"} for (x, z), label in zip(points.tolist(), labels, strict=True)]
    write_rows(folder / "numbers.csv", rows)
    rows = [{"p": "uv"[i % 2], "q": "rst"[(i + i // 7) % 3], "n": i % 5, "kind": 7 + i % 2} for i in range(60)]
    write_rows(folder / "letters.csv", rows)
    values = rng.normal(size=(50, 520)) + (np.arange(50) % 2)[:, None]
    rows = [{**{f"c{j}": f"{v:.3f}" for j, v in enumerate(row)}, "kind": "ab"[i % 2]} for i, row in enumerate(values)]
    write_rows(folder / "wide.csv", rows)


def write_rows(path: Path, rows: list[dict]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


# --- edits


def places(value, path=()):
    """Walk through everything that a model holds; yield the path to each place, the whole first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


def at(value, path):
    """Return what is at the end of a path."""
    for key in path:
        value = value[key]
    return value


def with_part(value, path, part):
    """Return a copy with another part at the end of a path."""
    if not path:
        return part
    inner = list(value) if isinstance(value, tuple) else copy.copy(value)
    inner[path[0]] = with_part(value[path[0]], path[1:], part)
    return tuple(inner) if isinstance(value, tuple) else inner


def pick(rng, options):
    """Return one of some options, as it is."""
    return options[int(rng.integers(len(options)))]


def edited(value, rng, whole):
    """Return something else than a value."""
    other = at(whole, pick(rng, list(places(whole))))
    if rng.random() < 0.15:
        return pick(rng, [None, [], {}, "", 0, (), [value], {"value": value}, str(value)[:9], np.zeros(0), other])
    if isinstance(value, np.ndarray):
        return edited_array(value, rng)
    if isinstance(value, bool | int | float):
        return pick(rng, [*NUMBERS, -value, value + 1, value * 1e6, str(value), np.float64(value), np.array(value)])
    if isinstance(value, str) or value is None:
        return pick(rng, [*TEXTS, *NUMBERS[:4], value, other])
    if isinstance(value, list | tuple):
        return edited_list(list(value), rng, type(value), other)
    changed = dict(value)
    key = pick(rng, list(changed)) if changed else "x"
    what = rng.integers(5)
    if what == 0:
        changed.pop(key, None)
    elif what == 1:
        changed["more"] = other
    elif what == 2 and changed:
        changed[f"{key}x"] = changed.pop(key)
    elif what == 3 and changed:
        first, second = key, pick(rng, list(changed))
        changed[first], changed[second] = changed[second], changed[first]
    else:
        return list(changed.items())
    return changed


def edited_list(value, rng, kind, other):
    """Return a list, or a tuple, that is shorter, longer, in another order, of other values, or of another type."""
    order = rng.permutation(len(value)).tolist()
    options = [value[:-1], value[1:], value + value, value[::-1], [value[i] for i in order], [*value, other], [],
               [other for _ in value], value * 500, dict(enumerate(map(str, value)))]  # fmt: skip
    changed = pick(rng, options)
    if isinstance(changed, dict) or rng.random() < 0.2:
        return tuple(changed) if kind is list else changed
    return kind(changed)


def edited_array(values, rng):
    """Return an array of another type, shape or order, or with other numbers."""
    what = rng.integers(4)
    if what == 0:
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError):
            return values.astype(pick(rng, DTYPES))
        return values
    if what == 1:
        options = [values.T, values.ravel(), values[..., None], values[:0], values[:-1], values[1:], values[::-1],
                   np.repeat(values, 2, axis=0), values[..., :1], np.asfortranarray(values), values.tolist(),
                   rng.permutation(values), np.roll(values, 1), np.zeros((0, *values.shape)), values[None]]  # fmt: skip
        return pick(rng, options)
    with np.errstate(all="ignore"):
        wanted = np.array(pick(rng, [float(number) for number in NUMBERS if number != 10**400])).astype(values.dtype)
    if what == 2 and values.size:
        changed = values.copy()
        changed.flat[rng.integers(0, values.size, int(rng.integers(1, 4)))] = wanted
        return changed
    return np.full_like(values, wanted)


def edited_bytes(contents, rng):
    """Return a file whose bytes, members or description are damaged."""
    what = rng.integers(6)
    if what == 0:
        return contents[: int(rng.integers(len(contents)))]
    if what == 1:
        changed = bytearray(contents)
        for place in rng.integers(0, len(changed), int(rng.integers(1, 20))):
            changed[place] = int(rng.integers(256))
        return bytes(changed)
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        members = {each.filename: archive.read(each) for each in archive.infolist()}
    compression = zipfile.ZIP_STORED
    if what == 2:
        name = pick(rng, list(members))
        part = members[name]
        other = pick(rng, list(members.values()))
        members[name] = pick(rng, [part[: int(rng.integers(len(part)))], b"", part + part, bytes(len(part)), other])
    elif what == 3:
        arrays = [name for name in members if name.endswith(".npy")]
        name = pick(rng, arrays)
        members[name] = edited_header(members[name], rng)
    elif what == 4:
        if rng.random() < 0.5:
            members.pop(pick(rng, list(members)))
        else:
            name, compression = pick(rng, list(members)), zipfile.ZIP_DEFLATED
            members[name] = members[name] + b" " * (30 * 2**20)
    else:
        members["schema.json"] = edited_schema(json.loads(members["schema.json"]), rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return packed.getvalue()


def edited_header(part, rng):
    """Return an array file whose header promises another shape or type."""
    shapes = "(10000000000,)", "(300000000,)", "(2, 10000000000000)", "(-1,)", "()", "(1e3,)", "(0, 99999999999)"
    shape = pick(rng, shapes)
    kind = pick(rng, ["'<U1000000'", "'|O'", "'|V0'", "'<f8'", "[('a', '<f8')]", "'<c16'"])
    old = re.search(rb"'shape': \([^)]*\)" if rng.random() < 0.6 else rb"'descr': '[^']*'", part)
    if old is None:
        return part
    new = f"'shape': {shape}" if b"shape" in old.group() else f"'descr': {kind}"
    header_end = 10 + int.from_bytes(part[8:10], "little")
    header = part[10:header_end].replace(old.group(), new.encode()).rstrip() + b"\n"
    return part[:8] + len(header).to_bytes(2, "little") + header + part[header_end:]


def edited_schema(schema, rng):
    """Return a description in which a node is another, refers to others, or is nested without end."""
    nodes = [path for path in places(schema) if isinstance(at(schema, path), dict) and "__loader__" in at(schema, path)]
    path = pick(rng, nodes)
    node, other = at(schema, path), at(schema, pick(rng, nodes))
    what = rng.integers(8)
    if what == 0:
        key = pick(rng, ["__loader__", "__class__", "__module__", "__id__", "content", "file", "type", "key_types"])
        names = [
            "OperatorFuncNode",
            "FunctionNode",
            "ObjectNode",
            "TreeNode",
            "os",
            "system",
            "numpy",
            "matrix",
            "bytes",
            "int",
        ]
        values = [None, 0, "", "x" * 10**6, *names, [], {}, schema["__id__"], other.get(key)]
        node = {**node, key: pick(rng, values)}
    elif what == 1:
        node = {**node, "__id__": schema["__id__"]}  # the whole inside itself
    elif what == 2:
        node = {key: value for key, value in node.items() if key != pick(rng, list(node))}
    elif what == 3:
        node = laughing(int(rng.integers(5, 60)))
    elif what == 4:
        node = "(nested)"
    elif what == 5:
        contents = "[" * 10**5, "[" * 900 + "]" * 900, "1" * 5000, "NaN", "-Infinity", "1e999"
        node = {**node, "content": pick(rng, contents)}
    elif what == 6:
        arrays = [each for each in (at(schema, each) for each in nodes) if "file" in each]
        again = {key: value for key, value in pick(rng, arrays).items() if key != "__id__"}
        node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [again] * 3000}
    else:
        node = other
    schema = with_part(schema, path, node)
    if rng.random() < 0.05:
        schema = {**schema, "protocol": pick(rng, [-1, 10**9, True, None, "0", 0, 1.5])}
    depth = int(rng.integers(100, 3000))
    opened = '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    return json.dumps(schema).replace('"(nested)"', opened * depth + "]}" * depth).encode()


def laughing(depth):
    """Return a list of two lists that are the same, each of two that are the same, and so on."""
    node = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": '"ha"', "__id__": 10**15}
    for level in range(depth):
        again = {key: node[key] for key in ("__class__", "__module__", "__loader__", "__id__")}
        node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode",
                "content": [node, again], "__id__": 10**15 + 1 + level}  # fmt: skip
    return node


def make_case(number, seed, folder, names):
    """Return which model an edit is of, where it is, and the contents of the file."""
    rng = np.random.default_rng((seed, number))
    name = names[number % len(names)]
    contents = (folder / name).read_bytes()
    if rng.random() < 0.25:
        return name, "bytes", edited_bytes(contents, rng)
    stored = skops_io.loads(contents)
    paths = list(places(stored))
    # a file has many categories and few numbers: first the kind of place, then one of them
    kinds = {}
    for path in paths:
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    path = pick(rng, kinds[pick(rng, list(kinds))])
    changed = with_part(stored, path, edited(at(stored, path), rng, stored))
    where = ".".join(map(str, path))
    try:
        return name, where, bytes(skops_io.dumps(changed))
    except Exception as error:  # what skops cannot write cannot come in a file
        return name, f"{where} ({type(error).__name__})", contents


# --- running them


def run_cases(folder, table_of, seed, numbers):
    """Run cases in this process, and write a line of JSON before and after each."""
    from bayesfloor.cli import main

    names, results = list(table_of), sys.stdout
    for name in names:  # kernels are loaded, and what they need in memory
        judge(main, folder / name, folder / table_of[name], more_for(name))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ADDRESS_SPACE, resource.RLIM_INFINITY))
    for number in numbers:
        name, where, contents = make_case(number, seed, folder, names)
        model = folder / f"case-{os.getpid()}.skops"
        model.write_bytes(contents)
        print(json.dumps({"case": number, "model": name, "where": where}), file=results, flush=True)
        allowed = FREE_BYTES + PER_BYTE * len(contents)
        del contents
        reset_peak()
        before = memory_mib("VmHWM")
        started = time.monotonic()
        fault, code, said = judge(main, model, folder / table_of[name], more_for(name))
        taken = memory_mib("VmHWM") - before
        if not fault and 2**20 * taken > allowed:
            fault = f"{taken:.0f} MB"
        told = {"fault": fault, "code": code, "said": said, "mb": taken, "s": time.monotonic() - started}
        print(json.dumps(told), file=results, flush=True)
        model.unlink()


def more_for(name):
    """Return what 'predict' is asked for beside predictions."""
    return ["--confidence", "0.8"] if "-target-num-" in name else []


def judge(main, model, table, more=()):
    """Let a model predict; return what is wrong with that, the exit code, and the last line of stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["predict", str(model), str(table), "--threads", "1", *more])
    lines = err.getvalue().splitlines()
    said = lines[-1] if lines else ""
    complaints = [line for line in lines if line.startswith("bayesfloor: ")]
    if any("warning:" in line for line in complaints) or "Traceback" in err.getvalue():
        return "warned", code, said
    if code == 0:
        return wrong_predictions(out.getvalue(), table), code, said[:300]
    if code != 3 or out.getvalue() or len(complaints) != 1:
        return f"exit code {code}, {len(complaints)} errors", code, said[:300]
    if "unexpected" in said:
        return "unexpected", code, said[:300]
    return "long line" if len(said) > LONGEST_LINE else "", code, said[:300]


def wrong_predictions(text, table):
    """Say what is wrong with predictions."""
    csv.field_size_limit(2**30)
    head, *rows = list(csv.reader(io.StringIO(text)))
    with table.open() as file:
        n_rows = sum(1 for _ in file) - 1
    if len(rows) != n_rows:
        return f"{len(rows)} predictions for {n_rows} rows"
    if head[2:] == ["low", "high"]:
        predicted, low, high = np.array([row[1:] for row in rows], float).T
        return "" if np.isfinite([low, predicted, high]).all() and (low <= high).all() else "intervals that are none"
    shares = np.array([row[2:] for row in rows], float)
    if shares.shape[1] != len(head) - 2 or not np.isfinite(shares).all():
        return "probabilities that are none"
    if shares.min() < 0 or np.abs(shares.sum(axis=1) - 1).max() > 1e-5 * shares.shape[1]:
        return "probabilities that do not sum to 1"
    return ""


def run_in_children(folder, table_of, seed, numbers):
    """Yield a dict for each case; a child that dies or hangs is started again behind the case at fault."""
    waiting = list(numbers)
    while waiting:
        job = {"folder": str(folder), "tables": table_of, "seed": seed, "numbers": waiting[:500]}
        packed = base64.b64encode(json.dumps(job).encode()).decode()
        command = [sys.executable, "-m", "benchmarks.tools.fuzz_models", "--child", packed]
        with (
            (folder / "stderr").open("w") as stderr,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT) as child,
        ):
            case, first = None, True
            while True:
                patience = PATIENCE_S * (10 if first else 1)
                ready = select.select([child.stdout], [], [], patience)[0]
                line = child.stdout.readline() if ready else ""
                if not line:
                    if not ready:
                        child.kill()
                    code = child.wait()
                    if case is not None or (code and not ready):
                        yield {**(case or {}), "fault": "hang" if not ready else f"died with {code}", "code": code}
                    elif code:
                        raise SystemExit(f"the child cannot start:\n{(folder / 'stderr').read_text()}")
                    break
                first, told = False, json.loads(line)
                if "case" in told:
                    case = told
                    waiting.remove(told["case"])
                else:
                    yield {**case, **told}
                    case = None


def main_of_fuzzer():
    """Run many cases, and count what came of them."""
    parser = parser_of(__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run one case only, in this process")
    parser.add_argument("--folder", type=Path, help="where models are, or are written")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        job = json.loads(base64.b64decode(given.child))
        run_cases(Path(job["folder"]), job["tables"], job["seed"], job["numbers"])
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) if given.folder is None else given.folder.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "tables.json").exists():
            (folder / "tables.json").write_text(json.dumps(write_models(folder)))
        table_of = json.loads((folder / "tables.json").read_text())
        if given.case is not None:
            run_cases(folder, table_of, given.seed, [given.case])
            return 0
        counts, faults, most, slowest = Counter(), [], 0.0, 0.0
        started = time.monotonic()
        for told in run_in_children(folder, table_of, given.seed, range(given.cases)):
            if told["fault"]:
                faults.append(told)
                print(json.dumps(told)[:600], flush=True)
            counts["fault" if told["fault"] else "refused" if told["code"] == 3 else "predicted"] += 1
            if counts.total() % 250 == 0:
                print(f"{counts.total()} edits in {time.monotonic() - started:.0f} s: {dict(counts)}", flush=True)
            most, slowest = max(most, told.get("mb", 0.0)), max(slowest, told.get("s", 0.0))
    kinds = Counter(each["fault"] for each in faults)
    print(f"{given.cases} edits in {time.monotonic() - started:.0f} s: {dict(counts)}; faults: {dict(kinds)}")
    print(f"largest memory of a case {most:.0f} MB, slowest case {slowest:.1f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main_of_fuzzer())
