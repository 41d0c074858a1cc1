"""Uzbek, written in Latin letters or in Cyrillic ones, which are read as Latin."""

import re

from memory.detector.packs import (
    NAME,
    Clause,
    Pack,
    Rule,
    any_of,
    is_capitalised,
    is_specific,
    named,
    rules,
)

_LATIN = {
    "а": "a", "б": "b", "в": "v", "г": "g", "ғ": "g'", "д": "d", "е": "e", "ё": "yo", "ж": "j",
    "з": "z", "и": "i", "й": "y", "к": "k", "қ": "q", "л": "l", "м": "m", "н": "n", "о": "o",
    "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ў": "o'", "ф": "f", "х": "x", "ҳ": "h",
    "ц": "ts", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "'", "ы": "i", "ь": "", "э": "e", "ю": "yu",
    "я": "ya",
}  # fmt: skip
_TO_LATIN = str.maketrans(
    _LATIN | {letter.upper(): latin.capitalize() for letter, latin in _LATIN.items()}
)
# At the start of a word and behind a vowel е is ye.
_YE = re.compile(r"(?<![^\W\d_])[еЕ]|(?<=[аоуиэюяёўыАОУИЭЮЯЁЎЫ])е")


def _to_latin(text: str) -> str:
    """Write Uzbek Cyrillic in Latin letters; Latin stays as it is."""
    return _YE.sub(lambda match: "ye" if match[0] == "е" else "Ye", text).translate(_TO_LATIN)


_OPENING = (
    r"(?:^\s*|[,.;:!()—–-]\s*|\b(?:va|lekin|ammo|iltimos|salom|xo'p|ha|chunki|keyin|endi|demak)\s+)"
)
_ASKING = (
    r"(?<!hech )(?<!har )\b(?:nima(?:ni|ga|dan|da|lar\w*|si|m|ng)?|kim(?:ga|ni|dan|da|ning|lar|man|"
    r"san|siz)?|qanday|qaysi(?:si|ni)?|nega|nechta|necha|nechanchi|nechi(?:da)?|qancha(?:lik)?|"
    r"qachon(?:gacha|dan)?|qayer\w*|qayoq\w*|qani(?!,?\s+[\w',\s]{1,80}ylik)|qalay\w*|nimaga|nechun)\b"
)
_NO_NAME = (
    r"(?!(?:kim|nima|qanday|esingda|esingizda|yodingda|yodingizda|emas|bor|yo'q|qiyin|oson|uzun|"
    r"qisqa|chiroyli|muhim|shu|bu|ham|hozir|o'sha|noto'g'ri|to'g'ri|xato|bilan|uchun|ni|ga|mening|"
    r"qayerda|juda)\b)"
)
_STEM = (
    r"(?:tarjima\s+qil|yoz|ayt|tushuntir|ko'rsat|top|hisobla|qisqart|tuzat|qidir|tekshir|och|o'qi|"
    r"jo'nat|yubor|sana|chiz|qil|ber|ishlat|foydalan|o'chir|qo'sh|eslat|taqqosla|solishtir|gapir|"
    r"so'ra|javob\s+ber|murojaat\s+qil|gaplash|qo'lla|boshla|tugat|tanla|keltir|sol)"
)
_ORDER = (
    rf"{_STEM}(?:ib\s+ber)?(?:ma)?(?:ing|gin|inglar|ng|nglar|sang|sangiz|aver|avering)?(?:chi)?"
)
_STANDING = (
    r"(?:doim|doimo|har\s+doim|har\s+safar|hamisha|bundan\s+(?:buyon|keyin|so'ng)|hech\s+qachon)"
)
_LEADS = r"(?:^\s*(?:yo'q|yoq|aslida|kechirasiz|uzr|xato|noto'g'ri|to'xta|e\s+yo'q)\b[,.!:;\s—–-]+)"
_PLAIN_NOT = (
    r"(?!(?:kerak|shart|muhim|yaxshi|yomon|gap|hozir|mumkin|muammo|farqi|zarur|oson|qiyin|bugun|"
    r"unchalik|uncha)\b)"
)
_CHOICE = (
    r"(?:ishlat|tanla|qo'lla|foydalan|ol|o't|boshla|qoldir|qil|kirit|chiqar|to'xtal|to'xtat|ko'chir|"
    r"saqla)(?:ma)?(?:amiz|aylik|ylik|ymiz)"
)
_MONTH = (
    r"(?:yanvar|fevral|mart|aprel|may|iyun|iyul|avgust|sentabr|sentyabr|oktabr|oktyabr|"
    r"noyabr|dekabr)"
)
_NO_SURNAME = re.compile(r"(?:dan|da|dagi|lik|ga|ning|chi)$")


def _is_name(match: re.Match[str], clause: Clause) -> bool:
    return is_capitalised(named(match, clause))


def _is_name_or_typed_small(match: re.Match[str], clause: Clause) -> bool:
    """After "ismim" many type small letters: then it has to end the clause."""
    ends = bool(re.match(r"\s*(?:$|[,.!;:…—–])|\s+va\b", clause.lowered[match.end("name") :]))
    return named(match, clause)[0].isupper() or ends


def _is_named_person(match: re.Match[str], clause: Clause) -> bool:
    """ "Men Azizman" tells a name, "men Toshkentdanman" a place."""
    word = named(match, clause)
    return is_capitalised(word) and _NO_SURNAME.search(word) is None


def _is_contrast(match: re.Match[str], clause: Clause) -> bool:
    """Accept a name or a figure; the first word's capital says nothing."""
    word = named(match, clause)
    return is_specific(word) and (match.start("name") > 0 or not word[0].isalpha())


def _has_something_specific(match: re.Match[str], clause: Clause) -> bool:
    """Accept where a name or a figure follows."""
    return any(is_specific(word) for word in clause.cased[match.end() :].split())


_NAMES = (
    Rule(
        "proper_noun",
        re.compile(
            r"\b(?:ismim|familiyam|ism-sharifim|ismi\s+sharifim|ism\s+familiyam|laqabim)\s*"
            r"(?:[—–:-]\s*|\s(?:esa|bu)\s+|\s)" + _NO_NAME + NAME
        ),
        _is_name_or_typed_small,
    ),
    Rule("proper_noun", re.compile(r"\botim\s+(?:[—–:-]\s*)?" + NAME), _is_name),
    Rule("proper_noun", re.compile(NAME + r"\s+(?:mening\s+|meni\s+)?ismim\b"), _is_name),
    Rule(
        "proper_noun",
        re.compile(
            r"\b(?:meni|bizni)\s+"
            + NAME
            + r"\s+(?:(?:deb|deya)\s+(?:chaqir|ata|bil|tani|ayt)|deyish|"
            r"deydi|deng|de\b)"
        ),
        _is_name,
    ),
    Rule(
        "proper_noun",
        re.compile(r"\bmenga\s+" + NAME + r"\s+(?:deb|deya)\s+(?:murojaat|ayt|gapir)"),
        _is_name,
    ),
    Rule(
        "proper_noun",
        re.compile(r"\bmen\s+(?P<name>[^\W\d_][\w'-]{1,40}?)(?:man\b|\s*(?:$|[,.!]))"),
        _is_named_person,
    ),
    Rule(
        "proper_noun",
        re.compile(r"\b[\w']+(?:m|miz)ning\s+(?:ismi|oti|laqabi)\s+(?:[—–:-]\s*)?" + NAME),
        _is_name,
    ),
)

# Said of what was just shown, or of the one who listens: a reaction.
_NO_REACTION = (
    r"^(?!.*\b(?:bu|shu|ushbu|buni|shuni|uni|seni|sizni|javobing\w*)\b.{0,60}\b(?:yoq|xush|yaxshi|"
    r"afzal|yomon|ma'qul))"
)
_PREFERENCES = rules(
    "preference",
    _NO_REACTION + r".*(?:\byoqtir(?:a|may|mas)(?:man|miz)\b"
    r"|\b(?:xush|yaxshi|afzal|ma'qul|yomon)\s+ko'r(?:a|may|mas)(?:man|miz)\b"
    r"|\b(?:menga|bizga)\b.{0,100}\b(?:yoqadi|yoqmaydi|yoqar|yoqmas|ma'qul)\b(?!\s+(?:edi|bo'ldi))"
    r"|\b(?:yoqadi|yoqmaydi)\s+(?:menga|bizga)\b"
    r"|\b(?:ustun\s+qo'y|nafratlan)a(?:man|miz)\b|\bishqibozi?man\b|\bmuxlisiman\b)",
    r"\b(?:eng\s+)?sevimli\s+(?:[\w']+\s+){0,2}[\w']+(?:m|miz)\b",
    r"\b[\w']+lar\w*\s+(?:xohlamayman|istamayman|kerak\s+emas\s+menga)\b",
    r"\b" + _STANDING + r"\b.{0,100}\b(?:xohlayman|istayman|" + _ORDER + r")(?:\s*$|\s*[,.!;])",
)

_DECISIONS = rules(
    "decision",
    r"\b(?:qaror\s+qil(?:dik|dim|indi|ingan|ganmiz)|qarorga\s+kel(?:dik|dim)|kelish(?:ib\s+oldik|dik)|"
    r"hal\s+qil(?:dik|dim)|tanla(?:dik|ndi)|to'xta(?:l)?dik|qaror\s+qabul\s+qil(?:dik|dim|indi))\b",
    r"(?:^\s*|[.;!]\s*)(?:(?:bizning|yakuniy)\s+)*qaror(?:imiz)?\s*[:—–-]\s*\w",
    r"\b(?:keling(?:lar)?|kel|qani|mayli|xo'p|bo'ldi|unda|demak|ha)\b[,\s]\s*"
    r"(?!(?:shunday|bunday|uni|buni|shuni|dam|nafas)\b).{0,80}\b(?<!dam )" + _CHOICE + r"\b",
    r"\b(?!(?:shunday|bunday|uni|buni|shuni)\b)[\w'.+#-]+\s+(?:ishlat|tanla|qo'lla|foydalan)(?:ma)?"
    r"(?:aylik|ylik)\b",
)

# "Java emas, Python" may be a liking or a choice.
_NO_CHOICE = r"^(?!.*\b(?:yoqtir|yoqadi|afzal|xush\s+ko'r|ishlatamiz|ishlataylik))"
_CORRECTIONS = (
    *rules(
        "correction",
        r"(?:" + _LEADS + r"|\bemas\b).{0,120}\b(?:(?:demoqchi|aytmoqchi|yozmoqchi|so'ramoqchi)\s*"
        r"(?:edim|edik|bo'lgandim|bo'luvdim)|demoqchiydim)\b",
        r"\bnazarda\s+tut(?:gan|uvdi|yap|dim|ayotgan|moqchi)\w*(?:\s+edim)?\b",
        _LEADS
        + r".{0,120}?\b"
        + _PLAIN_NOT
        + r"[\w'-]+\s+emas\b\s*[,;]?\s*(?:balki\s+)?(?!rahmat)[\w'-]+",
        _LEADS + r"[\w'-]+(?:\s+[\w'-]+){0,6},\s*" + _PLAIN_NOT + r"[\w'-]+\s+emas\b",
        r"\b(?:noto'g'ri|xato)\s+(?:yoz|tushun|ayt|eshit)\w*(?:ding|dingiz|siz|san)\b",
        r"^\s*(?:noto'g'ri|xato)\s*[,:;—–-]\s*[\w'-]+\s+[\w'-]+",
        r"\b(?:to'g'risi|to'g'rirog'i|aniqrog'i|tuzatish|tuzataman)\b\s*[:,—–-]?\s*[\w'-]+",
        _LEADS + r".{0,20}\bmen\b.{1,80}\b(?:dedim|degandim|degan\s+edim|aytdim|aytgandim|yozdim|"
        r"yozgandim|so'radim|so'ragandim)\b",
        r"\bmen\b.{1,80}\b(?:dedim|degandim|degan\s+edim|aytdim|aytgandim|yozgandim)\b.{0,20}\b"
        r"(?:sen|siz)\b",
    ),
    Rule(
        "correction",
        re.compile(_NO_CHOICE + r".*?\b(?P<name>[\w'-]+)\s+emas\s*[,;—–-]?\s*(?:balki\s+)?[\w'-]+"),
        _is_contrast,
    ),
    Rule(
        "correction",
        re.compile(_NO_CHOICE + r".*?\b[\w'-]+\s+emas\s*[,;—–-]?\s*(?:balki\s+)?(?P<name>[\w'-]+)"),
        _is_contrast,
    ),
    Rule(
        "correction",
        re.compile(_NO_CHOICE + r".*?\b[\w'-]+\s*,\s*(?P<name>[\w'-]+)\s+emas\b"),
        _is_contrast,
    ),
    Rule("correction", re.compile(r"^\s*aslida\b"), _has_something_specific),
)

_KEEPING = (
    r"(?:eslab\s+(?:qol|qo'y|yur)|yodlab\s+(?:qol|ol|qo'y)|yodda\s+(?:tut|saqla)|esda\s+(?:tut|saqla)|"
    r"xotir(?:a|ang|angiz)da\s+(?:saqla|tut)|yozib\s+(?:qo'y|ol)|bilib\s+qo'y|saqlab\s+qo'y)"
)

PACK = Pack(
    language="uz",
    fold=_to_latin,
    question=any_of(
        _ASKING,
        r"\w(?:adi|ydi|di|gan|san|siz|man|miz|ar|bor|yo'q|emas|mumkin|kerak)mi(?:kan|kin|di)?[\s?!.]*$",
        r"\w{2}(?:mi|mikan|mikin|chi)\s*\?",
    ),
    tag=re.compile(
        r"^\s*(?:xo'pmi|mayli|maylimi|iltimos|bo'ptimi|kelishdikmi|tushunarlimi)\s*\?+\s*$"
    ),
    request=re.compile(_KEEPING + r"(?:olasanmi|olasizmi|asanmi|asizmi)\b"),
    retraction=any_of(
        r"\bunut(?:ing|gin|inglar|ib\s+(?:qo'y|yubor|ket)\w*)?\b(?!')",
        r"\b(?:eslab\s+qol|yozib\s+(?:qo'y|ol)|saqlab\s+qo'y|yodda\s+tut|yodlab\s+ol|saqla)ma(?:ng|gin|"
        r"nglar)?\b",
        r"\besdan\s+chiqar(?:ing|gin|ib\s+yubor\w*)?\b|\beslab\s+qolish\w*\s+(?:shart|kerak)\s+emas\b",
    ),
    instruction=re.compile(r"^(?!.*\b" + _STANDING + r"\b).*\b" + _ORDER + r"\s*(?:[:.!—–-]|$)"),
    once=re.compile(r"\b(?:bu|shu|ushbu)\s+(?:javob\w*|safar)\b|\bbir\s+marta\b|\bhozircha\b"),
    passing=re.compile(
        r"\b(?:hozir|bugun|hozircha|ayni\s+paytda|shu\s+topda|(?:bu|shu)\s+safar)\b"
    ),
    # What was said stands before the verb, so all of the sentence is somebody else's.
    reported=re.compile(
        r"^.*\b(?:dedi|dedilar|deydi|deyapti|deyishdi|deyishadi|deb\s+(?:aytdi|yozdi|so'radi|aytgan|"
        r"yozgan|o'ylaydi|javob\s+berdi|hisoblaydi))\b"
    ),
    narrative=re.compile(
        r"^\s*hozir\s+soat\b|\b(?:bugun|kecha|hozir|ertalab|kechqurun)\b.*(?:dim|dik|yapman|yapmiz)\b"
    ),
    remember=any_of(
        r"\b" + _KEEPING + r"(?:ing|inglar|gin|ginlar|ng|sang|sangiz|asan|asiz|olasanmi|olasizmi|"
        r"asanmi|asizmi)?(?:chi|izchi)?\b(?!')",
        r"\b(?:esing|esingiz|yoding|yodingiz|xotirang|xotirangiz)da\s+(?:bo'lsin|tursin|qolsin|saqla"
        r"(?:ng|gin)?|tut(?:ing|gin)?)\b",
        r"\bunutma(?:ng|ngiz|gin|nglar|sang|sangiz)?\b(?!')",
        r"\b(?:esdan|yoddan)\s+chiqarma(?:ng|gin|nglar)?\b|\besing(?:iz)?dan\s+chiqmasin\b",
    ),
    filler=re.compile(
        r"\b(?:buni|shuni|uni|iltimos|ham|albatta|shu|bu|narsani|gapni|deb|va|menga)\b"
    ),
    values=any_of(
        r"\b\d{1,2}[-\s]*(?:chi|nchi|inchi)?[-\s]*" + _MONTH + r"\w{0,8}\b",
        r"\b(?:raqam|kod|narx|byudjet|maosh|oylig|xona|manzil|versiya|buyurtma|hisob)\w{0,8}"
        r"\s*(?:[:=—–-]\s*|\s(?:raqami\s+)?)#?\d",
        r"\bmanzil\w{0,8}\s*[:=—–-]?\s.{0,60}\d",
        r"\b\d{1,4}[-\s](?:xona|qavat|uy|kvartira)\w{0,6}\b",
    ),
    measures=any_of(
        r"\bsoat\s+\d{1,2}\b",
        r"\b\d[\d.,\s]{0,20}(?:ming|mln|million|mlrd|milliard)?\s*(?:so'm|dollar|yevro|rubl)\w{0,6}\b",
    ),
    rules=(*_NAMES, *_PREFERENCES, *_DECISIONS, *_CORRECTIONS),
)
