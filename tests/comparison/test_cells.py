"""Which runs a plan makes, and with which settings."""

from __future__ import annotations

import json

import pytest

from rationalize.comparison.cells import list_cells
from rationalize.comparison.plan import load_plan
from rationalize.errors import ConfigError
from rationalize.runs.presets import load_preset


def cells(**plan):
    return {cell.key: cell for cell in list_cells(load_plan(None, {"data": {"toy": "planted"}, **plan}))}


def test_a_factor_counts_only_where_the_method_has_it():
    found = cells(
        methods=["un_rat", "semi_rat", "sup_rat"],
        gold_shares=[0.1, 0.5],
        augment=["none", "random"],
        augment_shares=[0.25, 1.0],
    )
    assert set(found) == {
        "toy-un_rat-seed0",
        *(f"toy-semi_rat-gold{share}-seed0" for share in ("0.1", "0.5")),
        *(f"toy-semi_rat-gold{share}-random{n}-seed0" for share in ("0.1", "0.5") for n in ("0.25", "1")),
        *(f"toy-sup_rat{part}-seed0" for part in ("", "-random0.25", "-random1")),
    }


def test_a_method_without_gold_is_augmented_only_where_its_entry_says_so():
    entry = {"name": "un_rat", "method": "un_rat", "augment": ["none", "semantic"]}
    found = cells(methods=[entry, "ssr_unif"], augment=["semantic"])
    assert set(found) == {
        "toy-un_rat-seed0",
        "toy-un_rat-gold0.25-semantic0.25-seed0",
        "toy-ssr_unif-gold0.25-semantic0.25-seed0",
    }
    _, copied, ssr = found.values()
    assert copied.artifacts == ssr.artifacts


def test_a_method_with_copies_of_its_own_has_them_unless_the_plan_says_otherwise():
    plain = {"name": "plain", "method": "ssr_plus", "augment": ["none"]}
    assert set(cells(methods=["semi_rat", "ssr_plus", plain])) == {
        "toy-semi_rat-gold0.25-seed0",
        "toy-ssr_plus-gold0.25-counterfactual0.25-seed0",
        "toy-plain-gold0.25-seed0",
    }
    assert set(cells(methods=["ssr_plus"], augment=["none"])) == {"toy-ssr_plus-gold0.25-seed0"}


def test_settings_go_from_preset_to_plan_to_entry():
    entry = {
        "name": "mine",
        "method": "ssr_unif",
        "set": {"shortcuts.uniform_weight": 2, "training.epochs": 9},
    }
    found = cells(methods=["sup_rat", entry], preset="planted", set={"training.epochs": 7})
    plain, mine = found["toy-sup_rat-seed0"], found["toy-mine-gold0.25-seed0"]
    assert (plain.config.training.epochs, mine.config.training.epochs) == (7, 9)
    assert mine.config.shortcuts.uniform_weight == 2
    assert mine.config.options["selection"]["sampler"] == "gumbel_hard"
    assert plain.config.encoder.name == "tiny"
    assert "options.selection.sampler" in plain.skipped
    assert plain.config.preset.name == "planted"
    assert plain.config.preset.applied.keys() & {"training.epochs", "encoder.name"} == {"encoder.name"}


def test_none_switches_a_presets_augmentation_off():
    found = cells(methods=["semi_rat"], set={"augment.kind": "random"}, augment=["none"])
    assert found["toy-semi_rat-gold0.25-seed0"].config.augment.kind == "none"


def test_artifacts_are_shared_by_those_who_look_for_the_same_shortcuts():
    entries = [
        "semi_rat",
        "ssr_unif",
        "ssr_virt",
        {"name": "known", "method": "ssr_unif", "set": {"shortcuts.source": "known"}},
        {"name": "weak", "method": "ssr_unif", "set": {"shortcuts.uniform_weight": 0.01}},
        {"name": "bounded", "method": "ssr_unif", "set": {"shortcuts.uniform_kl": "q_to_uniform"}},
    ]
    found = [cell.artifacts for cell in cells(methods=entries, seeds=[0]).values()]
    none, unif, virt, known, weak, bounded = found
    assert none is None
    assert unif == virt == weak == bounded
    assert known not in {None, unif}
    [other] = cells(methods=["ssr_unif"], seeds=[1]).values()
    assert other.artifacts != unif
    [more_gold] = cells(methods=["ssr_unif"], gold_shares=[0.5]).values()
    assert more_gold.artifacts != unif
    invrat = {"name": "invrat", "method": "invrat", "augment": ["random"]}
    assert all(cell.artifacts is None for cell in cells(methods=["at_bmc", invrat]).values()), "has its own"
    [again] = cells(methods=["ssr_unif"], set={"shortcuts.rounds": 2}).values()
    assert again.artifacts is None


def test_two_cells_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="two different cells"):
        cells(methods=[{"name": "a b", "method": "un_rat"}, {"name": "a/b", "method": "full_text"}])


@pytest.mark.parametrize("name", ["small", "paper", "planted"])
def test_presets_fit_every_method(name):
    from rationalize.methods.registry import list_names

    preset = load_preset(name)
    assert preset.about
    found = cells(methods=list_names(), preset=name)
    assert len(found) == len(list_names())


def test_auto_looks_at_each_data_set(tmp_path):
    rows = [
        {"id": f"{i}", "text": "so very good", "label": "ab"[i % 2], "rationale": [[8, 12]]} for i in range(8)
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = cells(
        methods=["semi_rat"], data={"posts": str(tmp_path), "toy": "planted"}, preset="auto", seeds=[0]
    )
    found = {cell.data: cell.config for cell in made.values()}
    shares = {data: config.options["selection"]["share"] for data, config in found.items()}
    assert shares["posts"] == pytest.approx(1 / 3, abs=0.01), "what was marked there"
    assert shares["toy"] != shares["posts"]
    assert {config.data.gold_share for config in found.values()} == {0.25}, "the paper's, to be comparable"
    assert found["posts"].preset.reasons
