"""English."""

from memory.detector.packs import Pack, ways

_ADVERBS = (
    "((really|usually|generally|personally|always|also|still|just|much|do|absolutely|strongly|"
    "mostly|typically|definitely|truly|often|normally|honestly|actually|only|particularly|totally|"
    "kinda|kind of|sort of|quite|very much|simply|secretly) ){0,3}"
)
_LIKES = "(like|love|enjoy|prefer|adore|favou?r|appreciate|luv)"
_HATES = "(hate|dislike|detest|loathe|despise|can'?t stand|cannot stand|can not stand|can'?t bear)"
_NO = "(don't|do not|never|no longer|hardly|didn't ever|don't really|am not going to)"
# After "I like": a reaction to what was just said is no preference.
_REACTION = (
    "(it|that|this|these|those|you|your|yours|him|her|them|us|what|how|where|who|when|both|to "
    "(know|ask|thank|add|point|say|see|hear|think|believe|apologi[sz]e)|all (of )?(this|that|it|"
    "these)|the "
    "(way|first|second|third|last|latter|former|other|previous|next|sound|look|idea|new)|"
    "the (<w> )?"
    "(<w> )?(one|ones|option|version|draft|answer|reply|idea|suggestion|plan|proposal|result|"
    "response|sound|look)s?|i|but|and|or|if|a lot|very|so|not|[,.!?])"
)
_ANSWERS = (
    "(answers?|repl(y|ies)|responses?|messages?|e-?mails?|reports?|texts?|code|summar(y|ies)|"
    "explanations?|notifications?|examples?|translations?|documents?|reminders?|updates?)"
)
_VERBS = (
    "(translate|summari[sz]e|write|explain|fix|show|tell|give|find|search|open|read|look|make|"
    "create|"
    "generate|draw|calculate|compute|convert|count|compare|help|describe|rewrite|shorten|send|"
    "remind|"
    "add|delete|remove|update|rename|run|answer|reply|respond|use|try|put|edit|analy[sz]e|define|"
    "continue|stop|repeat|print|proofread|turn|speak|talk|ask|address|include|avoid|start|end|"
    "begin|"
    "greet|mention|quote|format|skip|suggest|solve|paraphrase|quit|double-check|list|be|say|keep|"
    "rephrase|check|review|draft|extract|classify|correct|improve|debug|refactor|google|look up|"
    "don't (use|write|send|add|include|answer|reply|call|text|ask|start|end|put|show|give|make)|do "
    "not (use|write|send|add|include|answer|reply|call|text|ask|start|end|put|show|give|make)|"
    "(call|ring|text|email|ping|wake|meet|message|write to|write) (me|us|him|her|them))"
)
_STANDING = (
    "(always|never|from now on|in (the )?future|going forward|by default|every time|each time|"
    "whenever|at all times|from today on|henceforth|in general|as a rule)"
)
_EVALUATION = (
    "(fine|ok|okay|good|great|bad|nice|tired|bored|hungry|busy|happy|sad|sick|just|only|all|too|so|"
    "very|really|kind|because|about|like|hot|cold|late|early|cool|alright|enough|easy|hard|here|"
    "there|over|done|up|down|still|delayed|broken|not|no|perfect|awesome|funny|true|right|wrong|"
    "what|why|how|where|pretty|quite|a (lot|bit|good|great|nice|pity|shame|bug|feature|mess|long|"
    "joke|beautiful|little)|more|better|worse|excellent|helpful|interesting|beautiful|amazing|"
    "correct|possible|impossible|been|going|always|already|working|raining|snowing|getting|also|my "
    "(fault|bad|mistake|pleasure)|me|your|complicated|simple|exactly|important|terrible|horrible|"
    "for the best|time|up to|clear|crazy|weird|sad|boring|brilliant|lovely|useful|useless|both|"
    "probably|maybe|almost|an? (idea|issue|problem|option)|worth|called for|off|on me|in progress)"
)
_LEAD = (
    "(no|nope|nah|wait|hold on|oops|ops|sorry|actually|correction|my bad|my mistake|ah|oh|hmm|"
    "not quite|"
    "apologies|whoops|no wait|hang on|excuse me|pardon)"
)
_DAY = (
    "(monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|tues|wed|thu|thur|thurs|fri|"
    "sat|tomorrow|tonight)"
)
_MONTH = (
    "(january|february|march|april|may|june|july|august|september|october|november|december|jan|"
    "feb|"
    "mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_ORDINAL = (
    "(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|"
    "fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty[ -]"
    "(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirtieth|thirty[ -]first)"
)
_KIN = (
    "(wife|husband|son|daughter|mother|mom|mum|father|dad|brother|sister|boss|manager|partner|"
    "girlfriend|boyfriend|cat|dog|kid|child|baby|fiancee?|assistant|colleague|doctor|dentist|"
    "lawyer|accountant|teacher|grandma|grandpa|uncle|aunt|cousin|nephew|niece|neighbou?r|company|"
    "team|startup|project|horse|parrot|landlord|roommate|flatmate)"
)
_PLEASE = "((please|pls|plz|also|just|and|so|ok|hey|you (should|must|need to|can|could|may)|now) )*"
_NOT_A_CHOICE = (
    "(it|that|this|these|those|some|something|nothing|a (walk|break|look|moment|coffee)|going|in "
    "touch|talking|home|out|lunch|dinner|not worry)"
)

# Who one is not.
_DENIED_NAME = (
    "(name|nickname|surname|middle name|username|handle|callsign)( is not| isn't| ain't| wasn't| "
    "was never| is never| is no longer|'s not)|(don't|do not|never|no longer|stop) (@+ )?(call|"
    "calls|calling|address|go by|use)|(not|never|no longer) (@+ )?(called|known|named)"
)
_NAMES = (
    *ways(
        "proper_noun",
        "my (full |first |last |real |given |middle |family |legal |nick)?(name|nmae|naem)('s| is|"
        ":| =|"
        ") <name>",
        "^(the )?name's <name>",
        "^(my )?name is <name>",
        "my (@+)?(nickname|surname|middle name|username|handle|callsign)('s| is|:) <name>",
        "^(you can |u can |you may |just |please |pls |everyone |everybody |people |friends |"
        "my friends |"
        "they |"
        "everyone here |most people |my <w> |folks |colleagues |@+ always )?calls? me <name>",
        "i go by <name>",
        "i'm (called|known as|named) <name>",
        "i am (called|known as|named) <name>",
        "(address|refer to|know|knows|knew) me as <name>",
        "you can (use|write) <name> as my name",
        value="group",
        check="name",
        unless=_DENIED_NAME,
    ),
    *ways(
        "proper_noun",
        "my name('s| is|) (not|isn't|ain't|no longer) <w>(,|;|) (it's|it is|but) <name>",
        f"(my|our) (@+ )?(@+ )?({_KIN}'s|<w>'s) (first |last |full )?name is <name>",
        f"(my|our) (@+ )?{_KIN} is (called|named) <name>",
        "(my|our) (@+ )?@+ is (called|named) <name>",
        f"i (have|got|'ve got) an? (@+ )?{_KIN} (called|named) <name>",
        f"(my|our) (@+ )?{_KIN},? (called|named) <name>",
        f"(my|our) (@+ )?{_KIN} is <name>",
        f"(my|our) (@+ )?{_KIN}'s <name>",
        "^<name> (here|speaking)$",
        "^(it's|this is) <name> (here|speaking|from)",
        value="group",
        check="capital",
    ),
    *ways(
        "proper_noun",
        "^(i'm|i am) (dr\\.? |mr\\.? |mrs\\.? |ms\\.? |prof\\.? )?<name>",
        "^this is <name>",
        value="group",
        check="alone",
    ),
)
_PREFERENCES = (
    *ways(
        "preference",
        f"^i {_ADVERBS}{_LIKES}",
        "^i('d| would) (much |really |always )?prefer",
        but_not=_REACTION.replace("|not|", "|") + "|you|if",
    ),
    *ways("preference", f"^i {_ADVERBS}{_HATES}", but_not=_REACTION, is_negated=True),
    *ways(
        "preference",
        f"^i {_ADVERBS}{_NO} (really |particularly |even |much |actually |ever )?(like|love|enjoy|"
        f"care for|"
        "appreciate|want to (get|receive|be called|see))",
        "^(don't|do not) (really |particularly )?(like|enjoy|want)",
        "^i'm (really |definitely |absolutely )?not (really |much of |exactly )?(a )?(big |huge |"
        "great )?"
        "(fan of|into|fond of|keen on)",
        "^i am (really )?not (really )?(a )?(big |huge |great )?(fan of|into|fond of|keen on)",
        "^not (really )?(a )?(big |huge )fan of",
        but_not=_REACTION + "|to",
        is_negated=True,
    ),
    *ways(
        "preference",
        "^i'd rather",
        "^i would rather",
        unless="^i('d| would) rather (not )?(you|be (sleeping|home|there)|die|not( say)?$)",
    ),
    *ways(
        "preference",
        "^i (always|only) want",
        but_not="(to|it|that|this|you to)",
    ),
    *ways(
        "preference",
        f"^i {_NO} want",
        but_not="(to|it|that|this|you|him|her|them|any( more)?$|anything|anyone|anymore|the|a|an|"
            "more|"
        "another|trouble|any of|any more)",
        is_negated=True,
    ),
    *ways("preference", "^i want you to (always|"
        "never)", "^i('d| would) like you to (always|never)"),
    *ways(
        "preference",
        f"^i (want|need) ((all|every|my|your) (@+ )?(@+ )?{_ANSWERS}|((short|brief|concise|long|"
        "detailed|simple|formal|informal|friendly|plain|clear)( and|,)? ){1,3}(@+ )?"
        f"{_ANSWERS})",
        value="clause",
    ),
    *ways(
        "preference",
        "my (all-time |absolute |personal )?(favou?rite|fav|preferred|go-to) (<w> ){0,4}(is|are|"
        "was|:)",
        "my (favou?rite|fav|preferred|go-to) ([a-z]+ ?){1,3}<,>",
        "my preference (is|:)",
        "^i'm (really |definitely |absolutely )?(a )?(big |huge |great |massive )?(fan of|"
        "fond of|keen on)",
        "^i am (really )?(a )?(big |huge |great |massive )?(fan of|fond of|keen on)",
        "^(i'm|i am) (really |totally |very much |so )?into",
        "^(i'm|i am) (more )?of an? (@+ )?person",
        but_not=_REACTION,
    ),
    *ways(
        "preference",
        "^(i'm|i am) (a )?(strict |mostly |almost |also )?(vegan|vegetarian|pescatarian)",
        value="clause",
    ),
    *ways("preference", "^(i'm|i am) an? <v> "
        "person$", "^(i'm|i am) an? <v> (lover|enthusiast|addict)$",
          value="group", unless="(bad|good|nice|kind|lucky|busy|new|happy|contact|"
              "first) (person|lover)"),
    *ways(
        "preference",
        f"^{_STANDING}(,|) ((always|never|please|i want|i need|i prefer|i'd like|you should|no|"
        f"only|also|try to) )*"
        f"({_VERBS}|your)",
        value="clause",
    ),
    *ways(
        "preference",
        f"^{_PLEASE}((don't|do not) (ever )?)?{_VERBS}~{_STANDING}",
        value="clause",
        unless="remember|forget",
    ),
)  # fmt: skip
_DECISIONS = (
    *ways(
        "decision",
        "^let's (just |definitely )?(go (with|for)|use|stick (with|to)|choose|pick|switch to|"
        "move to|"
        "adopt|settle on|decide on|ship|launch|deploy|build|make it|keep|take|do|start with|"
        "migrate to|"
        "drop|postpone|schedule|name it|call it|set|move|rename|book|fix|cancel|skip|replace|meet|"
        "hire|buy|order|host|run|write it in|standardi[sz]e on)",
        "^let us (go with|use|stick with|choose|pick|switch to|adopt)",
        but_not=_NOT_A_CHOICE,
    ),
    *ways(
        "decision",
        "^let's (do|have|hold|start|make|send|ship|release) (it|this|that) (on|at|in|by|next|with|"
        "tomorrow|via|over)",
    ),
    *ways(
        "decision",
        "^(let's not|let us not) (use|go with|do|ship|launch|deploy|switch|migrate|build|keep|"
        "take|hire|buy)",
        "^we(('re| are) not| won't| will not|'ll not| aren't) (going (with|to use|for)|use|using|"
        "go(ing)? "
        "with|switch(ing)? to|adopt(ing)?|ship(ping)?|hir(e|ing))",
        but_not="(it|that|this)$",
        is_negated=True,
    ),
    *ways(
        "decision",
        "^(we|my team|the team|our team|me and my <w>)( have|'ve)?( (all|both|finally|already|"
        "just|now|"
        "jointly|unanimously))* (decided|agreed|settled|opted|resolved|chose|chosen|picked|"
        "selected)( that| on| to| for)?",
        "^i( have|'ve)?( (finally|already|just|now))* (decided|settled|opted|chose|chosen|"
        "picked)( that| on| to| for)?",
        but_not="(not yet|yet|nothing|anything|(to )?(rest|sleep|go (for|to|home|out|back)|"
        "take a (nap|walk|break)|stay (home|in)|skip (lunch|work)|"
        "walk))",
        unless="^i~(today|tonight|right now)$",
    ),
    *ways(
        "decision",
        "^(we|i)('ll| will|'re going to|'m going to| are going to| am going to|'re| are|"
        "'m) (be )?(go(ing)? "
        "with|us(e|ing)|stick(ing)? (with|to)|switch(ing)? to|adopt(ing)?|choos(e|ing)|migrat(e|"
        "ing) to|"
        "standardi[sz](e|ing) on)",
        but_not="(it|that|this|you|him|her|them|my|friends|some|the (bus|train|car|metro|toilet|"
        "bathroom))",
    ),
    *ways(
        "decision",
        "^((the|our|my|final) )*decision( is|:| was| -)( to| that|)",
        "it's (been )?(decided|settled|final)<,>",
        "^it('s| is| was) (been )?(decided|settled|agreed)( that| to)?",
        "^(decided|agreed|settled)<,>",
        "^(ok|okay|yes|yeah|fine|alright|all right|right|great|so|then)?<_>?go (with|for)",
        "^(i'll|we'll|i will|we will) take (the )?(offer|option|plan|deal)",
        "^final (answer|choice)<,>",
        but_not="(me|us|him|her|them|it|that|this|my|a (walk|run|swim|drive|coffee)|lunch)",
    ),
)
_CORRECTIONS = (
    *ways(
        "correction",
        f"{_LEAD}<_>(what )?(i (said|meant|mean|wrote|told you|asked (for|about)|"
        f"was talking about|wanted "
        "to say))<_>(was |is )?(to say )?<v>(,|;| and| but|<_>)(and |but )?(not|you (wrote|said|"
        "put|typed|heard)|instead of) <old>$",
        "^i (said|meant|wrote|typed|asked for) <v>(,|;| and| but|) (and |but )?(not|you (wrote|"
        "said|put|"
        "typed|used|heard)|instead of) <old>$",
        value="group",
        unless="if i~said",
        whole=True,
    ),
    *ways(
        "correction",
        f"{_LEAD}<_>(what )?i (said|meant|mean|wrote|told you|asked (for|about)|was talking about)",
        "^i meant( to (say|write|type))?",
        "what i meant (is|was)( that|)",
        but_not="(it|no|well|every|to (help|ask|be|do|tell|call|buy|go|send|thank|finish|mention|"
        "come|write "
        "you|reply|answer|do)|what i said|no|nothing|yes|thanks)",
        unless="i mean(, |)(it|i|you|who|what|why|how|yeah|come on)",
        whole=True,
    ),
    *ways(
        "correction",
        "(is|are|was|it's|that's|i'm|he's|she's|at|on|to|in|for|from|called|named|as|be|need|"
        "needs|have|has|"
        "live|lives|work|works|moved to) (the |an? |actually |spelled |spelt |"
        "written )?<v>(,| -|) (and )?not (the |an? |"
        "on |in |at |for |from |to )*<old>$",
        "^(the |an? |my )?<v>(,| -) (and )?not (the |an? |on |in |at |for |from )*<old>$",
        value="group",
        check="specific",
        unless="(prefer|like|love|want|let's|decided|rather|agreed|remember|use|if|not (yet|now|"
        "today|really|sure|always))",
        whole=True,
    ),
    *ways(
        "correction",
        f"{_LEAD}~~(is|are|was|it's|that's|i'm|at|on|to|in|for|from|called|be|need|have|with|"
        f"by) (the |an? )?<v>(,|) (and )?not (the |an? |on |in |at |for |from )*<old>$",
        f"^((it's|its|it is|the @+ is|the @+ is on) )(on |at |in )?<v>(,|"
        f") (and )?not (on )?{_DAY}$",
        "(is|it's|i'm) not <old>(,|) but (the |an? |on |in |at )?<v>$",
        "^not (the |an? |on |in |at |my )?<old>(,| -)( but| it's|) (the |an? |on |in |at |"
        "my )?<v>$",
        "^not (the |an? |on |in |at )?<old> but (the |an? |on |in |at )?<v>$",
        "should (be|have been|read|say) <v>(,|) (and )?not <old>$",
        "^you (wrote|put|typed|used|said|called (me|it|him|her)) <old> (instead of|but (it's|"
        "it is|it should "
        "be|i said|my name is)|it should be) <v>$",
        "^(it's|its|it is|that's) <v> instead of <old>$",
        value="group",
        unless="not (bad|sure|yet|now|today|really|only|just|even|too|so|always|because|a problem|"
        "perfect|"
        "ideal|great)|prefer|i like|let's|decided",
        whole=True,
    ),
    *ways(
        "correction",
        "(it's|it is|that's|i'm|i am|he's|she's|they're|we're|is) not <old>(,|;|\\.| -) (it's|"
        "it is|that's|"
        "i'm|i am|he's|she's|they're|we're)",
        but_not=_EVALUATION,
        unless="not (what|that|about|just|only|really|because|good|bad|great)",
        whole=True,
    ),
    *ways(
        "correction",
        f"{_LEAD}<_>(it's|its|it is|it was|it should be|that's|that is|that was|that should be|"
        f"make (it|that))",
        f"{_LEAD}<_>(the|my|our|his|her|their) ([a-z']+ )?([a-z']+ )?([a-z']+ )?(is|was|are|"
        f"should be)",
        f"{_LEAD}<_>(i'm|i am) (from|called|based in|named)",
        f"{_LEAD}<_>(i'm|i am) <w>, not",
        f"{_LEAD}<_>(i|we|he|she|they) (live|lives|work|works|study|studies|was born|were born|"
        f"moved|need|have|has) (in |at |to |for |from |as |only |just )?",
        f"{_LEAD}<_>((i )?(mistyped|misspoke|misread|miscounted|mixed (it|that|them) up)|typo|"
        f"(i )?made a (mistake|"
        "typo)|(i )?was wrong|(i )?got (it|that) wrong|wrong <w>)<_>",
        but_not=_EVALUATION + "|(a|an|your|you|i|we) |to ",
        unless="(no|actually|sorry)<_>(i|we) (have|need) (a|an|to|no|your|some|more|help|one|"
        "another)",
        whole=True,
    ),
    *ways(
        "correction",
        "(that's|that is|this is|it's|you're|you are|that was) (wrong|incorrect|mistaken|"
        "not (right|correct|"
        "true|what i (said|meant|asked for)))<,>",
        "you (misunderstood|misspelled|misspelt|misheard|misread)( [^,;:.!]*)?<,>",
        "you (got|have) ~wrong<,>",
        "you got (it|that|my <w>) wrong<_>",
        "^(correction|typo|erratum|edit|fix)<,>",
        "scratch that<,>",
        "i (made a (mistake|typo)|misspoke|mistyped|was wrong|mixed (it|that|"
        "them) up)( [^,;:.!]*)?<,>",
        "^(it's|it is|my name is|name is) (spelled|spelt|pronounced|written)( with| as)?",
        but_not="(try|please|can|could|do|check|fix|sorry|again|look|i think so)",
        whole=True,
    ),
)
_REMEMBERING = (
    *ways(
        "remember",
        "^((please|pls|plz|also|always|you (should|must|need to|have to)|i (want|need|"
        "would like) you to|"
        "i'd like you to|make sure (you|to)|be sure to|(can|could|would|will) you( please)?|"
        "for later) )*"
        "(please )?(remember|memori[sz]e)( (that|this|to|about|also|please|forever|well|"
        "the fact that))?<_>",
        value="after",
        but_not="(when|me|how|what|where|who|why|those|you|the (time|day|movie|film|one|song)|"
        "<w>ing|if|"
        "correctly|right)",
        unless="(do|did|don't|didn't|can't|cannot|couldn't) (you |i )?(still |even |"
        "really )?remember|if i remember",
        whole=True,
    ),
    *ways(
        "remember",
        "(want|like|need) you to (always )?remember( that)?",
        "^(please )?(don't|do not|never|dnt) (you |ever )?forget( (that|about|to|this|it))?<_>?",
        "^((please|pls|also|always|just|(can|could|would|will) you( please)?) )*(keep|bear|"
        "have) (it |this |that )?in "
        "mind( that)?",
        "^((please|pls|also|just) )*(take )?note( that| down|<,>| of| for yourself|"
        " to self)( that)?",
        "^((please|pls|also|just) )*(make a (mental )?note|take note|take a note)( that| of)?<_>?",
        "^for (the record|future reference|your information|your memory)<_>",
        "^fyi<_>",
        "^((please|pls|also|just|(can|could|would|will) you( please)?) )*(write|jot|note) (this|"
        "that|it) down<_>?",
        "^((please|pls|also|just|(can|could|would|will) you( please)?) )*(save|store|log) (this|"
        "that|it)"
        "( for (later|me|future)| in (your )?memory|)<,>",
        "^((please|pls|also|just|(can|could|would|will) you( please)?) )*(put|add|save|store|"
        "commit|keep) ~(in|into|to) "
        "(your )?memory",
        "^((please|pls) )*(remember|don't forget|keep in mind|bear in mind|note) that",
        "<,>(please |pls |so |and |just )*(remember|don't forget|do not forget|keep) (this|that|"
        "it)( in mind)?$",
        "<,>(please |pls |so |and |just )*(remember|don't forget)$",
        but_not="(about )?me$",
        whole=True,
    ),
)
_FORGETTING = (
    # What is deleted of somebody's own data is named by the whole clause.
    *ways(
        "forget",
        "^((please|pls|also|just) )*(delete|erase|wipe|remove) my (old |former |previous )?"
        "(address|phone( number)?|number|e-?mail|name|age|birthday|date of birth|data)( please)?$",
        value="clause",
    ),
    *ways(
        "forget",
        "^((please|pls|you (can|should|may|must)|(can|could|would|will) you( please)?|"
        "i want you to|also|just) )*"
        "(forget|unlearn)( (that|about|the fact that|everything about|all about|what i (said|"
        "told you) about|what i told "
        "you|what i said|anything about))?",
        "^((please|pls|you (can|should|may)|(can|could|would|will) you( please)?|also|"
        "just) )*(delete|remove|erase|clear|drop|wipe)"
        " <v> from (your )?(memory|notes|memories)",
        "^((please|pls|you (can|should|may)|also|just) )*(delete|erase|wipe) (what you know about|"
        "everything "
        "about|what i told you about|your (note|memory) (about|of))",
        "^((please|pls|also|just) )*(stop remembering|don't remember|do not remember|"
        "no longer remember)( that)?( anymore)?",
        "^you (can|should|may) (now )?forget( that| about)?",
        "^i (don't|do not|no longer) want you to (remember|know|keep)( that)?",
        value="after",
        but_not="(it|about it|me|him|you|to|that)$|it[,.!;]|to [a-z]|(where|when|how|why) i|"
        "my (keys|umbrella|wallet|phone at|bag|password again)|how~",
        unless="(i|we|he|she|they|never|always|don't|not|won't|can't|you) (ever |always |never |"
        "just |'ll |will |might |may |completely |totally )*forg[eo]t",
        whole=True,
    ),
)

PACK = Pack(
    language="en",
    openers=(
        "and|but|so|because|since|also|that|well|ok|okay|yes|yeah|yep|hi|hello|hey|please|pls|plz|"
        "btw|"
        "fyi|think|guess|know|say|although|though|while|as|always|just|now|then|remember|no|"
        "actually|sorry|wait|oh|ah|hmm|honestly|personally|basically|usually|generally|however|"
        "anyway|"
        "alright|all right|right|by the way|to be honest|tbh|imo|in general|for me|great|perfect|"
        "thanks|"
        "thank you|fine|lol|guys|team|sure|cool|good morning|good evening|after all|in the end|"
        "finally|note that|"
        "i mean|look|listen|fwiw|in short|for breakfast|at home|at work|as a rule|good|nope|nah"
    ),
    common=frozenset(
        "the a an is are was i my you your it to of and in on for that with this not no me we our "
        "at be have "
        "do don't i'm it's what please from but".split()
    ),
    not_names=frozenset(
        """a able about after again all allergic also always american an at asap asian australian
        back bad based being better born brazilian busy called canadian coming crazy
        czech done dr dutch european even fine for french free friday from german glad
        going good great greek happy here hungry i in indian italian it jewish just
        kazakh korean kyrgyz late later looking maybe me mexican monday mr mrs ms muslim
        my never nice no not now ok okay old on only out polish ready really russian sad
        saturday sick so sorry still sunday super sure swiss tajik the there thinking
        thursday tired today tomorrow tonight too trying tuesday turkish turkmen
        ukrainian up uzbek very vegan vegetarian wednesday when working your spelled
        spelt written wrong correct missing same what important common rare hard easy
        difficult long short pronounced if by as christian catholic buddhist hindu
        atheist english british irish scottish spanish portuguese japanese chinese
        vietnamese thai arab persian iranian swedish danish norwegian finnish hungarian
        romanian bulgarian serbian croatian belgian austrian cto ceo cfo home leaving
        off almost using like with and or to of is was please hi hello thanks yes merry
        feeling pregnant who how why where which one two names name interested also
        single married divorced unknown currently probably hr qa it's ill well done both
        either right left full hot cold this that""".split()
    ),
    question=(
        "^(what|why|who|whom|whose|which|where|when|how|is|are|am|do|does|did|can|could|would|"
        "will|should|shall|may|"
        "might|have|has|had|was|were|isn't|aren't|don't you|doesn't|didn't|can't you|couldn't|"
        "won't|wouldn't|any "
        "idea|anyone|wanna|wdyt|whats|hows|wheres|whos) (s|is|are|was|were|do|does|did|can|could|"
        "would|should|will|"
        "the|a|an|i|you|we|they|he|she|it|my|your|our|his|her|their|this|that|there|to|many|much|"
        "long|far|old|about|come|if|time|kind|color|colour|day|else|up|any|some|anyone|anything|"
        "people|have|has|name|i'm|means|of|for|in|on)",
        "^(what's|who's|where's|when's|how's|why's|what're)",
        "^(do|can|could|would|will|did) (you|i|we|u) ",
        "^(tell|remind) me (what|who|where|when|how|why|which|if|whether|my)",
        "^i (wonder|was wondering|am wondering|want to know|need to know|forgot what|"
        "don't remember (what|who|where|when|how)|don't know)",
        "^i'm (wondering|not sure (what|if|whether|how|which)|curious)",
        "^(should|shall) (i|we)",
        "^maybe (we|i) (should|could)",
        "^(we|i) could",
        "^any (ideas|thoughts|suggestions|plans)",
        "^(not sure|wondering) (if|whether|what|which|how)",
        "^guess (what|who|where|how)",
    ),
    tag=(
        "^(ok|okay|alright|please|got it|understood|deal|sure|yes|no|and you|you|what about you|"
        "how about you|"
        "cool|clear|is that (ok|clear|fine)|what's yours|do you|will you|remember|agreed|yeah|"
        "hm+)$",
    ),
    request=(
        "(can|could|would|will|please can|please could) you (please |just |also |maybe |"
        "kindly )*(remember (that (my|i|i'm|our|we|the|he|she|it|there|<w>'s|<w> (is|are|has|was|"
        "likes|needs))|this|my|i|our)|"
        "memori[sz]e|keep in mind|bear in mind|make a note|take note|note (that|down)|write (this|"
        "that|it) down|"
        "(save|store) (this|that|it)|forget (that|about|my|the|what|everything)|call me|(delete|"
        "remove|erase) <w> ~memory|always|never)",
    ),
    discard=(
        "(don't|do not|no need to|never) (remember|save|store|memori[sz]e|note|keep|write down|"
        "record) (this|that|it|any of|anything)",
        "(off the record|no need to remember|don't write (this|that|it) down|don't keep (this|"
        "that|it))",
    ),
    instruction=(
        f"^(please |pls |can you |could you |now |also |then |just |and |quickly )*{_VERBS} ",
        "^i('d| would)? (want|need|like|love|prefer)( for)? you to ",
        "^i('d| would) (prefer|like|love|appreciate|appreciate it) (it )?if you",
        "^i need (a|an|some|help|the|you|your|this|that|to)",
        "^i want (a|an|some|the|this|that|it|to) ",
        "^(make|put|give|add) (it|this|that|me) ",
        "^(here is|here's|below is|the following|this is the) (the |an? |my )?(text|email|letter|"
        "log|error|message|code|output|article|transcript)",
        "^(set|book|order|plan|test|sort|schedule|change) (a|an|the|it|this|that|my|me|up) ",
    ),
    standing=(_STANDING,),
    once=(
        "(in|for) (this|the next|your next|that) (answer|reply|response|message|one|time|case|"
        "email|text|question|chat|task|paragraph)",
        "this (time|once) only",
        "(just|only) (this|for) (once|this time)",
        "for (now|today)$",
        "just for now",
    ),
    passing=(
        "(right now|at the moment|today|tonight|this (time|morning|evening|afternoon|weekend)|"
        "for now|currently|at this moment)",
    ),
    reported=(
        "^(he|she|they|my <w>|the <w>|the <w> <w>|our <w>|someone|somebody|everyone|people|"
        "his <w>|her <w>|[a-xz]@@|@@@@+) (just |once |also |always )?(said|says|told (me|us|him|"
        "her|them|everyone)|wrote|writes|"
        "thinks|claims|claimed|replied|mentioned|asked|texted|answered|thought|goes|shouted|"
        "insists?|reckons|announced|complained)",
        "^you (said|think|told me|called me)( that)? (my|i)",
        "according to",
        "quote<,>",
        "as <w> (said|put it|says|once said)",
    ),
    hypothetical=(
        "^(if (i|we|you|he|she|they|my|it)|imagine|suppose|let's say|pretend|what if|"
        "hypothetically|in theory|say i|assuming|"
        "as if|i wish|wish|if only|in a story|once upon)",
        "(i|we) (would|'d|might|could) (have )?(@+)~if ",
        "(for example|e\\.g\\.|for instance)<_>(my name|i'm|i like|i prefer)",
    ),
    narrative=(
        "(i|we|he|she|they)( have|'ve|'d| had)? (just |only |already |finally )?(woke|woken|slept|"
        "ate|eaten|walked|ran|went|gone|came|got|"
        "arrived|left|finished|started|waited|paid|spent|bought|watched|drank|worked|lost|saw|met|"
        "read|"
        "slept|stayed|had|took|called|drove|sold|won|earned|made|wrote|stood|sat|cost)",
        "(it|this|that) (took|cost|lasted)",
        "(i|we|he|she|they)('m|'re|'s| am| are| is| was| were) (just |now |still |already )?@+ing",
        "(yesterday|last (night|week|month|year)|this morning|right now|earlier today|just now|"
        "ago|so far)",
        "^(it's|its|it is) (already |only |about |almost |nearly )?\\d%",
        "^(i'll|i will|we'll) be (there|home|back|late|free)",
    ),
    negation=(
        "(don't|do not|not|never|no longer|can't|cannot|doesn't|does not|isn't|aren't|won't|no|"
        "without|hate|dislike|stop|avoid|nor|neither)",
    ),
    fillers=(
        "(that|this|is|are|please|pls|it|on|with|to|for|too|as well|though|the most|anymore|most|"
        "more|best|"
        "by the way|btw|thanks|thank you|and|also|so|at all|after all|lol|from now on|"
        "going forward|ok|instead)"
    ),
    values=(
        f"\\d{{1,2}}(st|nd|rd|th)? (of )?{_MONTH}\\.?,? (19|20)\\d\\d%",
        f"\\d{{1,2}}(st|nd|rd|th)? (of )?{_MONTH}",
        f"{_MONTH}\\.? (the )?\\d{{1,2}}(st|nd|rd|th)?,? (19|20)\\d\\d%",
        f"{_MONTH}\\.? (the )?\\d{{1,2}}(st|nd|rd|th)?",
        f"(the )?{_ORDINAL} of {_MONTH}",
        f"{_MONTH} (the )?{_ORDINAL}",
    ),
    labels=(
        "(number|nr|code|id|size|price|budget|salary|rate|port|limit|room|gate|flight|order|"
        "invoice|ticket|"
        "account|extension|floor|apartment|quantity|total|cost|fee|rent|weight|height|"
        "balance|"
        "target|quota|zip|postcode|address|apt|flat|suite|unit|plate|seat|booking|reference|ref|"
        "tracking)"
        "( number| no\\.?| code| id)?( is| are| was|:|=|#| -|)(:|) (@{0,3} )?<n>",
        "(my |our |the )?address( is|:)~~\\d+[a-z]?( @+)?( @+)?",
        f"(deadline|due date|due|exam|appointment|expires)~(is |on |by |: )(next )?{_DAY}",
    ),
    measures=(
        "\\d{1,2}([:.][0-5]\\d)? ?(am|pm|a\\.m\\.?|p\\.m\\.?)",
        "\\d[\\d.,]* ?(k|thousand|million|billion|mln|m)? ?(dollars?|euros?|usd|eur|gbp|pounds?|"
        "so'm|sum|rubles?|bucks|lira|zloty|pln|uzs|tl|rub)",
        "(half past|quarter (to|past)) @+",
        "(noon|midnight) on",
    ),
    rules=(
        *_CORRECTIONS,
        *_NAMES,
        *_PREFERENCES,
        *_DECISIONS,
        *_REMEMBERING,
        *_FORGETTING,
    ),
)
