"""What methods state of their cost, against encoders that are counted while they run."""

from __future__ import annotations

import pytest
import torch
from contract import SETTINGS, Setting, counted_passes, for_phase, losses_of, mark_slow, turns_of

from helpers import add_slow, tiny_corpus, tiny_model, tiny_run
from rationalize.errors import ConfigError
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import list_names, method_class
from rationalize.runs.presets import fit_to_method
from rationalize.training.phases import build_phases, collect_passes
from rationalize.types import Example

APART = {"selection": {"shared_encoder": False}}
OPTIONS = [
    *(
        (name, APART)
        for name in ("un_rat", "sup_rat", "semi_rat", "ssr_virt", "inter_rat", "st_rat", "ib", "unirex")
    ),
    ("dar", APART),
    ("reinforce", {"selection": {"shared_encoder": True}}),
    ("hardkuma", {"selection": {"shared_encoder": True}}),
    ("mgr", {"selectors": 2}),
    ("mrd", {"rationale_weight": 1.0}),
    ("n2r", {"label_for_selector": False}),
    ("rtp", {"blank_weight": 0.0, "pretrain": 1}),
    ("at_bmc", {"adversarial_weight": 0.0}),
    ("unirex", {"shares": [0.1, 0.2]}),
    ("invrat", {"predictor_turns": 1, "pretrain": 2}),
    ("three_player", {"reinforce": True, "pretrain": 0}),
    ("mcd", {"pretrain": 7}),
    ("st_rat", {"teacher_epochs": 2}),
    *(("full_text", {"attribution": kind}) for kind in ("random", "attention", "integrated_gradients")),
    ("full_text", {"attribution": "leave_one_out"}),
]
DEEP = Setting("tiny", 2, query=True, layers=3)
SHALLOW = {"selection": {"layers": 2}}
SHALLOW_APART = {"selection": {"layers": 2, "shared_encoder": False}}
SHALLOW_ONES = [
    name for name in list_names() if fit_to_method({"options.selection.layers": 2}, name).settings
]
SHALLOW_USES = [
    *((name, SHALLOW) for name in SHALLOW_ONES),
    *(
        (name, SHALLOW_APART)
        for name in (
            "un_rat",
            "sup_rat",
            "semi_rat",
            "ssr_virt",
            "inter_rat",
            "st_rat",
            "ib",
            "unirex",
            "dar",
        )
    ),
    ("reinforce", {"selection": {"layers": 2, "shared_encoder": True}}),
    ("semi_rat", {**SHALLOW, "label_from": "full_text"}),
    ("semi_rat", {**SHALLOW_APART, "label_from": "full_text"}),
    ("st_rat", {**SHALLOW, "label_from": "rationale"}),
    ("mgr", {**SHALLOW, "selectors": 2}),
    ("mrd", {**SHALLOW, "rationale_weight": 1.0}),
]
every_use = pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in list_names()), *OPTIONS])
every_count = pytest.mark.parametrize("setting", [mark_slow(SETTINGS[0]), SETTINGS[1]], ids=str)
every_shallow_use = pytest.mark.parametrize(
    ("name", "options"), add_slow(SHALLOW_USES[::3], [*SHALLOW_USES[1::3], *SHALLOW_USES[2::3]])
)


def build(setting, name, options):
    """The method, with hidden pieces left in the input, where they can be counted."""
    shown = fit_to_method({"options.selection.masking": "mix"}, name).settings
    selection = {**options.get("selection", {}), **({"masking": "mix"} if shown else {})}
    return setting.model(name, **{**options, **({"selection": selection} if selection else {})}).method


def count(passes, batch):
    """How often the batch's texts were read: inputs of its width by their rows; of shorter ones each is once."""
    rows, width = batch.input_ids.shape
    return sum(part * (max(1, n / rows) if pieces == width else 1) for n, pieces, part in passes)


def state(method, setting):
    """What is stated for an encoder of this depth."""
    stated = method.passes(method.config, setting.n_classes)
    layers = getattr(getattr(method.config, "selection", None), "layers", None)
    return stated if layers is None else stated.cut_selection(layers / setting.layers)


def count_step(method, phase, batch):
    """The readings of a training step, or their mean where turns alternate."""
    counts = []
    for turn in phase.turns:
        with counted_passes(method) as passes:
            losses_of(method, turn, for_phase(batch, phase, method))
        counts.append(count(passes, batch))
    return sum(counts) if phase.calendar == "each" else sum(counts) / len(counts)


@every_count
@every_use
def test_training_steps_cost_what_is_stated(name, options, setting):
    check_steps(name, options, setting)


@every_count
@every_use
def test_explanations_cost_what_is_stated(name, options, setting):
    check_explanation(name, options, setting)


@every_shallow_use
def test_shallow_selection_costs_what_is_stated(name, options):
    check_steps(name, options, DEEP)
    check_explanation(name, options, DEEP)


def test_methods_that_label_from_the_same_pass_have_no_shallow_selection():
    """A selection from fewer layers would save nothing; `pipeline` reads sentences, `full_text` selects nothing."""
    without = set(list_names()) - set(SHALLOW_ONES)
    assert without == {"rtp", "at_bmc", "wsee", "pipeline", "full_text"}
    with pytest.raises(ConfigError, match=r"selection\.layers: unknown"):
        tiny_model("rtp", selection={"layers": 1})


@torch.no_grad()
def test_a_shallow_explanation_reads_few_layers_of_the_text_and_all_of_its_rationale():
    """The pieces that each layer reads: the whole text below, above and once more below the packed rationale alone."""
    method = DEEP.model("un_rat", selection={"layers": 1, "masking": "attention"}).method
    batch = DEEP.batch()
    with counted_passes(method) as passes:
        out = method.explain(batch)
    rows, width = batch.input_ids.shape
    shown = int((batch.visible | out.mask).sum(-1).max())
    assert shown < width
    assert [each[:2] for each in passes] == [(rows, width), *[(rows, shown)] * 3]


def check_steps(name, options, setting):
    method, batch = build(setting, name, options), setting.batch()
    counted = [(phase.name, phase.pool, count_step(method, phase, batch)) for phase in method.phases()]
    stated = state(method, setting).train
    assert [(each.phase, each.pool, pytest.approx(each.passes)) for each in stated] == counted


@torch.no_grad()
def check_explanation(name, options, setting):
    method, batch = build(setting, name, options), setting.batch()
    with counted_passes(method) as passes:
        method.explain(batch)
    stated = state(method, setting)
    words = sum(len(set(row[own].tolist())) for row, own in zip(batch.words, batch.selectable, strict=True))
    assert count(passes, batch) == pytest.approx(stated.explain + stated.explain_word * words / len(batch))


@every_use
def test_phases_before_the_main_ones_are_stated_with_their_epochs(name, options):
    method = SETTINGS[0].model(name, **options).method
    stated = {each.phase: each.epochs for each in method.passes(method.config, 2).train}
    before = {phase.name for phase, _ in turns_of(method) if phase.when == "pretrain"}
    assert stated == {phase: method.pretrain_epochs if phase in before else None for phase in stated}


@pytest.mark.parametrize("name", list_names())
def test_what_is_listed_is_what_default_options_cost(name):
    cls = method_class(name)
    assert cls.passes(cls.Config(), 2) == cls.costs


@pytest.mark.parametrize(
    ("name", "shortcuts"),
    [
        ("ssr_unif", {}),
        ("ssr_unif", {"uniform_weight": 0}),
        ("sup_rat", {"uniform_weight": 1}),
        ("semi_rat", {}),
    ],
)
def test_the_uniform_term_is_one_pass_more(name, shortcuts):
    """Once per step: not once for the method and once for the run."""
    config, method, batch = tiny_run(name, shortcuts=shortcuts), SETTINGS[0].method(name), SETTINGS[0].batch()
    counted = {phase.name: count_step(method, phase, batch) for phase in build_phases(method, config)}
    stated = collect_passes(type(method), config, 2)
    assert {each.phase: each.passes for each in stated.train} == counted
    more = counted["supervised"] - method.costs.train[0].passes
    assert more == (config.shortcuts.uniform_weight > 0)


def test_a_runs_passes_are_cut_by_the_depth_of_its_encoder():
    config = tiny_run("semi_rat", encoder={"layers": 4}, options={"selection": {"layers": 1}})
    passes = collect_passes(method_class("semi_rat"), config, 2)
    assert [each.passes for each in passes.train] == [1, 1.25]
    assert passes.explain == 1.25


def test_copies_are_read_as_often_as_the_originals():
    config = tiny_run("semi_rat", augment={"kind": "random"})
    copied = collect_passes(method_class("semi_rat"), config, 2).train
    assert copied[-1] == PhasePasses("supervised_augmented", 1, pool="augmented")
    assert len(copied) == 3


def test_numbers_are_told_in_words():
    one = Passes((PhasePasses("play", 15 / 7),), explain=2, explain_word=1)
    assert one.shorten() == "2.1"
    assert one.describe() == "2.1 per training step; 2 per explanation, and 1 more per word."
    two = Passes((PhasePasses("learn", 1, pool="gold"), PhasePasses("play", 2, pool="rest")), explain=2)
    assert two.shorten() == "1 / 2"
    assert (
        two.describe() == "1 per step of `learn` (gold pool), 2 per step of `play` (rest); 2 per explanation."
    )


FULL_TEXT = {"label_from": "full_text"}
LABELERS = [
    *((name, {}) for name in list_names()),
    *((name, FULL_TEXT) for name in ("semi_rat", "ssr_virt")),
    *((name, {**APART, **more}) for name, more in (("un_rat", {}), ("sup_rat", {}), ("semi_rat", FULL_TEXT))),
]


@pytest.mark.parametrize(("method", "options"), LABELERS)
def test_a_label_alone_is_that_of_the_explanation_and_costs_no_more(method, options):
    model = tiny_model(method, **options)
    engine = model.engine()
    encoded = engine.text.encode_all(
        [*tiny_corpus(3), Example("long", " ".join(each.text for each in tiny_corpus(9)), query="good ?")],
        truncate=False,
    )
    with counted_passes(model.method) as explaining:
        explained = engine.explain_encoded(encoded)
    with counted_passes(model.method) as deciding:
        found = engine.probabilities(encoded)
    for each, item in zip(found, explained, strict=True):
        assert each == pytest.approx(item.explanation.probabilities, abs=1e-5)
    assert len(deciding) <= len(explaining)
    if not model.method.faithful and method != "car":  # whose label is what its rationales earn
        assert 2 * len(deciding) <= len(explaining)  # the text is read once, and nothing is looked for
