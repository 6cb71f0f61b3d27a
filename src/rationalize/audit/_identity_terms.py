"""Words that name groups of people, in English: data on abuse use them as a shortcut, and models learn to.

The terms that bias benchmarks for toxicity use (Dixon et al. 2018; Borkan et al. 2019), with the usual variants. Slurs
are not among them: they are evidence.
"""

from __future__ import annotations

_TERMS = """
african africans american americans arab arabs asian asians atheist atheists bisexual black blacks blind boy boys
british buddhist canadian catholic catholics chinese christian christians deaf disabled elderly european female
females feminist feminists gay gays girl girls heterosexual hindu hindus hispanic homeless homosexual homosexuals
immigrant immigrants indian indians indigenous islamic israeli israelis italian japanese jew jewish jews kurdish
latina latino latinos latinx lesbian lesbians lgbt lgbtq male males man men mexican mexicans migrant migrants
muslim muslims nonbinary pakistani palestinian palestinians paralyzed protestant queer queers refugee refugees
russian russians sikh straight teenage trans transgender turkish white whites woman women
"""

IDENTITY_TERMS = frozenset(_TERMS.split())
