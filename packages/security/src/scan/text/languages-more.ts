/** Stems of one language that occur in requests against a model's instructions. */
export interface Language {
  /** Verbs of dismissal: ignore, forget, disregard. */
  readonly dismiss: string;
  /** Objects of dismissal: instructions, rules, prompt. */
  readonly orders: string;
  /** Attributes of the object: previous, above, all, your. */
  readonly earlier: string;
  /** Inclusive words in place of an object: everything so far. */
  readonly everything?: string;
  /** Verbs of disclosure: show, repeat. */
  readonly reveal?: string;
  /** Objects of disclosure: system prompt, your instructions. */
  readonly prompt?: string;
  /** Requests for secrecy: do not tell the user. */
  readonly secrecy?: string;
  /** Role changes: you are now, from now on. */
  readonly persona?: string;
  /** Freedom from rules; an attempt together with `persona`. */
  readonly unbound?: string;
  /** New instructions, followed by a colon. */
  readonly renewal?: string;
  /** No longer in force; an attempt together with the reader's own orders. */
  readonly void?: string;
  /** Verbs of telling; a request for secrecy if negated. */
  readonly tell?: string;
  readonly not?: string;
  /** You have no more; an attempt together with `limits`. */
  readonly lacking?: string;
  readonly limits?: string;
  /** Verbs of sending; an attempt together with a file of secrets and an address. */
  readonly send?: string;
  /** Whether the language has no spaces between words. */
  readonly isSpaceless?: true;
}

/**
 * Lower-case words without accents that identify these languages. None is a word of English, of a language in
 * `languages.ts`, or a usual name in code.
 */
export const moreMarkers =
  'και της την των τις τους στο στη στην στον απο για που ειναι δεν μην ολες ολα ολους οδηγιες χρηστη σου τωρα χωρις τον το τα να με σε προς ως αυτη αυτο πρεπει ' +
  'hogy nem minden korabbi utasitast utasitasokat utasitasait felhasznalonak felhasznalo hagyd figyelmen kivul vagy elozo osszes eddigi szabalyokat mutasd felejtsd mostantol nelkul ' +
  'toate pentru instructiunile utilizatorul utilizatorului regulile acum esti fara anterioare mesajul promptul tale ' +
  'och inte tidigare instruktioner anvandaren utan glom ignorera samtliga fran dina ' +
  'tidligere instruksjoner instrukser ikke ignorer glem brugeren brukeren uden uten ' +
  'kaikki aiemmat aikaisemmat aiempia ohjeet ohjeita unohda kayttajalle kayttajan sivuuta huomiotta ilman olet nayta jarjestelmakehote ' +
  'abaikan semua instruksi sebelumnya jangan pengguna tanpa sekarang kamu lupakan tampilkan perintah aturan untuk ' +
  'khong nguoi truoc huong nhung đuoc đung đi ' +
  'kuldd toltsd jelszavakat trimite parolele skicka losenord adgangskoder passord laheta salasanat kirim unggah ' +
  'denne dette uanset uansett hvorfor skriv brugerne slet godkend adgangskoderne passordene slett godkjenn svaret anmeldelsen ' +
  'tama taman tata etta mutta myos alkaa lukematta poista poistakaa hyvaksy hyvaksykaa kayttajalta kysymatta arvioi lisaa salasanoja ' +
  'skickar losenorden radera godkann oavsett detta denna anvandarna stang betygsatt ' +
  'torold jelszot fuggetlenul kerdezes kapcsold jova valaszban mesterseges ertekeld rejtsd ' +
  'sterge aproba utilizatorilor raspunsul raspuns indiferent acest aceasta evalueaza dezactiveaza ' +
  'dengan hapus setujui asisten kepada penilaian nonaktifkan rahasiakan tertinggi padam sahkan khau duyet nhac permohonan lamaran tambahkan';

/** The stems of further languages whose words have spaces between them. */
export const spacedLanguages: readonly Language[] = [
  // Greek
  {
    dismiss:
      'αγνόησ|αγνοήσ|παράβλεψ|παραβλέψ|ξέχασ|ξεχάσ|διάγραψ|παράκαμψ|παρακάμψ|μην ακολουθ|μη λάβεις υπόψη|παραμέρισ|ακύρωσ',
    orders: 'οδηγί|εντολ|κανόν|προτροπ|υποδείξ|κατευθύνσ|περιορισμ|μηνύμα',
    earlier: 'προηγούμεν|παραπάνω|όλες|όλα|όλους|κάθε|σου|αρχικ|μέχρι τώρα|προγενέστερ',
    reveal: 'δείξ|εμφάνισ|αποκάλυψ|τύπωσ|εκτύπωσ|γράψ|επανάλαβ|πες|πείτε|στείλ',
    prompt:
      'προτροπή συστήματος|προτροπή του συστήματος|system prompt|οδηγίες συστήματος|οδηγίες του συστήματος|αρχικές σου οδηγίες|οδηγίες σου|κανόνες σου|κρυφές οδηγίες',
    secrecy:
      'μην πεις στον χρήστη|μην το πεις|μην ενημερώσεις τον|χωρίς να ενημερώσεις|χωρίς να το πεις|μην αναφέρεις|εν αγνοία του|χωρίς να του το πεις|χωρίς να πεις',
    persona:
      'είσαι τώρα|τώρα είσαι|από εδώ και πέρα|από τώρα είσαι|από δω και πέρα|προσποιήσου|παίξε τον ρόλο|δεν είσαι πια',
    unbound: 'χωρίς περιορισμ|χωρίς κανόν|χωρίς όρια|χωρίς φίλτρ|χωρίς κανέναν',
    renewal: 'νέες οδηγίες|νέα οδηγία|νέα εντολή',
    void: 'δεν ισχύ|άκυρ|ακυρών|ακυρώθ|καταργ',
    everything:
      'όλα τα παραπάνω|όσα σου είπαν|όσα ειπώθηκαν|ό,τι σου είπαν|ό,τι ειπώθηκε|την εργασία του χρήστη|την ερώτηση του χρήστη',
    send: 'στείλ|απόστειλ|προώθησ|ανέβασ|δημοσίευσ|μετάφερ',
  },
  // Hebrew, whose particles begin words
  {
    dismiss: 'התעלם|התעלמי|התעלמו|תתעלם|תתעלמו|שכח|שכחי|שכחו|תשכח|בטל|מחק|אל תציית|אל תפעל לפי|הפר',
    orders:
      'הוראות|ההוראות|הנחיות|ההנחיות|כללים|הכללים|פקודות|הפקודות|פרומפט|הפרומפט|מההוראות|מההנחיות|מהכללים|מהפקודות|להוראות|ההוראה|מהוראות',
    earlier: 'קודמות|הקודמות|קודמים|הקודמים|כל|מכל|לעיל|שלך|מקוריות|המקוריות|שניתנו|עד כה|עד עכשיו|שקיבלת|הקודם|הקודמת',
    reveal: 'הצג|חשוף|הדפס|כתוב|גלה|תראה|הראה|חזור|שלח',
    prompt: 'הנחיית המערכת|הוראות המערכת|פרומפט המערכת|ההוראות שלך|ההנחיות שלך|הנחיות המערכת|system prompt',
    secrecy:
      'אל תספר למשתמש|אל תגיד למשתמש|אל תזכיר|בלי ליידע את|מבלי ליידע|בלי לספר|ללא ידיעת|בלי ידיעת|בלי לומר|מבלי לומר',
    persona: 'אתה עכשיו|מעכשיו אתה|מעתה אתה|עכשיו אתה|העמד פנים|אינך עוד|מעתה והלאה',
    unbound: 'ללא הגבלות|בלי הגבלות|ללא מגבלות|בלי מגבלות|ללא כללים|בלי כללים|ללא צנזורה|ללא סינון|בלי שום',
    renewal: 'הוראות חדשות|הנחיות חדשות|משימה חדשה',
    void: 'בטלות|בטלים|מבוטלות|אינן תקפות|אינם תקפים|לא תקפות|לא בתוקף',
    everything: 'כל מה שנאמר|כל מה שכתוב למעלה|כל מה שלמעלה|מה שנאמר לך|כל מה שאמרו|המשימה של המשתמש|משימת המשתמש',
    send: 'שלח|שלחי|שלחו|העבר|העלה|פרסם|תשלח',
  },
  // Persian
  {
    dismiss: 'نادیده|فراموش|دور بریز|لغو کن|کنار بگذار|رعایت نکن|پیروی نکن|اعتنا نکن',
    orders: 'دستور|دستورات|دستورالعمل|قوانین|قواعد|پرامپت|راهنمایی|محدودیت',
    earlier: 'قبلی|پیشین|بالا|همه|تمام|تمامی|خود|اولیه|گذشته',
    reveal: 'نشان|فاش|چاپ|بنویس|تکرار|نمایش|بگو',
    prompt: 'پرامپت سیستم|دستورات سیستم|دستورالعمل سیستم|پیام سیستم|دستورات خود|دستورالعمل های خود',
    secrecy: 'به کاربر نگو|به کاربر چیزی نگو|بدون اطلاع کاربر|به کاربر اطلاع نده|کاربر نفهمد',
    persona: 'از این پس|از این به بعد|تو اکنون|شما اکنون|اکنون تو|حالا تو',
    unbound: 'بدون محدودیت|بدون هیچ|بدون قانون|بدون فیلتر|نامحدود',
    renewal: 'دستورات جدید|دستورالعمل جدید|وظیفه جدید',
    void: 'باطل|لغو شد|معتبر نیست|معتبر نیستند|بی اعتبار',
    everything: 'هر آنچه تاکنون|هر آنچه گفته|هرچه پیشتر|همه آنچه گفته|آنچه تاکنون|کار کاربر|وظیفه کاربر|سوال کاربر',
    send: 'بفرست|ارسال|آپلود|منتقل|بارگذاری|منتشر',
  },
  // Hungarian
  {
    dismiss:
      'hagyd figyelmen kívül|hagyja figyelmen kívül|hagyd figyelmen|felejtsd el|felejtse el|mellőzd|töröld|ne kövesd|ne tartsd be|ne vedd figyelembe|szegd meg|írd felül|dobd el|ignoráld',
    orders: 'utasítás|szabály|parancs|előírás|irányelv|prompt|rendelkezés|korlátozás|iránymutatás',
    earlier: 'korábbi|előző|fenti|összes|minden|eredeti|eddigi|kapott',
    reveal: 'mutasd|írd|fedd fel|nyomtasd|ismételd|add ki|közöld|áruld',
    prompt:
      'rendszerprompt|rendszerutasítás|rendszerüzenet|kezdeti utasítás|az utasításaid|rejtett utasítás|saját utasítás',
    secrecy:
      'ne mondd el a felhasználó|ne szólj a felhasználó|ne említsd|a felhasználó tudta nélkül|ne tájékoztasd a felhasználó|anélkül hogy a felhasználó|anélkül, hogy szólnál|anélkül hogy szólnál|anélkül, hogy a felhasználó',
    persona: 'mostantól te|mostantól egy|te mostantól|ezentúl|tegyél úgy, mintha|viselkedj úgy|már nem vagy',
    unbound:
      'korlátok nélkül|szabályok nélkül|korlátlan|szűrő nélkül|korlátozás nélkül|korlátozások nélkül|cenzúra nélkül',
    renewal: 'új utasítás|új feladat',
    void: 'érvénytelen|hatályát vesz|nem érvényes|hatályon kívül|nem vonatkoz',
    everything:
      'mindent, amit eddig|mindent, amit mondtak|az eddigieket|a fentieket|mindent, ami fent|a felhasználó feladatát|a felhasználó kérdését',
    send: 'küld|továbbítsd|töltsd|tölts fel|posztold|másold',
  },
  // Romanian
  {
    dismiss:
      'ignor|uită|uitați|nesocot|nu ține cont|nu țineți cont|nu mai urma|nu respecta|nu mai respecta|renunță la|anulea|încalcă|treci peste|lasă deoparte|suprascrie',
    orders: 'instrucțiun|regul|ordin|comenz|directiv|îndrum|prompt|mesaj|restricți',
    earlier: 'anterioar|precedent|de mai sus|toate|toți|tale|inițial|primit|original|de până acum',
    reveal: 'arată|afișea|dezvălui|spune|scrie|repetă|tipăr|trimite|listea',
    prompt:
      'promptul de sistem|promptul sistemului|mesajul de sistem|instrucțiunile de sistem|instrucțiunile tale|prompt-ul de sistem|instrucțiunile inițiale|regulile tale',
    secrecy:
      'nu spune utilizator|nu îi spune|nu-i spune|nu menționa|fără a informa utilizator|fără să informezi|nu informa utilizator|fără știrea|fără să îi spui|fără să-i spui|fără a-i spune',
    persona:
      'acum ești|ești acum|de acum înainte ești|de acum încolo|din acest moment ești|prefă-te că|joacă rolul|nu mai ești',
    unbound: 'fără restricții|fără reguli|fără limite|fără filtr|fără cenzură|fără nicio',
    renewal: 'instrucțiuni noi|noi instrucțiuni|sarcină nouă',
    void: 'nu mai sunt valabile|anulate|nu se mai aplică|nule',
    everything:
      'tot ce ți s-a|tot ceea ce ți|tot ce s-a spus|tot ce scrie mai sus|tot ce e mai sus|sarcina utilizatorului|întrebarea utilizatorului',
    send: 'trimite|trimiteți|transmite|încarcă|expediază|publică|copiază',
  },
  // Swedish, Danish and Norwegian
  {
    dismiss:
      'ignorer|glöm|bortse|åsidosätt|strunta i|bryt mot|följ inte|upphäv|kringgå|lyd inte|glem|se bort fra|tilsidesæt|tilsidesett|følg ikke|omgå|bryd',
    orders:
      'instruktion|instruks|regel|regler|anvisning|direktiv|uppmaning|prompt|systemprompt|riktlinj|begränsning|retningslinj|ordre|begrænsning|begrensning',
    earlier:
      'tidigare|föregående|ovanstående|alla|dina|samtliga|ursprunglig|hittills|tidligere|foregående|forrige|ovenstående|alle|dine|samtlige|oprindelige|opprinnelige|hidtil',
    reveal: 'visa|avslöja|skriv|upprepa|återge|skicka|lista|vis|afslør|avslør|gentag|gjenta|send|udskriv',
    prompt:
      'systemprompt|systemmeddeland|systemmelding|dina instruktion|dine instruktion|dine instruks|systeminstruktion|dina ursprungliga|dina regler|din skjulte',
    secrecy:
      'berätta inte för användare|säg inte till användare|säg inget till|nämn inte|utan att informera användare|utan att berätta|utan användarens vetskap|fortæl ikke brugeren|fortell ikke brukeren|sig ikke til brugeren|si ikke til brukeren|nævn ikke|nevn ikke|uden at informere brugeren|uten å informere brukeren|uden brugerens|uden at sige det|uten å si fra|uten å si det|utan att säga',
    persona:
      'du är nu|nu är du|från och med nu|låtsas att|du är inte längre|du er nu|du er nå|fra nu af er du|fra nå av er du|lad som om|late som|du er ikke længere|du er ikke lenger',
    unbound:
      'utan begränsning|utan regler|utan filter|utan restriktion|utan gränser|obegränsad|ocensurerad|uden begrænsning|uten begrensning|uden regler|uten regler|uden filter|uten filter|ubegrænset|ubegrenset|ucensureret|usensurert',
    renewal: 'nya instruktioner|ny instruktion|ny uppgift|nye instruktioner|nye instrukser|ny opgave|ny oppgave',
    void: 'ogiltig|upphävd|gäller inte längre|ugyldig|ophævet|opphevet|gælder ikke længere|gjelder ikke lenger',
    everything:
      'allt ovan|allt du har fått|allt du har lärt|allt som sagts|allt som står ovan|alt ovenfor|alt ovenstående|alt, hvad du|alt hvad du|alt du har fått|alt som er sagt|alt som står over|användarens uppgift|användarens fråga|brugerens opgave|brugerens spørgsmål|brukerens oppgave|brukerens spørsmål',
    send: 'skicka|sänd|vidarebefordra|ladda upp|posta|publicera|send|videresend|upload|last opp|overfør|kopier',
  },
  // Finnish
  {
    dismiss: 'unohda|unohtakaa|sivuuta|ohita|jätä huomiotta|jätä huomioimatta|älä noudata|älä välitä|hylkää|kumoa|riko',
    orders: 'ohje|sään|käsky|kehot|määräy|prompt|rajoitu|komenno',
    earlier: 'aiem|aikaisem|edelli|yllä|kaikki|kaikkia|sinun|alkuperäi|saamasi|tähänasti',
    reveal: 'näytä|paljasta|tulosta|kerro|kirjoita|toista|lähetä',
    prompt: 'järjestelmäkehot|järjestelmäohje|järjestelmäviesti|omat ohjeesi|ohjeesi|piilotetut ohje',
    secrecy:
      'älä kerro käyttäj|älä mainitse|älä ilmoita käyttäj|kertomatta käyttäj|käyttäjän tietämättä|ilmoittamatta käyttäj|kertomatta siitä',
    persona: 'olet nyt|nyt olet|tästä lähtien olet|tästä eteenpäin|esitä olevasi|et ole enää|teeskentele',
    unbound: 'ilman rajoitu|ilman säänt|rajaton|ilman sensuuri|ilman suodat',
    renewal: 'uudet ohjeet|uusi ohje|uusi tehtävä',
    void: 'mitätöi|kumottu|eivät ole voimassa|eivät enää päde|eivät päde',
    everything: 'kaikki edellä|kaikki yllä|kaikki tähän asti|mitä sinulle on|käyttäjän tehtävä|käyttäjän kysymys',
    send: 'lähetä|välitä|lataa|siirrä|julkaise|kopioi|postita',
  },
  // Indonesian and Malay
  {
    dismiss: 'abaikan|lupakan|jangan ikuti|jangan patuhi|langgar|kesampingkan|timpa|acuhkan|hiraukan',
    orders: 'instruksi|perintah|aturan|arahan|pedoman|prompt|petunjuk|peraturan|batasan',
    earlier: 'sebelumnya|sebelum ini|di atas|semua|seluruh|segala|terdahulu|awal|asli|tadi|anda|kamu',
    reveal: 'tampilkan|tunjukkan|ungkapkan|cetak|tulis|ulangi|beri tahu|sebutkan|kirim|bocorkan',
    prompt:
      'prompt sistem|system prompt|pesan sistem|instruksi sistem|instruksi awal|instruksi anda|instruksi kamu|aturan internal',
    secrecy:
      'jangan beri tahu pengguna|jangan memberi tahu|jangan katakan kepada|jangan sebutkan|tanpa memberi tahu|tanpa sepengetahuan',
    persona:
      'sekarang kamu adalah|sekarang anda adalah|mulai sekarang kamu|mulai sekarang anda|kamu sekarang|anda sekarang|berpura-pura|bertindaklah|anda bukan lagi',
    unbound: 'tanpa batas|tanpa aturan|tanpa filter|tanpa sensor|tanpa pembatasan|tidak memiliki batasan',
    renewal: 'instruksi baru|perintah baru|tugas baru',
    void: 'tidak berlaku|dibatalkan|batal|dicabut',
    everything:
      'semua di atas|semua yang di atas|semua yang dikatakan|semua yang kamu|semua yang anda|apa yang dikatakan|tugas pengguna|pertanyaan pengguna',
    send: 'kirim|unggah|teruskan|salin|pindahkan|bagikan|posting',
  },
  // Vietnamese
  {
    dismiss:
      'bỏ qua|hãy quên|quên đi|quên hết|phớt lờ|không tuân theo|đừng tuân theo|đừng làm theo|xóa bỏ|vi phạm|gạt bỏ|ghi đè',
    orders: 'hướng dẫn|chỉ thị|chỉ dẫn|quy tắc|mệnh lệnh|prompt|lời nhắc|quy định|giới hạn',
    earlier: 'trước đó|trước đây|ở trên|bên trên|tất cả|mọi|toàn bộ|ban đầu|của bạn|đã nhận',
    reveal: 'hiển thị|tiết lộ|in ra|viết ra|lặp lại|cho tôi biết|cho tôi xem|gửi|đưa ra',
    prompt:
      'system prompt|lời nhắc hệ thống|prompt hệ thống|hướng dẫn hệ thống|chỉ dẫn hệ thống|hướng dẫn của bạn|chỉ thị ban đầu',
    secrecy:
      'đừng nói với người dùng|không nói với người dùng|đừng nhắc đến|không cho người dùng biết|mà không thông báo|đừng tiết lộ với|không được nói cho người dùng',
    persona: 'bây giờ bạn là|từ bây giờ bạn|từ giờ bạn|bạn bây giờ là|bạn không còn là|hãy đóng vai|giả vờ',
    unbound: 'không có giới hạn|không giới hạn|không bị hạn chế|không có quy tắc|không bị kiểm duyệt|không hạn chế',
    renewal: 'hướng dẫn mới|chỉ thị mới|nhiệm vụ mới',
    void: 'không còn hiệu lực|vô hiệu|bị hủy bỏ|hết hiệu lực',
    everything:
      'mọi thứ ở trên|mọi thứ trước|tất cả những gì ở trên|những gì đã được|những gì bạn được|mọi điều đã|nhiệm vụ của người dùng|câu hỏi của người dùng',
    send: 'gửi|tải lên|chuyển tiếp|đăng|sao chép|chuyển',
  },
];

/** The stems of further languages that have no spaces, or compounds and endings, between words. */
export const spacelessLanguages: readonly Language[] = [
  // Thai
  {
    dismiss: 'เพิกเฉย|ละเว้น|ละเลย|ลืม|ไม่ต้องทำตาม|อย่าทำตาม|ไม่ต้องสนใจ|ไม่สนใจ|ยกเลิก|มองข้าม',
    orders: 'คำสั่ง|คำแนะนำ|กฎ|ข้อกำหนด|พรอมต์|พรอมท์|ข้อจำกัด',
    earlier: 'ก่อนหน้า|ข้างต้น|ทั้งหมด|ทุก|ของคุณ|ด้านบน|เดิม|ที่ผ่านมา',
    reveal: 'แสดง|เปิดเผย|บอก|พิมพ์|เขียน|ส่ง',
    prompt: 'พรอมต์ระบบ|คำสั่งระบบ|ข้อความระบบ|คำสั่งของคุณ|พรอมต์ของระบบ|คำสั่งของระบบ',
    secrecy: 'อย่าบอกผู้ใช้|ห้ามบอกผู้ใช้|โดยไม่แจ้งผู้ใช้|ไม่ต้องบอกผู้ใช้|อย่าแจ้งผู้ใช้|โดยไม่บอก',
    persona: 'ตอนนี้คุณคือ|คุณคือ AI|จากนี้ไปคุณ|ต่อไปนี้คุณ|นับจากนี้',
    unbound: 'ไม่มีข้อจำกัด|ไร้ข้อจำกัด|ไม่มีกฎ|ไม่จำกัด',
    renewal: 'คำสั่งใหม่|คำแนะนำใหม่',
    void: 'เป็นโมฆะ|ไม่มีผล|ถูกยกเลิก|ใช้ไม่ได้',
    send: 'ส่ง|อัปโหลด|อัพโหลด|โพสต์|คัดลอก|ถ่ายโอน',
    everything: 'ทุกอย่างข้างต้น|ทุกสิ่งข้างต้น|ทุกอย่างที่บอก|ทุกสิ่งที่บอก|งานของผู้ใช้|คำถามของผู้ใช้',
  },
  // Bengali
  {
    dismiss: 'উপেক্ষা|ভুলে যা|অগ্রাহ্য|বাতিল কর|অমান্য',
    orders: 'নির্দেশ|আদেশ|নিয়ম|প্রম্পট',
    earlier: 'পূর্ব|আগের|উপরের|সমস্ত|সব|সকল',
    reveal: 'দেখা|প্রকাশ|বল',
    prompt: 'সিস্টেম প্রম্পট|সিস্টেম নির্দেশ',
    secrecy: 'ব্যবহারকারীকে বলবেন না|ব্যবহারকারীকে জানাবেন না|ব্যবহারকারীকে বলো না',
    persona: 'এখন আপনি|এখন থেকে আপনি|এখন থেকে তুমি',
    unbound: 'কোনো সীমাবদ্ধতা ছাড়া|কোনো নিয়ম ছাড়া|সীমাহীন',
    renewal: 'নতুন নির্দেশ',
    void: 'বাতিল|কার্যকর নয়',
    send: 'পাঠা|আপলোড|প্রেরণ|ফরোয়ার্ড',
  },
];
