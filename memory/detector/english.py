"""English."""

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

# A clause may open with these and still be the clause it is.
_OPENING = (
    r"(?:^\s*|[,.;:!()—–-]\s*|\b(?:and|but|so|because|since|also|that|well|ok|okay|yes|yeah|hi|"
    r"hello|hey|please|pls|btw|fyi|think|guess|know|say|although|though|while|as|always|just|now|"
    r"then|remember|mind|forget)\s+)"
)
_ADVERBS = (
    r"(?:(?:really|usually|generally|personally|always|also|still|just|much|do|absolutely|"
    r"strongly|mostly|typically|definitely|truly|often|normally|honestly|actually|only|"
    r"particularly)\s+){0,3}"
)
# After "I like": a reaction to what was just said is no preference.
_LASTING_OBJECT = (
    r"(?!\s*[,.!]|\s*$)"
    r"(?!\s+(?:it|that|this|these|those|you|your|yours|him|her|them|us|what|how|where|who|when|both|"
    r"to\s+(?:know|ask|thank|add|point|say)|all\s+(?:of\s+)?(?:this|that|it|these)|"
    r"the\s+(?:way|first|second|third|last|latter|former|other|previous|next)|"
    r"the\s+(?:\w+\s+){0,2}(?:one|ones|option|version|draft|answer|reply|idea|suggestion|plan|"
    r"proposal|result|response|sound|look)s?)\b)"
)
_LIKES = r"(?:like|love|enjoy|prefer|hate|dislike|adore|favou?r|detest|loathe|can(?:'t|not) stand)"
_ANSWERS = (
    r"(?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?|reports?|texts?|code|"
    r"summar(?:y|ies)|explanations?|notifications?|examples?|translations?|documents?)"
)
_VERBS = (
    r"(?:translate|summari[sz]e|write|explain|fix|show|tell|give|find|search|open|read|look|make|"
    r"create|generate|draw|calculate|compute|convert|count|compare|help|describe|rewrite|shorten|"
    r"send|remind|add|delete|remove|update|rename|run|answer|reply|respond|use|try|put|edit|"
    r"analy[sz]e|define|continue|stop|repeat|print|proofread|turn|speak|talk|ask|address|include|"
    r"avoid|start|end|begin|greet|mention|quote|format|skip|suggest|solve|paraphrase|quit|"
    r"double-check|list|be|say|(?:call|ring|text|email|ping|wake|meet)\s+(?:me|us|him|her|them)\b"
    r"(?!\s+as\b))"
)
_NOUN_LIKE_VERBS = r"(?:set|book|order|plan|check|test|sort|correct|review|draft|schedule|change)"
_NO_VERB_AFTER = (
    r"(?!\s*[:#]|\s+(?:number|no|id|is|are|was|were|will|due|code|date|server|deadline|starts?)\b)"
)
_STANDING = (
    r"(?:always|never|from now on|in (?:the )?future|going forward|by default|every time|each time|"
    r"whenever|at all times)"
)
_EVALUATION = (
    r"(?:fine|ok|okay|good|great|bad|nice|tired|bored|hungry|busy|happy|sad|sick|just|only|all|too|"
    r"so|very|really|kind|because|about|like|hot|cold|late|early|cool|alright|enough|easy|hard|here|"
    r"there|over|done|up|down|still|delayed|broken|not|no|perfect|awesome|funny|true|right|wrong|"
    r"what|why|how|where|enough|pretty|quite|a\s+(?:lot|bit|good|great|nice|pity|shame)|\w+ing)\b"
)
_LEADS = (
    r"(?:^\s*(?:(?:no|nope|nah|not quite|wait|hold on|oops|sorry|actually|correction|my bad|ah|oh)"
    r"\b[,.!:;\s—–-]+){1,3})"
)
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
)
_DAY = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight)"

_NOT_NAMES = frozenset(
    """a able about after again all allergic also always american an at asap asian at australian
    back bad based being better born brazilian busy called canadian coming crazy czech done dr
    dutch european even fine for french free friday from german glad going good great greek happy
    here hungry i in indian italian it jewish just kazakh korean kyrgyz late later looking maybe
    me mexican monday mr mrs ms muslim my never nice no not now ok okay old on only out polish
    ready really russian sad saturday sick so sorry still sunday super sure swiss tajik the there
    thinking thursday tired today tomorrow tonight too trying tuesday turkish turkmen ukrainian up
    uzbek very vegan vegetarian wednesday when working your""".split()
)
_TITLED_NAME = r"(?:(?:dr|mr|mrs|ms|prof)\.?\s+)?" + NAME
_AFTER_NAME = re.compile(
    r"\s*(?:$|[,.!;:()…—–]|-\s)|\s+(?:and|from|but|by|here|a|an|the|your|nice|i|not)\b"
)
_MY_NAME_NEVER = (
    r"(?!(?:not|on|in|at|the|a|an|too|very|so|spelled|spelt|written|wrong|correct|missing|there|"
    r"also|same|what|important|common|rare|hard|easy|difficult|long|short|pronounced|always)\b)"
)


def _could_be_name(word: str) -> bool:
    is_people = word.lower().endswith(("ish", "ese"))
    return is_capitalised(word) and word.lower() not in _NOT_NAMES and not is_people


def _is_name(match: re.Match[str], clause: Clause) -> bool:
    """Accept a capitalised word that is no weekday, people or feeling."""
    word = named(match, clause).removesuffix("'s")
    return word == named(match, clause) and _could_be_name(word)


def _is_name_alone(match: re.Match[str], clause: Clause) -> bool:
    """After "I'm": the name also has to end there, or go on with a surname."""
    if not _is_name(match, clause):
        return False
    rest = clause.cased[match.end("name") :]
    return bool(_AFTER_NAME.match(rest)) or rest.lstrip()[:1].isupper()


def _is_name_or_typed_small(match: re.Match[str], clause: Clause) -> bool:
    """After "my name is" many type small letters: then it has to end the clause."""
    rest = clause.lowered[match.end("name") :]
    ends = bool(re.match(r"\s*(?:$|[,.!;:…—–])|\s+(?:and|but|from)\b", rest))
    return named(match, clause)[0].isupper() or ends


def _is_specific(match: re.Match[str], clause: Clause) -> bool:
    """Accept a contrast of names or figures; "not bad, but" is none."""
    return is_specific(named(match, clause))


_NAMES = (
    Rule(
        "proper_noun",
        re.compile(
            r"\bmy\s+(?:(?:full|first|last|real|given|middle|family)\s+)?name(?:'s|\s+is|:)\s+"
            + _MY_NAME_NEVER
            + _TITLED_NAME
        ),
        _is_name_or_typed_small,
    ),
    Rule(
        "proper_noun",
        re.compile(
            r"\bmy\s+name(?:'s|\s+is)\s+not\s+[\w'-]+[,;]?\s+(?:it's|it\s+is|but)\s+" + NAME
        ),
        _is_name,
    ),
    Rule(
        "proper_noun",
        re.compile(
            r"\b(?:my|our)\s+(?:\w+\s+)?(?:\w+'s\s+name\s+is|\w+\s+is\s+(?:called|named))\s+" + NAME
        ),
        _is_name,
    ),
    Rule(
        "proper_noun", re.compile(_OPENING + r"(?:i'm|i\s+am|im)\s+" + _TITLED_NAME), _is_name_alone
    ),
    Rule(
        "proper_noun",
        re.compile(
            r"\b(?:call\s+me|calls\s+me|i\s+go\s+by|i'm\s+called|i\s+am\s+called|"
            r"(?:address|refer\s+to|know)\s+me\s+as|i'm\s+known\s+as)\s+" + _TITLED_NAME
        ),
        _is_name,
    ),
)

_PREFERENCES = rules(
    "preference",
    _OPENING + r"i\s+" + _ADVERBS + _LIKES + r"\b" + _LASTING_OBJECT,
    _OPENING + r"i\s+(?:really\s+)?(?:don't|do\s+not|dont|never|no\s+longer|hardly)\s+(?:really\s+|"
    r"particularly\s+|even\s+|much\s+)?(?:like|love|enjoy|care\s+for)\b" + _LASTING_OBJECT,
    _OPENING
    + r"i(?:'d|\s+would)\s+(?:much\s+|really\s+|always\s+)?prefer\b(?!\s+(?:you|if|not\s+to)\b)"
    + _LASTING_OBJECT,
    _OPENING + r"i(?:'d|\s+would)\s+rather\b.{1,80}\bthan\b",
    _OPENING + r"i\s+(?:always|only)\s+want\b(?!\s+(?:to|it|that|this|you\s+to)\b)",
    _OPENING + r"i\s+(?:don't|do\s+not|dont|never)\s+want\s+(?!(?:to|it|that|this|you|him|her|them|"
    r"any(?:\s*$|[,.]|\s+more\b)|anything|anyone|anymore|the|a|an|more|another|trouble)\b)\w",
    _OPENING + r"i\s+want\s+you\s+to\s+(?:always|never)\b",
    _OPENING
    + r"i\s+want\s+(?:(?:all|every|my|your)\s+(?:\w+\s+){0,3}"
    + _ANSWERS
    + r"|(?:(?:short|brief|concise|long|detailed|simple|formal|informal|friendly|plain|clear)"
    r"(?:\s+and|,)?\s+){1,3}(?:\w+\s+)?" + _ANSWERS + r")\b",
    r"\bmy\s+(?:(?:all-time|absolute|personal)\s+)?(?:favou?rite|preferred)\s+(?:[\w'-]+\s+){0,4}"
    r"(?:is|are|:)",
    r"\bmy\s+preference\s+(?:is|:)",
    _OPENING
    + r"i(?:'m|\s+am)\s+(?:not\s+)?(?:really\s+)?(?:(?:a\s+)?(?:big\s+|huge\s+|great\s+)?fan\s+of|"
    r"into|fond\s+of|keen\s+on)\b" + _LASTING_OBJECT,
    r"(?:^\s*|[,;:.!—–]\s*|\b(?:please|and|but|so)\s+)"
    + _STANDING
    + r",?\s+(?:please\s+|i\s+(?:want|need|prefer|'d like)\s+|you\s+should\s+|no\s+|only\s+|"
    r"(?:don't|do\s+not)\s+|also\s+)*(?:" + _VERBS + r"|keep|your)\b",
    r"^\s*(?:please\s+)?(?:(?:don't|do\s+not)\s+(?:ever\s+)?)?(?:"
    + _VERBS
    + r"|keep)\b.{1,120}\b"
    + _STANDING
    + r"\b",
)

_DECISIONS = rules(
    "decision",
    _OPENING
    + r"let'?s\s+(?:not\s+|just\s+)?(?:go\s+(?:with|for)|use|stick\s+(?:with|to)|choose|pick|"
    r"switch\s+to|move\s+to|adopt|settle\s+on|decide\s+on|ship|launch|deploy|build|make\s+it|keep|"
    r"take|do|start\s+with|migrate\s+to|drop|postpone|schedule|name\s+it|call\s+it)"
    r"(?!\s+(?:it|that|this|these|those|some|something|nothing|a\s+(?:walk|break|look|moment)|"
    r"going|in\s+touch|talking)\b)\s+\w",
    _OPENING + r"we(?:'ve|\s+have)?(?:\s+(?:all|both|finally|already|just|now))*\s+"
    r"(?:decided|agreed|settled|opted|resolved|chose|chosen|picked|selected)\s+\w",
    _OPENING + r"i(?:'ve|\s+have)?(?:\s+(?:finally|already|just|now))*\s+"
    r"(?:decided|settled|opted|chose|chosen)\s+(?!.{0,120}\b(?:today|tonight|right\s+now)\b)\w",
    _OPENING + r"we(?:'ll|\s+will|'re\s+going\s+to|\s+are\s+going\s+to|'re|\s+are)\s+(?:not\s+)?"
    r"(?:go(?:ing)?\s+with|us(?:e|ing)|stick(?:ing)?\s+(?:with|to)|switch(?:ing)?\s+to|"
    r"adopt(?:ing)?|choos(?:e|ing)|migrat(?:e|ing)\s+to)\s+(?!(?:it|that|this)\b)\w",
    _OPENING
    + r"i(?:'ll|\s+will|'m\s+going\s+to|'m)\s+(?:go(?:ing)?\s+with|stick(?:ing)?\s+(?:with|to)|"
    r"choos(?:e|ing))\s+(?!(?:it|that|this|you|him|her|them|my|friends|some)\b)\w",
    r"(?:^\s*|[,.;!]\s*)(?:(?:the|our|my|final)\s+)*decision\s*(?::|is\b|was\b)\s*\w",
    r"\bit(?:'s|\s+is|\s+was)\s+(?:been\s+)?decided\b|^\s*decided\s*[:—–-]",
    r"^\s*(?:(?:ok|okay|yes|yeah|fine|alright|all\s+right|right|great|so|then)[,\s]+)*go\s+with\s+"
    r"(?!(?:me|us|him|her|them|it|that|this|my)\b)\w",
)

_CORRECTIONS = (
    *rules(
        "correction",
        _LEADS + r"(?:what\s+)?i\s+(?:said|meant|wanted\s+to\s+say|mean|wrote|told\s+you|"
        r"asked\s+(?:for|about)|was\s+talking\s+about)\b",
        _OPENING + r"i\s+meant\s+(?!(?:it|no|well|every)\b|to\s+(?!say|write|type))\w",
        r"\bwhat\s+i\s+meant\s+(?:is|was)\b",
        r"\b(?:it's|it\s+is|its|that's|i'm|i\s+am|he's|she's|they're|we're|is)\s+not\s+"
        r"(?!what\b|that\b|about\b)[^,;]{1,40}[,;]\s*(?:it's|it\s+is|its|that's|i'm|he's|she's|"
        r"they're|we're)\s+(?!" + _EVALUATION + r")\w",
        _LEADS
        + r"(?:it's|it\s+is|its|it\s+was|it\s+should\s+be|that's|that\s+is)\s+(?!"
        + _EVALUATION
        + r")\w",
        r"^\s*(?:(?:no|nope|actually|correction)\b[,.!:;\s—–-]+){1,2}"
        r"(?:(?:the|my|our|his|her|their)\s+(?:[\w'-]+\s+){1,3}(?:is|was|are|should\s+be)\s+(?!"
        + _EVALUATION
        + r")|i(?:'m|\s+am)\s+(?:from|called|based|\d)|i\s+(?:live|work|study|was\s+born)\b)",
        _LEADS + r".{1,100}[,;]\s*not\s+\w",
        r"\b(?:that's|that\s+is|this\s+is|it's|you're|you\s+are)\s+(?:wrong|incorrect|mistaken|"
        r"not\s+(?:right|correct|true|what\s+i\s+(?:said|meant|asked\s+for)))\s*[,;:—–-]+\s*\S+\s+\S",
        r"\byou\s+(?:misunderstood|misspelled|misspelt|misheard|misread)\b.{0,60}[,;:—–-]\s*\S+\s+\S",
        r"\byou\s+got\s+.{1,60}\bwrong\b\s*[,;:—–-]+\s*\S+\s+\S",
        r"\bi\s+said\b.{1,80}\b(?:you\s+(?:wrote|said|put|typed|used|heard)|not)\b",
        r"\byou\s+(?:wrote|put|typed|used|said)\b.{1,80}\b(?:instead\s+of|i\s+said|should\s+be)\b",
        r"^\s*(?:correction|typo|erratum)\s*[:,—–-]\s*\w",
        r"\bscratch\s+that\b\s*[,;:—–-]\s*\w",
        r"\bi\s+made\s+a\s+(?:mistake|typo)\b.{0,40}[,;:—–-]\s*\w",
        r"\bit(?:'s|\s+is)\s+(?:spelled|spelt|pronounced)\b",
    ),
    Rule(
        "correction",
        re.compile(
            r"^\s*(?:my|the|our|his|her|their|it|it's|its|that's|i'm)\b.{1,100}[,;]\s*(?:and\s+)?not\s+"
            r"(?:the\s+|an?\s+|on\s+|in\s+|at\s+|for\s+|from\s+){0,2}" + r"(?P<name>[\w][\w'.:-]*)"
        ),
        _is_specific,
    ),
    Rule(
        "correction",
        re.compile(r"^\s*not\s+[\w'.:-]+\s*[,;—–-]\s*(?:but\s+)?(?P<name>[\w][\w'.:-]*)"),
        _is_specific,
    ),
    Rule(
        "correction",
        re.compile(
            r"\b(?:it's|it\s+is|that's|is|i'm|i\s+am)\s+not\s+[^,;]{1,40}[,;]?\s+but\s+"
            r"(?:the\s+|an?\s+|on\s+|in\s+|at\s+){0,2}" + r"(?P<name>[\w][\w'.:-]*)"
        ),
        _is_specific,
    ),
)

_KEEP = r"(?:remember|keep\s+in\s+mind|note\s+down|note|memori[sz]e|save|write\s+down)"
_POLITE = r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|kindly\s+)?)"

PACK = Pack(
    language="en",
    fold=lambda text: text,
    question=any_of(
        r"^\s*(?:(?:and|but|so|ok|okay|hey|hi|hello|well|then|or|please|also|btw|now)[,\s]+)*"
        r"(?:(?:what|who|whom|whose|which|where|when|why|how)(?:'s|'re|'d|\s+(?:is|are|am|was|were|"
        r"do|does|did|can|could|will|would|should|has|have|had|shall|may|might|many|much|long|old|"
        r"far|often|about|come|else|kind|sort|time|to|\w+\s+(?:is|are|do|does|did|should|would|can))\b)|"
        r"(?:do|does|did|doesn't|didn't|can|could|would|will|is|are|isn't|aren't|am|was|were|"
        r"wasn't|have|has|haven't|hasn't|should|shall|may|might|won't|couldn't)\s+(?:i|you|we|he|"
        r"she|it|they|my|your|his|her|our|the|this|that|there|these|those|anyone|anybody|someone)\b)",
        r"^\s*(?:and\s+|but\s+|so\s+)?(?:what|who|whose|which|where|why|how)\b.{0,80}\?",
        r"^\s*you\s+(?:still\s+)?remember\b.{0,200}\?",
    ),
    tag=re.compile(
        r"^\s*(?:ok|okay|please|pls|will\s+you|would\s+you|can\s+you|alright|all\s+right|got\s+it|"
        r"deal|understood)\s*\?+\s*$"
    ),
    request=re.compile(
        r"^\s*(?:(?:hi|hey|hello|ok|okay|so|and|please)[,\s]+)*"
        + _POLITE
        + _KEEP
        + r"(?:\s+(?:that|this))?\s*:?\s+(?:that\s+)?(?:i|i'm|i've|my|we|our)\b"
    ),
    retraction=any_of(
        r"(?:^\s*|[,.;:!]\s*|\b(?:please|just|and|now|so|you\s+can|should|to)\s+)forget\b"
        r"(?!\s+to\b|\s*$)",
        r"\b(?:don't|do\s+not|dont|needn't|no\s+need\s+to|never)\s+(?:have\s+to\s+|need\s+to\s+)?"
        r"(?:remember|save|store|memori[sz]e|note|record|write\s+down|keep)\b",
        r"\boff\s+the\s+record\b",
    ),
    instruction=any_of(
        r"^\s*(?:(?:ok|okay|please|pls|now|then|so|hey|hi|hello|also|and|just|kindly|thanks|great|"
        r"good)[,!.\s]+|"
        + _POLITE
        + r")*(?:(?:don't|do\s+not)\s+)?(?:"
        + _VERBS
        + r"\b(?!\s*(?:is|are)\b)|"
        + _NOUN_LIKE_VERBS
        + r"\b"
        + _NO_VERB_AFTER
        + r")",
        r"\bi\s+(?:want|need)\s+you\s+to\s+(?!always|never|remember|keep\s+in\s+mind|know)",
        r"\bi(?:'d|\s+would)\s+(?:like|love)\b(?!\s+(?:you\s+)?to\s+(?:always|remember)\b)",
    ),
    once=any_of(
        r"\bin\s+(?:this|your|the)\s+(?:next\s+|following\s+)?(?:answer|reply|response|message|text|"
        r"letter|email|code|function|file)\b",
        r"\bthis\s+(?:time|once)\b|\bfor\s+(?:now|this\s+(?:one|task|answer|question))\b|"
        r"\bjust\s+(?:once|for\s+now)\b",
    ),
    passing=re.compile(
        r"\b(?:right\s+now|at\s+the\s+moment|today|tonight|this\s+(?:time|morning|evening|afternoon|"
        r"weekend)|for\s+now|currently|(?<!from\s)now)\b"
    ),
    reported=any_of(
        r"\b(?!(?:i|you|we|and|but|just|also|never|always|already|have|had|be|is|was|as)\b)"
        r"[^\W\d_][\w'-]*\s+(?:said|says|told\s+(?:me|us|him|her|them|everyone)|wrote|writes|thinks|"
        r"claims|claimed|replied|mentioned|asked|texted|answered|thought|goes|shouted|insists?)\b",
        r"\baccording\s+to\b",
        r"\bquote\s*:",
    ),
    narrative=any_of(
        r"\b(?:i|we|he|she|they)(?:'ve|\s+have|'d|\s+had)?\s+(?:just\s+|only\s+)?(?:woke|woken|slept|"
        r"ate|eaten|walked|ran|went|gone|came|got|arrived|left|finished|started|waited|paid|spent|"
        r"bought|watched|drank|worked|lost|saw|met|read|slept|stayed|had)\b",
        r"\b(?:i|we|he|she|they)(?:'m|'re|'s|\s+am|\s+are|\s+is|\s+was|\s+were)\s+\w+ing\b",
        r"\b(?:yesterday|last\s+(?:night|week|month|year)|this\s+morning|right\s+now)\b",
        r"^\s*(?:it's|its|it\s+is)\s+(?:already\s+|only\s+|about\s+)?\d",
    ),
    remember=any_of(
        r"(?:"
        + _OPENING
        + r"|"
        + _POLITE
        + r"|\b(?:want\s+you|like\s+you|need\s+you|make\s+sure|be\s+sure|"
        r"you\s+(?:should|must|need\s+to|have\s+to))\s+(?:to\s+)?(?:you\s+)?)(?:always\s+)?remember\b"
        r"(?!\s+(?:when|me|how|what|where|who|why|those|you|the\s+(?:time|day|movie|film|one)|"
        r"\w+ing)\b)",
        r"(?:"
        + _OPENING
        + r")(?:don't|do\s+not|dont|never)\s+(?:you\s+|ever\s+)?forget\b(?!\s+(?:about\s+)?me\b)",
        r"(?:"
        + _OPENING
        + r"|"
        + _POLITE
        + r"|\byou\s+to\s+)(?:keep|bear|have)\s+(?:it\s+|this\s+|that\s+)?in\s+mind\b",
        r"(?:"
        + _OPENING
        + r"|"
        + _POLITE
        + r")(?:(?:take\s+)?note\s+that|note(?:\s+to\s+self)?\s*:|make\s+a\s+note|take\s+note|"
        r"for\s+(?:the\s+record|future\s+reference|your\s+information)\b|memori[sz]e|"
        r"(?:write|jot|note)\s+(?:this|that|it)\s+down|"
        r"(?:save|store)\s+(?:this|that|it)(?=\s*[:.,!]|\s*$|\s+(?:for\s+later|in\s+(?:your\s+)?memory))|"
        r"(?:put|add|save|store)\s+.{1,100}?\s(?:in|into|to)\s+(?:your\s+)?memory)",
    ),
    filler=re.compile(
        r"\b(?:this|that|it|please|pls|ok|okay|for|me|always|and|so|to|also|too|well|the|you|can|"
        r"could|would|will|one|thing|fact|these|those|now|just|later|about|want|i|hey|hi)\b"
    ),
    values=any_of(
        r"\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?" + _MONTH,
        r"\b(?!may\s+\d+\s+\w+s\b)" + _MONTH + r"\.?\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\b",
        r"\b(?:number|nr|code|id|size|price|budget|salary|rate|port|limit|room|gate|flight|order|"
        r"invoice|ticket|account|extension|floor|apartment|version|quantity|total|cost|fee|rent|"
        r"weight|height|balance|target|quota|zip|postcode|address)(?:\s+(?:number|no\.?|code|id))?"
        r"\s*(?:is|are|was|:|=|#|—|-|\s)\s*(?:[a-z]{0,8}[\s#$€£-]?)\d",
        r"\b(?:deadline|due\s+date|due|birthday|launch|release|exam|appointment|expires)\b.{0,30}?"
        r"(?:\b(?:is|on|by)|:)\s.{0,20}?\b" + _DAY,
    ),
    measures=any_of(
        r"\b(?:[1-9]|1[0-2])(?::[0-5]\d)?\s?(?:am|pm|a\.m\.?|p\.m\.?)(?!\w)",
        r"\b\d[\d.,]{0,20}\s?(?:k|thousand|million|billion)?\s?(?:dollars?|euros?|usd|eur|gbp|pounds?|"
        r"so'm|sum|rubles?)\b",
    ),
    rules=(*_NAMES, *_PREFERENCES, *_DECISIONS, *_CORRECTIONS),
)
