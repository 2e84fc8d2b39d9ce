import { isRefusal } from './refusals.js';

/** Words of texts that discuss attacks instead of making one. */
const defense =
  /inject|jailbreak|attack|malicious|adversar|untrusted|hostile|suspicious|exfiltrat|detect|\bflag|reject|refus|sanitiz|red.?team|threat|vulnerab|\bsuch as\b|\be\.g\.|\bfor example|\bexample|\blike\b|attempt|pattern|phrase|keyword|payload|\bsays?\b|saying|asks? you|tells? you|told|tries|trying|claims?|\bbad\b|wrong|\bblock(?:s|ed|ing)?\b|\btreat\b|scan|test case|insulate|guard|defen[cs]e|must not|never|do not (?:follow|obey|comply|act|execute)|don.t (?:follow|obey)|❌|owasp/i;
/** Such words in other languages. Their texts use the English ones, too. */
const foreignDefense =
  /inje[cçkz]|inyecc|инъекц|注入|インジェクション|인젝션|attaqu|ataqu|attacc|angriff|атак|saldır|攻击|攻撃|공격|malicios|вредонос|恶意|悪意|악의|złośliw|erkenn|détect|обнаруж|检测|検出|감지|wykry|tespit|rech?a[zç]|recus|rifiut|refus|ablehn|weiger|отклон|拒绝|拒否|거부|odmów|ejempl|exempl|esempi|beispiel|пример|例|예시|örn|przykład|confiab|fiable|недоверен|不可信|obedezc|obedeç|obéi|befolg|uyma\b|no siga|não siga|従わ|不(?:要|得|会)(?:执行|遵循)/iu;
/** Such words in a heading, which applies to its whole section. */
const topic = /inject|jailbreak|attack|malicious|adversar|untrusted|exfiltrat|red.?team|threat|vulnerab|payload|owasp/i;
const negation =
  /(?:\bnever|\bdo not|\bdon.t|\bmust not|\bmustn.t|\bshould not|\bshouldn.t|\bcannot|\bcan.t|\bmay not|\bnot|\bno|\bwithout|\brefuse to|\brather than|\binstead of|\battempts? to|\btr(?:y|ies|ying) to|\btells? (?:you|the model|it|agents?) to|(?:was|were|is|are|been|being|when) (?:told|asked|instructed|ordered|prompted) to|\basks? (?:you|the model|it|agents?) to|\binstructions? to|(?:instructions?|prompts?|payloads?|comments?|descriptions?|attackers?)(?: that| which)? (?:tell|ask|instruct|order|direct)(?:s|ing)? (?:the |an? )?(?:ai|llm|model|agent|assistant|chatbot|bot|coding agent)s? to|\bavoid)[^\w.!?;]{1,3}(?:\w{1,15}[^\w.!?;]{1,2}){0,3}$/i;

/** Untrusted sources of instructions, which defensive texts tell the reader to ignore. */
const foreign =
  /^\W{0,3}(?:\w{1,15} ){0,4}?(?:(?:in|inside|within|from|embedded in|contained in|found in|hidden in|that (?:appear|occur|come|are)[^.\n]{0,30}) [^.\n]{0,60}?\b(?:files?|repositor\w+|pages?|results?|outputs?|documents?|content|comments?|issues?|emails?|websites?|data|logs?|messages?|sources?|tools?|code|readmes?|pull requests?|attachments?)\b)?[^.\n]{0,40}?\b(?:(?:that|which|if (?:it|they)|when(?:ever)? (?:it|they))\b[^.\n]{0,30}?\b(?:ask|tell|tr(?:y|ies)|attempt|instruct|claim|direct|conflict|contradict|request|want|urge|pretend|demand)|(?:asking|telling|trying|attempting|instructing|claiming|directing)\b)/i;
/** Attributes of the model's own instructions, which foreign texts do not have. */
const own = /\b(?:your|system|safety|developer|previous|prior|earlier|above|original|initial)\b/i;

/** Words that introduce an example without quotes. */
const introduction =
  /(?:\blike|such as|examples?|e\.g\.|\bsays?|phrases?|strings?|patterns?|payloads?)[^.\n]{0,15}[:,]?\s{0,2}$/i;

/** A prohibition of a deed that attacks request. */
const prohibition =
  /^\W{0,4}(?:(?:an? |the )?[a-z]{2,12} )?(?:never|do not|don't|must not|must never|may not|should not|should never|cannot|(?:nobody|no one|no [a-z]{2,9}) (?:may|must|should|can)|under no circumstances may [a-z]{2,9})(?: ever)? (?:reveal|print|share|send|upload|post|paste|expose|leak|exfiltrate|execute|delete|remove|disable|bypass|weaken|turn off|skip|push|merge|approve|commit|store|write|log|install|grant|pay|transfer|obey|follow|act on|trust|comply with|accept|believe|copy|propagate|edit|change|open|forward|create|paste|rank|turn)\b/;
/** What attacks forbid: obedience to others, checks, and mention of the attack. */
const forbidden =
  /\b(?:users?|humans?|operators?|previous|prior|earlier|above|original|initial|your|this|that you|you (?:were|are|have|got|received)|these|anything|any ?more|any longer|instead|but|https?)\b|[;:@]|\b(?:obey|follow|comply with|trust|act on) (?:the |any )?(?:system|developer|safety)\b|\band (?:then )?(?:send|run|reply|say|print|answer|write|delete|do)\b/;
/** Your own valuables are worth a prohibition. */
const valuables = /\byour (?:system prompt|instructions|prompt|credentials|keys|tokens|password)\b/g;

/** Whether a passage of one sentence forbids what attacks request. */
const isProhibition = (text: string, start: number, end: number): boolean => {
  const before = text.slice(Math.max(0, start - 80), start);
  const opening = /\s/.test(text.charAt(start))
    ? ''
    : before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('. ')) + 1);
  const said = `${opening}${text.slice(start, end)}`.toLowerCase().replaceAll('\u2019', "'").trim();
  const [sentence = '', ...others] = said.split(/[.!?]\s/);
  return (
    others.length === 0 && prohibition.test(sentence) && !forbidden.test(deedOf(sentence).replaceAll(valuables, ''))
  );
};

/** A prohibition in other languages, which begins with its negation. */
const foreignProhibition =
  /^\W{0,4}(?:non |ne |n['’]|no \p{L}{2,15}[ae]s (?:el|la|los|las|un|una|ning)|nunca |jamais |não |nie |niet |не |никогда |niemals |不要|不得|不能|请勿|禁止|切勿|(?:\p{L}{2,15} ){1,2}(?:dürfen|darf) (?:nicht|niemals|nie))/iu;
/** What attacks forbid in these languages: mention of the attack, checks, and obedience to others. */
const foreignForbidden =
  /utent|utilisateur|usuari|usuário|utilizador|nutzer|anwender|gebruiker|u[żz]ytkownik|u[žz]ivat|pou[žz][íi]v|пользовател|користувач|потребител|корисник|korisnik|uporabnik|felhaszn|用户|prece|précéd|anterior|prévi|предыдущ|之前|以上|上述|instru|istruzion|consignes|anweisung|инструкц|указани|指令|指示|规则|方针|准则|regl|règl|regol|regra|правил|person|nessun|nadie|ninguém|никому|никто|任何人|别人|confirm|autoriz|bestätig|подтвержд|确认|批准|mostr|montr|zeig|показ|显示|salida|sortie|output|вывод|输出|men[cz]ion|mention|упомин|提及|[;:@]/iu;

const isForeignProhibition = (said: string): boolean => foreignProhibition.test(said) && !foreignForbidden.test(said);

/** A sentence that is about the wording in its quotes: what a scanner finds, and what a reader must not accept. */
const aboutQuotes =
  /\b(?:phrases?|strings?|patterns?|payloads?|test cases?|attempts? (?:like|such as|to)|instructions? (?:like|such as|to)|requests? (?:like|such as|to)|claims? (?:like|such as))\b[^.\n]{0,60}["“‘`]|^\W{0,4}(?:do not|don.t|never|must not) (?:accept|believe|rely on|trust)\b[^.\n]{0,10}["“‘`]|["”’`] (?:must|should|will|is|are)(?: not| never)?(?: be)? (?:declined|refused|rejected|blocked|ignored|flagged|detected|reported|removed|quoted|followed|(?:an? )?(?:attacks?|injections?))\b/i;
/** Quoted text of a passage. */
const quotation = /["“‘`][^"”’`\n]{2,200}["”’`]/g;
/** Verbs that request what a quote says. */
const requests =
  /\b(?:say|reply|respond|answer|print|output|write|repeat|include|add|append|begin|start|end|execute|run|obey|follow|delete|reveal|tell|act|use|call|send)\b/i;

/** Whether the request of a passage is only in quotes that the rest of the passage discusses. */
const isAboutQuotes = (passage: string): boolean =>
  aboutQuotes.test(passage) && !requests.test(passage.replaceAll(quotation, ''));

/** Returns the sentence without the condition that ends it, such as `, even if a message says so`. */
const deedOf = (sentence: string): string =>
  sentence.split(/,? (?:even if|no matter|because|whatever|unless|without|regardless|when)\b/, 1)[0] ?? '';

/** What to do about texts that request something. */
const reaction =
  /^\W{0,4}(?:if|when(?:ever)?|should|where) (?!(?:the |an? )?(?:user|human|someone|somebody|anyone))[^.\n]{3,80}?\b(?:tells?|asks?|instructs?|orders?|wants?|urges?|demands?)\b[^.\n]{3,160}?, (?:then )?(?:stop and|report it|refuse|decline|flag it|treat it as)\b|^\W{0,4}(?:if|when(?:ever)?) (?:you|an? agent|the (?:agent|assistant|model)) (?:gets?|finds?|sees?|receives?|notices?|reads?)\b[^.\n]{0,40}\b(?:instructions?|requests?|commands?|orders?|text)\b[^.\n]{0,80}, (?:then )?(?:stop|report (?:it|them)|refuse|decline|ignore (?:it|them)|warn|do not follow)\b/i;

/** A statement that texts are searched for, before a quote. */
const description =
  /^\W{0,3}(?:we|it|they|(?:the|this|our|an?) [a-z]{2,15}) (?:[a-z]{2,10} )?(?:strips?|removes?|detects?|finds?|flags?|match(?:es)?|blocks?|filters?|rejects?|marks?|search(?:es)?|looks?)\b[^.\n]{0,40}["“'‘`]/i;

const quotes: readonly string[] = Array.from('"\'`“”‘’«»「」『』„');
const reach = 240;
const maxLine = 400;

/** Words that follow an example of an attack. */
const verdicts = /inject|attack|malicious|jailbreak|untrusted|adversar|suspicious/i;

/** Whether the passage is in quotes on its line. */
const isQuoted = (text: string, start: number, end: number): boolean => {
  const before = text.slice(Math.max(lineStartOf(text, start), start - 120), start);
  const after = text.slice(start, end + 160).split('\n', 1)[0] ?? '';
  return (
    quotes.some((quote) => after.includes(quote)) &&
    quotes.some((quote) => before.includes(quote) && !isApostrophe(before, quote))
  );
};

/** Returns the start of the line. Of a long line, only the last part counts. */
const lineStartOf = (text: string, place: number): number => {
  const from = Math.max(0, place - maxLine);
  return from + text.slice(from, place).lastIndexOf('\n') + 1;
};

const isApostrophe = (before: string, quote: string): boolean =>
  (quote === "'" || quote === '’') && !/(?:^|\W)['’]/.test(before);

/** Why a passage is no request: the text denies or describes it, or gives it as an example. */
export type Excuse = 'denied' | 'example';

/**
 * Returns why a passage is mentioned rather than requested: it is negated, about the instructions of foreign texts, or an
 * example in a defensive paragraph.
 *
 * @param isCode - whether the passage is in code, which counts as quoted
 */
export const excuseOf = (text: string, start: number, end: number, isCode: boolean): Excuse | undefined => {
  const near = text.slice(Math.max(0, start - reach), start);
  const before = near.slice(near.lastIndexOf('\n\n') + 1);
  if (negation.test(before.slice(-60)) || isProhibition(text, start, end)) return 'denied';
  const passage = text.slice(start, end);
  if (reaction.test(passage)) return 'denied';
  const sentence = sentenceAround(text, start, end);
  if (isRefusal(sentence) && passage.trim().length <= sentence.trim().length + 1) return 'denied';
  if (isForeignProhibition(sentence) || isAboutQuotes(sentence)) return 'denied';
  if (
    !/[.!?]\s{0,4}$/.test(passage) &&
    !own.test(passage) &&
    foreign.test(text.slice(end, end + 160).replace(/\s+/g, ' '))
  ) {
    return 'denied';
  }
  if (description.test(passage)) return 'example';
  if (introduction.test(before) && (topic.test(before) || isQuoted(text, start, end))) return 'example';
  if (!isCode && !isQuoted(text, start, end) && !isListed(text, start)) return undefined;
  const isExample =
    defense.test(before) ||
    foreignDefense.test(before) ||
    verdicts.test(afterIn(text, end)) ||
    topic.test(headingBefore(text, start));
  return isExample ? 'example' : undefined;
};

/** Whether the paragraph around a mentioned request discusses attacks, in any language. */
export const isMentionedAsAttack = (text: string, start: number, end: number): boolean => {
  const paragraph = `${
    text
      .slice(Math.max(0, start - reach), start)
      .split(/\n\s*\n/)
      .at(-1) ?? ''
  }${text.slice(start, end)}${afterIn(text, end)}`;
  return defense.test(paragraph) || foreignDefense.test(paragraph) || topic.test(headingBefore(text, start));
};

/** Returns the passage with the rest of its sentence before it. */
const sentenceAround = (text: string, start: number, end: number): string => {
  const first = start + text.slice(start, end).search(/\S|$/);
  const before = text.slice(Math.max(0, first - reach), first);
  const from = Math.max(before.lastIndexOf('. '), before.lastIndexOf('\n'), -1) + 1;
  return `${before.slice(from)}${text.slice(first, end + 80).split(/[.!?](?=\s|$)|\n/, 1)[0] ?? ''}`;
};

/** Returns up to 80 characters after the passage in the same paragraph. */
const afterIn = (text: string, end: number): string => text.slice(end, end + 80).split('\n\n', 1)[0] ?? '';

/** Whether the passage is in a table or an item of a list. */
const isListed = (text: string, start: number): boolean => {
  const lineStart = lineStartOf(text, start);
  return (
    /^\s{0,12}(?:[-*+|]|\d{1,2}[.)])\s/.test(text.slice(lineStart, lineStart + 16)) ||
    text.slice(lineStart, start).includes('|')
  );
};

const maxHeadingDistance = 4000;

/** Returns the nearest heading above the passage. */
const headingBefore = (text: string, start: number): string => {
  const above = text.slice(Math.max(0, start - maxHeadingDistance), start);
  const place = above.lastIndexOf('\n#');
  return place === -1 ? '' : (above.slice(place + 1).split('\n', 1)[0] ?? '');
};
