"""Every way to write what a column is.

A header is looked up in four passes and the first that knows it decides: the model's own names as written (`A`, `T`, `1/tau`, `feed.A`,
`rate[r1]`); the words for the table itself (`experiment`, `time`, `sigma`, `sigma.A`, `response`, `value`); the spellings below; all of
these without regard to case, where only one thing can be meant. A name that could be two things (`P`, a species and the pressure) is
decided by its unit, as is a species that is called like a word of the table (`time`). `columns` in the study file overrules all of this.

Spellings (`_`, `.` and a space are the same in them; A stands for any species, r for any response):

    experiment    exp, run, experiment id, Versuch, essai, ensayo, prova
    time          t, Zeit, temps, tiempo, tempo, timestamp, datetime, date time, elapsed time, Uhrzeit
    A             [A], C_A, c_A, cA, conc_A, A_out
    feed.A        feed[A], A_feed, A_in, C_A_in, C_A_feed; also A0 and C_A0 where rows are steady states
    p[A]          p_A, P_A (partial pressure, where rates are measured)
    feed.p[A]     p_A_feed, p_A_in (partial pressure, where a gas is fed); feed.y[A], y_A_feed, y_A_in (mole fraction)
    initial.A     initial[A], A_initial; also A0 and C_A0 where rows are times
    rate[A]       rate_A, r_A; also rate and r where the model has one reaction
    conversion    X
    T             temperature, temp, Temperatur, température, temperatura
    T_feed        T_in, feed temperature, inlet temperature (with an energy balance; T is then a response); also T0 where rows are
                  steady states
    T_initial     T0, initial temperature (the same where rows are times)
    T_coolant     coolant temperature; also T_jacket and jacket temperature where the jacket's temperature is no response
    T_jacket      jacket temperature (where it is a response, which starts at T_jacket_initial, T_jacket0)
    P             pressure
    P_total       P, pressure, total pressure (of a gas at constant volume, a response)
    tau           residence time
    t_on_stream   time on stream, TOS
    sigma         sd, std (of every response)
    sigma.r       sigma_r, sd_r, std_r, r_sigma, r_sd, r_std
    response      species, component (one row per reading, beside a column `value`)

A header without a unit may end in one, where the rest has a meaning of just that dimension: `time_s`, `T_K`, `A_mol_per_L`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kinetix.experiments.headers import Header, is_unit
from kinetix.experiments.vocabulary import Meaning, Vocabulary, dimension_of
from kinetix.units import parse_unit


class Spellings:
    """Every way to write every meaning, in the four passes of this module's docstring."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.names: dict[str, dict[Meaning, None]] = {}
        self.words: dict[str, dict[Meaning, None]] = {}
        self.aliases: dict[str, dict[Meaning, None]] = {}
        for name in vocabulary.responses:
            self.names.setdefault(name, {})[Meaning("response", name)] = None
        for name in vocabulary.conditions:
            self.names.setdefault(name, {})[Meaning("condition", name)] = None
        words = {"experiment": Meaning("experiment"), "time": Meaning("time"), "sigma": Meaning("sigma")}
        words |= {"response": Meaning("label"), "value": Meaning("value")}
        words |= {f"sigma.{name}": Meaning("sigma", name) for name in vocabulary.responses}
        for word, meaning in words.items():
            self.words[word] = {meaning: None}
        for meaning, spelling in self._aliases():
            self.aliases.setdefault(plain(spelling), {})[meaning] = None
        self.folded: dict[str, dict[Meaning, None]] = {}
        for spelled in (self.names, self.words, self.aliases):
            for spelling, meanings in spelled.items():
                if spelling != "t":  # 'T' where the model has no temperature is not the time
                    self.folded.setdefault(plain(spelling).casefold(), {}).update(meanings)

    def own(self) -> list[str]:
        """The model's names and the words for the table, for lists in messages."""
        return [*self.names, *(word for word in self.words if word not in self.names and not word.startswith("sigma."))]

    def of(self, spelling: str) -> tuple[Meaning, ...]:
        """What a text can mean, by the first pass that knows it."""
        return self._first(((spelling, None),))[0]

    def of_header(self, header: Header) -> tuple[tuple[Meaning, ...], str | None]:
        """What a header can mean, and its unit text. `rate[r1]` is the rate of r1 rather than a rate in the unit r1."""
        return self._first(((header.text, None), (header.name, header.unit)))

    def _first(self, written: tuple[tuple[str, str | None], ...]) -> tuple[tuple[Meaning, ...], str | None]:
        for spelled, form in ((self.names, str), (self.words, str), (self.aliases, plain), (self.folded, _folded)):
            for text, unit in written:
                if form(text) in spelled:
                    found = tuple(spelled[form(text)])
                    is_species = spelled is self.names and text in self.vocabulary.species
                    return (*found, *self.words.get(text, ())) if is_species else found, unit
        return (), None

    def _aliases(self) -> Iterable[tuple[Meaning, str]]:
        vocabulary = self.vocabulary
        for word in ("exp", "run", "experiment id", "Versuch", "essai", "ensayo", "prova"):
            yield Meaning("experiment"), word
        for word in ("t", "Zeit", "temps", "tiempo", "tempo", "timestamp", "datetime", "date time", "elapsed time", "Uhrzeit"):
            yield Meaning("time"), word
        for word in ("sd", "std"):
            yield Meaning("sigma"), word
        for word in ("species", "component"):
            yield Meaning("label"), word
        jacket = "T_jacket" in vocabulary.responses
        common = {
            "T": ("temperature", "temp", "Temperatur", "température", "temperatura"),
            "T_feed": (*(() if vocabulary.timed else ("T0",)), "T_in", "feed temperature", "inlet temperature"),
            "T_initial": ("T0", "initial temperature"),
            "T_coolant": ("coolant temperature", *(() if jacket else ("T_jacket", "jacket temperature"))),
            "T_jacket": ("jacket temperature",),
            "T_jacket_initial": ("T_jacket0",),
            "P": ("pressure",),
            "P_total": ("P", "pressure", "total pressure"),
            "tau": ("residence time",),
            "t_on_stream": ("time on stream", "TOS"),
            "conversion": ("X",),
        }
        spellings = {name: list(words) for name, words in common.items()}
        start = "initial" if vocabulary.timed else "feed"
        for species in vocabulary.species:
            spellings[species] = [
                *spellings.get(species, ()),
                *(f"[{species}]", f"C_{species}", f"c_{species}", f"c{species}", f"conc_{species}", f"{species}_out"),
            ]
            spellings[f"feed.{species}"] = [
                *(f"feed[{species}]", f"{species}_feed", f"{species}_in", f"C_{species}_in", f"C_{species}_feed"),
            ]
            for stem, words in (("feed", ("feed", "in")), ("initial", ("initial",))):
                for form in ("p", "y"):
                    spellings[f"{stem}.{form}[{species}]"] = [f"{form}_{species}_{word}" for word in words]
            spellings[f"p[{species}]"] = [f"p_{species}", f"P_{species}"]
            spellings[f"initial.{species}"] = [f"initial[{species}]", f"{species}_initial"]
            spellings[f"{start}.{species}"] += [f"{species}0", f"C_{species}0", f"c_{species}0", f"c{species}0"]
        rates = [name for name in vocabulary.responses if re.fullmatch(r"rate\[.+\]", name)]
        reactions = [name for name in rates if name[5:-1] not in vocabulary.species]
        for name in rates:
            spellings[name] = [f"rate_{name[5:-1]}", f"r_{name[5:-1]}"] + (["rate", "r"] if reactions == [name] else [])
        for name, written in spellings.items():
            if name in vocabulary.responses:
                yield from ((Meaning("response", name), spelling) for spelling in written)
            if name in vocabulary.conditions:
                yield from ((Meaning("condition", name), spelling) for spelling in written)
        for name in vocabulary.responses:
            for spelling in (name, *spellings.get(name, ())):
                for word in ("sigma", "sd", "std"):
                    yield Meaning("sigma", name), f"{word}_{spelling}"
                    yield Meaning("sigma", name), f"{spelling}_{word}"


def plain(text: str) -> str:
    """A spelling with `_` for each of the marks that are the same in spellings.

    >>> plain("C.A feed"), plain("Temp.")
    ('C_A_feed', 'Temp')
    """
    return re.sub(r"[ ._]+", "_", text.rstrip(" ."))


def _folded(text: str) -> str:
    return plain(text).casefold()


def ending_in_unit(header: Header, spellings: Spellings) -> tuple[tuple[Meaning, ...], str | None]:
    """`time_s`, `temperature_K`, `A_mol_per_L`: what the beginning of a header means, where its end is a unit of just that dimension."""
    if header.nameless or (header.text.endswith(("]", ")")) and header.unit is not None):
        return (), None
    for place in (place for place, mark in enumerate(header.text) if mark in "_ " and place):
        meanings = spellings.of(header.text[:place])
        unit = header.text[place + 1 :].replace("_per_", "/").replace("_", " ").strip(" .")
        if not meanings or not unit or not is_unit(unit):
            continue
        fitting = tuple(one for one in meanings if dimension_of(one, spellings.vocabulary) == parse_unit(unit).dimension)
        if fitting:
            return fitting, unit
    return (), None
