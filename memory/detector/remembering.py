"""Words for "remember this" in languages that have no pack: the rest of the sentence is kept."""

from functools import cache

import re2

from memory.detector.patterns import Expression
from memory.detector.sentences import Span

# Read as typed, capital or not. A word is written so that a question ("do you remember?") or a
# report ("I remembered") is another form.
_WORDS = (
    # Chinese, Japanese, Korean
    "记住",
    "記住",
    "请记得",
    "請記得",
    "别忘了",
    "別忘了",
    "記得：",
    "记得：",
    "覚えておいて",
    "覚えて",
    "おぼえて",
    "忘れないで",
    "기억해",
    "잊지 마",
    "잊지마",
    # Arabic, Persian, Urdu, Hebrew
    "تذكر أن",
    "تذكر",
    "تذكّر",
    "لا تنس",
    "یادت باشه",
    "یادت باشد",
    "به خاطر بسپار",
    "یاد رکھو",
    "یاد رکھنا",
    "תזכור",
    "תזכרי",
    "זכור ש",
    "אל תשכח",
    # Hindi, Bengali, Tamil, Thai, Vietnamese, Indonesian, Malay, Filipino
    "याद रखो",
    "याद रखना",
    "याद रखें",
    "মনে রেখো",
    "মনে রাখবেন",
    "நினைவில் கொள்",
    "จำไว้",
    "จำไว้ว่า",
    "hãy nhớ",
    "nhớ rằng",
    "đừng quên",
    "ingat bahwa",
    "ingat ya",
    "ingatlah",
    "jangan lupa",
    "tandaan mo",
    # Romance
    "recuerda que",
    "recuerda:",
    "recuerde que",
    "no olvides",
    "acuérdate",
    "acuerdate",
    "ten en cuenta",
    "souviens-toi",
    "souvenez-vous",
    "n'oublie pas",
    "n’oublie pas",
    "n'oubliez pas",
    "retiens que",
    "retiens :",
    "note que",
    "ricorda che",
    "ricorda:",
    "ricordati",
    "non dimenticare",
    "tieni presente",
    "lembra que",
    "lembra-te",
    "lembre-se",
    "lembre que",
    "não esqueça",
    "não se esqueça",
    "não te esqueças",
    "ține minte",
    "tine minte",
    "nu uita",
    "recorda que",
    "no oblidis",
    # Germanic, Finnic, Baltic, Greek, Hungarian
    "merk dir",
    "merke dir",
    "merken sie sich",
    "denk daran",
    "denk dran",
    "vergiss nicht",
    "nicht vergessen",
    "onthoud",
    "vergeet niet",
    "kom ihåg",
    "glöm inte",
    "husk at",
    "husk:",
    "glem ikke",
    "ikke glem",
    "muista että",
    "muista:",
    "älä unohda",
    "pea meeles",
    "ära unusta",
    "atceries",
    "neaizmirsti",
    "prisimink",
    "nepamiršk",
    "θυμήσου",
    "να θυμάσαι",
    "μην ξεχάσεις",
    "jegyezd meg",
    "ne felejtsd el",
    # Slavic
    "запам'ятай",
    "запам’ятай",
    "запамятай",
    "не забудь",
    "пам'ятай",
    "пам’ятай",
    "запомни",
    "запомните",
    "запомней",
    "запомніть",
    "запам'ятайте",
    "запомні",
    "запамини",
    "zapamatuj si",
    "pamatuj si",
    "pamatuj,",
    "nezapomeň",
    "zapamätaj si",
    "nezabudni",
    "zapamti",
    "upamti",
    "ne zaboravi",
    "zapomni si",
    "ne pozabi",
    "запамти",
    "не заборави",
    # Turkic, Caucasian
    "yadda saxla",
    "unutma ki",
    "есте сақта",
    "есіңде болсын",
    "есіңде сақта",
    "ұмытпа",
    "эсиңде болсун",
    "эсиңде сакта",
    "унутпа",
    "исеңдә тот",
    "онытма",
    "ýadyňda sakla",
    "დაიმახსოვრე",
    "հիշիր",
    "yodda tut",
    "yodda tuting",
    "ёд бигир",
    "дар хотир нигоҳ дор",
    "фаромӯш накун",
    # African
    "kumbuka",
    "usisahau",
    "onthou dat",
)
_MOST = 20


@cache
def _expression() -> Expression:
    spaced = [word for word in _WORDS if not _is_unspaced(word)]
    unspaced = [word for word in _WORDS if _is_unspaced(word)]
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    pattern = (
        rf"(?:^|[^\pL\pN])({'|'.join(map(re2.escape, spaced))})(?:[^\pL\pN]|$)"
        rf"|({'|'.join(map(re2.escape, unspaced))})"
    )
    return Expression(pattern.encode(), options)


def _is_unspaced(word: str) -> bool:
    """Return whether a script writes its words without spaces between them."""
    return any("\u3040" <= letter <= "\u9fff" or "\u0e00" <= letter <= "\u0e7f" for letter in word)


def asked_to_remember(text: str) -> list[Span]:
    """Return where a text asks to remember, in its characters; at most 20 places."""
    data = text.encode("utf-8", "replace")
    spans: list[Span] = []
    position = passed = characters = 0
    while len(spans) < _MOST and (match := _expression().search(data, position)) is not None:
        group = 1 if match.start(1) >= 0 else 2
        characters += len(data[passed : match.start(group)].decode())
        length = len(data[match.start(group) : match.end(group)].decode())
        spans.append(Span(characters, characters + length))
        passed = match.end(group)
        characters += length
        position = passed
    return spans
