"""Which runtime reads a text fastest in 8 bits, in one run with torch: `python -m benchmarks.runtimes`.

One encoder (MiniLM) reads the same batches, in turns, on one thread. Beside each time stands how far its vectors are
from those of torch in single precision. OpenVINO and torchao are measured where they are installed.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch

from benchmarks.speed.models import build_selector
from rationalize.data.planted import make_corpus
from rationalize.models.onnx_encoder import INPUTS, Graph
from rationalize.models.onnx_export import write_graph
from rationalize.models.transformer_encoder import TransformerEncoder

Read = Callable[[], np.ndarray]
SHAPES = ((32, 24), (8, 256))
"""Rows and pieces: of short posts, and of paragraphs."""


def make_inputs(encoder: TransformerEncoder, rows: int, pieces: int) -> dict[str, torch.Tensor]:
    """Make a batch of random pieces, none of them hidden."""
    chance = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 20_000, (rows, pieces), generator=chance)
    places = torch.arange(pieces).expand(rows, pieces).contiguous()
    given = (encoder.embed(ids).detach(), torch.ones(rows, pieces), torch.zeros_like(ids), places)
    return dict(zip(INPUTS, given, strict=True))


def list_readers(
    encoder: TransformerEncoder, folder: Path, given: dict[str, torch.Tensor]
) -> Iterator[tuple[str, Read]]:
    """Yield every way of reading the batch, torch in single precision first."""
    single, rows8, batch8 = (folder / f"{name}.onnx" for name in ("single", "rows8", "batch8"))
    if not single.exists():
        from onnxruntime.quantization import quantize_dynamic

        write_graph(encoder, single)
        write_graph(encoder, rows8, int8=True)
        quantize_dynamic(single, batch8, per_channel=True)
    yield "torch, fp32", lambda: read_with_torch(encoder, given)
    for name, path in (
        ("ONNX Runtime, fp32", single),
        ("ONNX Runtime, int8 by row (export --int8)", rows8),
        ("ONNX Runtime, int8 by batch (quantize_dynamic)", batch8),
    ):
        graph = Graph(path)
        yield name, lambda graph=graph: graph.run(("hidden",), given)[0].numpy()
    if find_spec("openvino"):
        for name, path in (("OpenVINO, fp32", single), ("OpenVINO, int8 by batch", batch8)):
            yield name, load_openvino(path, given)
    if find_spec("torchao"):
        yield "torchao, int8 by row, compiled", load_torchao(encoder, given)


@torch.no_grad()
def read_with_torch(encoder: TransformerEncoder, given: dict[str, torch.Tensor]) -> np.ndarray:
    """Read the batch with the encoder's own model."""
    embedded, attention, types, places = (given[name] for name in INPUTS)
    found = encoder.model(
        inputs_embeds=embedded, attention_mask=attention.long(), token_type_ids=types, position_ids=places
    )
    return found[0].numpy()


def load_openvino(path: Path, given: dict[str, torch.Tensor]) -> Read:
    """Compile a graph by OpenVINO for one thread, as exact as it was written."""
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(
        path, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    )
    # An input has several names where the graph only passes it on.
    names = [next(name for name in each.get_names() if name in given) for each in compiled.inputs]
    arrays = [given[name].contiguous().numpy() for name in names]
    return lambda: np.array(compiled(arrays)["hidden"])


def load_torchao(encoder: TransformerEncoder, given: dict[str, torch.Tensor]) -> Read:
    """Round a copy of the encoder by torchao, and compile it, without which it is slower than before."""
    import copy

    from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

    rounded = copy.deepcopy(encoder)
    quantize_(rounded.model, Int8DynamicActivationInt8WeightConfig())
    rounded.model = torch.compile(rounded.model)
    return lambda: read_with_torch(rounded, given)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    examples = make_corpus(seed=0, sizes={"train": 8, "dev": 8})["train"]
    encoder = next(
        each
        for each in build_selector(arguments.encoder, examples, 256).method.modules()
        if isinstance(each, TransformerEncoder)
    ).eval()
    print(
        "| rows × pieces | reader | ms | times as fast as torch | far from torch |\n|---|---|---:|---:|---:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows, pieces in SHAPES:
            show(encoder, Path(folder), rows, pieces, arguments.rounds)


def show(encoder: TransformerEncoder, folder: Path, rows: int, pieces: int, rounds: int) -> None:
    """Measure the readers in turns, and print their lines."""
    readers = dict(list_readers(encoder, folder, make_inputs(encoder, rows, pieces)))
    vectors = {name: read() for name, read in readers.items()}  # the first time is not measured
    taken: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, read in readers.items():
            start = time.perf_counter()
            read()
            taken[name].append(time.perf_counter() - start)
    (first, exact), *_ = vectors.items()
    base = statistics.median(taken[first])
    for name, found in vectors.items():
        seconds = statistics.median(taken[name])
        far = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
        print(f"| {rows} × {pieces} | {name} | {1000 * seconds:.1f} | {base / seconds:.2f} | {far:.1e} |")


if __name__ == "__main__":
    main()
