"""Five languages as far as ranking by words needs them: stems and words that say nothing.

Uzbek has no stemmer; groups of letters carry it. A text's language is guessed from its letters
and commonest words: a wrong guess costs rank, never a hit, since a query is stemmed in every
language that its script allows.
"""

import re
from functools import lru_cache
from threading import local
from typing import Final, Literal

import Stemmer

Language = Literal["en", "uz", "ru", "tr", "pl"]

LATIN: Final[tuple[Language, ...]] = ("en", "tr", "pl", "uz")
_STEMMERS: Final[dict[Language, str]] = {
    "en": "english",
    "ru": "russian",
    "tr": "turkish",
    "pl": "polish",
}
_STOP_WORDS: Final[dict[Language, frozenset[str]]] = {
    "en": frozenset(
        "a about after again all am an and any are as at be because been before being below "
        "between both but by can could did do does doing dont down during each few for from "
        "further had has have having he her here hers herself him himself his how i id if ill im "
        "in into is isnt it its itself ive just me more most my myself no nor not now of off on "
        "once only or other our ours out over own same she should so some such than that thats "
        "the their theirs them then there these they this those through to too under until up "
        "very was we were what when where which while who whom why will with would you your yours "
        "yourself".split()
    ),
    "uz": frozenset(
        "va bu bilan uchun ham bir men sen u biz siz ular mening sening uning bizning sizning "
        "ularning meni seni uni bizni sizni ularni menga senga unga bizga sizga ularga lekin ammo "
        "yoki agar esa edi emas bor yoq ekan kerak nima kim qachon qayer qayerda qanday qaysi "
        "necha nega mi ning ni ga da dan deb shu osha barcha hamma har juda faqat ва бу билан учун "
        "хам ҳам бир мен сен у биз сиз улар менинг сенинг унинг лекин ёки агар эса эди эмас бор "
        "йўқ керак нима ким қачон қаерда қандай қайси неча жуда".split()
    ),
    "ru": frozenset(
        "а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её "
        "если есть еще ещё же за и из или им их к как какая какие какой когда кого кому кто ли мне "
        "мной мой моя моё мои мы на нам нас не него нее неё нет ни них но о об он она они оно от "
        "по под при с со так такой там тебе тебя то тот ты у уже чего чем что чтобы эта эти это "
        "этот я".split()
    ),
    "tr": frozenset(
        "acaba ama ancak bana bazı belki ben benim beni bir biz bizim bu bunu bunun çok çünkü da "
        "daha de değil diye en gibi hangi hem hep her hiç için ile ise kadar ki kim kimin mi mı mu "
        "mü nasıl ne neden nerede nereye niye o olan olarak oldu on onlar onun onu sana sen senin "
        "seni siz sizin şey şu ve veya ya yani zaman".split()
    ),
    "pl": frozenset(
        "a aby ale bo być był była było były by co czy dla do gdzie go i ich ile im ja jak jaka "
        "jaki jakie jako je jego jej jest jestem już kiedy kto która które który ma mam mi mnie "
        "mną moja moje mój my na nad nam nas nie niej nim o od ona one oni ono oraz po pod przez "
        "przy się są ta tak tam te tego tej ten to tu twoja twoje twój ty tym w we więc wy z za ze "
        "że".split()
    ),
}
_LETTERS: Final[tuple[tuple[Language, frozenset[str]], ...]] = (
    ("uz", frozenset("ўқғҳ")),
    ("pl", frozenset("ąćęłńśźż")),
    ("tr", frozenset("ğış")),
)
_UZBEK_MARKS: Final = ("oʻ", "gʻ", "o‘", "g‘", "oʼ", "gʼ", "o'", "g'", "o`", "g`", "o’", "g’")
_CYRILLIC: Final = re.compile("[Ѐ-ӿ]")
_SIGNS: Final = '.,!?;:«»"()'
# The languages in which a word says nothing.
_SAYING_NOTHING: Final[dict[str, list[Language]]] = {}
for _language, _listed in _STOP_WORDS.items():
    for _word in _listed:
        _SAYING_NOTHING.setdefault(_word, []).append(_language)
_SAMPLE_CHARACTERS: Final = 400
# A stemmer object is not safe between threads.
_own = local()


@lru_cache(maxsize=1_024)
def language_of(text: str) -> Language:
    """Guess a text's language from its first letters and words; English where nothing tells."""
    sample = text[:_SAMPLE_CHARACTERS].casefold()
    is_cyrillic = bool(_CYRILLIC.search(sample))
    if not sample.isascii():
        letters = set(sample)
        for language, own in _LETTERS:
            if letters & own and (is_cyrillic or language != "uz"):
                return language
    candidates: tuple[Language, ...] = ("ru", "uz") if is_cyrillic else LATIN
    counts = dict.fromkeys(candidates, 0)
    for word in sample.split():
        for language in _SAYING_NOTHING.get(word.strip(_SIGNS), ()):
            if language in counts:
                counts[language] += 1
    if not is_cyrillic and any(mark in sample for mark in _UZBEK_MARKS):
        counts["uz"] += 1
    # The first of equals.
    return max(candidates, key=counts.__getitem__)


def is_stop_word(word: str, language: Language) -> bool:
    """Return whether a word says nothing in a text of this language."""
    return word in _STOP_WORDS[language]


@lru_cache(maxsize=65_536)
def stem(word: str, language: Language) -> str:
    """Return what a word's forms share; the word itself where the language has no stemmer."""
    name = _STEMMERS.get(language)
    if name is None:
        return word
    stemmer = getattr(_own, name, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(name)
        setattr(_own, name, stemmer)
    return str(stemmer.stemWord(word))
