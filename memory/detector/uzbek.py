"""Uzbek, in standard Latin spelling; `uzbek_scripts` writes the rest.

The verb closes an Uzbek clause, so what a rule is about mostly stands before its phrase.
"""

from memory.detector.packs import Pack, ways

_MONTH = (
    "(yanvar|fevral|mart|aprel|may|iyun|iyul|avgust|sentabr|sentyabr|oktabr|oktyabr|noyabr|dekabr)"
)
_DAY = "(dushanba|seshanba|chorshanba|payshanba|juma|shanba|yakshanba|ertaga)"
_ORDINAL = (
    "((o'n|yigirma|o'ttiz) )?(birinchi|ikkinchi|uchinchi|to'rtinchi|beshinchi|oltinchi|yettinchi|"
    "sakkizinchi|"
    "to'qqizinchi|o'ninchi|yigirmanchi|o'ttizinchi)"
)
_STANDING = (
    "(doim|doimo|har doim|har safar|hamisha|bundan (buyon|keyin|so'ng|bu yog'iga)|hech qachon|"
    "bugundan boshlab|keyinchalik|har gal|"
    "kelajakda|odatda)"
)
_STEM = (
    "(tarjima qil|o'gir|yoz|ayt|tushuntir|ko'rsat|top|hisobla|qisqart|tuzat|qidir|tekshir|och|"
    "o'qi|jo'nat|yubor|sana|"
    "chiz|qil|ber|ishlat|foydalan|o'chir|qo'sh|eslat|taqqosla|solishtir|gapir|so'ra|javob ber|"
    "murojaat qil|gaplash|"
    "qo'lla|boshla|tugat|tanla|keltir|sol|tayyorla|yordam ber|davom et|to'xta|takrorla|tuz|chiqar|"
    "qara|ko'r|qo'y|"
    "chaqir|de|bo'l|hal qil|tahlil qil|yaxshila|o'zgartir|almashtir|izla|yech|bajar|belgila|"
    "chaqir|atama|ata)"
)
_ORDER = (
    f"{_STEM}(ib|b|ip|p)?( )?(ber|qo'y|yubor|tur|ol)?(ma|may)?(ing|gin|inglar|ng|nglar|ngiz|sang|"
    f"sangiz|aver|avering|in|sin|"
    "a olasanmi|a olasizmi|olasanmi|olasizmi)?(chi|-chi|izchi)?"
)
_LEAD = (
    "(yo'q|yo'g'e|yo'ge|aslida|aslini olganda|kechirasiz|kechiring|kechir|uzr|xato|noto'g'ri|"
    "to'xta|to'xtang|e yo'q|"
    "voy|sorry|adashdim|adashibman|aniqrog'i|to'g'rirog'i|to'g'risi|tuzatish|yo yo'q|iye)"
)
_KIN = (
    "(ota|ona|ada|dada|oyi|aka|uka|opa|singil|singl|xotin|er|turmush o'rtog'|o'g'l|o'g'il|qiz|"
    "do'st|dugona|boshlig'|rahbar|it|mushuk|"
    "bola|farzand|bobo|buvi|amaki|amma|xola|tog'a|jiyan|nabira|rafiqa|hamkasb|o'rtog'|kuyov|kelin|"
    "qo'shni|kompaniya|firma|"
    "jamoa|loyiha|kuchuk|ustoz|o'qituvchi|shifokor|hamkor|sherig|sherik)"
)
_KEEPING = (
    "(eslab (qol|qo'y|yur|qolib qo'y)|yodlab (qol|ol|qo'y)|yodda (tut|saqla)|esda (tut|saqla)|"
    "xotir(a|ang|angiz|angda|angizda|a)(da|ga)? "
    "(saqla|tut|ol|yoz)|yozib (qo'y|ol)|bilib (qo'y|ol)|saqlab (qo'y|qol)|hisobga ol|inobatga ol|"
    "e'tiborga ol|miyangga quy|"
    "yodda qoldir|esda qoldir|esingda saqla|eslab)"
)
_KEEP_END = (
    "(ing|inglar|gin|ginlar|ng|nglar|sang|sangiz|asan|asiz|in|ingiz|ishing kerak|"
    "ishingiz kerak)?(chi|-chi|izchi)?"
)
_BE_IN_MIND = (
    "(esing|esingiz|yoding|yodingiz|xotirang|xotirangiz|es|yod)(da|izda) (bo'lsin|tursin|qolsin|"
    "saqla|saqlang|tut|tuting|tutgin)"
)
_CHOICE = (
    "(ishlat|tanla|qo'lla|foydalan|ol|o't|boshla|qoldir|qil|kirit|chiqar|to'xtal|to'xtat|ko'chir|"
    "saqla|quray|yoz|ko'tar|"
    "belgila|qur|tayyorla|sotib ol|yarat|joyla|ber|bekor qil|yop|och|sinab ko'r|qo'y|o'zgartir|"
    "ayla|buyurtma qil)"
    "(ma)?(amiz|aylik|ylik|ymiz|dik bo'ldi)"
)
_NOT_A_NAME = "(nima|kim|qanday|qanaqa|esingda|esingizda|yodingda|yodingizda|bor|yo'q|emas)"
_REACTION = (
    "(bu|shu|ushbu|buni|shuni|uni|seni|sizni|javobing|javobingiz|fikring|fikringiz|gaping|"
    "gapingiz|taklifing|takliflaring|mana bu|shunisi|bunisi|shunaqa|"
    "bunaqa) "
)

# Who one is not: what is called so stands behind it.
_DENIED_NAME = "(ismim|otim|familiyam)( esa|) (<w> ){1,2}emas"
_NAMES = (
    *ways(
        "proper_noun",
        "(ismim|ismimiz|familiyam|familyam|ism-sharifim|ismi sharifim|ism familiyam|ism-familiyam|"
        "ismi-sharifim|laqabim|taxallusim|nikim|to'liq ismim|asl ismim)"
        "( -|:| esa| bu|,|) <name>",
        "^(ism|ismi) ?(-|:) <name>",
        "(meni|bizni) (hamma |ko'pchilik |do'stlarim |uyda |oddiy |shunchaki |"
        "oddiygina )?<name> (deb |deya )(chaqir|ata|bil|tani|ayt|de|murojaat)%",
        "(meni|bizni) (hamma |do'stlarim |uyda )?<name> (deyish|deydi|deng|desang|desa|desin|"
        "deyaver|deb)%",
        "(menga|bizga) <name> (deb |deya )(murojaat|ayt|gapir|xabar)%",
        "(menga|meni) <name> deyaver%",
        "mening ismim <name>",
        "ismim <name>(man)?$",
        "otim( -|:|) <name>$",
        value="group",
        check="name",
        unless=f"(ismim|otim|familiyam)(ni|ning|ga|da|dan) |ismim {_NOT_A_NAME}|{_DENIED_NAME}|"
        "(deb|deya) (chaqir|ata|ayt|de|murojaat qil)ma%|@+ dema(ng|gin|sin|)$",
    ),
    *ways("proper_noun", f"{_DENIED_NAME}(,|;| -|)( balki|) <name>", value="group", check="name"),
    *ways(
        "proper_noun",
        "<name> (mening |meni )?ismim$",
        "^men( -|) <name>man",
        "^(men|man) <name>( -|)(,|\\.|!| bo'laman|$)",
        "^(bu|bu men) <name>$",
        f"{_KIN}(im|m|imiz|miz)(ning|ni|) (ismi|oti|laqabi)( -|:| esa|) <name>",
        "@+(im|m|imiz|miz)ning (ismi|oti|laqabi|nomi)( -|:| esa|) <name>",
        f"{_KIN}(im|m|imiz|miz)( -|) ?<name> (ismli|degan)",
        f"{_KIN}(im|imiz)(ning)? ismini <name> qo'y%",
        value="group",
        check="capital",
        unless="(men|man|^)( -|) ?@+(dan|dagi|lik|da|siz|li|moqchi|gan|ay|kor|yap)man|men (ham|"
        "bugun|hozir|kecha|yaxshi|har|faqat)",
    ),
    *ways(
        "proper_noun",
        "^(men|man) <name>",
        value="group",
        check="alone",
        unless="(men|man) @+(da|dan|ga|ni|cha|lik|danman|daman|likman|liman|moqchiman|chiman)$|"
        "(men|man) @+ (emas|deb|dedim|degan|demoq)|^(men|man) @+(da|ga|ni|dan|ning|cha)",
    ),
)
_LIKING = (
    "(yoqtira(man|miz)|(xush|yaxshi|afzal|ma'qul) ko'ra(man|miz)|sevib (iste'mol qila|ich|ye|"
    "tingla|o'qi|tomosha qila)y?(man|miz)|"
    "sevaman|sevamiz|ustun qo'ya(man|miz)|jonim bilan|jonu dilim|ishqibozi(man|miz)|shaydosi(man|"
    "miz)|muxlisi(man|miz))"
)
_HATING = (
    "(yoqtirmay(man|miz)|yoqtirmas(man|miz)|(xush|yaxshi|afzal|ma'qul) ko'rmay(man|miz)|"
    "yomon ko'ra(man|miz)|nafratlana(man|miz)|jirkana(man|miz)|"
    "toqat qil(olmay|a olmay)(man|miz)|ko'rarga ko'zim yo'q|ko'rgani ko'zim yo'q|yoqtira olmayman|"
    "jinim suymaydi|jinim sevmaydi|sevmayman|yemayman|ichmayman|"
    "iste'mol qilmayman|chekmayman|toqatim yo'q)"
)
_PREFERENCES = (
    *ways(
        "preference",
        f"(men|biz|shaxsan men|o'zim) <v> (juda |ko'proq |doim |ham |judayam |eng |juda ham |"
        f"har doim )*{_LIKING}",
        f"<v> (juda |ko'proq |ham |judayam |juda ham )*{_LIKING}",
        f"^{_LIKING} <v>$",
        "(menga|bizga) (juda |ko'proq |doim |ham |eng )*<v> (juda |ko'proq |ham |ko'p |"
        "judayam )*(yoqadi|yoqar|ma'qul(roq)?|qulay(roq)?|afzal(roq)?|xush kelad%)$",
        "<v> (menga|bizga) (juda |ko'proq |ham |judayam |ko'p )*(yoqadi|yoqar|ma'qul(roq)?|"
        "qulay(roq)?|afzal(roq)?)$",
        "(yoqadi|ma'qul) (menga|bizga) <v>$",
        "<v> (menga )?(juda )?yoqadi$",
        value="group",
        unless=f"^{_REACTION}.*(yoq|xush|yaxshi|afzal|ma'qul)%|{_REACTION}(\\(|)@* ?(menga |"
        f"juda )*(yoqad|ma'qul)%|(senga|sizga|unga|ularga|onamga|otamga|akamga|ukamga|"
        f"opamga|singlimga|do'stimga|@+imga|@+mga) .*yoqad%|^seni |^sizni |sevaman seni",
    ),
    *ways(
        "preference",
        f"(men|biz|shaxsan men|o'zim) <v> (juda |umuman |ham |mutlaqo |hech |aslo |judayam |"
        f"sira |unchalik |uncha )*{_HATING}",
        f"<v> (juda |umuman |ham |mutlaqo |hech |aslo |judayam |sira |unchalik |uncha )*{_HATING}",
        "(menga|bizga) <v> (umuman |ham |mutlaqo |hech |uncha |unchalik |sira )*(yoqmaydi|yoqmas|"
        "ma'qul emas|to'g'ri kelmaydi)",
        "<v> (menga|bizga) (umuman |ham |mutlaqo |hech |uncha |unchalik |sira )*(yoqmaydi|yoqmas|"
        "ma'qul emas)",
        "<v> (umuman |hech )?yoqmaydi( menga|)$",
        "<v>(lar|lari|larni) (xohlamayman|istamayman|kerak emas menga)",
        value="group",
        is_negated=True,
        unless=f"^{_REACTION}.*(yoq|xush|yaxshi|afzal|ma'qul)%|(senga|sizga|unga|ularga|@+imga|"
        f"@+mga) .*yoqma%|hozir|bugun (yemayman|ichmayman)",
    ),
    *ways(
        "preference",
        "(eng )?(sevimli|yoqtirgan|yaxshi ko'rgan|sevgan) (@+ )?(@+ )?@+(im|m|imiz|miz)( -| bu|:|"
        " esa|,|)",
        "(men|mening) (eng )?(ko'p |yaxshi )?(yoqtirgan|ko'rgan|sevgan|yoqtiradigan|"
        "ko'radigan) @+(im|m)?( -| bu|:)",
        but_not="(nima|qaysi|kim|bor|yo'q)",
    ),
    *ways(
        "preference",
        f"{_STANDING}~(xohlayman|istayman|{_ORDER})$",
        f"{_STANDING}<_>{_ORDER}$",
        f"{_STANDING}~~{_ORDER}$",
        f"(faqat|hamma|barcha) (@+ )?(@+ )?(javob|xabar|hisobot)@* ~{_ORDER} {_STANDING}",
        "menga (faqat )?(qisqa|batafsil|oddiy|aniq|uzun|sodda) @+ (kerak|yozilsin|bo'lsin)$",
        "(qisqa|batafsil|oddiy|aniq|sodda) (javob|xabar)(lar)?(ni)? (xohlayman|istayman)",
        value="clause",
        unless=f"{_KEEPING}|unutma|esdan chiqarma",
    ),
)
_DECISIONS = (
    *ways(
        "decision",
        "<v>(ga|a|qa) (qaror qil(dik|dim|indi|ingan|ganmiz|ganman)|qarorga kel(dik|dim)|"
        "kelish(ib oldik|dik|ilgan)|ahd qil(dik|dim)|qaror qabul qil(dik|dim|indi))",
        "<v> (tanladik|tanladim|tanlandi|tanladi?m|ma'qulladik|tasdiqladik)",
        "<v>(da|ga) to'xta(l)?(dik|dim)",
        "<v> deb (kelishdik|qaror qil(dik|dim)|hal qil(dik|dim)|kelishib oldik)",
        value="group",
        unless="(hali|hech) ~(qaror|tanla)|hali qaror|qaror qilma|ular |u qaror",
    ),
    *ways(
        "decision",
        "(qaror qil(dik|dim|indi|ingan|ganmiz|ganman|ib qo'ydik)|qarorga kel(dik|dim)|"
        "kelish(ib oldik|dik|ib oldi)|hal qil(dik|dim|indi)|qaror qabul qil(dik|dim|indi)|"
        "kelishuvga keldik|"
        "ahd qildim|bir qarorga keldik)(:|,| -|)",
        "^((bizning|mening|yakuniy|oxirgi) )*qaror(im|imiz)? ?(-|:|shu:|bunday:)",
        "^(bo'ldi|hal)<_>(hal bo'ldi|qaror shu)",
        unless="(hali|hech) ~(qaror|kelish|hal)|ular (qaror|kelish)|qaror qilma|(bugun )?(uxlash|"
        "dam olish)ga qaror",
    ),
    *ways(
        "decision",
        f"^(keling|kelinglar|kel|qani|mayli|xo'p|ho'p|bo'ldi|unda|demak|ha|ok|yaxshi|davay|"
        f"bo'pti|tamom|shunday qilib|demak unda|keyin)(,|) (unda |endi |shu |yaxshisi |"
        f"biz )*<v> {_CHOICE}$",
        "^(biz |endi |unda )?<v> (ishlat|tanla|qo'lla|foydalan)(ma)?(aylik|ylik)$",
        "^(biz |loyihada |bundan keyin |backendda |frontendda |endi )+<v> (ishlat|tanla|qo'lla|"
        "foydalan)(ma)?(amiz|aylik|ylik|ymiz)$",
        "^<v> (ishlatamiz|tanlaymiz|qo'llaymiz|ishlataylik)$",
        "^<v> (bilan|ustida|asosida) (ishlaymiz|quramiz|boshlaymiz|davom etamiz)$",
        "<v>(ga|da) (o'tamiz|o'taylik|to'xtalamiz|qolamiz)$",
        value="group",
        unless="(shunday|bunday|uni|buni|shuni|dam|nafas|choy|tushlik|bir oz|biroz|keyinroq|"
        "qanday|nima|yana|ovqat|film|kino|so'ra|savol)( |da|ni|ga) ?(@+ )?(@+ )?(qil|ol|"
        "ich|ishlat|tanla|ko'r|o't|boshla|ber)%|nima|qaysi|balki|qanday",
    ),
)
_NOT = (
    "(kerak|shart|muhim|yaxshi|yomon|gap|hozir|mumkin|muammo|farqi|zarur|oson|qiyin|bugun|"
    "unchalik|uncha|to'g'ri|hech|hali|"
    "shunday|bunday|faqat|kerakmas|ortiqcha|ko'p|hammasi|hazil|o'zi)"
)
_CORRECTIONS = (
    *ways(
        "correction",
        "(men )?<old> emas(,|;| -|)( balki|) <v> (demoqchi|aytmoqchi|yozmoqchi|so'ramoqchi|"
        "nazarda tut|deb ayt|dedim|degan)@*( edim| edik| bo'lgandim|)",
        "(men )?<v> (demoqchi|aytmoqchi|yozmoqchi) ?(edim|edik|bo'lgandim|bo'luvdim)?(,|"
        ") <old> emas$",
        "(men )?<v> (dedim|degandim|degan edim|aytdim|aytgandim|yozdim|yozgandim|deb yozgandim|"
        "degan edim)(,|) (sen|siz) (esa )?<old> (deb |de)?(yoz|ayt|tushun|eshit|yozib|qo'y)%",
        "(ismim|bu|kuni|soat|uchrashuv|familiyam|raqam|manzil|nomi|kod|narxi|muddat|men)%( esa|"
        ") <old> emas(,|;| -|)( balki|) <v>$",
        "(ismim|bu|kuni|soat|uchrashuv|familiyam|raqam|manzil|nomi|kod|narxi|muddat|men)%( esa|"
        ") <v>(,| -) <old> emas$",
        value="group",
        unless=f"{_NOT} emas|yoqtir|yoqadi|afzal|xush ko'r|ishlatamiz|ishlataylik",
        whole=True,
    ),
    *ways(
        "correction",
        f"{_LEAD}<_>(~~)?<old> emas(,|;| -|)( balki|) <v>(da|ga)?$".replace(
            "(~~)?", "(men |u |bu |ismim |uchrashuv |kuni )*"
        ),
        f"{_LEAD}<_>(men |u |bu |ismim |uchrashuv |kuni )*<v>(,| -) <old> emas$",
        value="group",
        unless=f"{_NOT} emas|yoqtir|yoqadi|afzal|xush ko'r|rahmat",
        whole=True,
    ),
    *ways(
        "correction",
        "^<v>(,| -) <old> emas$",
        "^<old> emas(,|;| -|)( balki|) <v>$",
        "<old> emas(,|;| -) (balki )?<v>$",
        value="group",
        check="specific",
        unless=f"{_NOT} emas|yoqtir|yoqadi|afzal|xush ko'r|ishlatamiz|ishlataylik|kerak",
        whole=True,
    ),
    *ways(
        "correction",
        "<v> (demoqchi|aytmoqchi|yozmoqchi|so'ramoqchi) ?(edim|edik|bo'lgandim|bo'luvdim|"
        "bo'lgan edim)",
        "<v> demoqchiydim",
        "(tushun|eshit|yoz|o'qi)@*(ding|dingiz|bsan|bsiz)(,|\\.|;|!| -) (men )?<v>(ni|) "
        "(aytgandim|aytgan edim|degandim|degan edim|aytayotgandim|yozgandim)$",
        f"{_LEAD}<_>(men )?<v> (dedim|degandim|degan edim|aytdim|aytgandim|yozdim|yozgandim|"
        f"so'radim|so'ragandim)$",
        "<v>ni nazarda tut(gan|uvdi|yap|dim|ayotgan|moqchi)%",
        value="group",
        unless="(nima|yana|rahmat|senga|sizga) (demoqchi|aytmoqchi)|rahmat (demoqchi|aytmoqchi)",
        whole=True,
    ),
    *ways(
        "correction",
        "nazarda tut(gan|uvdi|yap|dim|ayotgan|moqchi)%( edim|)",
        "(noto'g'ri|xato|boshqacha) (yoz|tushun|ayt|eshit|eslab qol|ko'rsat|ber)@*(ding|dingiz|"
        "siz|san|bsan|bsiz)(,|;|:|\\.|!| -|)",
        "^(bu )?(noto'g'ri|xato|unday emas|to'g'ri emas)<,>",
        "^(to'g'risi|to'g'rirog'i|aniqrog'i|tuzatish|tuzataman|tuzatma|to'g'rilayman|"
        "aniqlik kiritaman|yanglishdim|adashdim|adashibman|xato yozibman|"
        "xato yozdim|noto'g'ri yozibman|xato qildim|xato aytdim|xato aytibman|noto'g'ri aytdim|"
        "adashtirib yuboribman)<_>(men |u |bu )*",
        "(adashdim|adashibman|yanglishdim|yanglishibman|xato yozibman|xato yozdim|adashtirdim|"
        "xato aytdim)<_>",
        "(adashding|adashdingiz|yanglishding|yanglishdingiz|adashyapsan|adashyapsiz)<,>",
        "(sen|siz) <w> deb (yozding|yozdingiz|tushunding|tushundingiz|yozibsan|yozibsiz)",
        but_not="(keling|iltimos|yana|rahmat|mumkin)",
        whole=True,
    ),
    *ways(
        "correction",
        "^aslida<_>(esa |u |bu |men |mening )*",
        "^aslida( esa| u| bu| men| mening)* (ismim|uchrashuv|yig'ilish|majlis|muddat|manzil|"
        "telefon|raqam|kod|narx|familiyam|deadline|tug'ilgan kun)%",
        "^(yo'q|kechirasiz|uzr|kechiring|yo'g'e|voy|e yo'q)<_>(esa |u |bu |men |mening )*(ismim|"
        "uchrashuv|yig'ilish|majlis|muddat|manzil|telefon|kod|narx|familiyam|deadline|"
        "tug'ilgan kun)%",
        f"^(yo'q|kechirasiz|uzr|kechiring|yo'g'e|voy|e yo'q)<_>(esa |u |bu )*@*{_DAY} (kuni)?$",
        check="specific",
        whole=True,
        unless="aslida (siz|sen|men ham|yaxshi|to'g'ri|juda|bu yaxshi|haq)|emas",
    ),
)
_REMEMBERING = ways(
    "remember",
    f"{_KEEPING}{_KEEP_END}( iltimos|)(:|,| -|)( -|)( buni| shuni|)(:|,|)",
    f"{_KEEPING}(ib )?(ol|qol|qo'y)?(a|ol|la|a ol)?(olasanmi|olasizmi|asanmi|asizmi)",
    f"{_BE_IN_MIND}(:|,| -|)( -|)",
    "unutma(ng|ngiz|gin|nglar|sang|sangiz|ng iltimos|slik kerak)?(:|,| -|)( -|)( iltimos|)(,|)",
    "unutib (qo'yma|qolma|yurma)(ng|ngiz|gin|nglar|)(:|,| -|)",
    "(esdan|yoddan|esingdan|esingizdan) (chiqarma|chiqmasin|chiqarib qo'yma|chiqib qolmasin)(ng|"
    "gin|nglar)?(:|,| -|)",
    "(eslab qol|esda saqla|yodda tut|yodda saqla)(ish|ib qol)(ing|ingiz|ingni|ingizni)@* (so'ray|"
    "iltimos|kerak|xohla|istay|lozim)%(:|,|)",
    "(mana shuni|shuni|buni) (bil|esla|eslab|yod)%(ing|gin|ol|tut|qol)(:|,|)",
    "^(eslatma|muhim ma'lumot|bilib qo'y|ma'lumot uchun)(:|,| -)",
    "eslab qo(l|y)(ing|gin)?<_>",
    but_not="meni$",
    unless="eslab (qoldim|qola olmay|qolgan|qoladi|qolmas|qolib|qolmadi|yurdim|o't|"
    "qolish qiyin)|unutmay(man|miz)|eslab$|(meni|beni) unutma$|eslab qolma|yozib qo'yma|saqlama",
    whole=True,
)
# What is deleted of somebody's own data is named by the whole clause.
_DELETING = ways(
    "forget",
    "^(iltimos )?(eski |oldingi )?(manzilimni|telefonimni|telefon raqamimni|raqamimni|"
    "ismimni|yoshimni|tug'ilgan kunimni|ma'lumotlarimni) (o'chir|o'chirib tashla)(ing|gin|)$",
    value="clause",
)
_FORGETTING = ways(
    "forget",
    "<v> (butunlay |endi |iltimos |batamom )?unut(ing|gin|inglar|ib qo'y|ib yubor|ib ket|aver|"
    "avering|sang|sangiz|ib qo'ying|ib yuboring|ib qo'ygin)?$",
    "<v> (butunlay |endi |iltimos )?(esdan|esingdan|esingizdan|yoddan|yodingdan|xotirangdan|"
    "xotirangizdan|xotiradan) (chiqar|o'chir|chiqarib yubor|o'chirib tashla|chiqarib tashla)(ing|"
    "gin|inglar|)$",
    "^(iltimos |endi )*unut(ing|gin|)(:|,|) <v>$",
    "<v> (eslab yurma|boshqa eslama)(ng|gin|)$",
    "<v> haqida(gi)? (gapimni|gaplarimni|aytganimni|aytganlarimni|ma'lumotni) (o'chir|unut)(ing|"
    "gin|ib tashla|ib yubor|)$",
    value="group",
    unless="unutma|unut(dim|ibman|gan|ildi|iladi|a ol|moq|ay|adi|di)|unut gitsin|^(buni|uni|"
    "hammasini|bo'ldi|"
    "mayli)( iltimos)? unut(ing|gin|)$",
    whole=True,
)

PACK = Pack(
    language="uz",
    openers=(
        "va|lekin|ammo|chunki|ham|ha|yo'q|xo'p|mayli|salom|assalomu alaykum|assalomu aleykum|"
        "assalom|iltimos|aytgancha|umuman|shuningdek|demak|"
        "rostini aytsam|to'g'risi|ochig'i|odatda|bilasanmi|bilasizmi|eslatib o'taman|yana|endi|"
        "rahmat|aslida|kechirasiz|uzr|ok|"
        "va alaykum assalom|keyin|shunday qilib|xullas|bo'ldi|esingda bo'lsin|eslab qol|do'stlar|"
        "aka|opa|uka|brat|hayrli tong|xayrli kun|"
        "mening bilishimcha|menimcha|shaxsan|unutma|qisqasi|gap shundaki|yaxshi|zo'r|davay|tamom|"
        "hullas"
    ),
    common=frozenset(
        "va bu men mening menga uchun bilan ham shu emas edi bor yo'q kerak esa deb u siz sen biz "
        "nima qanday juda lekin yoki "
        "eslab qol iltimos kuni edim degan soat meni endi".split()
    ),
    not_names=frozenset(
        """ham bu shu u hozir juda kim nima qanday emas bor yo'q yoq qiyin oson uzun qisqa chiroyli
        muhim o'sha noto'g'ri togri to'g'ri xato bilan uchun ni ga mening qayerda esa
        bugun ertaga kecha yaxshi yomon zo'r charchadim tayyor deb dedim endi hech hamma
        faqat doim har keyin albatta o'zbek rus qozoq tojik qirgiz turk muslim musulmon
        vegetarian vegan talaba dasturchi o'qituvchi shifokor direktor odam inson yosh
        kasal ochman bandman uyda ishda rahmat esingda yodingda esingizda yodingizda va
        yana siz sen biz ular nega qayer qachon qalay qaysi necha nechta boshqa odatda
        ba'zan toshkent""".split()
    ),
    question=(
        "(nima(ni|ga|dan|da|lar@*|si|m|ng)?|kim(ga|ni|dan|da|ning|lar|man|san|siz)?|qanday|qanaqa|"
        "qaysi(si|ni)?|nega|nechta|"
        "necha|nechanchi|nechi(da)?|qancha(lik)?|qachon(gacha|dan)?|qayer@*|qayoq@*|qalay@*|"
        "nimaga|nechun|nechida|qatta|qattan|qanaqasiga)",
        "^qani",
        "@(adi|ydi|di|gan|san|siz|man|miz|ar|bor|yo'q|emas|mumkin|kerak|ting|ding|dingiz|olasan|"
        "olasiz|simi)mi(kan|kin|di)?$",
        "@@(mi|mikan|mikin|chi) ?\\?",
        "^(bilasanmi|bilasizmi|eslaysanmi|eslaysizmi|esingdami|esingizdami|yodingdami|"
        "yodingizdami|aytolmaysizmi|bormi|mumkinmi)",
        "(esingdami|esingizdami|bilasanmi|bilasizmi|eslaysanmi|eslaysizmi|yodingdami)",
        "^balki ~(mi|mikan|aylik|sak)",
        "^ismimni (ayt|top|esla)",
    ),
    not_asking=("(hech|har|bir) (nima|kim|qanday|qanaqa|qaysi|qachon|qancha|qayer|necha|nechta)%",),
    tag=(
        "^(xo'pmi|ho'pmi|mayli|maylimi|iltimos|bo'ptimi|kelishdikmi|tushunarlimi|to'g'rimi|okmi|"
        "ok|rozimisiz|rozimisan|sizniki nima|seniki nima|siznikichi|senikichi|sizchi|senchi|"
        "sizniki-chi|seniki-chi|siz-chi|sen-chi|sizga-chi|senga-chi|sizga chi|senga chi|sizniki|"
        "xo'p|bo'ladimi|yaxshimi|eslab qoldingmi|eslab qoldingizmi|sizning ismingiz nima|"
        "sening isming nima|ismingiz nima|isming nima|sizda-chi)$",
        "^(siz|sen|sizniki|seniki|sizga|senga|sizning|sening|isming|ismingiz)@*",
    ),
    request=(
        f"{_KEEPING}(ib )?(a )?(ol|ola|a ol)?(olasanmi|olasizmi|asanmi|asizmi|ysanmi|ysizmi)",
        "(deb chaqira|deb murojaat qila|unuta)(olasanmi|olasizmi|sanmi|sizmi)",
    ),
    discard=(
        "(eslab qol|yozib (qo'y|ol)|saqlab qo'y|yodda tut|yodlab ol|saqla|eslab qo'y|"
        "esda tut)ma(ng|gin|nglar|sang|sangiz)?",
        "(eslab|yozib|saqlab) (qolish|qo'yish|olish|qo'yishing|qolishing)@* (shart|kerak) emas",
        "(bu )?oramizda qolsin",
    ),
    instruction=(
        f"{_ORDER}$",
        f"{_ORDER}<,>",
        f"^{_ORDER}( menga|) ",
        "(menga )?<w> (kerak|lozim)$",
        "(ishingni|ishingizni|ib berishingni|ib berishingizni) (xohlayman|istayman|so'rayman)",
        "yordam kerak$",
    ),
    standing=(_STANDING,),
    once=(
        "(bu|shu|ushbu|keyingi) (javob@*|safar|xabar@*|matn@*|gal)",
        "(bir marta|faqat hozir|hozircha shu|faqat bugun|shu safarga)",
    ),
    passing=("(hozir|bugun|hozircha|ayni paytda|shu topda|(bu|shu) safar|hozirgi)",),
    reported=(),
    # What was said stands before the verb, so all of the sentence is somebody else's.
    reported_all=(
        "(dedi|dedilar|deydi|deyapti|deyishdi|deyishadi|deyarkan|debdi|dedida|deb (aytdi|yozdi|"
        "so'radi|aytgan|yozgan|o'ylaydi|javob berdi|"
        "hisoblaydi|yuribdi|o'tiribdi|gapirdi|turibdi|yozibdi|aytibdi)|gapiga ko'ra|aytishicha|"
        "yozishicha)$",
        "^(u|akam|ukam|onam|otam|opam|singlim|do'stim|xotinim|erim|boshlig'im|@+m|"
        "@+imiz) (menga |bizga )?(aytdi|dedi|yozdi|aytyapti|deyapti)(ki|:|,)",
        "(dedi|deydi|deb aytdi|deb yozdi|deyapti|debdi|deyishyapti|deyishadi)",
    ),
    not_reported=("(meni|bizni|menga) (@+ ){0,3}(deb |deya )?(deydi|deyishadi|deyishdi|chaqir@*)",),
    hypothetical=(
        "^(agar|agarda|mabodo|faraz qil|faraz qilaylik|tasavvur qil|tasavvur qiling|masalan|"
        "deylik|aytaylik)",
        "@+(ganimda|sam edi|sa edim|ganimda edi|salar edi)",
        "qaniydi|qani edi",
    ),
    narrative=(
        "hozir soat \\d%",
        "soat \\d% bo'ldi",
        "(bugun|kecha|hozir|ertalab|kechqurun|tunov kuni|o'tgan hafta|o'tgan oy)~@+(dim|dik|"
        "yapman|yapmiz|moqdaman|gandim|di|yapti)",
        "@+(yapman|yapmiz|moqchiman|moqdaman|votman|vomman|vottim|ettim|yotibman)$",
        "(bordim|keldim|turdim|uxladim|yedim|ishladim|sotib oldim|to'ladim|ko'rdim|kutdim|"
        "yo'qotdim|qaytdim|uyg'ondim|sarfladim|oldim)$",
    ),
    negation=(
        "(emas|yo'q|yoqmaydi|yoqmas|yoqtirmay@*|yomon ko'r@*|xohlamay@*|istamay@*|hech qachon|"
        "kerakmas|@+mayman|@+maymiz|@+maydi|@+mang|@+masin|@+mayapti|@+maslik@*|@+masin|ishlatma|"
        "yozma|qilma|aytma|ishlatmaymiz|ishlatmaylik|@+maylik)",
    ),
    fillers=(
        "(men|biz|shuni|buni|uni|iltimos|ham|albatta|ki|deb|va|menga|mening|meni|umuman|juda|esa|"
        "lekin|ammo|rahmat|chunki|xo'p|endi|unda|ko'proq|shaxsan)"
    ),
    values=(
        f"<d>((19|20)\\d\\d[- ]?(yil@*|y\\.|) )?\\d{{1,2}}[- ]*(chi|nchi|"
        f"inchi)?[- ]*{_MONTH}( (19|20)\\d\\d([- ]yil)?)?</d>@{{0,5}}",
        f"{_MONTH}(ning)? \\d{{1,2}}[- ]?(si|sida|sigacha|chi|nchi|inchi|kuni)",
        f"<d>{_ORDINAL}[- ]{_MONTH}</d>@{{0,5}}",
    ),
    labels=(
        "(raqam|kod|narx|byudjet|budjet|maosh|oylik|xona|manzil|buyurtma|hisob|reys|port|"
        "indeks|o'lcham|razmer|bo'y|vazn|chipta|talon|shartnoma|kvartira|uy|parvoz|limit|bilet|"
        "pasport|passport|lavozim|o'rin|id|inn|domofon)"
        "@{0,8}( raqami| nomeri| nomer| kodi|m|im|)( -|:|=|) ?<n>",
        "manzil@{0,8}( -|:|=|)~~\\d+(-uy|-xonadon)?",
        "\\d{1,4}[- ](xona|qavat|uy|kvartira|xonadon|etaj|reys|o'rin|maktab|avtobus)@{0,6}",
        f"(muddat|deadline|dedlayn|imtihon)@*~(-|:|keyingi|shu|) ?{_DAY}@*",
        "(?:^| )\\d{2} \\d{3} \\d{2} \\d{2}",
    ),
    measures=(
        "(ertalab |kechki |tushdan keyin |kunduzgi |kech |"
        "kechqurun )?soat \\d{1,2}([:.]\\d\\d)?(da|ga|gacha|dan|lar|larda|ta)?",
        "\\d[\\d.,]*( \\d{3})* ?(ming|mln|million|mlrd|milliard|k)? ?(so'm|sum|dollar|yevro|evro|"
        "rubl|usd|eur|uzs|\\$)@{0,6}",
        "\\d[\\d.,]* ?(mln|million|mlrd|milliard)@{0,4}",
    ),
    asks_anywhere=True,
    rules=(
        *_CORRECTIONS,
        *_NAMES,
        *_PREFERENCES,
        *_DECISIONS,
        *_REMEMBERING,
        *_FORGETTING,
        *_DELETING,
    ),
)
