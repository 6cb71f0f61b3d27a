"""Model folders that somebody changed: bytes flipped, files cut, added or linked, JSON bent, weights replaced."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from rationalize.files import write_manifest

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**63,
        10**30,
        0.5,
        -0.0,
        1e300,
        1e-300,
        "",
        "x",
        "[/x]",
        "../../etc",
    ),
    *([], [1], [[]], {}, {"a": 1}, {"_attn_implementation": "kernels/x"}, "\ud800", "a" * 5000),
)
NEW_FIELDS = {
    "_attn_implementation": "somebody/kernel",
    "auto_map": {"AutoModel": "evil.Evil", "AutoTokenizer": ["evil.Evil", None]},
    "quantization_config": {"quant_method": "gptq"},
    "trust_remote_code": True,
    "_name_or_path": "/etc",
    "dtype": "float16",
}


def list_places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, up to some hundreds."""
    found = [path]
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inside)[:60]:
        found += list_places(each, (*path, key))
    return found[:600]


def change(value: Any, place: tuple[Any, ...], new: Any, *, drop: bool) -> Any:
    if not place:
        return new
    inside = value
    for key in place[:-1]:
        inside = inside[key]
    if drop:
        del inside[place[-1]]
    else:
        inside[place[-1]] = new
    return value


def bend_json(path: Path, rng: random.Random) -> str:
    value = json.loads(path.read_text(encoding="utf-8"))
    place = rng.choice(list_places(value)[1:] or [()])
    new, drop = rng.choice(ODD), rng.random() < 0.2
    bent = change(value, place, new, drop=drop)
    path.write_text(json.dumps(bent), encoding="utf-8", errors="surrogatepass")
    return f"{path.name}: {'drop' if drop else repr(new)[:40]} at {place}"


def add_field(path: Path, rng: random.Random) -> str:
    name = rng.choice(list(NEW_FIELDS))
    value = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**value, name: NEW_FIELDS[name]}), encoding="utf-8")
    return f"{path.name}: new field {name}"


def replace_text(path: Path, rng: random.Random) -> str:
    text = rng.choice(
        [
            "",
            "[" * 100_000,
            "{",
            "null",
            "[]",
            "NaN",
            '{"a": 1, "a": 2}',
            "\x00" * 100,
            "9" * 10_000,
            '"' + "x" * 9_000_000 + '"',
        ]
    )
    path.write_text(text, encoding="utf-8")
    return f"{path.name}: {text[:20]!r}"


def damage_bytes(path: Path, rng: random.Random) -> str:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 8])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    kind = rng.choice(["flip", "cut", "grow"])
    data = data[: rng.randrange(len(data))] if kind == "cut" else data + bytes(9) if kind == "grow" else data
    path.write_bytes(data)
    return f"{path.name}: {kind}"


def bend_weights(path: Path, rng: random.Random) -> str:
    tensors = load_file(path)
    name = rng.choice(sorted(tensors))
    kind = rng.choice(["nan", "inf", "huge", "half", "shape", "drop", "extra", "transpose", "double"])
    tensor = tensors[name].clone()
    if kind in ("nan", "inf", "huge"):
        tensor.view(-1)[rng.randrange(tensor.numel())] = {
            "nan": float("nan"),
            "inf": float("inf"),
            "huge": 3e38,
        }[kind]
    elif kind in ("half", "double"):
        tensor = tensor.to(torch.float16 if kind == "half" else torch.float64)
    elif kind == "shape":
        tensor = torch.zeros(3, 3)
    elif kind == "transpose":
        tensor = tensor.t().contiguous() if tensor.dim() == 2 else tensor.unsqueeze(0)
    if kind == "drop":
        del tensors[name]
    else:
        tensors[f"{name}.more" if kind == "extra" else name] = tensor
    save_file(tensors, path)
    return f"{path.name}: {kind} {name}"


def mutate(folder: Path, rng: random.Random) -> tuple[str, bool]:
    """Change a model folder. Returns what was done, and whether the manifest was made to fit."""
    texts = ["config.json", "encoder.json", "tokenizer/tokenizer.json", "tokenizer/tokenizer_config.json"]
    acts: list[Callable[[], str]] = [
        *[lambda: bend_json(folder / rng.choice(texts), rng)] * 6,
        lambda: add_field(folder / rng.choice(["config.json", "encoder.json", texts[3]]), rng),
        lambda: replace_text(folder / rng.choice(texts), rng),
        *[lambda: bend_weights(folder / "model.safetensors", rng)] * 3,
        lambda: damage_bytes(folder / rng.choice(["model.safetensors", *texts]), rng),
        lambda: _remove(folder / rng.choice(["model.safetensors", "README.md", *texts])),
        lambda: _add(folder, rng),
        lambda: _link(folder / rng.choice(["model.safetensors", "README.md", *texts])),
        lambda: _bend_manifest(folder, rng),
    ]
    done = rng.choice(acts)()
    consistent = not done.startswith("MANIFEST") and rng.random() < 0.75
    if consistent:
        write_manifest(folder)
    return done, consistent


def _remove(path: Path) -> str:
    path.unlink()
    return f"{path.name}: removed"


def _add(folder: Path, rng: random.Random) -> str:
    name = rng.choice(
        ["evil.py", "tokenizer/tokenization.py", "pytorch_model.bin", "tokenizer/x/y.json", ".hidden"]
    )
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("import os")
    return f"{name}: added"


def _link(path: Path) -> str:
    target = path.parent.parent / f"target-{path.name}"
    shutil.move(path, target)
    path.symlink_to(target)
    return f"{path.name}: a link"


def _bend_manifest(folder: Path, rng: random.Random) -> str:
    path = folder / "MANIFEST.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    if rng.random() < 0.5:
        value["files"].pop(rng.choice(sorted(value["files"])))
        path.write_text(json.dumps(value))
        return "MANIFEST.json: one entry less"
    return bend_json(path, rng) if rng.random() < 0.7 else replace_text(path, rng)
