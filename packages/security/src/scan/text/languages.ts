import type { Language } from './languages-more.js';
import { moreMarkers, spacedLanguages, spacelessLanguages } from './languages-more.js';
import { widerCyrillic, widerMarkers, widerSpaced, widerSpaceless } from './languages-wider.js';

/** Lower-case words without accents that identify a language. Few are words of English texts, and none is common there. */
export const markers: Readonly<Record<string, string>> = {
  de: 'der das und ist nicht du dein deine deinen deinem deiner alle alles den dem ein eine einen von zu auf sie ihre bitte diese dieser diesen dieses nur ab jetzt keine ohne vergiss ignoriere missachte systemprompt anweisungen nutzer benutzer regeln gib zeige sende sage sag vorherigen ich im unseren unsere unser deines eure euer wie als ihren ihrem ihrer passworter passwort zugangsdaten unabhangig bewerten',
  es: 'el los las del que tus tu todas todo todos una para por con este esta esto lo instrucciones ignora olvida sistema usuario reglas eres desde muestra envia sin ahora y haz toda la su sus como mas nuestro nuestra vuestras vuestros cada cuando sobre ningun ninguna els amb aquesta aquest totes contrasenyes usuari esborra envieu aprova puntua diguis llegir doneu afegeix desactiva resposta instruccions',
  fr: 'le les des et ne pas tes vos ton ta toutes tous tout une pour ce cette avec sans est vous oublie oubliez ignorez consignes systeme utilisateur maintenant aux du au tu affiche envoie la votre notre leur leurs dans qui cela ceci etre chaque puis mais aucun aucune comme administratrice administrateur',
  pt: 'tuas teus os das dos que todas todos tudo suas seus seu sua nao para este esta uma voce instrucoes esqueca usuario regras sistema o e mande revele toda da ao aos na nas pelo pela isto isso nosso nossa voces teu tua cada quando inteira nenhum nenhuma ja',
  it: 'una nel nella il lo gli le tutte tutti tutto tue tuoi tua tuo che non di della delle con questo istruzioni ignora dimentica utente regole sistema sei invia mostra dello dei degli alla allo alle sua suo tutta nostro nostra vostre vostri questa piu ogni senza quando seguente nessun nessuna aggiungi amministratrice amministratore',
  nl: 'het een alle je jouw uw niet van en instructies vorige negeer vergeet gebruiker zonder toon deze dit naar wordt zijn ook voor geen nooit schrijf stuur verwijder wachtwoorden wachtwoord ongeacht assistenten taalmodel beheerder voeg schakel aanvraag moet voorgaande ongelezen',
  // Czech and Slovak share the bit and the rules of Polish.
  pl: 'wszystkie wszystkich poprzednie instrukcje polecenia zignoruj nie swoje swoj twoje twoj twoich bez tego zasady pokaz teraz od zapomnij oraz lub jako ktory ktora ktore przez tylko uzytkownika uzytkownik uzytkownikowi plik aby jesli byc moze przed vsechny vsech vsechno vsetky vsetko predchozi predchadzajuce pokyny instrukce instrukcie pravidla jsou neni tento tato ktery ktera ktere ktoru nebo alebo pokud uzivatel uzivatele uzivateli pouzivatel pouzivatela pouzivatelovi soubor souboru subor suboru byl byla jeho jejich pouze nyni jsi svuj sve svoje svoj svych tvuj ignoruj zapomen zabudni podle obsah heslo hesla vypis bezpecnostni tuto tvoje vsak nez kazde kazdej sie jest dodac usun wyslij skasuj haslo klucze nigdy ocen zatwierdz niezaleznie wlascicieli smaz vymaz zmaz posli poslete klice kluce klucov hesel pridaj pridej medzi zmazte schval schvalte ohodnot uzivatelum pouzivatelom umele umelej odstran vlastniky vlastnikov spravce skryj uzivatelem kontrolu certifikatu certifikatov wylacz weryfikacje certyfikatow administratorow asystencie agencie',
  ar: `${moreMarkers} ${widerMarkers}`,
  tr: 'tum talimatlari onceki ve bir yok bu icin sistem kullaniciya kurallar artik sen unut goster asistan asistani yapay sifreleri parolalari gonder gonderin sormadan yanita onayla onaylayin sil silin kapat kapatin okumadan bakmaksizin edin yildiz yuksek puani',
};

/** Scripts that identify languages, by their first and last character. */
export const scripts: readonly (readonly [first: number, last: number, languages: readonly string[]])[] = [
  [0x0400, 0x052f, ['ru']],
  [0x0530, 0x058f, ['ar']],
  [0x0590, 0x06ff, ['ar']],
  [0x0900, 0x0d7f, ['hi']],
  [0x0e00, 0x0eff, ['hi']],
  [0x10a0, 0x10ff, ['ar']],
  [0x1100, 0x11ff, ['ko']],
  [0x1200, 0x137f, ['ar']],
  [0x1780, 0x17ff, ['hi']],
  [0x3040, 0x30ff, ['ja']],
  [0x4e00, 0x9fff, ['zh', 'ja']],
  [0xac00, 0xd7af, ['ko']],
];

/** Joins the stems of languages that share a bit, because their words differ in script or form. */
const together = (own: Language, others: readonly Language[]): Language => ({
  ...own,
  ...Object.fromEntries(
    (Object.entries(others[0] ?? {}) as [keyof Language, string][]).map(([key]) => [
      key,
      [own, ...others].flatMap((language) => language[key] ?? []).join('|'),
    ]),
  ),
});

/** Stems by language, separated by `|`. A space matches up to three words in between. Accents are ignored. */
export const languages: Readonly<Record<string, Language>> = {
  de: {
    dismiss:
      'lass beiseite|leg beiseite|lösche|pfeif auf|setz außer kraft|lege ab|ignorier|missacht|vergiss|vergesst|vergessen|verwirf|verwerf|uebergeh|übergeh|umgeh|überschreib|befolge nicht|befolgen nicht|beachte nicht|nicht mehr befolg|außer acht|streiche|ignorieren sie|halte dich nicht|kümmere dich nicht|setze dich hinweg',
    orders:
      'anweisung|instruktion|befehl|regel|vorgabe|prompt|richtlinie|weisung|aufgabe|anleitung|kontext|systemprompt',
    earlier:
      'vorherig|bisherig|vorig|obig|früher|vorangegangen|vorangehend|alle|sämtlich|deine|ihre|ursprünglich|gegeben',
    everything:
      'was der benutzer|was der nutzer|was dein|alles vorherige|alles, was|alles was|das obige|alles bisherige|alles davor|alles oben|was dir gesagt|was man dir|was ich dir|was der nutzer',
    reveal: 'zeig|gib|nenne|verrate|wiederhol|drucke|schreibe|offenbar|sende',
    prompt:
      'deinen gesamten prompt|deinen prompt|systemnachricht|deine anweisung|deinen anweisungen|deinem systemprompt|deinen vorgaben|deine regeln|deinem system-prompt|deinen systemprompt|deine anweisungen|deine systemanweisung|deinen system-prompt|deine instruktionen|ihre systemanweisung|den systemprompt|dein systemprompt|deine systemanweisungen|deine ursprünglichen anweisungen|deine anfänglichen',
    secrecy:
      'ohne den nutzer|ohne den benutzer|sag dem nutzer nicht|sage dem benutzer nicht|erzähle dem nutzer nicht|erwähne nicht gegenüber|informiere den benutzer nicht|teile dem benutzer nicht|ohne den benutzer zu informieren|ohne dem nutzer|sag dem nutzer nichts|sag dem benutzer nichts|sage dem nutzer nichts|sage niemandem|ohne wissen des|verschweige|erwähne das nicht|erwähne dies nicht|informiere den nutzer nicht',
    persona:
      'du bist ein|du bist eine|du bist jetzt ein|du bist nun ein|ab sofort bist du|von nun an bist du|ab jetzt antwortest du|tu so, als ob|tu so als|du bist ab jetzt|du bist ab sofort|von jetzt an bist du|spiele die rolle|verhalte dich wie|verhalte dich als',
    renewal: 'neue anweisung|neue instruktion|neuer systemprompt|neue aufgabe',
    unbound:
      'ohne regel|ohne einschränkung|ohne jede|ohne grenze|ohne filter|ohne beschränkung|uneingeschränkt|unzensiert|keine regeln|keine einschränkung|keinerlei',
    void: 'deaktiviert|abgeschaltet|gelten nicht mehr|gilt nicht mehr|ungültig|aufgehoben|außer kraft|hinfällig',
    tell: 'frag|erwähn|sag|erzähl|informier|verrat|bericht|melde',
    not: 'nicht|nichts|niemandem|ohne',
    lacking: 'du hast keine|hast keinerlei',
    limits: 'regel|einschränkung|grenz|filter|richtlin',
    send: 'schick|send|übermittl|maile|leite|poste|lade',
  },
  es: {
    dismiss:
      'sáltate|salta|evade|elude|deja de lado|deja a un lado|desecha|suspende|desoye|desconoce|ignor|olvid|descart|omit|desatiend|desobede|no sigas|no siga|deja de seguir|anula|haz caso omiso|pasa por alto|sobrescrib|no obedezca|no respetes|no hagas caso|haga caso omiso|prescinde|no tengas en cuenta|no tomes en cuenta',
    orders:
      'restriccion|instruccion|orden|regla|indicacion|directri|directiva|prompt|consigna|mensaje|contexto|política',
    earlier: 'anterior|previa|previo|todas|todo|tus|sus|arriba|precedente|original|inicial|recibid|dadas',
    everything:
      'lo que el usuario|todo lo anterior|lo anterior|todo lo que|cuanto te|lo que te dijeron|lo que te han|lo que se te|todo cuanto',
    reveal: 'muestra|revela|imprime|repite|dime|escribe|enseña|envía',
    prompt:
      'instrucciones del sistema|mensaje de sistema|tu prompt|instrucciones que recib|tus reglas|mensaje del sistema|tu prompt del sistema|tus instrucciones|el prompt del sistema|tu mensaje de sistema|tu prompt inicial|prompt de sistema',
    secrecy:
      'no le digas al usuario|no digas al usuario|no menciones|no informes al usuario|sin informar al usuario|sin decirle|no se lo digas|no reveles al usuario|no le cuentes|no le menciones|no le informes|no se lo cuentes|sin que el usuario|sin avisar al usuario|a espaldas del usuario',
    persona:
      'eres un|eres una|serás un|ahora eres|a partir de ahora eres|a partir de ahora responde|desde ahora eres|finge que|actúa como si|desde este momento eres|desde ahora eres|ya no eres|finge ser|eres ahora|compórtate como',
    renewal: 'nuevas instrucciones|nueva instrucción|nuevo prompt|nueva tarea',
    unbound:
      'sin restriccion|sin reglas|sin límite|sin filtro|sin censura|sin ningun|sin limitacion|no tienes restriccion|no tienes regla',
    void: 'desactivad|suspendid|ya no aplica|ya no vale|quedan anulad|no tienen validez|sin efecto|ya no rige|dejan de aplicar',
    tell: 'pregunt|menciones|diga|digas|menci|cuent|inform|revel|avis|coment',
    not: 'no|sin|nadie|nunca',
    lacking: 'no tienes|ya no tienes|careces de',
    limits: 'regla|restriccion|limitacion|filtro|norma',
    send: 'envía|enviar|envia|manda|reenvía|sube|transfiere|publica',
  },
  fr: {
    dismiss:
      'fais fi|faites fi|jette|efface|supprime|enfrein|transgress|défais-toi|ignor|oubli|néglig|abandonn|ne suis plus|ne suivez plus|ne suis pas|ne suivez pas|ne tiens pas compte|ne tenez pas compte|ne tenez plus compte|ne tiens plus compte|fais abstraction|faites abstraction|passe outre|passez outre|outrepass|contourn|annul|désobéi|ne plus suivre|ne plus respecter|ne plus tenir compte|ne pas tenir compte|ne respecte pas|ne respecte plus|ne respectez plus|écarte|laisse tomber|laissez tomber|mets de côté',
    orders: 'instruction|consigne|règle|directive|ordre|prompt|message|contexte|indication|restriction',
    earlier:
      'précédent|antérieur|ci-dessus|toutes|tous|tes|vos|préalable|initial|original|reçu|donné|plus haut|avant|jusqu ici|jusqu à présent',
    everything:
      'ce que l utilisateur|tout ce qui précède|ce qui précède|tout ce que|tout ce qui est|tout ce qui a|ce qui a été dit|ce qu on t a dit|ce qui t a été',
    reveal: 'montre|révèle|affiche|répète|imprime|donne|écris|écrivez|envoie|dis',
    prompt:
      'message système|instructions système|instructions initiales|instructions reçues|tes règles|ton message système|invite système|ton prompt système|votre prompt système|tes instructions|vos instructions|le prompt système|ton invite système|tes consignes|vos consignes',
    secrecy:
      "ne dis pas à l'utilisateur|ne le dis pas|n'en parle pas|ne mentionne pas|ne mentionnez pas|n'informe pas|n'informez pas|sans informer l'utilisateur|sans en informer|ne révèle pas à|n en parlez pas|ne le dites pas|ne dites rien|ne dis rien|à l insu de|sans prévenir|sans le dire|sans avertir",
    persona:
      'tu es un|tu es une|vous êtes un|tu es maintenant|vous êtes maintenant|tu es désormais|vous êtes désormais|désormais tu|à partir de maintenant|fais comme si|faites comme si|prétends être|dorénavant tu|dès maintenant tu|tu n es plus|tu joues le rôle|comporte-toi comme|vous n êtes plus',
    renewal: 'nouvelles instructions|nouvelle instruction|nouveau prompt|nouvelle tâche|nouvelles consignes',
    unbound:
      'sans aucune|sans restriction|sans limite|sans règle|sans filtre|sans censure|aucune restriction|aucune limite|aucune règle|sans contrainte',
    void: 'désactivé|suspendu|ne sont plus valable|ne s appliquent plus|ne s applique plus|sont annulé|caduc|n ont plus cours|ne valent plus',
    tell: 'parl|dis|dites|dire|mention|inform|révél|signal|avert|préven',
    not: 'ne|sans|n|jamais|rien',
    lacking: 'tu n as plus|tu n as aucun|vous n avez plus',
    limits: 'règle|restriction|limite|filtre|contrainte',
    send: 'envoie|envoyez|transfère|transférez|transmet|publie|poste|expédie',
  },
  pt: {
    dismiss:
      'pule|burle|fuja|apague|abandone|largue|quebre|esquece|suspenda|ignor|esque|desconsider|descart|não siga|nao siga|pare de seguir|desobede|anule|deixe de lado|contorne|sobrescrev|despreze|não obedeça|não respeite|não leve em conta|pare de obedecer|deixe de seguir',
    orders: 'instruç|ordem|ordens|regra|diretri|comando|prompt|orientaç|mensagem|contexto|restriç',
    earlier: 'anterior|prévia|prévio|todas|todos|suas|seus|acima|precedente|origina|inicia|recebid|dadas',
    everything:
      'o que o usuário|tudo acima|tudo o que|tudo que|o que foi dito|o que lhe foi|o que te disseram|o que foi dito|tudo que foi|o que você foi',
    reveal: 'mostre|revele|imprima|repita|diga|escreva|envie|exiba',
    prompt:
      'instruções do sistema|instruções que recebeu|prompt inicial|suas regras|mensagem do sistema|seu prompt de sistema|seu prompt do sistema|suas instruções|o prompt do sistema|sua mensagem de sistema|seu prompt inicial',
    secrecy:
      'não conte ao usuário|não diga ao usuário|não mencione|não informe o usuário|não informe ao usuário|sem informar o usuário|sem avisar|não revele ao usuário|não conte nada|não fale|não avise|sem o conhecimento|sem que o usuário|não diga nada|não comente',
    persona:
      'você é um|você é uma|tu és um|agora você é|você agora é|a partir de agora você|de agora em diante|finja que|aja como se|deste momento em diante|você não é mais|finja ser|comporte-se como|você passa a ser',
    renewal: 'novas instruções|nova instrução|novo prompt|nova tarefa',
    unbound: 'sem restriç|sem regras|sem limite|sem filtro|sem censura|sem nenhum|sem qualquer|sem limitaç',
    void: 'desativad|suspens|não valem mais|estão anulad|não se aplicam mais|perderam a validade|já não valem|sem efeito',
    tell: 'conte|diga|mencion|avis|inform|revel|fale|coment',
    not: 'não|sem|nunca|nada',
    lacking: 'você não tem|não tem mais|não possui',
    limits: 'regra|restriç|limitaç|filtro',
    send: 'envie|mande|encaminhe|transfira|poste|publique',
  },
  it: {
    dismiss:
      'scorda|accantona|elimina|cancella|rinuncia|sospendi|infrangi|ignor|dimentic|trascur|tralascia|scarta|non seguire|smetti di seguire|non tenere conto|disobbedisci|annulla|aggira|sovrascriv|lascia perdere|non rispettare|non obbedire|non considerare|non seguir|lascia stare|metti da parte',
    orders: 'istruzion|regol|direttiv|ordin|comand|prompt|indicazion|messaggi|contesto|restrizion',
    earlier: 'precedent|anterior|tutte|tutti|tue|tuoi|sopra|original|inizial|ricevut|date',
    everything:
      'quello che l utente|che l utente|tutto ciò che|tutto quello che|quanto sopra|quanto detto|quello che ti|ciò che ti|quanto ti|tutto quanto',
    reveal: 'mostra|rivela|stampa|ripeti|dimmi|scrivi|invia|elenca',
    prompt:
      'istruzioni che hai|istruzioni di sistema|istruzioni ricevute|tuo prompt|le tue regole|messaggio di sistema|il tuo prompt di sistema|le tue istruzioni|il prompt di sistema|il tuo messaggio di sistema|tuo prompt iniziale',
    secrecy:
      "non dire all'utente|non dirlo|non menzionare|non informare l'utente|senza informare l'utente|senza dirlo|non rivelare all'utente|non dire nulla all'utente|non dire niente|non dirlo all'utente|all'insaputa|senza avvisare|non avvisare|non farne parola",
    persona:
      'sei un|sei una|tu sei un|ora sei|adesso sei|da ora in poi|d’ora in poi|da questo momento sei|fai finta|fingi di|comportati come se|non sei più|sei ora|d ora in avanti sei|fai la parte|interpreta',
    renewal: 'nuove istruzioni|nuova istruzione|nuovo prompt|nuovo compito',
    unbound:
      'senza restrizion|senza regole|senza limit|senza filtri|senza censura|senza alcun|nessuna restrizione|nessun limite|nessuna regola',
    void: 'disattivat|sospes|non valgono più|sono annullat|non sono più valid|non si applicano più|decadut|senza effetto',
    tell: 'dire|dirlo|menzion|inform|rivel|avvis|racconta|parlar|dica|dirglielo',
    not: 'non|senza|mai|niente',
    lacking: 'non hai',
    limits: 'regol|restrizion|limitazion|filtr',
    send: 'invia|manda|spedisci|inoltra|trasmetti|carica|pubblica',
  },
  nl: {
    dismiss: 'negeer|vergeet|volg niet|sla over|omzeil|laat varen|houd geen rekening|overschrijf',
    orders: 'instructie|opdracht|regel|richtlijn|aanwijzing|prompt|bevel',
    earlier: 'vorige|eerdere|bovenstaande|voorgaande|alle|jouw|uw|oorspronkelijke',
    everything: 'alles hierboven|al het bovenstaande|alles wat|de opdracht van de gebruiker|de vraag van de gebruiker',
    reveal: 'toon|laat|geef|herhaal|onthul|print',
    prompt: 'je systeemprompt|uw systeemprompt|je instructies|de systeemprompt',
    secrecy: 'vertel de gebruiker niet|zeg niets tegen de gebruiker|zonder de gebruiker|vermeld dit niet',
    persona: 'je bent nu een|vanaf nu ben je|doe alsof',
    renewal: 'nieuwe instructie|nieuwe opdracht|nieuwe systeemprompt',
    void: 'ongeldig|vervallen|niet meer van kracht|gelden niet meer|ingetrokken',
    unbound: 'zonder regels|zonder beperking|zonder filters|zonder grenzen|onbeperkt',
  },
  pl: {
    dismiss:
      'zignoruj|ignoruj|zapomnij|pomiń|odrzuć|porzuć|nie przestrzegaj|nie stosuj|nie słuchaj|nie zważaj|przestań|obejdź|zapomeň|zahoď|zabudni|nedbej|nedbaj|neřiď se|přestaň|prestaň|obejdi|vynech|opusť',
    orders: 'instrukc|inštrukc|polece|zasad|reguł|wytyczn|prompt|rozkaz|pokyn|pravid|příkaz|príkaz|omezen|obmedzen',
    earlier:
      'poprzedni|wcześniejs|powyższ|wszystki|swoje|twoje|dotychczas|předchoz|predchádz|dosavad|doteraj|všechn|všetk|svoje|svá|své|tvoje',
    everything: 'wszystko powyżej|wszystko, co|to co powyżej|zadanie użytkownika|pytanie użytkownika',
    reveal: 'pokaż|ujawnij|wypisz|powtórz|podaj|wyświetl|ukaž|zobraz|vypiš|vypíš|odhal|prozraď|prezraď',
    prompt:
      'swój prompt systemowy|prompt systemowy|swoje instrukcje|twoje instrukcje|ukryte instrukcje|ukryty prompt|systémový prompt|své instrukce|své pokyny|svoje inštrukcie|svoje pokyny|skryté instrukce|skryté inštrukcie',
    secrecy:
      'nie mów użytkownikowi|nie mów o tym użytkownikowi|nie informuj użytkownika|bez informowania|nie wspominaj|neříkej uživateli|neříkej o tom uživateli|nehovor používateľovi|nehovor o tom používateľovi|bez vědomí uživatele|bez vedomia používateľa',
    persona: 'jesteś teraz|od teraz jesteś|udawaj|od teď jsi|nyní jsi|odteraz si|teraz si|předstírej|chovej se',
    renewal: 'nowe instrukcje|nowe polecenie|nowy prompt|nové pokyny|nové instrukce|nové inštrukcie',
    void: 'nieważn|nie obowiązuj|anulowan|unieważnion|straciły moc|neplat|zrušen',
    unbound: 'bez ograniczeń|bez zasad|bez filtrów|bez reguł|bez omezení|bez obmedzení|bez pravid',
  },
  tr: {
    dismiss: 'yok say|görmezden gel|unut|dikkate alma|göz ardı et|uyma|iptal et',
    orders: 'talimat|komut|kural|yönerge|istem|prompt|emir',
    earlier: 'önceki|yukarıdaki|tüm|bütün|eski|daha önceki|verilen',
    everything: 'yukarıdaki her şey|önceki her şey|kullanıcının görevini|kullanıcının sorusunu',
    reveal: 'göster|açıkla|yazdır|tekrarla|söyle',
    prompt: 'sistem istemini|sistem prompt|talimatlarını',
    secrecy: 'kullanıcıya söyleme|kullanıcıya bahsetme|kullanıcıyı bilgilendirme',
    persona: 'artık sen|bundan sonra sen|şu andan itibaren',
    renewal: 'yeni talimat|yeni görev|yeni sistem',
    void: 'geçersiz|iptal edil|yürürlükten kald|geçerli değil',
    unbound: 'sınırsız|kısıtlama olmadan|kuralsız|hiçbir kural|hiçbir kısıtlama|filtresiz',
  },
  ru: together(
    {
      dismiss:
        'сотри|удали|нарушь|выкинь|откажись от|оставь в стороне|игнорируй|игнорировать|игнорируя|проигнорируй|проигнорировать|забуд|не следу|не выполня|отбрось|пренебрег|отмени|обойди|не обращай внимания|перестань|прекрати|отмените|не учитывай|не соблюда|не подчиня|не придерживайся|не слушай',
      orders: 'инструкц|указани|правил|команд|приказ|промпт|директив|задани|сообщени|контекст|ограничени',
      earlier:
        'предыдущ|прошл|прежн|вышеуказан|вышеизложен|все|всё|всех|твои|ваши|свои|ранее|исходн|предшеству|первоначальн|системн|указанн|выше|данные',
      everything:
        'что пользователь|что сказал пользователь|что писал|все вышеперечисленное|всё вышеперечисленное|все, что|всё, что|всё выше|все выше|вышесказанное|вышеизложенное|всё, что тебе|все, что тебе|что тебе говорили|что было сказано|что тебе сказали|задание пользователя|завдання користувача|прохання користувача',
      reveal: 'покажи|раскрой|выведи|повтори|напиши|сообщи|отправь|перечисли',
      prompt:
        'своего системного промпта|системного промпта|твой промпт|свой системный промпт|системный промпт|свои инструкции|твои инструкции|системные инструкции|системное сообщение|ваши инструкции',
      secrecy:
        'не говори пользователю|не сообщай пользователю|не упоминай|не рассказывай|без ведома пользователя|не сообщая пользователю|не информируй|не сообщай об этом|ничего не говори|не говори об этом|без уведомления|втайне от|скрой от|не ставь в известность',
      persona:
        'ты модель|ты бот|ты ии|ты ассистент|теперь ты|теперь вы|отныне ты|с этого момента|с этой минуты|притворись|веди себя так|ты теперь|больше не|отныне вы|представь, что ты|играй роль',
      renewal: 'новые инструкции|новая инструкция|новый системный промпт|новое задание|новые указания',
      unbound:
        'без ограничени|без правил|без фильтр|без цензур|без каких-либо|нет ограничени|не ограничен|никаких ограничени',
      void: 'отключен|приостановлен|больше не действу|недействительн|отменен|утратил|не имеют силы|больше не применя',
      tell: 'говор|сказ|сообща|упомин|рассказ|информир|уведомл|раскрыва',
      not: 'не|без|никому|ничего',
      lacking: 'у тебя нет|у вас нет',
      limits: 'правил|ограничени|фильтр',
      send: 'отправ|перешли|вышли|пошли|передай|загрузи',
    },
    widerCyrillic,
  ),
  zh: {
    dismiss:
      '不用管|不管|别理|不要管|丢掉|忘了|作废|抹掉|删除|不用遵守|不必理会|忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会|不要理會|不要遵循|不再遵循|不要执行|抛弃|抛开|放弃|跳过|绕过|繞過|覆盖|覆蓋|丢弃|停止遵循|撤销|不要再遵守|不再遵守|别再遵守|不必遵守|无需遵守|不用理会|别管|抹去|清除|停止执行|不再执行',
    orders: '指令|指示|提示|规则|規則|说明|說明|命令|要求|约束|約束|限制|准则|準則|设定|設定|内容|對話|对话|上下文',
    earlier: '之前|以上|先前|前面|此前|上述|上面|所有|全部|一切|你的|您的|原来|原有|系统|系統|已有',
    everything:
      '用户说的|用户的话|之前的一切|以上内容|上面的内容|以上所有|前面所有|之前所有|以上內容|上面说的|之前说的|前面说的|以上所说|之前的对话|上面的一切|以上一切',
    reveal: '显示|顯示|输出|輸出|打印|重复|重複|告诉我|告訴我|泄露|透露|展示|列出|发送',
    prompt:
      '你的规则|系统消息|系统设定|系统提示|系統提示|你的指令|你的提示词|你的提示詞|系统指令|系統指令|系统消息|初始提示|你的系统|初始指令|初始设定|原始指令',
    secrecy:
      '不要告诉用户|不要告訴用戶|不要向用户|不要告知用户|别告诉用户|不要提及|无需告知用户|不要让用户|不得告知用户|瞒着用户|别让用户|不要通知用户|不要讓用戶|瞒着|悄悄|偷偷|不要透露给用户',
    persona:
      '你是一个|你是没有|你现在是|你現在是|从现在起你|从现在开始你|從現在起你|从现在开始|假装你|假裝你|请扮演|你不再是|从这一刻起|此刻起你|现在开始你|你将扮演|扮演一个|从今以后你|今后你',
    renewal: '新指令|新的指令|新任务|新的系统提示|新的指示|新任務',
    isSpaceless: true,
    unbound:
      '没有任何限制|不受限制|没有限制|无限制|不受任何|没有约束|没有任何约束|没有任何规则|沒有任何限制|不受約束|不受约束|没有道德',
    void: '不再有效|作废|失效|无效|不再适用|已取消|不算数',
    tell: '告诉|提及|透露|通知|告知|说出|提到|泄露',
    not: '不要|别|勿|不得|无需|不能|不可',
    lacking: '你没有|你不再有',
    limits: '规则|限制|约束|顾忌',
    send: '发送|发给|发到|上传|传到|寄给|提交到',
  },
  ja: {
    dismiss:
      '捨て|消して|無効に|破って|やめて|無視して|無視せよ|無視しろ|無視すること|無視しなさい|無視し、|忘れ|従わないで|従うな|従わず|破棄|取り消|上書き|放棄|守らないで|スキップ|考慮しないで|従う必要は|従ってはいけない|無かったこと|なかったこと|聞かないで|忘却',
    orders: '指示|命令|ルール|プロンプト|規則|指令|制約|設定|ガイドライン|内容|メッセージ|文脈|会話',
    earlier: '以前|上記|これまで|それまで|前の|先の|すべて|全て|あなたの|先ほど|元の|システム|今まで|前述|以上',
    everything:
      'ユーザーの言った|ユーザーが言った|上記のすべて|これまでのすべて|上の内容|今までの内容|上記の内容|これまでの内容|言われたこと|これまで言われ|ここまでの|今まで言われ',
    reveal: '表示|出力|教えて|開示|繰り返|公開|見せて|書き出|送信',
    prompt:
      'あなたのルール|システム設定|システムプロンプト|あなたの指示|初期プロンプト|システムメッセージ|システム指示',
    secrecy:
      'ユーザーに言わないで|ユーザーには言わない|ユーザーに伝えないで|ユーザーに知らせないで|ユーザーに知らせず|ユーザーには伝えず|ユーザーに報告しない|言及しないで|内緒|ユーザーには知らせ|ユーザーに気づかれ|ユーザーに言わず|ユーザーに告げず|ユーザーには内密|ユーザーには秘密|報告しないで|黙って',
    persona:
      'あなたは制限|あなたは自由|あなたは今から|今からあなたは|これからあなたは|あなたはもう|のふりをして|今後あなたは|あなたは今|今後は|になりきって|として振る舞',
    renewal: '新しい指示|新たな指示|新しいタスク|新しいシステムプロンプト|新しい命令',
    isSpaceless: true,
    unbound:
      '制限のない|制約のない|制限なし|制限がない|ルールのない|無制限|制約なし|制約を受けない|制限を受けない|検閲のない',
    void: '無効です|無効になり|もう有効では|取り消され|適用されません|適用されなく',
    tell: '言わ|伝え|知らせ|報告し|話さ|明かさ|触れ',
    not: 'ないで|ず|せず|ないこと|なく',
    lacking: 'あなたに|もう',
    limits: 'ルールはあり|制限はあり|制約はあり',
    send: '送信|送って|送れ|アップロード|転送|投稿',
  },
  ko: {
    dismiss:
      '무효|삭제하고|지우고|버리고|잊으세요|무시하고|무시하세|무시하라|무시하십|무시하며|무시해|잊어|따르지 마|따르지 말|무효화|폐기|건너뛰|우회|잊으|버려|따를 필요|지키지 마|지키지 말|잊고|따르지',
    orders: '지시|명령|규칙|프롬프트|지침|설정|내용|제한|메시지',
    earlier: '이전|위의|앞선|모든|기존|지금까지|당신의|너의|원래|시스템|앞의|앞서|위 ',
    everything:
      '위의 모든|이전의 모든|지금까지의 모든|들은 내용|지금까지 들은|이전의 내용|앞의 내용|위 내용|지금까지의',
    reveal: '보여|출력|알려|공개|반복|표시|전송',
    prompt: '너의 규칙|당신의 규칙|시스템 프롬프트|당신의 지시|너의 지시|초기 프롬프트|시스템 메시지',
    secrecy:
      '사용자에게 말하지|사용자에게 알리지|언급하지 마|사용자 모르게|알리지 말|사용자에게 알리지|사용자에게 말하지|사용자 몰래|사용자에게 비밀|보고하지 마|사용자에게 언급',
    persona:
      '너는 제한|당신은 제한|너는 이제|당신은 이제|지금부터 너는|지금부터 당신은|이제부터|지금부터|이제 너는|이제 당신은|너는 더 이상|당신은 더 이상|앞으로 너는',
    renewal: '새로운 지시|새 지시|새로운 명령|새로운 작업',
    isSpaceless: true,
    unbound: '제한 없는|제한이 없는|제약 없는|제약이 없는|규칙이 없는|무제한|제한 없이|검열 없는',
    void: '더 이상 유효하지|무효입니다|적용되지 않|효력이 없',
    tell: '말하|알리|언급|보고|전하|밝히',
    not: '지 마|지 말|않|마세요|말고',
    lacking: '당신에게|너에게',
    limits: '규칙이 없|제한이 없|규칙은 없|제한은 없',
    send: '보내|전송|업로드|전달',
  },
  // Languages that the wording is not scored for have two bits, one for those without spaces.
  ar: together(
    {
      dismiss: 'تجاهل|انس|لا تتبع|تخط|تجاوز',
      orders: 'تعليمات|التعليمات|أوامر|الأوامر|قواعد|القواعد|توجيهات|التوجيهات|الإرشادات',
      earlier: 'السابقة|أعلاه|جميع|كل|السابق',
      reveal: 'أظهر|اكشف|اطبع|كرر|اعرض',
      prompt: 'موجه النظام|تعليماتك|رسالة النظام',
      secrecy: 'لا تخبر المستخدم|لا تذكر|دون إخبار المستخدم|دون إخباره|دون علمه',
      persona: 'أنت الآن|من الآن فصاعدا',
      renewal: 'تعليمات جديدة|مهمة جديدة',
      void: 'ملغا|لاغية|غير سارية|لم تعد',
      unbound: 'بدون قيود|بلا قيود|دون قيود|دون أي',
      everything: 'كل ما سبق|كل ما قيل|كل ما ورد|ما سبق|مهمة المستخدم|سؤال المستخدم',
      send: 'أرسل|ارسل|ابعث|أرسلي|حمل|ارفع|انقل|انشر',
    },
    [...spacedLanguages, ...widerSpaced],
  ),
  hi: together(
    {
      dismiss: 'अनदेखा|नज़रअंदाज़|भूल जा|अनदेखी|पालन न कर',
      orders: 'निर्देश|आदेश|नियम|प्रॉम्प्ट',
      earlier: 'पिछले|पूर्व|ऊपर|सभी|पहले',
      reveal: 'दिखा|बता|प्रकट',
      prompt: 'सिस्टम प्रॉम्प्ट|अपने निर्देश',
      secrecy: 'उपयोगकर्ता को मत बता|उपयोगकर्ता को न बता|उसे बताए बिना|उपयोगकर्ता को बताए बिना',
      persona: 'अब तुम|अब आप',
      renewal: 'नए निर्देश|नया निर्देश',
      isSpaceless: true,
      void: 'रद्द|अमान्य|लागू नहीं',
      unbound: 'बिना किसी|बिना प्रतिबंध|बिना नियम',
      everything: 'ऊपर की सारी|ऊपर कही|अब तक की सारी|ऊपर लिखी|उपयोगकर्ता का काम|उपयोगकर्ता की बात',
      send: 'भेज|अपलोड|फॉरवर्ड|साझा कर|पोस्ट कर',
    },
    [...spacelessLanguages, ...widerSpaceless],
  ),
};
