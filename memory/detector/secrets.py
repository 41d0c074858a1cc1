"""Masks what must never be stored in clear: passwords, keys, tokens, card numbers.

Better one word too many masked than one too few: the person's own message keeps the original.
"""

import re

MASK = "•••"

_STRONG = (
    r"pass(?:word|phrase|code|wd)s?|pwd|pin(?:[ -]?(?:code|kod))?|cvv2?|cvc2?"
    r"|(?:api|access|secret|private|auth)[ _-]?(?:key|token)|client[ _-]secret"
    r"|parol|maxfiy\s+(?:so.z|kod|kalit)|парол[ья]?|пин(?:-?код)?|секретный\s+ключ"
    r"|махфий\s+(?:сўз|код|калит)|şifre|sifre|hasło|haslo"
)
# Everyday words too: masked only where what follows looks like a key.
_WEAK = r"token|secret|токен"
# Uzbek hangs "my", "our", "of the", "to the" on the word itself.
_SUFFIX = r"(?:(?:lar)?(?:im|ing|imiz|ingiz|i|им|инг|имиз|ингиз|и|m|n)?(?:ni|ga|да|ни|га)?)\b"
_KEYWORD = rf"(?<![^\W_])(?:{_STRONG}|(?P<weak>{_WEAK})){_SUFFIX}"
_FOR = (
    r"(?:\s+(?:for|of|to|uchun|от|для)\s+(?!is\b)[\w.'-]{1,30}"
    r"(?:\s+(?!is\b)[\w.'-]{1,30}){0,2}?)?"
)
_END = r"(?=\s*$|\s*[\r\n]|[,;]\s|[.!?](?:\s|$)|\s+(?:and|but|va|lekin|и|но|ва|лекин|ve|ama|i)\s)"
# "password is X", "parol: X": what follows, up to the end of the clause.
_TOLD = re.compile(
    rf"(?P<kept>{_KEYWORD}{_FOR}\s*(?:\b(?:is|was|esa|bu|это)\b|=>?|->|:|—|–|-\s)\s*[\"'“«]?)"
    rf"(?P<told>[^\s].{{0,200}}?){_END}",
    re.IGNORECASE,
)
# "parolim X", "PIN 1234", "password hunter2": the next word, where it looks like no word.
_NEXT = re.compile(
    rf"(?P<kept>{_KEYWORD}\s+[\"'“«]?)(?P<told>(?=\S{{0,200}}?[\d_@#$%^&*!+=~])[^\s\"”»,;]{{3,200}})",
    re.IGNORECASE,
)
# "parolim qwerty": Uzbek says "my password is" without a verb, so one word in that place is it.
_NOMINAL = re.compile(
    r"(?P<kept>\b(?:parol|парол|maxfiy\s+so.z|махфий\s+сўз)(?:im|imiz|им|имиз)\s+)"
    r"(?P<told>[^\s,;]{3,200}?)(?=\s*$|\s*[\r\n]|[,;.!]|\s+[—–-]\s)",
    re.IGNORECASE,
)
# "hunter2 is my password", "X — mening parolim".
_BEFORE = re.compile(
    r"(?<!\S)(?P<told>[^\s,;]{3,200})(?P<kept>(?:\s+is|,?\s+bu|\s*[=—–]|\s+-)\s+"
    r"(?:(?:my|the|our|mening|bizning|мой|менинг)\s+)?(?:[\w'-]{1,20}\s+){0,2}"
    rf"{_KEYWORD})",
    re.IGNORECASE,
)
_HAS_KEYWORD = re.compile(_KEYWORD, re.IGNORECASE)

# What follows "is" when the sentence speaks about the secret without telling it.
_ABOUT = re.compile(
    r"(?:(?:not|no|never|always|already|now|currently|still|being|been|rotat\w+|changed|expir\w+|"
    r"required|needed|the\s+same|stored|saved|kept|in|on|at|with|under|inside|for|from|by|reset|"
    r"what|where|who|my|your)(?=\s|$|[.,])"
    r"|(?:wrong|correct|invalid|strong|weak|missing|secret|important|safe|long|short|old|new|set|"
    r"too\s+\w+)\s*$)",
    re.IGNORECASE,
)
_POINTING = frozenset({"this", "that", "what", "which", "where", "here", "there", "bu", "shu"})
_LOOKS_SECRET = re.compile(r"\S*\d\S*")

_SHAPES: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}-----)?"
    ),
    re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,200}"),
    re.compile(
        r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|pypi-)[A-Za-z0-9_-]{10,300}"
    ),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,20}\b|\bAIza[A-Za-z0-9_-]{30,40}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{4,4000}(?:\.[A-Za-z0-9_-]{0,2000})?"),
    re.compile(r"\b\d{8,10}:[A-Za-z0-9_-]{30,50}"),
    re.compile(r"(?<=Bearer )[A-Za-z0-9._~+/=-]{8,4000}", re.IGNORECASE),
    re.compile(r"(?<=://)[^\s/@:]{1,100}:[^\s/@]{1,200}(?=@)"),
    re.compile(
        r"(?<=[?&])(?:access_token|api_?key|auth|key|pass(?:word)?|secret|sig(?:nature)?|token)"
        r"=[^\s&#]{1,500}",
        re.IGNORECASE,
    ),
)
_LONG_RUN = re.compile(r"(?<![\w/.-])[A-Za-z0-9_+=-]{24,400}(?![\w/.-])")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_CARD = re.compile(
    r"(?<![\d+.,-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}[ -]\d{6}[ -]\d{5})(?!\d)"
)


def mask_secrets(text: str) -> str:
    """Return the text with every secret replaced by ``•••``."""
    for shape in _SHAPES:
        text = shape.sub(MASK, text)
    text = _LONG_RUN.sub(_mask_if_random, text)
    text = _CARD.sub(_mask_if_card, text)
    if _HAS_KEYWORD.search(text) is None:
        return text
    text = _BEFORE.sub(_mask_before, text)
    text = _TOLD.sub(_mask_told, text)
    text = _NOMINAL.sub(_mask_next, text)
    return _NEXT.sub(_mask_next, text)


def _mask_told(match: re.Match[str]) -> str:
    """Mask what a keyword is said to be; in a remark about it only what has a figure in it."""
    told = match["told"]
    if match["weak"] or _ABOUT.match(told):
        return match["kept"] + _LOOKS_SECRET.sub(MASK, told)
    return match["kept"] + MASK


def _mask_next(match: re.Match[str]) -> str:
    """Mask the word behind a keyword."""
    return match[0] if MASK in match["told"] else match["kept"] + MASK


def _mask_before(match: re.Match[str]) -> str:
    """Mask the word that is said to be the password, unless it is a plain one."""
    told = match["told"]
    is_plain = told.lower() in _POINTING or (match["weak"] and not _LOOKS_SECRET.search(told))
    return match[0] if is_plain else MASK + match["kept"]


def _mask_if_random(match: re.Match[str]) -> str:
    """Mask a long run of letters and figures; identifiers in UUID form are no secrets."""
    run = match[0]
    is_mixed = any(c.isdigit() for c in run) and any(c.isalpha() for c in run)
    return MASK if is_mixed and not _UUID.fullmatch(run) else run


def _mask_if_card(match: re.Match[str]) -> str:
    """Mask numbers that pass the card check, and all of 16 digits: local cards may not pass it."""
    digits = [int(c) for c in match[0] if c.isdigit()]
    return MASK if len(digits) == 16 or _passes_luhn(digits) else match[0]


def _passes_luhn(digits: list[int]) -> bool:
    """Check ISO/IEC 7812's last digit."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
