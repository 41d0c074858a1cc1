"""Words as facts are compared by them, and which of them make no difference; plain Python."""

import re
import unicodedata
from typing import Final

from memory.detector import APOSTROPHES
from memory.endings import is_one_word

WORD: Final = re.compile(r"[\w•]+(?:[.:@/+-][\w•]+)*")
_LATIN: Final = {
    "а": "a", "б": "b", "в": "v", "г": "g", "ғ": "g", "д": "d", "е": "e", "ё": "yo", "ж": "j",
    "з": "z", "и": "i", "й": "y", "к": "k", "қ": "q", "л": "l", "м": "m", "н": "n", "о": "o",
    "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ў": "o", "ф": "f", "х": "x", "ҳ": "h",
    "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ы": "i", "ь": "", "э": "e", "ю": "yu",
    "я": "ya", "ı": "i", "ł": "l", "ø": "o", "đ": "d",
}  # fmt: skip
_PLAIN = str.maketrans({**dict.fromkeys(APOSTROPHES, None), **_LATIN})
# In Uzbek Cyrillic е is ye where a word begins and behind a vowel.
_YE = re.compile(r"(?<![^\W\d_])е|(?<=[аоуиэюяёўы])е")


def _listed(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in WORD.findall(fold(text)))


def fold(text: str) -> str:
    """Return text without case, accents and apostrophes, in Latin letters."""
    folded = _YE.sub("ye", text.casefold()).translate(_PLAIN)
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded)
        folded = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return folded


# What may stand in a sentence or not without changing what it says.
SMALL: Final = _listed(
    "a an the that this please remember note dont forget really very just so also too well ok okay "
    "actually hey hi hello i im my me am is are was be no sorry meant mean correction from now on",
    "iltimos eslab qol esla esda tut yodda saqla unutma juda ham men mening menga meni aslida yo'q "
    "bu shu kechirasiz",
    "пожалуйста запомни запомните помни не забудь очень я мой моя моё мне меня это на самом деле "
    "вообще-то вообще то нет",
    "lütfen unutma hatırla çok ben benim bana bunu aslında hayır",
    "proszę zapamiętaj pamiętaj bardzo ja mój moja moje mnie to właściwie jednak nie jest",
)
NAMING: Final = _listed(
    "name names named call called calls known as you can",
    "ism ismim ismi deb atang ayting chaqiring",
    "имя зовут звать зови зовите называй",
    "ad adım adı isim ismim bana de deyin",
    "imię na mam nazywam się mów mówcie mi",
)
LIKING: Final = _listed(
    "like likes love prefer prefers enjoy want fond of hate hates dislike dislikes detest loathe",
    "yoqadi yoqtiraman yoqtirmayman yoqmaydi yaxshi ko'raman ko'rmayman afzal bilaman",
    "люблю нравится предпочитаю обожаю ненавижу",
    "seviyorum severim sevmiyorum sevmem tercih ederim hoşlanırım hoşlanmam nefret ederim ediyorum",
    "lubię kocham wolę uwielbiam nienawidzę",
)
DENYING: Final = _listed(
    "dont do not doesnt does never any more anymore longer cannot cant",
    "hech emas endi",
    "не больше никогда",
    "değil artık",
    "nie już nigdy",
)
SMALL_OF: Final[dict[str, frozenset[str]]] = {
    "proper_noun": SMALL | NAMING,
    "preference": SMALL | LIKING | DENYING,
    "decision": SMALL | DENYING,
}
# "Forget everything" in the languages of the detector.
ALL: Final = _listed(
    "everything all anything", "hammasini barchasini hamma narsani", "всё все", "her şeyi hepsini",
    "wszystko",
)  # fmt: skip
ABOUT: Final = _listed(
    "about what told you said how where when who which do have ever know "
    "of for our mine i've that's",
    "haqida haqidagi aytgan aytganlarimni qanday qayerda qachon kim nima bizning",
    "о об про что как где когда кто сказал сказала моего моей моему моим моем моём мои моих мою "
    "мое наш наша наше нашу нашей нашего меня мне у",
    "hakkında ilgili söylediğimi nasıl nerede ne kim bizim",
    "o co jak jaki jaka gdzie kiedy kto powiedziałem powiedziałam moją mojej mojego mojemu moim "
    "moich moimi nasz nasza nasze naszą naszej że",
)
# What a correction or a figure is told with: it is no part of what the fact is about.
TELLING: Final = _listed(
    "correction typo wait oops hold on scratch that instead rather but not it its at in to by of "
    "new now changed moved please from has have oclock am pm",
    "tuzatish balki emas aniqrogi to'g'risi uzr kechiring xato esa yangi endi soat soatda kuni da "
    "o'zgardi yo'q",
    "поправка исправление точнее вернее извини извините простите ошибка а но новый новая новое "
    "теперь изменился изменилась изменилось поменялся мое в во на к с до часов",
    "düzeltme pardon özür dilerim yani ama yeni şimdi değişti saat saatte günü da de te ta",
    "korekta poprawka przepraszam pomyłka sprostowanie tylko ale lecz a nowy nowa nowe teraz "
    "zmienił zmieniła się o w we na do godz godzinie godzina dnia są",
)
# A number of what, a code of what: alone they name nothing.
GENERIC: Final = (
    "number", "num", "raqam", "nomer", "numara", "numer", "code", "kod", "date", "sana", "tarix",
    "data", "tarih",
)  # fmt: skip
# Other people, and what belongs to them.
_KIN: Final = (
    "wife", "husband", "daughter", "mother", "father", "brother", "sister", "boss", "friend",
    "partner", "manager", "colleague", "girlfriend", "boyfriend", "child", "company", "team",
    "xotin", "otam", "onam", "akam", "ukam", "opam", "singl", "ogl", "qizim", "dost", "boshlig",
    "jena", "jeni", "muj", "muja", "doch", "mama", "mami", "papa", "papi", "brat", "sestra",
    "sestri", "drug", "nachalnik", "karim", "kocam", "esim", "annem", "babam", "kardes", "oglum",
    "kizim", "arkadas", "patron", "zona", "zony", "zonie", "maz", "meza", "corka", "corki",
    "matka", "matki", "ojciec", "ojca", "siostr", "przyjac", "szef",
)  # fmt: skip
_KIN_WORDS: Final = frozenset(("son", "sons", "dad", "mom", "mum", "cat", "dog", "sin", "sina"))
_NAME = re.compile(
    r"name[sd]?|called|ism(?:im|i|ing|imiz)?(?:ni|ning)?|isim|ismim[iu]?|adi(?:m|n|mi|ni|nin|min)?|naziva\w+|"
    r"imya|imeni|zovut|imie|imienia|imieniu|nazywam|familiya\w*|surname|nickname|nazwisko"
)
_LIKES = re.compile(
    r"yoqtir\w*|yoqadi\w*|yoqish\w*|sevdig\w*|seviyor\w*|hoslan\w*|lubi\w*|uwielbi\w*"
)
_PHONE = re.compile(r"(?:tele|smart)?phones?|telefon\w*|mobile|cell|cellphone|tel")
_MAIL = re.compile(r"e-?mails?\w?|mail(?:im|imi|ingiz)?|pocht\w+|e-?post\w+|e-?mail\w*")
_TIMED = re.compile(
    r"jan|feb|mar[ct]|apr|may|maj|jun|jul|aug|sept?(?:em|$)|o[ck]t|nov|de[ck]|yanv|fevr|iyun|iyul|"
    r"avg|noy|ocak|subat|nisan|haziran|temmuz|agustos|eylul|ekim|kasim|aralik|stycz|lut(?:y|eg)|"
    r"kwie|czerw|lip(?:ca|iec)|sierp|wrze|pazdz|listopad|grud|"
    r"mon(?:day)?$|tues|wednes|thurs|frid|saturd|sunday|tomorrow|dushanba|seshanba|chorshanba|"
    r"payshanba|juma|shanba|yakshanba|ponedel|vtorn|sred[aui]|chetver|pyatni|subbot|voskres|"
    r"pazartesi|sali$|carsamba|persembe|cuma|pazar|ponied|wtor|srod|czwart|piat|sobot|niedziel"
)


def words_in(text: str) -> list[str]:
    """Return a text's words, folded; what is somebody's without its 's."""
    return WORD.findall(fold(_OF_SOMEBODY.sub("", text)))


_OF_SOMEBODY = re.compile(rf"(?<=\w)[{APOSTROPHES}]s\b")


def is_naming(word: str) -> bool:
    """Return whether a folded word says that somebody or something has a name."""
    return word in NAMING or _NAME.fullmatch(word) is not None


def is_liking(word: str) -> bool:
    """Return whether a folded word says what somebody likes or dislikes."""
    return word in LIKING or _LIKES.fullmatch(word) is not None


def is_phone(word: str) -> bool:
    """Return whether a folded word means a phone."""
    return _PHONE.fullmatch(word) is not None


def is_mail(word: str) -> bool:
    """Return whether a folded word means an e-mail address."""
    return _MAIL.fullmatch(word) is not None


def is_generic(word: str) -> bool:
    """Return whether a folded word means a number, a code, a date of whatever kind."""
    return any(is_one_word(word, each) for each in GENERIC)


def is_kin(word: str) -> bool:
    """Return whether a folded word means somebody else."""
    return word in _KIN_WORDS or word.startswith(_KIN)


def is_figure(word: str) -> bool:
    """Return whether a folded word is a figure, a month or a day of the week."""
    return any(map(str.isdigit, word)) or "@" in word or _TIMED.match(word) is not None
