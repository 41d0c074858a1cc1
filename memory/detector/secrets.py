"""Masks what must never be stored in clear: passwords, keys, tokens, card numbers.

Better one word too many masked than one too few: the person's own message keeps the original.
Everything is looked for in folded text (`folding.fold`), whose places are the message's own.
"""

from collections.abc import Iterator
from functools import cache

from memory.detector.folding import fold
from memory.detector.patterns import Expression, compile_latin, plainly
from memory.detector.sentences import Span

MASK = "•••"

_NO_LETTER = r"[^a-z0-9\x7f\xe0-\xff]"
_STRONG = (
    "pass(?:word|phrase|code|wd)s?|pwd|pw|pin(?:[ -]?(?:code|kod))?|puk|cvv2?|cvc2?"
    "|(?:api|access|secret|private|auth|license|ssh)[ _-]?(?:key|token)|client[ _-]secret"
    "|(?:seed|recovery|backup)[ _-](?:phrase|code)s?"
    "|parol|maxfiy so.?z|maxfiy kod|maxfiy kalit|парол[ьяею]?м?|пас[с]?ворд|пин(?:-?код)?"
    "|секретный ключ|апи[ -]?ключ|api[ -]?ключ|кодовое слово|махфий (?:суз|код|калит)"
    "|sifre|parola|gizli anahtar|api anahtari|haslo|hasla|haslem|kod pin|klucz api|tajny klucz"
    # What is sent to prove who one is.
    "|otp|one[- ]time (?:code|password)|(?:sms|verification|security|login|2fa|confirmation) code"
    "|код (?:из|в|от) (?:смс|sms)|(?:смс|sms)[ -]?код|код подтверждения|одноразовый (?:код|пароль)"
    "|(?:sms|смс) ?(?:dan|dagi|даги)? (?:kod|код)|tasdiqlash kodi|тасдиклаш коди"
    "|(?:sms|dogrulama|onay) kodu|kod (?:z|ze) sms-?a?|kod (?:sms|weryfikacyjny)"
)
# Everyday words too: masked only where what follows looks like a key.
_WEAK = "token|secret|токен|jeton|pass"
# Endings that Uzbek, Turkish and Russian hang on the word itself.
_ENDING = (
    "(?:(?:lar|ler|лар)?(?:im|ing|imiz|ingiz|m|miz|niz|si|n|i|им|инг|имиз|ингиз|и|у|ом)?"
    "(?:ni|ga|da|ni|yi|ни|га)?)"
)
_FOR = (
    "(?: (?:for|of|to|uchun|от|для|к|на|учун|do|dla|icin|konta|"
    "od) [a-z0-9.'_\\x7f\\xe0-\\xff-]{1,30}"
    "(?: [a-z0-9.'_\\x7f\\xe0-\\xff-]{1,30}){0,2}?)?"
)
_IS = "(?: *(?:=>?|->|:|-) *| +(?:is|was|esa|bu|это|to|jest|brzmi|such|вот|такой|'s)(?: *:)? +)"
_AND = "and|but|va|lekin|и|но|а|ва|лекин|ve|ama|i|ale|a|oraz"
_MY = "my|the|our|mening|bizning|мой|моя|наш|менинг|benim|bizim|moje|nasze|moj"
_NEAR = 260
_MOST_LOOKED, _COARSE = 200, 40

# What follows "is" when the sentence speaks about the secret without telling it.
_ABOUT = (
    "(?:(?:not|no|never|always|already|now|currently|still|being|been|rotat[a-z]+|changed|"
    "expir[a-z]+|required|needed|the same|stored|saved|kept|in|on|at|with|under|inside|for|from|by|"
    "reset|what|where|who|my|your|a|too|"
    "esimda|esimdan|yo'?q|kerak|noto'?g'?ri|unut[a-z]*|o'?zgar[a-z]*|eski|yangi|juda|хранится|"
    "лежит|"
    "не|уже|был[аио]?|сложный|простой|старый|новый|неверный|забыл[а]?|потерял[а]?|"
    "изменил[аи]?с?[ья]?|"
    "меняется|нужен|надо|скоро|degisti|degis[a-z]*|unuttum|yanlis|cok|eski|yeni|zor|kolay|var|yok|"
    "lazim|gerek|jest|nie|zostalo|bylo|wygasa|wygaslo|trudne|proste|stare|nowe|zle|zapomnialem|"
    "zapomnialam|zmienilem|zmienilam)(?:[ .,;!?\n]|$)"
    "|(?:wrong|correct|invalid|strong|weak|missing|secret|important|safe|long|short|old|new|set|"
    "патика|patience) *(?:[.,;!?\n]|$))"
)
_POINTING = frozenset(
    b"this that what which where here there it bu shu to \xfd\xf2\xee bu iste tak".split()
)

_SHAPES = (
    r"(-----begin [a-z ]{0,40}private key-----[^-]*"
    r"(?:-----end [a-z ]{0,40}-----)?)",
    rf"(?:^|{_NO_LETTER})((?:sk|pk|rk)[-_][a-z0-9_-]{{12,}})",
    rf"(?:^|{_NO_LETTER})((?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|hf_|gsk_|xai-|npm_|pypi-)"
    r"[a-z0-9_-]{10,})",
    rf"(?:^|{_NO_LETTER})((?:akia|asia)[a-z0-9]{{12,20}}|aiza[a-z0-9_-]{{30,40}})",
    rf"(?:^|{_NO_LETTER})(eyj[a-z0-9_-]{{8,}}\.[a-z0-9_-]{{4,}}[a-z0-9_.-]*)",
    rf"(?:^|{_NO_LETTER})(\d{{8,10}}:[a-z0-9_-]{{30,50}})",
    r"bearer ([a-z0-9._~+/=-]{8,})",
    r"://([^ \n/@:]+:[^ \n/@]+)@",
    r"[?&]((?:access_token|api_?key|auth|key|pass(?:word)?|secret|sig(?:nature)?|token)"
    r"=[^ \n&#]+)",
)
_LONG_RUN = r"(?:^|[^a-z0-9_/.+=-])([a-z0-9_+=-]{24,})(?:[^a-z0-9_/-]|$)"
_UUID = r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_CARD = (
    r"(?:^|[^0-9+.,-])(\d{13,19}|\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}|\d{4}[ -]\d{6}[ -]\d{5})"
    r"(?:[^0-9]|$)"
)
# One of these stands in everything that is masked.
_LIKELY = (
    r"-----begin|bearer |://|[?&][a-z_]+=|\d{4}[ -]?\d{2}|eyj|[a-z0-9_+=-]{24}"
    r"|[a-z]{2,4}[-_][a-z0-9]{8}|[spr]k[-_]|xox|_pat_|lpat-|ypi-|akia|asia[a-z0-9]{12}|aiza"
)


@cache
def _compiled(pattern: str) -> Expression:
    return compile_latin(plainly(pattern))


@cache
def _keyword() -> Expression:
    words = plainly(rf"(?:{_STRONG}|(?P<weak>{_WEAK})){_ENDING}")
    return compile_latin(rf"(?:^|{_NO_LETTER})(?P<word>{words})(?:{_NO_LETTER}|$)")


@cache
def _told() -> Expression:
    """Return "password is X": what follows, up to the end of the clause."""
    pattern = (
        rf"^{_FOR}{_IS}\"?(?P<told>[^ \n][^\n]*?)"
        rf"(?: *$| *\n|\"|[,;] |[.!?](?: |\n|$)| +(?:{_AND}) )"
    )
    return compile_latin(plainly(pattern))


@cache
def _before() -> Expression:
    """Return "hunter2 is my password"."""
    pattern = (
        rf"(?:^|[ \n])(?P<told>[^ ,;\n]{{3,}})(?: +(?:is|это|to|jest|bu)|,? bu| *[=-])"
        rf" +(?:(?:{_MY}) )?(?:[a-z0-9'\xe0-\xff-]{{1,20}} ){{0,2}}$"
        rf"|(?:^|[ \n])(?P<bare>[^ ,;\n]{{3,}}) +(?:benim|bizim|mening|bizning|менинг) $"
    )
    return compile_latin(plainly(pattern))


def mask_secrets(text: str) -> str:
    """Return the text with every secret replaced by ``•••``."""
    folded = fold(text)
    spans: list[Span] = []
    if _compiled(_LIKELY).search(folded) is not None:
        for shape in _SHAPES:
            spans += _groups(compile_latin(shape), folded)
        spans += (
            span for span in _groups(compile_latin(_LONG_RUN), folded) if _random(folded, span)
        )
        spans += (span for span in _groups(compile_latin(_CARD), folded) if _is_card(folded, span))
    spans += _told_secrets(folded)
    return _masked(text, spans) if spans else text


def _masked(text: str, spans: list[Span]) -> str:
    pieces, position = [], 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if span.start >= position:
            pieces += [text[position : span.start], MASK]
        position = max(position, span.end)
    return "".join([*pieces, text[position:]])


def _groups(expression: Expression, folded: bytes) -> Iterator[Span]:
    position = 0
    while (match := expression.search(folded, position)) is not None:
        yield Span(match.start(1), match.end(1))
        position = max(match.end(1), position + 1)


def _told_secrets(folded: bytes) -> Iterator[Span]:
    """Yield what is said to be a password, a PIN, a key."""
    position = looked = 0
    while (match := _keyword().search(folded, position)) is not None:
        position = match.end("word")
        looked += 1
        if looked > _MOST_LOOKED:
            # Nobody has so many secrets to tell: whatever stands behind the word goes.
            end = folded.find(b".", position + _COARSE, position + _NEAR)
            end = min(position + _NEAR, len(folded)) if end < 0 else end
            yield Span(position, end)
            position = end
            continue
        is_weak = match.start("weak") >= 0
        behind = folded[position : position + _NEAR]
        if (told := _told().search(behind)) is not None:
            span = Span(position + told.start("told"), position + told.end("told"))
            yield from _of_told(folded, span, is_weak=is_weak)
            position = max(position, span.end)
        elif (word := _word_behind(folded, match.start("word"), position)) is not None:
            yield word
            position = word.end
        before = folded[max(0, match.start("word") - 120) : match.start("word")]
        if before[-1:] == b" " and (said := _before().search(before)) is not None:
            group = "told" if said.start("told") >= 0 else "bare"
            start = match.start("word") - len(before) + said.start(group)
            span = Span(start, start + said.end(group) - said.start(group))
            word_before = folded[span.start : span.end]
            is_plain = word_before in _POINTING or (is_weak and not _has_figure(word_before))
            if not is_plain:
                yield span


def _of_told(folded: bytes, told: Span, *, is_weak: bool) -> Iterator[Span]:
    """Yield all that is told; of a remark about the secret only what has a figure in it."""
    said = folded[told.start : told.end]
    about = _compiled("^" + _ABOUT).search(said + b"\n")
    if not is_weak and about is None:
        yield told
        return
    start = told.start
    for word in said.split(b" "):
        if _has_figure(word):
            yield Span(start, start + len(word))
        start += len(word) + 1


def _word_behind(folded: bytes, start: int, end: int) -> Span | None:
    """Return the word right behind a keyword, where it looks like no word, or is all there is.

    "parolim X", "мой пароль X", "şifrem X": no verb is needed there to tell it.
    """
    stretch = folded[end : end + _NEAR]
    if stretch[:1] != b" ":
        return None
    for behind in (_BEHIND_FOR, _BEHIND_FOR_IN_LATIN):
        if (named := _compiled(behind).search(stretch)) is not None:
            return Span(end + named.start(1), end + named.end(1))
    found = _compiled(r"^ +\"?([^ \n\",;]{3,})").search(stretch)
    if found is None:
        return None
    word = stretch[found.start(1) : found.end(1)].rstrip(b".!?")
    span = Span(end + found.start(1), end + found.start(1) + len(word))
    if len(word) >= 3 and _compiled(r"[0-9_@#$%^&*!+=~]").search(word) is not None:
        return span
    rest = stretch[found.end(1) :]
    is_alone = _compiled(r"^[.!?]* *(?:$|\n|[,;] ?|[.!] | - )").search(rest) is not None
    mine = folded[max(0, start - 8) : end]
    is_mine = _compiled(_NOMINAL).search(mine) is not None
    is_about = _compiled("^" + _ABOUT).search(word + b"\n") is not None
    return span if is_alone and is_mine and not is_about else None


# "Password for the mail hunter2": no word that tells it, but it looks like none.
_BEHIND_FOR = (
    "^ (?:for|of|to|uchun|от|для|к|на|учун|do|dla|icin|od) [a-z0-9.'_\\x7f\\xe0-\\xff-]{1,30}"
    '(?: [a-z0-9.\'_\\x7f\\xe0-\\xff-]{1,30}){0,2}? +"?([^ \n",;]*[0-9@#$%^&*!+=~][^ \n",;]*)'
)
# «Пароль от вайфая qwerty»: a Latin word among Cyrillic ones.
_BEHIND_FOR_IN_LATIN = (
    '^ (?:от|для|к|на) [a-z0-9.\'_\\x7f\\xe0-\\xff-]{1,30} "?([a-z]{4,})"?[.!?]* *(?:$|\n|,)'
)
# "My password" in a language whose sentence needs no "is".
_NOMINAL = (
    "(?:parol|парол|sifre|parola|maxfiy so'?z|махфий суз)(?:im|imiz|им|имиз|m|miz)$"
    "|(?:мой|наш|моя) (?:пароль|пин|пин-?код)$"
    "|(?:^|[\n:;,.!/(] ?)(?:пароль|пас[с]?ворд|haslo|parol|sifre|parola)$"
    "|(?:moje|nasze) (?:haslo)$"
)


def _has_figure(word: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in word)


def _random(folded: bytes, span: Span) -> bool:
    """Return whether a long run mixes letters and figures; a UUID is no secret."""
    run = folded[span.start : span.end]
    letters = any(97 <= byte <= 122 for byte in run)
    return letters and _has_figure(run) and _compiled(_UUID).search(run) is None


def _is_card(folded: bytes, span: Span) -> bool:
    """Return whether a number passes the card check, or has 16 digits: local cards may not."""
    digits = [byte - 48 for byte in folded[span.start : span.end] if 48 <= byte <= 57]
    return len(digits) == 16 or _passes_luhn(digits)


def _passes_luhn(digits: list[int]) -> bool:
    """Check ISO/IEC 7812's last digit."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
