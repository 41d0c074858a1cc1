"""Turkish. Read without its marks, so I, ı, İ and i are one letter here.

The verb closes a Turkish clause, so what a rule is about mostly stands before its phrase.
"""

from memory.detector.packs import Pack, ways

_MONTH = "(ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık)"
_DAY = "(pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar|yarın)"
_STANDING = (
    "(her zaman|daima|hep|asla|hiçbir zaman|bundan sonra|bundan böyle|artık|her seferinde|"
    "varsayılan olarak|sürekli|bundan sonraki|ileride|"
    "bugünden itibaren|genelde|her defasında|her cevabında)"
)
_STEM = (
    "(çevir|tercüme et|yaz|açıkla|düzelt|göster|söyle|anlat|ver|bul|ara|aç|oku|bak|yap|oluştur|"
    "hazırla|çiz|hesapla|"
    "karşılaştır|yardım et|tarif et|kısalt|gönder|hatırlat|ekle|sil|kaldır|güncelle|çalıştır|"
    "cevapla|yanıtla|cevap ver|yanıt ver|kullan|dene|kontrol et|"
    "devam et|dur|tekrarla|listele|özetle|öner|konuş|hitap et|seslen|sor|başla|bitir|koy|seç|et|"
    "at|incele|analiz et|ol|paylaş|say|topla|ayarla|rezerve et|arama|ara)"
)
_ORDER = (
    f"{_STEM}(me|ma)?(yin|yın|in|ın|un|ün|iniz|ınız|unuz|ünüz|yiniz|yınız|sene|sana|sen|r misin|"
    f"ar mısın|er misin|ır mısın|ir misin|ur musun|ür müsün|"
    "abilir misin|ebilir misin|eyin|ayın|iver|ıver|uver|üver)?( lütfen|)"
)
_LEAD = (
    "(hayır|yok|yoo|yok yok|aslında|pardon|özür dilerim|kusura bakma|kusura bakmayın|affedersin|"
    "affedersiniz|dur|bekle|yanlış|"
    "düzeltme|düzeltiyorum|düzelteyim|şey|ay|ups|tüh|hop|daha doğrusu|yanlışlıkla|sorry)"
)
_KIN = (
    "(eş|karı|koca|kız|oğl|oğul|anne|baba|abla|abi|ağabey|kardeş|patron|müdür|kedi|köpek|sevgili|"
    "arkadaş|çocuk|bebek|dede|nine|"
    "babaanne|anneanne|amca|dayı|teyze|hala|kuzen|yeğen|doktor|öğretmen|ortak|nişanlı|asistan|"
    "şirket|firma|takım|ekip|proje|torun|"
    "komşu|hoca|avukat|muhasebeci|kuş|papağan|ikiz)"
)
_POSS = "(im|ım|um|üm|m|imiz|ımız|umuz|ümüz|miz|mız)"
_LET = "(alım|elim|yalım|yelim)"
_CHOICE = (
    "(kullan|seç|tercih ed|devam ed|geç|başla|yap|al|ertele|çıkar|karar kıl|kur|yaz|ekle|taşı|"
    "bırak|tut|iptal ed|belirle|ilerle|gid|koy|"
    "yayınla|kal|ayarla|buluş|dene|sil|değiştir|kapat|planla|satın al|düzenle|anlaş|oluştur|"
    "deploy ed|adlandır|kaldır|at|tamamla)"
)
_NOT_A_NAME = "(ne|nedir|neydi|nasıl|kim|değil|var|yok|soyadım|ile)"

# Who one is not: what is called so stands behind it. Uzbek shares the words.
_DENIED_NAME = "(adım|ismim|soyadım) (<w> ){1,2}(değil|değildi|emas)"
_NAMES = (
    *ways(
        "proper_noun",
        "(benim )?(tam |gerçek |asıl |göbek |ilk |öz )?(adım|ismim|adımız|soyadım|soyismim|"
        "takma adım|lakabım|kullanıcı adım|ad soyadım|adım soyadım)( da| ise|:| -|,|) <name>",
        "^(ad|isim|ad soyad|adı|ismi) ?: <name>",
        "(bana|beni) (lütfen |kısaca |sadece |herkes |arkadaşlarım |genelde |evde )*<name> (de|"
        "diye|diyebilir|derler|der|diyor|diyorlar|deyin|desen|diyebilirsin)%",
        "(bana|beni) (lütfen |kısaca |sadece |herkes )*<name> (olarak|diye) (çağır|hitap|seslen|"
        "bil|tanı)%",
        "^<name> (de|deyin) bana$",
        "herkes <name> der( bana|)$",
        "adım <name>$",
        value="group",
        check="name",
        unless=f"(adım|ismim) {_NOT_A_NAME}$|(adım|ismim)(ı|i|ın|in)|adım (adım|at|attı)|"
        f"ilk adım <name>|bir adım|{_DENIED_NAME}|(bana|beni)~(deme|demeyin|demesin|demezler|"
        f"demiyor|(diye|olarak) @+m[ae](yın|yin|))$",
    ),
    *ways("proper_noun", f"{_DENIED_NAME}(,|;| -|) <name>", value="group", check="name"),
    *ways(
        "proper_noun",
        "^(ben|ben de|bendeniz) <name>(,|\\.|!|$)",
        "^(ben|bu) <name>, ",
        f"{_KIN}{_POSS}(in|ın|un|ün|nin|nın|nun|nün) (adı|ismi|ad|soyadı|lakabı)( da| ise|:|"
        f") <name>",
        f"@+{_POSS}(in|ın|un|ün|nin|nın|nun|nün) (adı|ismi)( da| ise|:|) <name>",
        f"{_KIN}{_POSS},? <name> (adında|isminde|adlı|isimli)",
        "<name> (adında|isminde|adlı|isimli) (bir )?@+(im|ım|um|üm) var",
        "<name> (benim )?(adım|ismim)$",
        "^<name> ben$",
        value="group",
        check="capital",
        unless="ben @+(deyim|dayım|teyim|tayım|liyim|lıyım|luyum|lüyüm|den|dan)",
    ),
    *ways(
        "proper_noun",
        "^ben <name>",
        value="group",
        check="alone",
        unless="^ben @+(deyim|dayım|teyim|tayım|liyim|lıyım|luyum|lüyüm|den|dan|de|da|e|a|i|ı)( |"
        "$)~(gid|gel|yaş|otur|çalış|sev|iste)",
    ),
)
_LIKING = (
    "(severim|severiz|seviyorum|seviyoruz|tercih eder(im|iz)|tercih ediyor(um|uz)|tercih ederdim|"
    "bayılır(ım|ız)|bayılıyorum|hoşlanır(ım|ız)|"
    "hoşlanıyorum|tercihimdir|hastasıyım|hayranıyım|beğenirim|beğeniyorum|aşığıyım|tutkunuyum|"
    "düşkünüm)"
)
_HATING = (
    "(sevmem|sevmeyiz|sevmiyorum|sevmiyoruz|tercih etme(m|yiz)|tercih etmiyor(um|uz)|hoşlanmam|"
    "hoşlanmıyor(um|uz)|hoşlanmayız|nefret ederim|nefret ediyorum|"
    "nefret ederiz|tahammül edemem|tahammül edemiyorum|tahammülüm yok|dayanamam|dayanamıyorum|"
    "gıcık olurum|gıcık oluyorum|sinir olurum|sinir oluyorum|yemem|içmem|kullanmam|"
    "yemiyorum|içmiyorum|beğenmem|hazzetmem|katlanamam|katlanamıyorum|tiksinirim|tiksiniyorum|"
    "sevemedim|hiç sevmem|haz etmem)"
)
_HOW_MUCH = (
    "(çok |daha çok |pek |hiç |asla |en çok |gerçekten |da |de |genelde |genellikle |"
    "her zaman |hep |daha |aşırı |özellikle |cidden |artık |fazla |bile |kesinlikle )*"
)
_REACTION = (
    "^(ben )?(bunu|şunu|onu|bu |şu |seni|sizi|cevabını|yanıtını|fikrini|önerini|bu fikri|bunlar)"
)
_PREFERENCES = (
    *ways(
        "preference",
        f"^(ben |biz |şahsen |bence |genelde |genellikle |açıkçası )*<v> {_HOW_MUCH}{_LIKING}",
        f"^{_LIKING} <v>$",
        f"<v> {_HOW_MUCH}{_LIKING}",
        "<v> {0}(hoşuma gider|hoşuma gidiyor|bana (daha )?uygun|"
        "favorimdir)".replace("{0}", _HOW_MUCH),
        value="group",
        unless=f"{_REACTION}|severim seni|seni (çok )?sev|sizi (çok )?sev|(cevab|yanıt|fikr|"
            f"öneri)(ını|ini|ın|in|i) (çok )?(sev|beğen)|bunu (çok )?sev|sevseydim|"
            f"{_LIKING} (mi|mı|demiş|diyor)",
    ),
    *ways(
        "preference",
        f"^(ben |biz |şahsen |genelde |genellikle |açıkçası )*<v> {_HOW_MUCH}{_HATING}",
        f"<v> {_HOW_MUCH}{_HATING}",
        f"<v> {_HOW_MUCH}(hoşuma gitmez|hoşuma gitmiyor|bana göre değil|rahatsız eder beni|"
        f"beni rahatsız e%|beni sinir e%)",
        "<v> (istemem|istemiyorum)$",
        value="group",
        is_negated=True,
        unless=f"{_REACTION}|(cevab|yanıt)(ını|ini)|seni|sizi|(bugün|şimdi|şu an|teşekkür|sağ ol|"
            f"yok|hayır|başka) ?(@+ )?(iste|yemi|içmi)|bir şey (istemi|yemi|içmi)|"
            f"^(hayır<_>)?(istem|yem|içm|kullanm)",
    ),
    *ways(
        "preference",
        "(en )?(sevdiğim|sevdiğimiz|beğendiğim|tercih ettiğim|favori) (@+ )?(@+ )?(@+(im|ım|um|"
        "üm)( -|:|,|)|(renk|yemek|dil|kitap|film|dizi|müzik|şarkı|takım|spor|içecek|tatlı|"
        "meyve|hayvan|mevsim|çiçek|editör|program|şehir|yer|grup|sanatçı|yazar|marka|araba|tür|"
        "kahve|çay|oyun|uygulama|kütüphane|framework|şey|ülke|restoran|mutfak|gün|sayı|ders|koku|"
        "pizza|telefon|site))( -|:| ise| da|,|)",
        "favori@{0,6} (@+ )?( -|:|)".replace("( -|:|)", "(:|-)"),
        "tercihim( -|:|) ",
        but_not="(ne|hangi|hangisi|kim|nedir|bu)",
    ),
    *ways("preference", "(en sevdiğim|favorim|tercihim) <v>(dır|dir|dur|dür|tır|"
        "tir)?$", value="group",
          unless="hangi|nedir|ne$"),
    *ways(
        "preference",
        f"{_STANDING}~{_ORDER}$",
        f"{_STANDING}~~{_ORDER}$",
        f"{_ORDER} {_STANDING}$",
        f"(bana |benimle )(@+ )*{_STANDING}~{_ORDER}",
        f"{_STANDING} <v>(istiyorum|isterim|istemiyorum)$",
        "(kısa|uzun|detaylı|net|sade|basit|öz) (ve @+ )?(cevap|yanıt|mesaj|özet)(lar|"
        "ler)? (istiyorum|isterim|yeterli|olsun|ver|yaz)",
        "bana (sen|siz) diye hitap%",
        value="clause",
        unless="unutma|hatırla|aklında|not al|artık (git|gel|dur|yeter)",
    ),
)  # fmt: skip
_DECISIONS = (
    *ways(
        "decision",
        "<v> karar ver(dik|dim|ildi|mişik|miştik)",
        "<v>(de|da|te|ta) (anlaştık|karar kıldık|uzlaştık|mutabık kaldık)",
        "(@+ (için|olarak) )?<v> (seçtik|seçtim|tercih ettik|onayladık|kararlaştırdık|"
        "kararlaştırıldı)",
        "<v>(ye|ya|e|a) (geçiyoruz|geçme kararı aldık|geçeceğiz)",
        "<v> kararı (aldık|aldım|alındı|verdik|verildi)",
        "<v> kullan(acağız|ıyoruz|mayacağız|mıyoruz|ma kararı)",
        value="group",
        unless="(henüz|daha) ~(karar|seç)|karar verme(dik|dim)|karar veremedi|onlar|kararsız|"
        "(uyumaya|dinlenmeye|evde kalmaya) karar|kullanıyoruz ama|hangi",
    ),
    *ways("decision", "<w>(oruz|acağız|eceğiz)(,|) (anlaştık|kararlaştırdık)$", value="clause"),
    *ways(
        "decision",
        "^((son|nihai|bizim|ortak) )*karar(ımız|ım)? ?(:|-|şu:)",
        "karar ver(dik|dim|ildi)<,>",
        "^(karar verdik|karar verdim|kararlaştırdık|anlaştık)(,|:| ki|)",
        but_not="(mi|mı|veremedim|değil)",
        unless="henüz|karar verme",
    ),
    *ways(
        "decision",
        f"^(hadi |haydi |tamam<_>|peki<_>|o zaman |o halde |ok<_>|tamamdır<_>|olur<_>|gel |"
        f"gelin |şöyle yapalım<_>|bence |biz |öyleyse |bu projede |artık |evet<_>)*<v> (ile |la |"
        f"le |için |üzerinde |da |de |ta |te |üzerinden |olarak )?{_CHOICE}(me|ma)?{_LET}$",
        f"{_CHOICE}(me|ma)?{_LET} <v>$",
        f"^<v> (ile |la |le |için |olarak |üzerinde )?{_CHOICE}(me|ma)?{_LET}(<,>| artık| bence|"
        f" o zaman| lütfen)",
        "<v> (olsun|kalsın)(,| o zaman|) (karar|anlaştık)",
        value="group",
        unless="(bunu|şunu|onu|böyle|şöyle|bir şey|mola|ara|kahve|çay|yemek|sonra|birlikte|"
        "beraber|yarın konuş|bir|biraz|eve|dışarı|nasıl|ne|hangi|ne zaman) (@+ )?(yap|al|"
        "ver|ed|et|gid|kal|tut|bırak|buluş|dene|başla|kullan|seç|ilerle|konuş)@*(alım|"
        "elim)|alım mı|elim mi|mola verelim|ara verelim|(eve|dışarı|sinemaya|yemeğe|"
        "kahveye) gid",
    ),
)
_NOT = (
    "(iyi|kötü|önemli|gerekli|şart|sorun|mümkün|şimdi|bugün|emin|kolay|zor|güzel|doğru|öyle|böyle|"
    "problem|pek|hiç|artık|"
    "sadece|yalnızca|henüz|fena|hazır|müsait|umurumda|belli|dert|gerek|yeterli|lazım|hoş|"
    "benim için|uygun)"
)
_PLAIN = "prefer|tercih|sever|seviyor|hoşlan|kullanalım|sevmem|karar ver|seçtik|seçelim"
_CORRECTIONS = (
    *ways(
        "correction",
        "(ben )?<v> (demek iste(dim|miştim)|demiştim|dedim|yazmıştım|kastettim|söyledim|"
        "söylemiştim|kastetmiştim|diyecektim)(,| ama|;|) (sen |siz )?<old> (değil|yazmışsın|"
        "yazdın|anlamışsın|anladın|demişsin|yazmışsınız|yazdınız)%$",
        "(ben )?<old> değil(,| de|) <v> (demek iste(dim|miştim)|demiştim|dedim|yazmıştım|"
        "kastettim|söyledim|söylemiştim|diyecektim)",
        f"{_LEAD}<_>(adım |ismim |ben |bu |o |toplantı |soyadım |yer |tarih |saat |"
        f"benim adım )*<old> (değil|değildi)(,| de|;|) ?<v>$",
        f"{_LEAD}<_>(adım |ismim |ben |bu |o |toplantı |soyadım |benim adım )*<v> <old> değil$",
        "(adım|ismim|toplantı|soyadım|tarih|saat|randevu|adres|numara|şehir|gün|bütçe|kod|uçuş|"
        "sınav|fiyat|o gün|doğum günüm)% <old> (değil|değildi)(,| de|;|) ?<v>$",
        "(adım|ismim|toplantı|soyadım|tarih|saat|randevu|adres|numara|şehir|gün|bütçe|kod|uçuş|"
        "sınav|fiyat|doğum günüm)% <v>(,| -) <old> değil$",
        value="group",
        unless=f"{_NOT} değil|{_PLAIN}",
        whole=True,
    ),
    *ways(
        "correction",
        "^<old> değil(,| de|;|) ?<v>$",
        "^<v>(,| -) <old> değil$",
        value="group",
        check="specific",
        unless=f"{_NOT} değil|{_PLAIN}",
        whole=True,
    ),
    *ways(
        "correction",
        f"^{_DAY}( günü|) değil(,| de|) {_DAY}",
        f"^{_DAY}(,| -) {_DAY} değil",
        "(ben )?<v> (demek iste(dim|miştim)|demek istemiştim|kastettim|kastetmiştim|diyecektim|"
        "demek istiyordum|yazmak istedim|yazmak istemiştim)",
        f"{_LEAD}<_>(ben )?<v> (dedim|demiştim|yazmıştım|söylemiştim|söyledim|sormuştum|"
        f"istemiştim)",
        "<v>(i|ı|u|ü|yi|yı|yu|yü|nı|ni) (kastettim|kastetmiştim|kastediyorum|kastediyordum)",
        value="group",
        unless="ne (demek|dedim|demiştim)|teşekkür|bir şey (dedim|demek)",
        whole=True,
    ),
    *ways(
        "correction",
        "(yanlış|hatalı|eksik) (yaz|anla|söyle|hatırla|duy|kaydet|not al|gör)@*(mışsın|mişsin|"
        "muşsun|müşsün|dın|din|dun|dün|tın|tin|mışsınız|mişsiniz|dınız|diniz|yorsun|yorsunuz|mış|"
        "miş)(,|;|:|\\.| -|)",
        "(yanlış|hatalı) (yazmışım|yazdım|söyledim|söylemişim|hatırlamışım|hatırlıyorum|"
        "girmişim)(,|;|:|\\.| -|)",
        "(karıştırdım|karıştırmışım|hata yaptım|hata yapmışım|dilim sürçtü)(,|;|:|\\.| -|)",
        "^(bu )?(yanlış|doğru değil|hatalı|hata var|yanlışın var)<,>",
        "(yanılıyorsun|yanıldın|yanlışsın|karıştırdın|yanılıyorsunuz|karıştırmışsın)<,>",
        "^(düzeltme|düzeltiyorum|düzelteyim|daha doğrusu|doğrusu|doğrusu şu|şöyle düzelteyim|"
        "tashih)<_>",
        but_not="(tekrar|lütfen|özür|pardon|kusura)",
        whole=True,
    ),
    *ways(
        "correction",
        "^aslında<_>",
        "^(hayır|yok|pardon|özür dilerim|kusura bakma|yok yok)<_>(benim )?(adım|ismim|toplantı|"
        "tarih|saat|adres|numara|soyadım|randevu|doğum günüm|sınav|uçuş)%",
        f"^(hayır|yok|pardon|özür dilerim|kusura bakma|yok yok|aslında)<_>(o |bu |toplantı |"
        f"randevu )*{_DAY}( günü|)$",
        check="specific",
        whole=True,
        unless="aslında (sen|siz|haklı|iyi|güzel|ben de|çok|hiç|evet|bence|bu)",
    ),
)
_REMEMBERING = ways(
    "remember",
    "(bunu |şunu |lütfen |sakın |ve |beni |ha |aman |da |bu arada )*unutma(yın|yınız|yasın|yalım|"
    ")( lütfen| sakın| bunu| ki| olur mu|)(:|,| -|;|)",
    "(bunu |şunu |lütfen |de |bunu da )*(hatırla|hatırlayın|anımsa|ezberle|ezberleyin|aklına yaz|"
    "bir kenara yaz|hafızana al|hafızana kaydet|hafızana yaz|belleğine kaydet|aklına kazı|"
    "kafana yaz|hafızanda tut|aklında tut)( lütfen| ki|)(:|,| -|;|$)",
    "(akl|hatır|zihn|hafıza)(ında|ınızda|ında da|ınızda da|inda|inde|ında|nda) (olsun|bulunsun|"
    "kalsın|tut|tutun|tutar mısın|dursun)(:|,| ki| -|;|)",
    "(lütfen |bunu |şunu |bir yere |bir kenara )*(not al|not et|not edin|not alın|not düş|kaydet|"
    "kaydedin|yaz bunu|bir yere yaz|bir kenara yaz|kenara not et)( lütfen| bunu| şunu| ki|)(:|,|"
    " -|;|$)",
    "(bunu|şunu) (hafızana |aklına |bir yere )?(kaydet|yaz|not al|not et)(:|,| -|;|$)",
    "(bunu|şunu) (hatırlamanı|unutmamanı|aklında tutmanı) (istiyorum|isterim|rica)",
    "^(bilgin olsun|haberin olsun|bilginize|not)(:|,| -|;)",
    "(hatırlar|unutmaz|not alır|aklında tutar|kaydeder) (mısın|misin|mısınız|misiniz)",
    "(hatırlayabilir|not alabilir|kaydedebilir|aklında tutabilir) (misin|misiniz)",
    but_not="beni$",
    unless="unutmam$|unutmamış|unutmayacağım|hatırlamıyorum|beni unutma|hatırlat|kaydetme|"
    "not alma|hatırlıyor musun|unutmadım",
    whole=True,
)
# What is deleted of somebody's own data is named by the whole clause.
_DELETING = ways(
    "forget",
    "^(lütfen )?(eski |önceki )?(adresimi|telefonumu|telefon numaramı|numaramı|e-postamı|mailimi|"
    "adımı|yaşımı|doğum günümü|doğum tarihimi|bilgilerimi) (sil|unut)(in|un|)( lütfen|)$",
    value="clause",
)
_FORGETTING = ways(
    "forget",
    "<v>( artık| lütfen| tamamen|) unut(un|unuz|abilirsin|abilirsiniz|ur musun|sana|)( lütfen|"
    " artık|)$",
    "^(lütfen |artık )*unut(:|,|) <v>$",
    "^(lütfen |artık )*unut <v>$",
    "<v> (hafızandan|aklından|belleğinden|kayıtlarından|notlarından|hafızadan) (sil|çıkar|at|"
    "kaldır)(in|ın|)( lütfen|)$",
    "<v> (hakkında|ile ilgili) (söylediklerimi|söylediğimi|dediklerimi|her şeyi|"
    "bildiklerini) (unut|sil)(un|in|)( lütfen|)$",
    "(hafızandan|aklından|belleğinden) <v> (sil|çıkar|at)(in|ın|)$",
    "<v>( artık|) (hatırlama|hatırlamana gerek yok)( artık|)$",
    value="group",
    unless="unut gitsin|^(boş ver<_>|tamam<_>)?(bunu|onu|şunu|boşver|hadi|neyse|gitsin) unut|"
    "unutma|unut(tum|"
    "muş|uyor|ur|ulmaz)",
    whole=True,
)

PACK = Pack(
    language="tr",
    openers=(
        "ve|ama|fakat|çünkü|ayrıca|evet|hayır|tamam|merhaba|selam|selamlar|lütfen|bu arada|yani|"
        "aslında|genelde|genellikle|bence|ya|peki|"
        "o zaman|ok|teşekkürler|sağ ol|sağol|günaydın|iyi günler|iyi akşamlar|şey|hadi|haydi|"
        "açıkçası|dürüst olmak gerekirse|de|da|ki|unutma|"
        "aklında olsun|not|pardon|neyse|kısacası|sonuçta|merhabalar|slm|mrb|hocam|abi|kanka|valla|"
        "yok|tabii|tabi|arkadaşlar|o halde|özür dilerim|bilgin olsun|kusura bakma|efendim|"
        "sonuç olarak"
    ),
    common=frozenset(
        "ve bir bu da de için ben bana benim çok ne ile ama var yok değil mi daha gibi olarak "
        "saat günü o şu her en sen "
        "lütfen unutma kadar sonra hayır evet".split()
    ),
    not_names=frozenset(
        """ne nedir neydi nasıl kim değil var yok bu şu o da de mi mı çok iyi kötü bugün yarın
        şimdi hep her ile türk kürt rus alman ingiliz amerikalı özbek kazak müslüman
        vegan vejetaryen öğrenci doktor öğretmen mühendis yazılımcı avukat evdeyim
        işteyim açım tokum hastayım iyiyim yorgunum hazırım meşgulüm geldim gidiyorum
        istiyorum seviyorum sadece bile hala yine zaten biraz pek hiç herkes kimse senin
        benim teşekkür merhaba selam lütfen soyadım unutma yanlış doğru bekarım evliyim
        genelde ve ama çünkü buyum şuyum buradayım geliyorum yazdım dedim sordum""".split()
    ),
    question=(
        "@+ (mı|mi|mu|mü)( ki| acaba|)",
        "@+ ?(mıyım|miyim|muyum|müyüm|mısın|misin|musun|müsün|mıyız|miyiz|mısınız|misiniz|musunuz|"
        "müsünüz|mıydı|miydi|muydu|müydü)( ki| acaba|)",
        "(ne zaman|neden|niye|niçin|nasıl|nerede|nereye|nereden|hangi|hangisi|kim|kime|kimin|kaç|"
        "kaçta|ne kadar|nedir|neydi|neler|kimdir|nerde|nereli|hangisini)",
        "(^|adım |ismim |@+ )ne$",
        "^(acaba|sence|sizce) ",
        "^ne (yap|yapıyor|diyor|oldu|var|dersin|düşün|demek|haber|zaman)%",
        "^(belki|acaba) ~(alım|elim) ?(mi|mı)",
        "(adımı|ismimi) (söyle|hatırlıyor|biliyor|hatırlat)%",
    ),
    not_asking=(
        "(hiç|hiçbir|her|ne olursa) (ne|kim|nasıl|neden|zaman|nerede)%",
        "nasıl olsa",
        "ne (@+ )?ne (de )?",
    ),
    tag=(
        "^(tamam mı|olur mu|anlaştık mı|değil mi|ok mi|peki ya sen|ya sen|ya siz|sen|siz|seninki|"
        "sizinki|ya seninki|ya sizinki|anladın mı|senin adın ne|sizin adınız ne|adın ne|"
        "adınız ne|tamam|olur|oldu mu|sence|sizce|doğru mu|not aldın mı|kaydettin mi|ya sana|"
        "sana|seninki ne|senin|sizin)$",
        "^(ya )?(sen|siz|senin|sizin|sana|size|seninki|sizinki)( @+){0,3}$",
    ),
    request=(
        "(hatırlar|unutmaz|not alır|aklında tutar|kaydeder|not eder) (mısın|misin|mısınız|misiniz)",
        "(hatırlayabilir|not alabilir|kaydedebilir|aklında tutabilir|unutabilir|diyebilir|"
        "not edebilir|silebilir) (misin|misiniz)",
    ),
    discard=(
        "(not alma|kaydetme|hatırlama|aklında tutma|yazma bunu|not etme|ezberleme)(yın|"
        "na gerek yok|)$",
        "(hatırlamana|kaydetmene|not almana|hatırlamanıza|kaydetmenize) gerek yok",
        "(aramızda kalsın|kayıt dışı)",
    ),
    instruction=(
        f"{_ORDER}$",
        f"{_ORDER}<,>",
        "(ni|nı|nu|nü|meni|manı|menizi|manızı) (istiyorum|isterim|rica ediyorum|rica ederim|"
        "istedim)",
        "(bana )?@+ (lazım|gerek|gerekiyor)$",
        "(yardım|yardıma) (lazım|ihtiyacım)",
        "^(işte|aşağıda|aşağıdaki) (metin|mail|kod|hata|log|mesaj)",
        "^bana (bir )?@+ (@+ )?istiyorum$",
    ),
    standing=(_STANDING,),
    once=(
        "(bu|bir sonraki|şu|sıradaki) (cevap|cevab|yanıt|mesaj|sefer|metin|mail|soru)@*",
        "(sadece|yalnızca) (bu sefer|şimdi|bugün|bir kere|bu seferlik)",
        "bu seferlik|bir kereliğine",
    ),
    passing=("(şu an|şu anda|bugün|bu akşam|bu sefer|şimdi|şimdilik|şu sıralar|bu sabah)",),
    reported=(),
    reported_all=(
        "(dedi|demiş|diyor|diyorlar|dediler|söyledi|söylemiş|yazdı|yazmış|diye yazdı|diye sordu|"
        "düşünüyor|söylüyor|dermiş|diyormuş|demişti|anlattı)$",
        "^(o|annem|babam|ablam|abim|kardeşim|patronum|eşim|arkadaşım|müdürüm|@+m|@+imiz|"
        "@+ımız) (bana )?(dedi|diyor|söyledi|yazdı|demiş)( ki|:|,)",
        "(dedi ki|diyor ki|demiş ki|göre|dedi|demiş|diyor)<,>",
    ),
    hypothetical=(
        # Uzbek shares the words of names, and begins so.
        "^(agar|agarda|mabodo)",
        "^(eğer|şayet|diyelim ki|farz et|farz edelim|varsayalım|mesela|örneğin|keşke|hayal et)",
        "@+(seydim|saydım|seydi|saydı|sem|sam|seydik|saydık)",
        "(olsa|olsam|olsaydım)",
    ),
    narrative=(
        "(bugün|dün|şimdi|sabah|demin|az önce|geçen (hafta|ay|yıl|gün)|dün gece|"
        "dün akşam)~@+(dım|dim|dum|düm|tım|tim|tum|tüm|dık|dik|duk|dük|yorum|yoruz|dı|di|du|dü|"
        "tı|ti)",
        "(gittim|geldim|kalktım|uyandım|uyudum|yedim|içtim|çalıştım|aldım|verdim|ödedim|harcadım|"
        "bekledim|kaybettim|gördüm|izledim|okudum|döndüm|çıktım|bitirdim|sattım)$",
        "@+(ıyorum|iyorum|uyorum|üyorum|ıyoruz|iyoruz|uyoruz|üyoruz|eceğim|acağım|eceğiz|"
        "acağız)( şimdi| şu an|)$",
        "^saat (şu an|şimdi) \\d%",
        "(şu an|şimdi) saat \\d%",
        "(sürdü|önce)$",
    ),
    negation=(
        "(değil|yok|asla|hiç|hiçbir|nefret|@+(mıyor|miyor|muyor|müyor)@*|@@+m[ae](yın|yin|yacağız|"
        "yeceğiz|yalım|yelim|yacağım|yeceğim|zsın|zsin|den|dan|yiz|yız|sin|sın)|"
        "(sev|iste|kullan|yap|et|yaz|ara|gönder|ye|iç|git|gel|ver|al|koy|hoşlan|tercih et|dayana|"
        "sor|de|söyle|katlana|gönder|ol|çalış)m[ae](m|z|mek|mak|)|@@@@+m[ae]m(eli|alı)@*)",
    ),
    fillers=(
        "(ki|bunu|şunu|onu|lütfen|da|de|ben|biz|bana|benim|ve|ama|artık|en çok|çok|daha çok|hiç|"
        "pek|daha|genelde|genellikle|tamam|o zaman|için|ile|hadi|olsun|aslında|teşekkürler|olarak|"
        "sakın|asla|tamamen|evet|hep|her zaman)"
    ),
    values=(
        f"<d>\\d{{1,2}} {_MONTH},? (19|20)\\d\\d</d>('?@{{0,4}})",
        f"<d>\\d{{1,2}} {_MONTH}</d>('?@{{0,5}})",
        f"{_MONTH}('?(ın|in|un|ün))? \\d{{1,2}}('?@{{0,4}})",
    ),
    labels=(
        "(numara|no|kod|bütçe|maaş|fiyat|oda|adres|sipariş|hesap|sefer|uçuş|port|"
        "beden|boy|kilo|bilet|rezervasyon|daire|kat|kira|limit|plaka|plakam|fatura|posta kodu|"
        "poliçe|koltuk|kapı|id|tc)"
        "(m|mız|miz|muz|su|sı|si|ı|i|u|ü|im|ım|um|üm|lu|numarası|umuz|ümüz|imiz|ımız|no|"
        "suz)?( numarası| numaramız| numaram| no| kodu|)( -|:|=|) ?<n>",
        "(sokak|cadde|mahalle|bulvar|apartman|sok\\.|cad\\.|mah\\.|adres)@{0,6}~~(no ?:? ?)?\\d+",
        f"(son (tarih|gün)|teslim|sınav|deadline)@*~(:|-|önümüzdeki|bu|gelecek|) ?{_DAY}",
        "(?:^| )0?5\\d\\d \\d{3} \\d\\d \\d\\d%",
        "(otuz|on|yirmi)( ?(bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz))? " + _MONTH,
    ),
    measures=(
        "(sabah |akşam |öğlen |gece |öğleden sonra )?saat \\d{1,2}([:.]\\d\\d)?('?@{0,4})",
        "(sabah|akşam|gece) \\d{1,2}([:.]\\d\\d)?('?@{1,4})",
        "\\d[\\d.,]*( \\d{3})* ?(bin|milyon|milyar|k)? ?(tl|lira|dolar|euro|avro|usd|eur|sterlin|"
        "ruble)@{0,4}",
        "\\d[\\d.,]* ?(bin|milyon|milyar)",
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
