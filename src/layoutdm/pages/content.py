"""The words of a page: embedded filler in several languages, or the user's own text.

>>> from random import Random
>>> text = filler("en")
>>> words = text.prose(Random(1))
>>> [next(words) for _ in range(4)]
['A', 'uniform', 'curve', 'reveals']
>>> len(text.phrase(Random(1), 3))
3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from layoutdm.errors import LayoutdmError
from layoutdm.pages import vocabulary as words_of

LANGUAGES = ("en", *words_of.LANGUAGES)
JOINER = "\u2060"  # before a piece that stands on the one before, without a space
# Scripts that are written without spaces: a line may end after any of their letters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3005-\u30ff\u3100-\u31bf\u31f0-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\u0300-\u036f\u0e31\u0e34-\u0e4e"
    "、。，．！？：；」』）】〉》〕ー々]*"
)
_EDGES = re.compile(r"^[^\w]+|[^\w%]+$")


@dataclass(frozen=True)
class Text:
    """Where a page's words come from; both functions draw with the page's own random numbers."""

    name: str
    prose: Callable[[Random], Iterator[str]]  # without end, with punctuation
    phrase: Callable[[Random, int], list[str]]  # so many words, without punctuation
    own: bool = False


def filler(language: str) -> Text:
    """Embedded filler: English sentences, or words made from another language's letters."""
    if language == "en":
        return Text("en", _english, _english_phrase)
    if language not in words_of.LANGUAGES:
        raise LayoutdmError(
            f"language {language!r} is unknown; choose from {', '.join(LANGUAGES)}, "
            "or give your own text"
        )

    def prose(random: Random) -> Iterator[str]:
        return _sentences(lambda: _foreign_sentence(language, random), random)

    def phrase(random: Random, count: int) -> list[str]:
        return [random.choice(_long_words(language)) for _ in range(count)]

    return Text(language, prose, phrase)


def uncited(text: Text) -> Text:
    """The text without references: what screens say.

    >>> words = uncited(Text("t", lambda _: iter("it grows [3]. See (Fig. 2) now.".split()), str))
    >>> list(words.prose(Random(0)))
    ['it', 'grows.', 'See', 'now.']
    """

    def prose(random: Random) -> Iterator[str]:
        kept, inside = "", False
        for word in text.prose(random):
            inside = inside or word[0] in "[("
            if not inside:
                if kept:
                    yield kept
                kept = word
                continue
            inside = not word.rstrip(".,").endswith((")", "]"))
            if not inside and kept and word[-1] in ".,":
                kept += word[-1]
        yield kept

    return text if text.own else replace(text, prose=prose)


def own(text: str, name: str) -> Text:
    """The user's text: prose starts at a random place and goes round."""
    pieces = split(text)
    if not pieces:
        raise LayoutdmError(f"{name}: holds no words; it should be a text file in UTF-8")
    starts = [0] + [i + 1 for i, piece in enumerate(pieces[:-1]) if piece[-1] in ".!?。！？"]

    def prose(random: Random) -> Iterator[str]:
        at = random.choice(starts)
        while True:
            yield pieces[at]
            at = (at + 1) % len(pieces)

    def phrase(random: Random, count: int) -> list[str]:
        at = random.randrange(len(pieces))
        found: list[str] = []
        for step in range(min(len(pieces), 4 * count)):
            piece = pieces[(at + step) % len(pieces)]
            bare = _EDGES.sub("", piece.removeprefix(JOINER))
            if bare:
                found.append(JOINER + bare if piece[0] == JOINER and found else bare)
            if len(found) == count:
                break
        return found or [pieces[at].removeprefix(JOINER)]

    return Text(name, prose, phrase, own=True)


def split(text: str) -> list[str]:
    """Words between spaces; letters of scripts without spaces are pieces of their own.

    >>> [piece.replace(JOINER, "+") for piece in split("two words 量子。")]
    ['two', 'words', '量', '+子。']
    """
    pieces: list[str] = []
    for word in text.split():
        if word.isascii() or not _UNSPACED.search(word):
            pieces.append(word)
            continue
        at, first = 0, True
        for match in _UNSPACED.finditer(word):
            for part in (word[at : match.start()], match[0]):
                if part:
                    pieces.append(part if first else JOINER + part)
                    first = False
            at = match.end()
        if at < len(word):
            pieces.append(word[at:] if first else JOINER + word[at:])
    return pieces


# English ---------------------------------------------------------------------------------------


def _english(random: Random) -> Iterator[str]:
    return _sentences(lambda: _english_sentence(random), random)


def _sentences(make: Callable[[], list[str]], random: Random) -> Iterator[str]:
    while True:
        sentence = make()
        sentence[0] = sentence[0][:1].upper() + sentence[0][1:]
        roll = random.random()
        if roll < 0.12:
            sentence.append(f"[{random.randint(1, 48)}]")
        elif roll < 0.2:
            sentence += [f"({random.choice(words_of.NAMES)}", "et", "al.,", f"{_year(random)})"]
        elif roll < 0.26:
            sentence += ["(Fig.", f"{random.randint(1, 9)})"]
        sentence[-1] += "."
        yield from sentence


def _english_sentence(random: Random) -> list[str]:
    sentence = _clause(random)
    roll = random.random()
    if roll < 0.35:
        sentence[-1] += ","
        sentence += [random.choice(("and", "but", "while", "whereas", "because")), *_clause(random)]
    elif roll < 0.5:
        sentence = [random.choice(("However,", "Thus,", "Moreover,", "In", "Here,")), *sentence]
        if sentence[0] == "In":
            sentence[1:1] = [random.choice(("this", "each", "that")), _noun(random) + ","]
    elif roll < 0.6:
        number = f"{random.uniform(1, 99):.1f}%"
        sentence += ["by", number, "in", str(_year(random))]
    return sentence


def _clause(random: Random) -> list[str]:
    subject = [random.choice(("the", "a", "each", "the", "this")), *_thing(random)]
    rest = [random.choice(words_of.VERBS), random.choice(("the", "a", "the")), *_thing(random)]
    if random.random() < 0.6:
        rest += [random.choice(("of", "in", "for", "with", "between", "under", "from"))]
        rest += [random.choice(("the", "each", "a")), *_thing(random)]
    words = subject + rest
    return [
        "an" if word == "a" and _opens_with_vowel(after) else word
        for word, after in zip(words, [*words[1:], "."], strict=True)
    ]


def _opens_with_vowel(word: str) -> bool:
    return word[:1] in "aeiou" and not word.startswith(("uni", "us"))


def _thing(random: Random) -> list[str]:
    noun = _noun(random)
    return [random.choice(words_of.ADJECTIVES), noun] if random.random() < 0.45 else [noun]


def _noun(random: Random) -> str:
    return random.choice(words_of.NOUNS)


def _english_phrase(random: Random, count: int) -> list[str]:
    words: list[str] = []
    while len(words) < count:
        if words:
            words.append(random.choice(("of", "and", "in", "for", "with", "of", "and")))
        words += _thing(random)
    return (
        words[:count] if words[count - 1] not in _LITTLE else [*words[: count - 1], _noun(random)]
    )


_LITTLE = {"of", "and", "in", "for", "with"}


# Other languages -------------------------------------------------------------------------------


def _foreign_sentence(language: str, random: Random) -> list[str]:
    little, long = _little_words(language), _long_words(language)
    # Low places of the list are drawn more often, as in any language.
    return [
        random.choice(little)
        if random.random() < 0.42
        else long[int(len(long) * random.random() ** 2)]
        for _ in range(random.randint(7, 24))
    ]


@cache
def _little_words(language: str) -> Sequence[str]:
    return words_of.LANGUAGES[language][0].split()


@cache
def _long_words(language: str) -> Sequence[str]:
    """1,200 words of the language's letters; always the same ones."""
    _, consonants, vowels = words_of.LANGUAGES[language]
    random = Random(f"words of {language}")
    found = []
    for _ in range(1200):
        syllables = random.choices((1, 2, 3, 4, 5), (1, 4, 4, 2, 1))[0]
        parts = [random.choice(vowels)] if random.random() < 0.2 else []
        for _ in range(syllables):
            parts += [random.choice(consonants.replace("ς", "")), random.choice(vowels)]
        if random.random() < 0.6:
            parts.append(random.choice(consonants.replace("σ", "ς") if "ς" in consonants
                                       else consonants))  # fmt: skip
        found.append("".join(parts))
    return found


# Bits for tables, lists, headers -----------------------------------------------------------------


def _year(random: Random) -> int:
    return random.randint(1978, 2026)


def date(random: Random) -> str:
    """A date in one of the usual ways to write it."""
    day, month, year = random.randint(1, 28), random.randrange(12), _year(random)
    return random.choice(
        (
            f"{day} {words_of.MONTHS[month]} {year}",
            f"{words_of.MONTHS[month]} {day}, {year}",
            f"{year}-{month + 1:02d}-{day:02d}",
            f"{day:02d}/{month + 1:02d}/{year}",
        )
    )


def person(random: Random) -> str:
    return f"{random.choice('ABCDEFGHJKLMNPRSTVW')}. {random.choice(words_of.NAMES)}"


def reference(random: Random, text: Text) -> list[str]:
    """One entry of a bibliography, as words."""
    people = [
        f"{random.choice(words_of.NAMES)} {random.choice('ABCDEFGHJKLMPRST')}"
        for _ in range(random.randint(1, 4))
    ]
    title = text.phrase(random, random.randint(5, 11))
    title[0] = title[0][:1].upper() + title[0][1:]
    place = f"{random.randint(1, 90)}({random.randint(1, 12)}):{random.randint(1, 900)}"
    journal = ["J.", *(w.capitalize() for w in text.phrase(random, random.randint(1, 2)))]
    parts = [*", ".join(people).split(), f"({_year(random)}).", *title]
    parts[-1] += "."
    return [*parts, *journal, place + "."]


def vocabulary_of(language: str) -> Sequence[str]:
    """All words that the filler of a language can hold."""
    if language == "en":
        return (*words_of.NOUNS, *words_of.ADJECTIVES, *words_of.VERBS, *words_of.NAMES)
    return (*_little_words(language), *_long_words(language))
