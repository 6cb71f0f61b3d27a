"""Result files of cells, made up."""

from __future__ import annotations

ABOUT = {"data": "movies", "method": "semi_rat", "supervision": "part", "augment": "none",
         "augment_share": 0.25, "gold_share": 0.25, "uniform_weight": 0.0}  # fmt: skip


def cell(name, seed, *, task=0.5, ood=0.25, correct=(1, 0), shares=(0.5, 0.0), scored_on="same", **about):
    def result(score):
        metrics = {"task_f1_weighted": score, "token_f1_eraser": 0.4, "shortcut_share": 0.2}
        return {
            "method": "semi_rat",
            "n_examples": 2,
            "metrics": metrics,
            "trivial": {"all": {"token_f1_eraser": score, "share": 1.0, "share_from": "all"}},
            "health": {"warnings": []},
        }

    columns = {"correct": list(correct), "token_f1": [None, 0.5], "shortcut_share": list(shares)}
    return {
        "cell": {**ABOUT, "name": name, "seed": seed, **about},
        "identity": {"scored_on": scored_on},
        "seconds": {"training": 1.0, "scoring": 0.5},
        "results": {"test": result(task), "ood": result(ood)},
        "examples": {"test": columns, "ood": columns},
    }
