"""Polish. Read without its marks; the endings of both sexes."""

from memory.detector.packs import Pack, ways

_MONTH = (
    "(styczni[au]|styczen|luty|lutego|lutym|marca|marcu|marzec|kwiecień|kwietni[au]|maja|maju|maj|"
    "czerwc[au]|czerwiec|lipc[au]|lipiec|"
    "sierpni[au]|sierpien|wrzesni[au]|wrzesien|pazdziernik[au]?|listopad(a|zie)?|grudni[au]|"
    "grudzien)"
)
_DAY = "(poniedziałek|wtorek|środ[aeę]|czwartek|piątek|sobot[aeę]|niedziel[aeę]|jutro)"
_ORDINAL = (
    "((dwudziest|trzydziest)(ego|y|a) )?(pierwsz|drug|trzec|czwart|piąt|szóst|siódm|ósm|dziewiąt|"
    "dziesiąt|jedenast|dwunast|trzynast|"
    "czternast|piętnast|szesnast|siedemnast|osiemnast|dziewiętnast|dwudziest|trzydziest)(ego|iego|"
    "y|i)"
)
_STANDING = (
    "(zawsze|nigdy|od teraz|od dzisiaj|od dziś|od tej pory|w przyszłości|na przyszłość|domyślnie|"
    "za każdym razem|od tej chwili|stale|na stałe|odtąd|każdorazowo)"
)
_VERBS = (
    "(przetłumacz|tłumacz|napisz|pisz|wyjaśnij|wyjaśniaj|popraw|poprawiaj|pokaż|pokazuj|powiedz|"
    "mów|daj|dawaj mi|znajdź|szukaj|otwórz|przeczytaj|"
    "spójrz|zrób|rób|utwórz|stwórz|narysuj|oblicz|policz|porównaj|pomóż|opisz|przepisz|skróć|"
    "wyślij|wysyłaj|przypomnij|przypominaj|dodaj|dodawaj|usuń|zaktualizuj|uruchom|"
    "odpowiedz|odpowiadaj|odpisz|odpisuj|użyj|używaj|spróbuj|sprawdź|kontynuuj|zatrzymaj|powtórz|"
    "wymień|podsumuj|zaproponuj|proponuj|zaczynaj|zacznij|kończ|"
    "zwracaj|zwróć|nazywaj|rozmawiaj|opowiedz|wypisz|podaj|podawaj|zmień|przeanalizuj|przygotuj|"
    "uwzględniaj|unikaj|stosuj|wstawiaj|wstaw|zamów|zarezerwuj|"
    "proszę (napisz|pisz|odpowiadaj|używaj|mów)|dzwoń|pytaj|zapytaj|traktuj|przesyłaj|prześlij|"
    "formatuj|wklej|oceń|streszcz|streść|"
    "tłumaczcie|napiszcie|piszcie|odpowiadajcie|dzwońcie)"
)
_VERBS_ALL = f"((nie )?{_VERBS})"
_REACTION = (
    "(to|ten|ta|te|tego|tą|tak|odpowiedź|twój|twoja|twoje|twoją|pana|pani|jak (to|ty|pan)|cię|"
    "jego|ją|ich|pomysł|tej|tych|twoich|twojej|[.!?])"
)
_KIN = (
    "(żona|mąż|syn|córka|mama|matka|tata|ojciec|brat|siostra|szef|szefowa|pies|kot|kotka|suczka|"
    "przyjaciel|przyjaciółka|chłopak|dziewczyna|"
    "dziecko|babcia|dziadek|wujek|ciocia|kuzyn|kuzynka|kolega|koleżanka|lekarz|lekarka|księgowa|"
    "księgowy|asystentka|asystent|dyrektor|partner|partnerka|narzeczona|narzeczony|"
    "sąsiad|sąsiadka|wnuk|wnuczka|firma|zespół|projekt|papuga|chomik|teściowa|teść|trener|"
    "trenerka|menedżer|menadżer|synek|córeczka|bratanek|siostrzenica)"
)
_LEAD = (
    "(nie|nie nie|sorry|sory|przepraszam|wybacz|wróć|czekaj|poczekaj|chwila|ups|oj|ojej|właściwie|"
    "w sumie|tak naprawdę|jednak|korekta|poprawka|"
    "sprostowanie|pomyłka|moment|ach|a nie|znaczy|to znaczy)"
)
# Who one is not: what is called so stands behind it.
_DENIED_NAME = (
    "nie (mam (już )?na imię|nazywam się|nazywaj|nazywajcie|mów|mówcie|mówią|wołaj|wołają|"
    "podpisuję)"
)
_NAMES = (
    *ways(
        "proper_noun",
        "nie (mam na imię|nazywam się) <w>(,|) (tylko|ale|lecz|a) <name>",
        value="group",
        check="name",
    ),
    *ways(
        "proper_noun",
        "mam na imię <name>",
        "na imię (mam|mi)( -|:|) <name>",
        "(ja )?nazywam się( -|:|) <name>",
        "moje (pełne |prawdziwe |drugie )?imię( to| jest| brzmi|:| -|) <name>",
        "moje imię i nazwisko( to| brzmi|:| -|) <name>",
        "(mam na imię|nazywam się|jestem) nie <w>(,|) (tylko|ale|lecz|a) <name>",
        "moje nazwisko( to| jest| brzmi|:| -|) <name>",
        "mój (nick|pseudonim|nick to)( to| jest|:| -|) <name>",
        "^(imię|imię i nazwisko|nazwisko) ?(:|-) <name>",
        "(wszyscy |znajomi |przyjaciele |w pracy |w domu |ludzie |kumple )*(mówią|wołają|"
        "nazywają) (na mnie|do mnie|mi|mnie) <name>",
        "(wszyscy |znajomi |przyjaciele )*(mi|mnie|na mnie|do mnie) (mówią|wołają|nazywają) <name>",
        "(możesz |możecie |proszę |najlepiej |po prostu )*(mów|mówcie|mówić|wołaj|zwracaj się|"
        "zwracajcie się) (mi|do mnie|na mnie)( po prostu|) <name>",
        "(nazywaj|nazywajcie|nazywać) mnie <name>",
        "(możesz|możecie) mi mówić <name>",
        "podpisuję się (jako )?<name>",
        value="group",
        check="name",
        unless=_DENIED_NAME,
    ),
    *ways(
        "proper_noun",
        f"(moja|mój|moje|nasz|nasza|nasze) (@+ )?{_KIN} (ma na imię|nazywa się|wabi się|to|"
        f"jest)( -|) <name>",
        "(imię|nazwisko) (mojej|mojego|naszej|naszego) @+( to|:| -) <name>",
        "(mojej|mojemu|naszej|naszemu) @+ na imię <name>",
        "(mam|mamy) (@+ )?(@+ )?(o imieniu|imieniem|któr[yae] (wabi|nazywa) się) <name>",
        f"(moja|mój|nasz|nasza) (@+ )?{_KIN},? <name>,",
        "^z tej strony <name>",
        "^(to ja|tu|tutaj|mówi) <name>( z|$)",
        value="group",
        check="capital",
    ),
    *ways(
        "proper_noun",
        "^(ja )?jestem <name>",
        "^ja <name>$",
        value="group",
        check="alone",
        unless="nie jestem",
    ),
)
_MUCH = (
    "(bardzo |naprawdę |zawsze |najbardziej |zdecydowanie |też |po prostu |raczej |generalnie |"
    "osobiście |ogólnie |szczególnie |za bardzo |już |w ogóle |szczerze |strasznie |zwykle |"
    "jakoś |kompletnie |absolutnie )*"
)
_PREFERENCES = (
    *ways(
        "preference",
        f"^(ja |my )?{_MUCH}(lubię|lubimy|uwielbiam|uwielbiamy|kocham|preferuję|preferujemy|wolę|"
        f"wolimy|wolałbym|wolałabym|wolelibyśmy|cenię sobie|przepadam za|gustuję w)",
        f"^(ja )?{_MUCH}(jestem )(wielk(im|ą) |ogromn(ym|ą) )?(fanem|fanką|miłośnikiem|"
        f"miłośniczką|zwolennikiem|zwolenniczką|entuzjastą)",
        f"{_MUCH}(podoba mi się|podobają mi się|pasuje mi|pasują mi|odpowiada mi|odpowiadają mi|"
        f"smakuje mi|smakują mi)",
        f"^mi {_MUCH}(podoba się|podobają się|pasuje|odpowiada|smakuje)",
        but_not=_REACTION + "|jak|że|kiedy tak|ciebie",
        unless="^(wolał(a)?bym|wolę) (nie|nie mówić|żebyś( to| teraz)|żeby pan)$",
    ),
    *ways(
        "preference",
        f"^(ja |my )?{_MUCH}nie {_MUCH}(lubię|lubimy|znoszę|znosimy|cierpię|cierpimy|"
        f"przepadam za|trawię|toleruję|jem|piję|palę|jadam|pijam|jestem fanem|jestem fanką|"
        f"chcę dostawać|życzę sobie)",
        f"^(ja |my )?{_MUCH}(nienawidzę|nienawidzimy|nie cierpię|nie znoszę|nie mogę znieść|"
        f"brzydzę się|nie trawię)",
        f"nie {_MUCH}(podoba mi się|podobają mi się|pasuje mi|pasują mi|odpowiada mi|"
        f"odpowiadają mi|smakuje mi|smakują mi)",
        "(denerwuje|denerwują|irytuje|irytują|wkurza|wkurzają|drażni|drażnią) mnie",
        "mnie (bardzo |strasznie |po prostu )*(denerwuje|denerwują|irytuje|irytują|wkurza|"
        "wkurzają|drażni)",
        but_not=_REACTION,
        unless="nie (jem|piję) (jeszcze|dzisiaj|dziś|teraz)",
        is_negated=True,
    ),
    *ways(
        "preference",
        "(mój|moja|moje|moim|moją|moimi|nasz|nasza|naszym) (absolutnie |najbardziej )?(ulubion(y|"
        "a|e|ym|ą|ymi)) (@+ )?(@+ )?@+ (to|jest|są|:|-|pozostaje)",
        "(mój|moja|moje) (ulubion(y|a|e)) (@+ )?@+( -|:)",
        "^(ulubion(y|a|e)) (@+ )?@+( to| -|:| jest)",
        "(moją preferencją|moje preferencje|moja preferencja)( to| jest| są|:)",
        but_not="(jaki|jaka|jakie|co)",
    ),
    *ways("preference", "^<v> to (mój|moja|moje) ulubion(y|a|e) @+", value="group"),
    *ways(
        "preference",
        f"^{_STANDING}<_>?(proszę |mi |do mnie |tylko |chcę |mnie )*(@+ ){{0,3}}{_VERBS_ALL}",
        f"^(proszę |proszę<_>|i |tylko )*{_VERBS_ALL}~{_STANDING}",
        f"^(proszę<_>)?{_STANDING} (@+ ){{0,4}}{_VERBS_ALL}",
        "^(chcę|chciałbym|chciałabym)(,|) (zawsze|żebyś zawsze|abyś zawsze|żeby mi zawsze)",
        "^(ja )?zawsze chcę",
        "^(proszę |proszę<_>)*(zwracaj się|mów|pisz) (do mnie |mi )?(zawsze )?(na|per) (ty|pan|"
        "pani)",
        "^(chcę|chciałbym|chciałabym|wystarczą mi) (dostawać |otrzymywać )?(tylko )?(krótki(e|"
        "ch)|długi(e|ch)|zwięzł(e|ych)|prost(e|ych)) @+",
        value="clause",
        unless="pamiętaj|zapamiętaj|zapomnij|miej na uwadze",
    ),
)
_DECISIONS = (
    *ways(
        "decision",
        "^(ja |my |więc |w końcu |ostatecznie |razem |wspólnie |wczoraj |już )*(zdecydowaliśmy|"
        "zdecydował[ae]m|zdecydowałyśmy|postanowiliśmy|postanowił[ae]m|ustaliliśmy|ustalił[ae]m|"
        "uzgodniliśmy|"
        "uzgodnił[ae]m|umówiliśmy|wybraliśmy|wybrał[ae]m|zatwierdziliśmy|przyjęliśmy|"
        "dogadaliśmy)( się|)( na| o| że|, że|)",
        "(podjęliśmy|podjąłem|podjęłam|zapadła) decyzj[eęaą]( o|że|, że|:|)",
        "^(zdecydowane|postanowione|ustalone|zdecydowano|ustalono|uzgodniono|klamka zapadła|"
        "załatwione)<,>",
        "^((nasza|moja|ostateczna) )*decyzja( -|:| jest taka| to| brzmi)",
        "^(zdecydujmy się na|zdecydujmy się|użyjmy|używajmy|wybierzmy|postawmy na|zostańmy przy|"
        "przejdźmy na|weźmy|wdróżmy|zróbmy|zacznijmy od|"
        "zatrudnijmy|przełóżmy|przesuńmy|opublikujmy|wypuśćmy|nazwijmy|kupmy|zrezygnujmy z|"
        "idźmy w|pójdźmy w|zbudujmy|napiszmy|trzymajmy się|przyjmijmy|"
        "ustalmy|umówmy się na|zamówmy|stawiamy na|zostajemy przy|przechodzimy na|bierzemy|"
        "wybieramy|używamy|idziemy w|decydujemy się na|startujemy z|rezygnujemy z|migrujemy na|"
        "zastąpmy|odwołajmy|prze[nn]ieśmy|hostujmy|wdrażamy)",
        "^(nie )?(będziemy) (używać|korzystać z|pisać w|robić w|stosować)",
        "^nie (używajmy|bierzmy|wybierajmy|róbmy|przechodźmy)",
        "^(to co|no to|dobra|ok|okej|dobrze|w takim razie|więc)<_>(bierzemy|robimy|używamy|"
        "idziemy w|niech będzie|wybieramy|lecimy z)",
        "^(niech będzie|stanęło na)",
        but_not="(to|tak|przerwę|się spotkać|coś|jeszcze|pauzę|sobie|kawę|[.!])",
        unless="(jeszcze|na razie) nie (zdecydowa|ustali|wybra)|jeszcze nic|"
        "zdecydował[ae]m się (odpocz|pośpa|pospa)|zróbmy (to|coś|sobie|przerw)|"
        "niech będzie (tak|dobrze)",
    ),
)
_NOTS = (
    "nie (wiem|trzeba|teraz|dziś|dzisiaj|jutro$|bardzo|tylko|tak|to|jestem|mam|mogę|chcę|lubię|za|"
    "jest|będę|ma|musisz|szkodzi|dziękuję|najlepiej|zawsze|zbyt|całkiem|ważne|do końca|pamiętam|"
    "działa)"
)
_PLAIN = "wolę|lubię|prefer|zdecyd|wybier|użyjmy|weźmy|postanow|ustali|podoba|uwielbiam|bierzemy"
_CORRECTIONS = (
    *ways(
        "correction",
        "(chodziło mi o|miał[ae]m na myśli|powiedział[ae]m|mówił[ae]m|pisał[ae]m|napisał[ae]m|"
        "chodzi mi o|mam na myśli|chciał[ae]m powiedzieć|prosił[ae]m o)( że|) <v>(,| -|"
        ") (a )?nie (o )?<old>$",
        "(powiedział[ae]m|mówił[ae]m|pisał[ae]m|napisał[ae]m|prosił[ae]m o) <v>(,|) (a )?(ty|pan|"
        "pani|wy) (napisał[ae]?ś|napisała?|zapisał[ae]?ś|zrozumiał[ae]?ś|dał[ae]?ś|"
        "ustawił[ae]?ś) <old>$",
        "^(to |jestem |mam na imię |nazywam się |mieszkam w |to było )?nie <old>(,|;| -|) (tylko|"
        "ale|lecz|a) <v>$",
        "(mam na imię|nazywam się|jestem|mieszkam w|pracuję w|spotkanie jest|to|jest|będzie|są|"
        "na|w|we|do|o|pochodzę z) <v>(,| -| a) (a )?nie (w |we |na |do |o |z )?<old>$",
        "^<v>(,| -) (a )?nie (w |we |na )?<old>$",
        "(jest|są|będzie|jestem|mieszkam|to) nie (w |we |na |o )?<old>(,|) (tylko|ale|lecz|"
        "a) (w |we |na |o )?<v>$",
        "(napisał[ae]?ś|zapisał[ae]?ś|napisał|napisała) <old>(,| zamiast) (a (miało być|"
        "powinno być|ma być|chodziło o) )?<v>$",
        value="group",
        unless=f"{_NOTS}|{_PLAIN}",
        whole=True,
    ),
    *ways(
        "correction",
        f"{_LEAD}<_>(ja )?(mówił[ae]m|powiedział[ae]m|chodziło mi|miał[ae]m na myśli|"
        f"chciał[ae]m powiedzieć|pisał[ae]m|napisał[ae]m|prosił[ae]m)( o| że|, że|)",
        "^(ja )?(chodziło mi o|miał[ae]m na myśli|chodzi mi o|mam na myśli)",
        "^(w rzeczywistości|tak naprawdę|właściwie|jednak)<_>(to )?(nazywam się|mam na imię|"
        "mieszkam|pracuję w|jestem z|mam \\d)",
        "(pomylił[ae]m się|pomylił[ae]m|przejęzyczył[ae]m się|źle (napisał[ae]m|powiedział[ae]m|"
        "podał[ae]m)|literówka|mój błąd|moja pomyłka|błędnie podał[ae]m)<_>",
        "^(korekta|pomyłka|poprawka|sprostowanie|errata|poprawiam|prostuję)<,>",
        "^(a )?(dokładniej|ściślej|a właściwie|raczej|to znaczy|znaczy się|znaczy)<_>",
        "(źle|błędnie|niepoprawnie) (mnie )?(zrozumiał(eś|aś|)|zapisał(eś|aś|)|napisał(eś|aś|)|"
        "zapamiętał(eś|aś|)|usłyszał(eś|aś|))<,>",
        "^(to )?(nieprawda|błąd|niepoprawnie|nie tak|nieprawidłowo|źle|to nieprawda)<,>",
        "(mylisz się|pomyliłeś się|pomyliłaś się|myli się pan|myli się pani)<,>",
        "(pisze się|wymawia się|czyta się) (przez |jako )?",
        "^(nie|przepraszam|sorry|właściwie|tak naprawdę|wróć|a nie|jednak)<_>(to |spotkanie |"
        "mam |moje |mój |moja |termin |adres |numer |jestem |deadline |urodziny )+(jest|są|"
        "będzie|na imię|z|w|na|to|we|o|o godzinie)",
        f"^(nie|przepraszam|sorry|ups|oj|jednak)<_>(to |w |we |na |jednak )*{_DAY}$",
        but_not="(nie|dobrze|ok|spróbuj|sprawdź|proszę|super|świetn|tak|nic|dobr[yae]|racja|"
        "rację|wiesz|trudne|łatwe|bardzo|problem|porządku|możesz|żart)",
        unless="czy dobrze|jeśli się nie mylę|nie chodzi|masz racj|^nie (mam na imię|nazywam się)",
        whole=True,
    ),
)
_REMEMBERING = ways(
    "remember",
    "(proszę|prośba)( o|,|) (zapamiętać|pamiętać|zanotować|zapisać|zapamiętanie)( to| sobie|)(,|"
    ":| -|)( że|)",
    "(zapamiętaj|zapamiętajcie|zapamiętaj sobie|zakoduj sobie|zapisz sobie|zanotuj|zanotuj sobie|"
    "odnotuj|wbij sobie do głowy|wynotuj|zapamiętasz)( proszę| to| sobie| też| jeszcze|"
    " na przyszłość)*(,|:| -|)( że|)",
    "^(proszę<_>|i |tylko |też )*(pamiętaj|pamiętajcie|proszę pamiętać)( proszę| też| o tym|)(,|"
    ":| -|)( że| o|)",
    "^(proszę<_>|i |tylko |ale )*nie (zapomnij|zapominaj|zapomnijcie|zapominać)(,|:|)( proszę|"
    ")( że| o| też| o tym|)(,|)( że|)",
    "(miej|miejcie|proszę mieć|weź|bierz) (to )?(na uwadze|w pamięci|na względzie|pod uwagę)(,|:|"
    ")( że|)",
    "^(zapisz|notuj|zapiszcie)( to| sobie| proszę|)*(,|:)( że|)",
    "(zapisz|zachowaj|dodaj|wpisz)( to|) (w|do) (pamięci|notatek|notatkach)(,|:|)( że|)",
    "^(uwaga na przyszłość|na przyszłość|do zapamiętania|notatka|dla twojej informacji|"
    "do wiadomości)(:|,| -)",
    "<,>(pamiętaj|zapamiętaj|zapisz|zanotuj|nie zapomnij)( o tym| to| sobie| proszę|)$",
    "(chcę|chciałbym|chciałabym)(,|) (żebyś|abyś) (zapamiętał|zapamiętała|pamiętał|pamiętała|"
    "wiedział)(,|)( że|)",
    but_not="mnie$",
    unless="pamiętasz|nie pamiętaj|nie zapamiętuj|jeśli pamiętasz|zapamiętałem|zapamiętałam",
    whole=True,
)
# What is deleted of somebody's own data is named by the whole clause.
_DELETING = ways(
    "forget",
    "^(proszę<_>|możesz )*(usuń|wykasuj|skasuj|wymaż) (mój|moją|moje) (stary |starą |stare |"
    "poprzedni )?(adres|telefon|numer|imię|mail|e-mail|wiek|datę urodzenia|dane)$",
    value="clause",
)
_FORGETTING = ways(
    "forget",
    "^(proszę<_>|proszę |możesz |już |lepiej |i |a |teraz )*(zapomnij|zapomnijcie|"
    "zapomnieć)( proszę| już|)(,|)( że| o tym, że| o|)",
    "^(proszę<_>|możesz )*(usuń|wyrzuć|wykasuj|skasuj|wymaż|wykreśl|usunąć) <v> z (twojej |"
    "swojej )?(pamięci|notatek|głowy)",
    "^(proszę<_>|możesz )*(usuń|wykasuj|skasuj|wymaż) z (twojej |swojej )?(pamięci|notatek)",
    "^(już )?nie (pamiętaj|musisz (już )?pamiętać)( już|)(,|)( że| o|)",
    but_not="(o tym|o sprawie|tym|sprawie|to)$|o mnie$|[.!]",
    unless="nie zapomnij|nie zapominaj|nie zapomn|^(nieważne|mniejsza z tym|nic)<_>zapomnij$|"
    "^zapomnij<_>(nieważne|nic takiego)$",
    whole=True,
)

PACK = Pack(
    language="pl",
    openers=(
        "i|a|ale|bo|no|tak|nie|więc|cześć|hej|hejka|siema|witam|dzień dobry|proszę|też|ponieważ|"
        "że|oraz|dobra|ok|okej|"
        "no to|to|ogólnie|generalnie|szczerze mówiąc|szczerze|osobiście|w sumie|zazwyczaj|zwykle|"
        "a propos|przy okazji|właściwie|"
        "dzięki|dziękuję|dobry wieczór|wiesz|słuchaj|myślę że|jednak|czyli|zatem|super|świetnie|"
        "jasne|dobrze|w takim razie|"
        "ps|na co dzień|wieczorem|rano|w domu|w pracy|przepraszam|sorry|pamiętaj|zapamiętaj|"
        "te[zz]|hm|no dobra|halo|kochani|ja|mówiąc szczerze|btw|ostatecznie|poza tym|wobec tego"
    ),
    common=frozenset(
        "i w na nie to że się jest mam mi do z o jak po za dla ale czy tak mnie ma moja mój moje "
        "jestem są być tylko od co "
        "proszę jutro bo te ten ta".split()
    ),
    not_names=frozenset(
        """nie jak to w na z ze do od po za dla jest jestem i a ale czy co kto gdzie kiedy dlaczego
        teraz dzisiaj jutro zawsze nigdy tu tam bardzo już jeszcze tylko też polakiem
        polką niemcem ukraińcem ukrainką rosjaninem anglikiem francuzem warszawiakiem
        krakusem weganinem weganką wegetarianinem katolikiem zmęczony zmęczona gotowy
        gotowa głodny głodna chory chora zajęty zajęta pewien pewna ciekaw ciekawa
        wdzięczny wdzięczna szczęśliwy szczęśliwa pan pani panie inaczej tak poprawnie
        źle dobrze prosto po za prawdę głośniej krócej wolniej jaśniej więcej mniej
        częściej ostatnio ciszej programistą programistka lekarzem lekarką nauczycielem
        nauczycielką studentem studentką dyrektorem kierownikiem polski angielski trudne
        rzadkie błędne""".split()
    ),
    question=(
        "^(a |i |no |to |ale |hej |powiedz |słuchaj )*(czy|co|kto|kogo|komu|czego|czemu|gdzie|"
        "kiedy|dlaczego|jak|jaki|jaka|jakie|jakiego|jaką|który|która|które|którego|ile|skąd|dokąd|"
        "po co|o czym|z kim|"
        "o której|o co|na co|do kiedy|od kiedy|czyj|czyja|w jaki|na ile) ",
        "^(a |no )?(co|kto|gdzie|kiedy|dlaczego|jak|ile|skąd)",
        "^(pamiętasz|wiesz|znasz|możesz|możecie|czy możesz|lubisz|wolisz|masz|jesteś|widziałeś|"
        "widziałaś|słyszałeś|chcesz)(,|) ",
        "^(przypomnij|powiedz|podpowiedz)( mi|)(,|) (proszę )?(jak|co|gdzie|kiedy|jaki|jaka|"
        "jakie|kto|ile|czy|dlaczego|o czym|skąd)",
        "^(ciekawe|nie wiem|nie pamiętam|zastanawiam się|ciekaw jestem|nie jestem pew(ien|na))(,|"
        ") (jak|co|gdzie|kiedy|jaki|jaka|kto|ile|czy|dlaczego)",
        "^(może|powinniśmy|moglibyśmy) (byśmy |powinniśmy |warto )?(użyć|użyjemy|wybrać|wziąć|"
        "przejść)",
        "^może (by|użyjmy|weźmy|wybierzmy)",
        "jak mam na imię",
        "jak się nazywam",
    ),
    tag=(
        "^(ok|okej|dobrze|tak|prawda|nie|zgoda|jasne|rozumiesz|a ty|a pan|a pani|ty|a tobie|"
        "a ciebie|a twoje|a jak ty|a jak ci na imię|w porządku|może być|pasuje|co ty na to|dobra|"
        "a wy|zapamiętasz|czy to jasne)$",
        "^a (ty|pan|pani|tobie|jak)( @+){0,5}$",
    ),
    request=(
        "(możesz|mógłbyś|mogłabyś|czy możesz|możecie)~(zapamiętać|zapisać sobie|pamiętać|"
        "zanotować|zapomnieć|nazywać mnie|mówić (mi|do mnie)|mieć na uwadze)",
    ),
    discard=(
        "nie (zapamiętuj|zapisuj|notuj|zapamiętujcie|zapisujcie)( tego| nic| niczego)?",
        "nie (musisz|trzeba) (tego )?(zapamiętywać|zapisywać|notować)",
        "(między nami|nie do zapisania)",
    ),
    instruction=(
        f"^(proszę |proszę<_>|możesz |a |i |teraz |a teraz |szybko |tylko |jeszcze |też |"
        f"to )*{_VERBS_ALL}",
        "^(chcę|chciałbym|chciałabym|proszę|wolałbym|wolałabym|wolę)(,|) (żebyś|abyś|byś|żeby pan)",
        "^(potrzebuję|potrzebna mi|potrzebny mi|potrzebne mi|przydałby się|chcę (tabel|list|"
        "tekst|obraz|kod)@*)",
        "^(poniżej|oto|to jest|tutaj jest|tu jest) (tekst|mail|list|log|błąd|kod|wiadomość|"
        "artykuł)",
        "^proszę o ",
    ),
    standing=(_STANDING,),
    once=(
        "w (tej|następnej|tym|kolejnej) (odpowiedzi|wiadomości|przypadku|mailu|tekście|razem|"
        "czacie)",
        "(tym razem|tylko (teraz|dziś|dzisiaj|raz)|ten jeden raz|jednorazowo|na razie tylko)",
    ),
    passing=(
        "(teraz|dzisiaj|dziś|w tej chwili|w tym momencie|tym razem|na razie|obecnie|dzisiejsz@+)",
    ),
    reported=(
        "(powiedziała?|mówi|mówią|napisała?|pisze|piszą|myśli|twierdzi|twierdzą|uważa|uważają|"
        "odpowiedziała?|zapytała?|stwierdziła?|opowiadała?|dodała?|oznajmiła?)( mi| nam|)(,| że|"
        ":)",
        "(według|zdaniem) @+",
        "cytat<,>",
    ),
    reported_all=(
        "(napisał|powiedział|stwierdził|dodał)a? (klient|klientka|szef|szefowa|kolega|on|ona|@+)$",
    ),
    hypothetical=(
        "^(gdyby|gdybym|jeśli|jeżeli|jakby|jakbym|wyobraź sobie|załóżmy|przypuśćmy|na przykład|"
        "np|powiedzmy|szkoda że nie)",
        "(bym|byś|by)~(gdyby|gdybym)",
    ),
    narrative=(
        "(ja |my |on |ona |oni |już |dopiero |właśnie |wczoraj |dziś |dzisiaj |"
        "rano )*(obudził[ae]m|wstał[ae]m|spał[ae]m|jadł[ae]m|zjadł[ae]m|przyszedłem|przyszłam|"
        "wyszedłem|wyszłam|wrócił[ae]m|kupił[ae]m|zapłacił[ae]m|wydał[ae]m|"
        "czekał[ae]m|pracował[ae]m|skończył[ae]m|zgubił[ae]m|spotkał[ae]m|był[ae]m|oglądał[ae]m|"
        "przeczytał[ae]m|jechał[ae]m|zrobił[ae]m|stracił[ae]m|sprzedał[ae]m|idę|jadę|lecę|"
        "wychodzę|siedzę|czekam)",
        "(wczoraj|dziś rano|przed chwilą|w zeszłym (tygodniu|roku|miesiącu)|przedwczoraj|temu$)",
        "^(jest |jest już |już |teraz jest )\\d%",
        "(zajęło|trwało) ",
    ),
    negation=("(nie|nigdy|bez|żaden|żadn@+|nienawidzę|ani)",),
    fillers=(
        "(że|to|jest|są|o|na|w|się|proszę|najbardziej|bardzo|raczej|więc|i|a|dzięki|sobie|też|mi|"
        "już|ok|w takim razie|po prostu|jednak|tym|od teraz|bardziej)"
    ),
    values=(
        f"\\d{{1,2}}\\.? {_MONTH},? (19|20)\\d\\d( roku| r\\.?)?",
        f"\\d{{1,2}}\\.? {_MONTH}",
        f"{_ORDINAL} {_MONTH}",
    ),
    labels=(
        "(numer|nr|kod|pin|budżet|pensja|zarobki|cena|koszt|pokój|sala|mieszkanie|dom|piętro|lot|"
        "zamówienie|faktura|konto|port|rozmiar|wzrost|waga|miejsce|wagon|klatka|czynsz|"
        "limit|stawka|bilet|rezerwacja|nip|pesel|regon|id|peron|bramka|domofon|działka|gabinet|"
        "biuro|apartament)"
        "@{0,4}( (telefonu|lotu|zamówienia|faktury|konta|pokoju|mieszkania|klienta|mojego @+|"
        "mojej @+|do @+|rezerwacji|rejestracyjny|mieszkania))?( to| jest| wynosi|:| -|=|) ?<n>",
        "(ulica|ul\\.?|aleja|al\\.?|plac|osiedle|adres@*)~~\\d+[a-z]?(/\\d+)?",
        f"(termin|deadline|egzamin)~(:|-|w|we|do|jest w|na|to) (najbliższ@+ |przyszł@+ )?{_DAY}",
    ),
    measures=(
        "(o |do |od |przed |po |o godzinie |o godz\\.? |godz\\.? |godzina |"
        "godzinie )(godzinie )?\\d{1,2}([:.]\\d\\d)( rano| wieczorem|)",
        "(godz\\.? |godzinie |godzina |o godzinie )\\d{1,2}( rano| wieczorem|)",
        "\\d[\\d.,]*( \\d{3})* ?(tys\\.?|tysiące|tysięcy|mln|milion@*|mld)? ?(zł|złotych|złote|"
        "pln|euro|eur|dolar@*|usd|zeta|gr)",
        "\\d[\\d.,]* ?(tys\\.?|tysięcy|mln|milion@*)",
    ),
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
