import { foldText } from '../text/fold.js';
import { languageBit } from '../text/lexicon.js';
import type { Language } from '../text/languages-more.js';
import { languages } from '../text/languages.js';
import { once } from '../text/once.js';
import { unlessDenied, unlessNegated } from './negations.js';

/** A pattern of a request, for folded text. */
interface Phrase {
  readonly rule: string;
  /** Whether a match alone is an attempt; other matches need a second signal. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
  /** The bits of the stems of which a text with a match contains one each, at the beginning of a word. */
  readonly needs: number;
}

/** Alternative stems that begin words of a phrase. */
interface Stems {
  /** The source of an expression that matches one of them. */
  readonly source: string;
  readonly bit: number;
}

/** Creates a phrase from the parts of its pattern. */
const phrase = (rule: string, isStrong: boolean, ...parts: readonly (string | Stems)[]): Phrase => ({
  rule,
  isStrong,
  pattern: new RegExp(parts.map((part) => (typeof part === 'string' ? part : part.source)).join(''), 'gu'),
  needs: parts.reduce((bits, part) => (typeof part === 'string' ? bits : bits | part.bit), 0),
});

/** Finds stems at the beginning of words in one pass, by the first two letters of a word. */
class StemIndex {
  readonly #byLetters = new Map<number, { readonly stem: string; readonly bit: number }[]>();
  /** 1 for the hashes of the first two letters, which most words lack. */
  readonly #hashes = new Uint8Array(1 << hashBits);

  /** @param stem - folded, and of at least two characters */
  add(stem: string, bit: number): void {
    const key = keyOf(stem, 0);
    this.#hashes[hashOf(key)] = 1;
    const known = this.#byLetters.get(key);
    if (known === undefined) this.#byLetters.set(key, [{ stem, bit }]);
    else known.push({ stem, bit });
  }

  /** Returns the bits of the stems with which words of a folded text begin. */
  bitsIn(text: string): number {
    let bits = 0;
    let isInWord = false;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (!isInWord && this.#hashes[hashOf(keyOf(text, index))] === 1) {
        for (const { stem, bit } of this.#byLetters.get(keyOf(text, index)) ?? none) {
          if ((bits & bit) === 0 && text.startsWith(stem, index)) bits |= bit;
        }
      }
      // Letters beyond ASCII may begin a word: the patterns decide.
      isInWord = code >= 97 && code <= 122;
    }
    return bits;
  }
}

const none: readonly never[] = [];

const hashBits = 12;
const hashOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - hashBits);

const keyOf = (text: string, index: number): number => (text.charCodeAt(index) << 16) | text.charCodeAt(index + 1);

/** Phrases of one language. */
export interface PhraseGroup {
  readonly stems: StemIndex;
  readonly phrases: readonly Phrase[];
}

const source = (stems: string): string =>
  stems
    .split('|')
    .map((stem) =>
      foldText(stem.trim())
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replaceAll(' ', ' (?:\\S{1,20} ){0,2}?'),
    )
    .join('|');

/** Words that introduce a request. */
const leads =
  'favor|favore|devi|debes|debe|deves|deve|devez|dois|puis|allora|entao|agora|ahora|maintenant|adesso|bitte|prego|lutfen|prosze|пожалуйста|теперь|сейчас|jetzt|zuerst|alsjeblieft|ya que|primero|plait|assistant|asistente|assistente|assistent|ассистент|simplemente|semplicemente|einfach|просто|simplement';

/** Secrets that do not belong to the reader, in the languages below. */
const secrets =
  '(?:(?:\\.env\\b|\\.ssh\\b|\\.aws\\b|id_?rsa|api[- ]?key|(?<!tu |ton |seu |tuo |dein |su |votre |sua )(?:zugangsdaten|passw[oö]rter|schlussel|contrasenas|claves|credenciales|mots de passe|identifiants|cles|senhas|chaves|credenciais|chiavi|credenziali|password)|парол|ключ|секрет|密钥|密码|凭据|鍵|パスワード|認証情報|\u1107\u1175\u1106\u1175\u11af)|' +
  '(?<!\\p{L})(?:κωδικ|κλειδι|διαπιστευτ|הסיסמ|סיסמ|מפתח|המפתח|رمز عبور|رمزهای عبور|كلمات المرور|كلمة المرور|مفاتيح|المفاتيح|jelszo|jelszav|kulcs|parolele|parole |cheile|cheia|losenord|nycklar|nyckel|adgangskod|kodeord|nogler|nogle|passord|nokler|nokkel|salasan|avaim|kata sandi|kunci|mat khau|khoa )|รหัสผ่าน|पासवर्ड|পাসওয়ার্ড)';

/** Builds the phrases of a language from its stems. */
const phrasesOf = (name: string, language: Language): PhraseGroup => {
  const { dismiss, orders, earlier, everything, isSpaceless } = language;
  const index = new StemIndex();
  let lists = 0;
  /** Stems that begin words. In languages without spaces, and if one is a single letter, they are not indexed. */
  const stemsOf = (list: string): Stems => {
    const heads = list.split('|').map((stem) => foldText(stem.trim()).split(' ', 1)[0] ?? '');
    const isIndexed = isSpaceless !== true && heads.every(({ length }) => length > 1);
    const bit = isIndexed ? 1 << lists : 0;
    if (isIndexed) lists += 1;
    for (const head of isIndexed ? heads : []) index.add(head, bit);
    return { source: `(?:${source(list)})`, bit };
  };
  const gap = isSpaceless === true ? `[^。\\n.!?！？]{0,${name === 'ko' ? 40 : 12}}?` : '\\S{0,6} (?:\\S{1,20} ){0,4}?';
  const start = isSpaceless === true ? '' : '(?<![\\p{L}])';
  // A verb directly after a noun is a statement; a request begins its clause.
  const passive = isSpaceless === true ? '(?!さ?れ|される|되|된|됩)' : '';
  const asked =
    isSpaceless === true ? '(?<![会將将可动動认認])' : `(?:(?<!\\p{L}{4} )|(?<=(?:${leads}) ))(?<![\\p{L}])`;
  const [dismissal, object, earlierWord] = [stemsOf(dismiss), stemsOf(orders), stemsOf(earlier)];
  const verb = { ...dismissal, source: unlessNegated(dismissal.source, name, isSpaceless === true) };
  const inside = isSpaceless === true ? '[^。\\n.!?]{0,10}?' : '\\S{0,6} (?:\\S{1,20} ){0,4}?\\S{0,14}?';
  const denied = isSpaceless === true ? '' : unlessDenied;
  const found = [
    phrase('override', true, asked, verb, gap, earlierWord, inside, object.source, denied),
    phrase('override', true, asked, verb, gap, object, inside, earlierWord.source, denied),
    // The verb comes last in some languages.
    phrase(
      'override',
      true,
      start,
      earlierWord,
      inside,
      object.source,
      isSpaceless === true ? '[^。\\n.!?]{0,10}?' : '\\S{0,8} (?:\\S{1,20} ){0,2}?',
      verb,
      passive,
    ),
  ];
  if (everything !== undefined) {
    const allBefore = stemsOf(everything);
    const close = isSpaceless === true ? gap : '\\S{0,6} (?:\\S{1,20} ){0,2}?';
    found.push(phrase('override', true, start, verb, close, allBefore, denied));
    found.push(phrase('override', true, start, allBefore, gap, verb));
  }
  const {
    reveal,
    prompt,
    secrecy,
    persona,
    renewal,
    unbound,
    void: nullified,
    tell,
    not,
    lacking,
    limits,
    send,
  } = language;
  if (nullified !== undefined) {
    const invalid = stemsOf(nullified);
    found.push(phrase('override', true, start, earlierWord, inside, object.source, gap, invalid));
    found.push(phrase('override', true, start, object, inside, earlierWord.source, gap, invalid));
  }
  if (lacking !== undefined && limits !== undefined) {
    found.push(phrase('persona', true, start, stemsOf(lacking), inside, `(?:${source(limits)})`));
  }
  if (send !== undefined) {
    const [sending, clause] = [stemsOf(send), '[^!?\\n]{0,60}?'];
    found.push(phrase('theft', true, start, sending, clause, secrets, clause, '(?:https?://|[\\w.+-]{1,60}@[\\w-])'));
    if (isSpaceless === true) {
      // The verb ends the sentence of the address.
      found.push(
        phrase('theft', true, secrets, clause, '(?:https?://|[\\w.+-]{1,60}@[\\w-])', '[^!?。！？\\n]{0,60}?', sending),
      );
    }
  }
  if (tell !== undefined && not !== undefined) {
    const [telling, negation] = [stemsOf(tell), stemsOf(not)];
    const close = isSpaceless === true ? '[^。\\n.!?]{0,6}?' : '(?:\\S{0,8} ){1,3}?';
    found.push(
      phrase('secrecy', false, start, negation, isSpaceless === true ? close : ` (?:\\S{1,8} ){0,3}?`, telling),
    );
    found.push(phrase('secrecy', false, start, telling, close, negation, isSpaceless === true ? '' : '(?![\\p{L}])'));
  }
  if (reveal !== undefined && prompt !== undefined) {
    const [showing, shown] = [stemsOf(reveal), stemsOf(prompt)];
    found.push(phrase('prompt-theft', true, start, showing, gap, shown));
    found.push(phrase('prompt-theft', true, start, shown, gap, showing));
  }
  if (secrecy !== undefined) found.push(phrase('secrecy', false, start, stemsOf(secrecy)));
  const role = persona === undefined ? undefined : stemsOf(persona);
  if (role !== undefined) found.push(phrase('persona', false, start, role));
  if (role !== undefined && unbound !== undefined) {
    const capable =
      'pret|pront|puoi|peux|pouvez|pode|puede|listo|lista|может|готов|kann|konn|bereit|可以|使用|能|利用|사용';
    const between =
      isSpaceless === true ? `(?:(?!${capable})[^。\\n.!?]){0,24}?` : `(?:(?!${capable})[^.!?\\n]){0,60}?`;
    found.push(phrase('persona', true, start, role, between, `(?:${source(unbound)})`));
  }
  if (renewal !== undefined) {
    found.push(phrase('new-instructions', false, start, stemsOf(renewal), '\\S{0,6} ?[:：]'));
  }
  return { stems: index, phrases: found };
};

/**
 * Phrases that revoke a model's instructions, request protected data, or request secrecy towards the user. They combine
 * verb, object and authority, in the languages that the threat model names.
 * A sentence must have the bit of the language.
 */
export const phraseGroups: readonly (readonly [language: number, group: () => PhraseGroup])[] = Object.entries(
  languages,
).map(([name, language]) => [languageBit(name), once(() => phrasesOf(name, language))]);
