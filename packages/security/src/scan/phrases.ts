import { englishRequests } from './english-requests.js';
import { english, phrase, type Phrase } from './english.js';
import { foldText } from './fold.js';
import { languages, type Language } from './languages.js';

/** Phrases of one language. */
export interface PhraseGroup {
  /** What each phrase has in it. The phrases are looked for around it; without a hint, everywhere. */
  readonly hint?: RegExp | undefined;
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

/** Words after which a request continues. */
const leads =
  'favor|favore|devi|debes|debe|deves|deve|devez|dois|puis|allora|entao|agora|ahora|maintenant|adesso|bitte|prego|lutfen|prosze|пожалуйста|теперь|сейчас|jetzt|zuerst|alsjeblieft|ya que|primero|plait|assistant|asistente|assistente|assistent|ассистент|simplemente|semplicemente|einfach|просто|simplement';

/** The forms of a language, from its words. */
const phrasesOf = (language: Language): PhraseGroup => {
  const { dismiss: verbs, orders: objects, earlier: which, everything, isSpaceless } = language;
  const gap = isSpaceless === true ? '[^。\\n.!?！？]{0,12}?' : '\\S{0,6} (?:\\S{1,20} ){0,4}?';
  const start = isSpaceless === true ? '' : '(?<![\\p{L}])';
  // A verb directly after a noun states what something does; a request begins its clause.
  const asked =
    isSpaceless === true ? '(?<![会將将可动動认認])' : `(?:(?<!\\p{L}{4} )|(?<=(?:${leads}) ))(?<![\\p{L}])`;
  const [verb, object, earlierWord] = [verbs, objects, which].map((stems) => `(?:${source(stems)})`) as [
    string,
    string,
    string,
  ];
  const inside = isSpaceless === true ? '[^。\\n.!?]{0,10}?' : '\\S{0,6} (?:\\S{1,20} ){0,2}?';
  const found = [
    phrase('override', true, asked, verb, gap, earlierWord, inside, object),
    phrase('override', true, asked, verb, gap, object, inside, earlierWord),
    // The verb comes last in some languages.
    phrase(
      'override',
      true,
      start,
      earlierWord,
      inside,
      object,
      isSpaceless === true ? '[^。\\n.!?]{0,10}?' : '\\S{0,8} (?:\\S{1,20} ){0,2}?',
      verb,
    ),
  ];
  if (everything !== undefined) {
    found.push(
      phrase(
        'override',
        true,
        start,
        verb,
        isSpaceless === true ? gap : '\\S{0,6} (?:\\S{1,20} ){0,2}?',
        `(?:${source(everything)})`,
      ),
    );
    found.push(phrase('override', true, start, `(?:${source(everything)})`, gap, verb));
  }
  const { reveal, prompt, secrecy, persona, renewal, unbound } = language;
  if (reveal !== undefined && prompt !== undefined) {
    found.push(phrase('prompt-theft', true, start, `(?:${source(reveal)})`, gap, `(?:${source(prompt)})`));
    found.push(phrase('prompt-theft', true, start, `(?:${source(prompt)})`, gap, `(?:${source(reveal)})`));
  }
  if (secrecy !== undefined) found.push(phrase('secrecy', false, start, `(?:${source(secrecy)})`));
  if (persona !== undefined) found.push(phrase('persona', false, start, `(?:${source(persona)})`));
  if (persona !== undefined && unbound !== undefined) {
    const capable =
      'pret|pront|puoi|peux|pouvez|pode|puede|listo|lista|может|готов|kann|konn|bereit|可以|使用|能|利用|사용';
    const between =
      isSpaceless === true ? `(?:(?!${capable})[^。\\n.!?]){0,24}?` : `(?:(?!${capable})[^.!?\\n]){0,60}?`;
    found.push(phrase('persona', true, start, `(?:${source(persona)})`, between, `(?:${source(unbound)})`));
  }
  if (renewal !== undefined) {
    found.push(phrase('new-instructions', false, start, `(?:${source(renewal)})\\S{0,6} ?[:：]`));
  }
  const hints = [verbs, prompt, secrecy, persona, renewal].flatMap((stems) => stems?.split('|') ?? []).map(hintOf);
  return { hint: new RegExp([...new Set(hints)].join('|'), 'gu'), phrases: found };
};

/** The longest word of a stem, which is the rarest part of it; all of it, if its words are short. */
const hintOf = (stem: string): string => {
  const folded = foldText(stem.trim());
  const longest = folded.split(' ').reduce((one, other) => (other.length > one.length ? other : one));
  return (longest.length >= 5 ? longest : folded).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
};

/**
 * Requests that take a model's instructions from it, ask for what it must not give, or ask it to keep something from its
 * user: verb, object and authority, in the languages that the threat model names.
 */
export const phraseGroups: readonly PhraseGroup[] = [
  { phrases: [...english, ...englishRequests] },
  ...Object.values(languages).map(phrasesOf),
];
