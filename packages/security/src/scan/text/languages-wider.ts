import type { Language } from './languages-more.js';

/** Lower-case words without accents that identify these languages, if their script does not. */
export const widerMarkers =
  'nurodymus visus ankstesnius taisykles pamirsk ignoruok nepaisyk naudotojui vartotojui siusk ' +
  'noradijumus ieprieksejos noteikumus aizmirsti lietotajam nosuti ' +
  'juhiseid koiki varasemaid eelnevaid eelmisi reegleid unusta ignoreeri kasutajale paroolid ' +
  'navodila uputstva upute prejsnja prejsnje prethodna prethodne zanemari ignoriraj ignorisi prezri zaboravi pozabi korisniku uporabniku ' +
  'instruksies verontagsaam opdragte hunsaðu leiðbeiningar gleymdu fyrirmæli ' +
  'neamhaird treoracha roimhe anwybyddwch anwybydda gyfarwyddiadau cyfarwyddiadau blaenorol ' +
  'kasurik aurreko argibide argibideak jarraibideak ahaztu injoro udhezimet meparshme harro ' +
  'puuza maagizo maelekezo yote awali sahau mtumiaji balewalain tagubilin kalimutan naunang huwag ' +
  'watsi umarnin gabata gbogbo isaaju iziyalezo zangaphambili imiyalelo lalekake pandhuan sadurunge arahan sebelum ' +
  'əvvəlki təlimatlara təlimatlari qaydalari butun istifadəciyə istifadəcidən parollari gondər gondərin ' +
  'visas naudotojo slaptazodzius issiusk issiuskite nusiusk istrink istrinkite patvirtink patvirtinkite nesakyk nesakykite nepriklausomai dirbtinio ivertink ivertinkite isjunk ' +
  'lietotaja nesaki izdzes izdzesiet apstiprini apstipriniet paroles neatkarigi novertejiet novertejie noverte pievieno makslig ' +
  'kasutaja kusimata kustuta kustutage kinnita kinnitage oige reeglid eelmised edastage valjasta varukoopiad arge tehisintellekt peida soltumata hinda hinnake ' +
  'korisnika lozinke gesla posalji posaljite asistenta vlasnike kljuceve ispisi sistemski dosadasnja pravila sva poslji posljite obrisi obrisite izbrisi izbrisite odobri odobrite oceni ocenite ocijeni brez nemojte ' +
  'bila kwa nenosiri manenosiri tuma tumeni futa futeni idhinisha zote msaidizi jibu usimwambie mga nang ipadala burahin aprubahan bigyan sabihin';

/** Languages with spaces between their words, in which requests against a model's instructions are rarer. */
export const widerSpaced: readonly Language[] = [
  // Lithuanian
  {
    dismiss: 'ignoruok|nepaisyk|pamiršk|atmesk|nevykdyk',
    orders: 'nurodym|instrukcij|taisykl|komand',
    earlier: 'ankstesn|visus|visas|visų|savo|aukščiau|pradin',
    reveal: 'parodyk|išspausdink|atskleisk|pakartok',
    prompt: 'sistemos ragin|sistemos nurodym|savo nurodym',
    secrecy: 'nesakyk naudotoj|nesakyk vartotoj|nieko nesakyk|nežinant',
    send: 'siųsk|išsiųsk|nusiųsk|persiųsk|įkelk',
  },
  // Latvian
  {
    dismiss: 'ignorē|aizmirsti|aizmirstiet|neievēro|neņem vērā|atmet',
    orders: 'norādījum|instrukcij|noteikum|komand',
    earlier: 'iepriekšēj|visus|visas|savus|augstāk|sākotnēj',
    reveal: 'parādi|izdrukā|atklāj|atkārto',
    prompt: 'sistēmas uzvedn|sistēmas norādījum|savus norādījum',
    secrecy: 'nesaki lietotāj|nesaki neko|bez lietotāja ziņ',
    send: 'nosūti|sūti|pārsūti|augšupielādē',
  },
  // Estonian
  {
    dismiss: 'eira|ignoreeri|unusta|ära järgi|jäta tähelepanuta|hülga|tühista',
    orders: 'juhis|juhend|reegl|käsk|käsu|korraldus',
    earlier: 'varasema|eelneva|eelmis|kõik|oma|ülal|algse',
    reveal: 'näita|väljasta|avalda|korda|kuva',
    prompt: 'süsteemiviip|süsteemi juhis|oma juhis',
    secrecy: 'ära ütle kasutaja|ära maini|kasutaja teadmata',
    send: 'saada|edasta|laadi üles|postita',
  },
  // Slovenian, Croatian, Bosnian and Serbian in Latin letters
  {
    dismiss:
      'prezri|ignoriraj|ignoriši|zanemari|zaboravi|pozabi|ne slijedi|ne sledi|odbaci|zavrzi|ne upoštevaj|ne poštuj',
    orders: 'navodil|upute|uputstv|pravil|naredb|instrukcij|smernic|smjernic|ukaz',
    earlier: 'prejšnj|prethodn|vsa|vse|sva|sve|svoja|svoje|svoj|zgornj|gornj|dosadašnj|ranij',
    reveal: 'pokaži|prikaži|izpiši|ispiši|otkrij|razkrij|ponovi',
    prompt: 'sistemski poziv|sistemski upit|sistemska navodil|sistemske upute|sistemska uputstv',
    secrecy: 'ne govori korisnik|nemoj reći korisnik|ne povej uporabnik|bez znanja korisnik|brez vednosti uporabnik',
    send: 'pošalji|pošlji|proslijedi|prosledi|naloži|objavi',
  },
  // Afrikaans and Icelandic
  {
    dismiss: 'ignoreer|verontagsaam|vergeet|hunsaðu|hunsið|gleymdu|fylgdu ekki',
    orders: 'instruksie|opdrag|reëls|riglyn|leiðbeining|fyrirmæl|reglu|skipun',
    earlier: 'vorige|bostaande|alle|jou|fyrri|öll|allar|allt|þín|ofangreind',
  },
  // Irish and Welsh
  {
    dismiss: 'déan neamhaird|déan dearmad|anwybydd|anghofi',
    orders: 'treorach|treoir|rialach|cyfarwyddiad|gyfarwyddiad|rheolau|reolau',
    earlier: 'roimhe|go léir|uile|thuas|blaenorol|flaenorol|holl|uchod',
  },
  // Basque and Albanian
  {
    dismiss: 'ez egin kasurik|ez ikusi egin|baztertu|ahaztu|injoro|shpërfill|harro|mos ndiq',
    orders: 'argibide|jarraibide|arau|agindu|udhëzim|rregull|urdhër|urdhra',
    earlier: 'aurreko|guzti|zure|goiko|mëparsh|gjitha|sipër|tua',
  },
  // Swahili, Hausa, Yoruba and Zulu
  {
    dismiss: 'puuza|sahau|usifuate|yi watsi|manta da|foju|gbagbe|zishaye indiva|ungazinaki|khohlwa',
    orders: 'maagizo|maelekezo|kanuni|sheria|umarni|dokoki|ilana|ofin|iziyalezo|imiyalelo|imithetho',
    earlier: 'awali|yote|zote|yako|gabata|duk|gbogbo|isaaju|tele|zangaphambili|zonke|yonke|edlule',
  },
  // Filipino and Javanese
  {
    dismiss: 'balewalain|huwag pansinin|kalimutan|isantabi|huwag sundin|lalekake|ojo manut|nglirwakake',
    orders: 'tagubilin|utos|panuntunan|alituntunin|instruksiyon|pandhuan|instruksi|aturan|prentah',
    earlier: 'nauna|lahat|nakaraan|iyong|itaas|sadurunge|kabeh|ndhuwur',
  },
  // Azerbaijani
  {
    dismiss: 'məhəl qoyma|nəzərə alma|unudun|əhəmiyyət vermə|əməl etmə',
    orders: 'təlimat|qayda|göstəriş|əmr',
    earlier: 'əvvəlki|bütün|yuxarıda|öz',
  },
  // Urdu
  {
    dismiss: 'نظر انداز|نظرانداز|بھول جا|فراموش کر|مت مان',
    orders: 'ہدایات|ہدایت|احکامات|قواعد|اصول',
    earlier: 'پچھل|سابقہ|تمام|اوپر|اپنے|اپنی|سب',
    reveal: 'دکھا|ظاہر|بتا|چھاپ',
    prompt: 'سسٹم پرامپٹ|سسٹم ہدایات|اپنی ہدایات',
    secrecy: 'صارف کو مت بتا|صارف کو نہ بتا|صارف کو بتائے بغیر',
    send: 'بھیج|اپ لوڈ|منتقل',
  },
  // Armenian and Georgian
  {
    dismiss: 'անտեսիր|անտեսեք|մոռացիր|մոռացեք|մի հետևիր|უგულებელყავ|უგულებელჰყავ|დაივიწყ|იგნორირ|არ მიჰყვ',
    orders: 'հրահանգ|կանոն|ցուցում|հրաման|ინსტრუქცი|წეს|მითითებ|ბრძანებ',
    earlier: 'նախորդ|բոլոր|վերոնշյալ|քո|ձեր|წინა|ყველა|ზემო|შენ|თქვენ',
  },
  // Amharic
  {
    dismiss: 'ችላ|እርሳ|እርሱ',
    orders: 'መመሪያ|ህግ|ህጎች|ትዕዛዝ|ደንብ',
    earlier: 'ቀዳሚ|ቀደም|የቀደሙ|የቀድሞ|ሁሉ|ከላይ',
  },
];

/** Languages in Cyrillic letters besides Russian, Ukrainian and Bulgarian. */
export const widerCyrillic: readonly Language[] = [
  // Serbian and Macedonian
  {
    dismiss: 'игнориши|игнорирај|занемари|заборави|одбаци|отфрли|не следи',
    orders: 'упутств|упатств|правил|инструкци|наредб|смерниц',
    earlier: 'претходн|сва|сите|све|свој|горе|досадашњ',
    reveal: 'покажи|прикажи|испиши|откриј',
    prompt: 'системски упит|системскиот повик|системска упутств',
    send: 'пошаљи|испрати|проследи|објави',
  },
  // Belarusian
  {
    dismiss: 'ігнаруй|забудзь|забудзьце|адкінь|не выконвай',
    orders: 'інструкцы|правіл|загад|указанн',
    earlier: 'папярэдн|усе|ўсе|свае|вышэй',
  },
];

/** Languages whose words have no spaces between them, or compounds and endings. */
export const widerSpaceless: readonly Language[] = [
  // Marathi and Nepali
  {
    dismiss: 'दुर्लक्ष|विसरा|विसरून|बेवास्ता|बिर्स',
    orders: 'सूचन|नियम|आदेश|निर्देशन',
    earlier: 'मागील|सर्व|आधीच|वरील|अघिल्ल|सबै|माथि',
  },
  // Tamil
  {
    dismiss: 'புறக்கணி|மறந்து|நிராகரி',
    orders: 'வழிமுறை|அறிவுறுத்தல|விதிக|கட்டளை',
    earlier: 'முந்தைய|அனைத்து|மேலே|எல்லா',
  },
  // Telugu and Kannada
  {
    dismiss: 'విస్మరించ|మర్చిపో|పట్టించుకో|ನಿರ್ಲಕ್ಷಿಸ|ಕಡೆಗಣಿಸ|ಮರೆತುಬಿಡ',
    orders: 'సూచన|నియమ|ఆదేశ|ಸೂಚನೆ|ನಿಯಮ|ಆದೇಶ',
    earlier: 'మునుపటి|అన్ని|గత|ಹಿಂದಿನ|ಎಲ್ಲಾ|ಮೇಲಿನ',
  },
  // Malayalam
  { dismiss: 'അവഗണിക്ക|മറക്കുക|മറന്നേക്ക', orders: 'നിർദ്ദേശ|നിർദേശ|നിയമ', earlier: 'മുമ്പത്തെ|മുൻ|എല്ലാ|മുകളിൽ' },
  // Gujarati and Punjabi
  {
    dismiss: 'અવગણ|ભૂલી જ|ਨਜ਼ਰਅੰਦਾਜ਼|ਅਣਡਿੱਠ|ਭੁੱਲ ਜਾ',
    orders: 'સૂચના|નિયમ|આદેશ|ਹਦਾਇਤ|ਨਿਯਮ|ਹੁਕਮ',
    earlier: 'પાછલ|અગાઉ|બધી|બધા|ઉપર|ਪਿਛਲ|ਸਾਰ|ਉੱਪਰ',
  },
  // Khmer and Lao
  {
    dismiss: 'មិនអើពើ|បំភ្លេច|ព្រងើយ|ບໍ່ສົນໃຈ|ລືມ|ເມີນເສີຍ',
    orders: 'ការណែនាំ|សេចក្តីណែនាំ|បទបញ្ជា|ຄໍາແນະນໍາ|ຄຳແນະນຳ|ຄໍາສັ່ງ|ຄຳສັ່ງ',
    earlier: 'មុន|ទាំងអស់|ខាងលើ|ກ່ອນໜ້າ|ກ່ອນຫນ້າ|ທັງໝົດ|ຂ້າງເທິງ',
  },
];
