"""Characters that pass for others: letters of other alphabets, digits of other shapes, and how messages call them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_CYRILLIC = dict(zip("АВЕКМНОРСТУХІЈЅаеорсухіјѕ", "ABEKMHOPCTYXIJSaeopcyxijs", strict=True))
_GREEK = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧον", "ABEZHIKMNOPTYXov", strict=True))
_LATIN = _CYRILLIC | _GREEK


def called(character: str) -> str:
    """A character by its name and its code point.

    >>> called("²")
    'SUPERSCRIPT TWO (U+00B2)'
    """
    return f"{unicodedata.name(character, 'a character without a name')} (U+{ord(character):04X})"


def in_ascii(text: str) -> str:
    """The text with Latin letters and digits in the place of those that pass for them; one character for one.

    >>> in_ascii("c_А"), in_ascii("CO₂"), in_ascii("２５"), in_ascii("α-pinene")
    ('c_A', 'CO2', '25', 'α-pinene')
    """

    def plain(character: str) -> str:
        digit_or_letter = unicodedata.normalize("NFKC", character)
        return digit_or_letter if len(digit_or_letter) == 1 and digit_or_letter.isascii() else _LATIN.get(character, character)

    return "".join(map(plain, text))


def look_alike(name: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, on the known name that `name` looks like and is not; empty where there is none.

    >>> look_alike("А", ["T", "A"])
    " 'А' only looks like 'A': its 'А' is CYRILLIC CAPITAL LETTER A (U+0410), not LATIN CAPITAL LETTER A (U+0041)."
    >>> look_alike("B", ["T", "A"])
    ''
    """
    wanted = in_ascii(name)
    twin = next((other for other in known if other != name and in_ascii(other) == wanted), None)
    if twin is None:
        return ""
    found, meant = next((one, other) for one, other in zip(name, twin, strict=True) if one != other)
    return f" '{name}' only looks like '{twin}': its '{found}' is {called(found)}, not {called(meant)}."
