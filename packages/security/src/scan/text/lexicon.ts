import { languages, markers } from './languages.js';
import { WordTable } from './word-table.js';

/** Classes of an English word, as bits in two numbers. */
export interface WordClasses {
  readonly first: number;
  readonly second: number;
}

/* Bits of `first`. */
export const DISMISS = 1 << 0;
export const ORDERS = 1 << 1;
export const EARLIER = 1 << 2;
export const YOU = 1 << 3;
export const REVEAL = 1 << 4;
export const SEND = 1 << 5;
export const SECRET = 1 << 6;
export const USER = 1 << 7;
export const AGENT = 1 << 8;
export const MUST = 1 << 9;
export const NOT = 1 << 10;
export const TELL = 1 << 11;
export const COVERT = 1 << 12;
export const PERSONA = 1 << 13;
export const UNBOUND = 1 << 14;
export const LIMIT = 1 << 15;
export const VOID = 1 << 16;
export const RUN = 1 << 17;
export const STEER = 1 << 18;
export const ANSWER = 1 << 19;
export const TASK = 1 << 20;
export const AUTHORITY = 1 << 21;
export const GRANT = 1 << 22;
export const APPROVAL = 1 << 23;
export const PROTECTION = 1 << 24;
export const DISABLE = 1 << 25;
export const ADDRESS = 1 << 26;
export const CLAUSE = 1 << 27;
export const BASE = 1 << 28;
export const EMPHASIS = 1 << 29;
export const HARM = 1 << 30;

/* Bits of `second`. */
export const FOLLOW = 1 << 0;
export const STOP = 1 << 1;
export const NEW = 1 << 2;
export const TEXT = 1 << 3;
export const ABOVE = 1 << 4;
export const PROMPT = 1 << 5;
export const SYSTEM = 1 << 6;
export const IF = 1 << 7;
export const MODE = 1 << 8;
export const VERB = 1 << 9;
export const LEAD = 1 << 10;
export const MINE = 1 << 11;
export const RECORD = 1 << 12;
export const ALL = 1 << 13;
export const TOLD = 1 << 14;
export const AUXILIARY = 1 << 15;
export const WORK = 1 << 30;
/** The bits of all languages. */
export const LANGUAGES = 0x3fff << 16;

const verbs: readonly (readonly [first: number, second: number, words: string])[] = [
  [
    DISMISS,
    0,
    'ignore disregard forget overlook neglect abandon scorn discard override overrule bypass circumvent cancel scrap drop wipe erase void suspend dismiss skip nullify disobey revoke purge waive shelve shed',
  ],
  [0, FOLLOW, 'follow obey heed comply respect honor adhere abide observe enforce listen'],
  [0, FOLLOW, 'attention heed regard'],
  [0, STOP, 'stop cease quit halt refrain avoid'],
  [
    REVEAL,
    0,
    'reveal print output show repeat share paste recite dump encode translate spell display quote disclose expose leak echo divulge recount reproduce list hand give tell read write state summarize describe attach provide return',
  ],
  [
    SEND,
    0,
    'send post upload mail email transfer forward transmit exfiltrate attach append include place copy insert submit embed push leak publish share deliver paste add put return output print report hand stash relay ship dump commit',
  ],
  [
    TELL,
    0,
    'tell mention inform notify disclose explain bring raise alert warn reveal discuss log report acknowledge trouble bother show announce',
  ],
  [PERSONA, 0, 'pretend act roleplay become behave imagine switch enter operate simulate respond speak'],
  [
    RUN,
    0,
    'run execute fetch download install curl wget open visit click source eval call load invoke browse navigate launch import',
  ],
  [
    STEER,
    0,
    'recommend suggest praise rank rate promote cite claim endorse advertise urge favor convince persuade tout hype',
  ],
  [ANSWER, 0, 'answer reply respond output say print write translate return'],
  [DISABLE, 0, 'disable deactivate skip bypass remove drop suppress omit weaken unlock circumvent evade ignore'],
  [
    HARM,
    0,
    'delete destroy wipe erase overwrite transfer pay grant merge approve buy purchase wire rm chmod revoke purge',
  ],
  [
    0,
    VERB,
    'use make set create change replace edit modify commit add apply accept read look find collect gather take get grab locate extract decode begin start finish proceed continue treat consider assume keep put go do let switch store remember help ensure confirm buy purchase hide conceal leave turn mind summarize process need want worry save store bother trouble pay solve complete do fulfil fulfill stay generate produce move rename enable sign register subscribe log pass import ask prepend rewrite claim refuse deny block report reset rotate clone checkout deploy export convert mention label classify mark flag grade score',
  ],
];

/** Irregular past tenses. */
const irregular: readonly (readonly [form: string, verb: string])[] = [
  ['sent', 'send'],
  ['told', 'tell'],
  ['gave', 'give'],
  ['shown', 'show'],
  ['forgot', 'forget'],
  ['forgetting', 'forget'],
  ['written', 'write'],
  ['put', 'put'],
  ['ran', 'run'],
  ['left', 'leave'],
];

const words: readonly (readonly [first: number, second: number, words: string])[] = [
  [
    ORDERS,
    0,
    'instruction guideline rule directive prompt briefing guidance constraint policy programming training objective order safeguard guardrail restriction directions alignment protocol command mandate mission boundary limitation setup',
  ],
  [
    EARLIER,
    0,
    'previous prior earlier above preceding foregoing former original initial existing current usual old past started beginning previously formerly priors standing default',
  ],
  [YOU, 0, "you your yours yourself you're you've u ur you'll you'd"],
  [
    SECRET,
    0,
    'secret credential password passphrase token apikey .env env environment cookie .npmrc .netrc .ssh .aws idrsa ided25519 .pypirc .pgpass .kube .gnupg keychain wallet seed mnemonic card ssn passwd keys key shadow',
  ],
  [
    USER,
    0,
    'user human developer reader anyone anybody visitor customer person operator owner maintainer programmer people everyone client employer them engineer colleague he she him her reviewer nobody noone auditor',
  ],
  [
    AGENT,
    0,
    'ai llm assistant agent chatbot bot copilot claude chatgpt gpt gemini codex cursor crawler ais summarizer summariser windsurf devin grok',
  ],
  [
    MUST,
    0,
    'must should shall need needs required require requires ought have has mandatory expected obliged supposed always never please kindly ensure remember',
  ],
  [
    NOT,
    0,
    "not never don't dont no without neither nor nothing mustn't shouldn't can't cannot doesn't isn't aren't won't none",
  ],
  [COVERT, 0, 'quietly secretly silently covertly confidential discreetly hide conceal stealthily unnoticed invisibly'],
  [
    UNBOUND,
    0,
    'unrestricted unfiltered uncensored jailbroken unaligned unbound unlimited amoral limitless jailbreak dan unhinged',
  ],
  [
    LIMIT,
    0,
    'restriction rule limit filter constraint ethics moral guideline limitation censorship safeguard guardrail boundary policy',
  ],
  [
    VOID,
    0,
    'void expired null cancelled canceled decoy obsolete invalid revoked rescinded drill outdated superseded suspended lifted irrelevant fake overridden nullified waived off expire deactivated binding relevant valid apply applies count counts bind binds exist matter matters aside hold disabled withdrawn replaced removed updated changed side ignored disregarded forgotten discarded',
  ],
  [
    TASK,
    0,
    'question task request summary document assignment job query context article results ticket objective assignment translation',
  ],
  [
    AUTHORITY,
    0,
    'admin administrator anthropic openai google microsoft supervisor lead ceo manager management team creator developer owner maintainer operator boss security moderator',
  ],
  [
    GRANT,
    0,
    'authorized authorised cleared approved granted permitted decided verified exempt exemption lifted consented agreed allowed cleared authorization authorisation clearance',
  ],
  [APPROVAL, 0, 'approval confirmation permission consent confirm review reviewing asking confirmations reading'],
  [
    PROTECTION,
    0,
    'safety security verification certificate certificates sandbox checks filters safeguards moderation content ethical ethics moral tls ssl auth authentication antivirus firewall validation guardrails hashing encryption permissions linter',
  ],
  [
    EMPHASIS,
    0,
    'only always never nothing exactly just first best highest positive favorable favourable top leader safe leading trusted superior perfect full maximum everyone every whatever',
  ],
  [HARM, 0, 'backdoor malware keylogger rootkit phishing'],
  [0, NEW, 'new real actual true updated revised valid sole genuine only'],
  [
    0,
    TEXT,
    'text words content everything message message lines contents line paragraph conversation tokens sentence anything all input prompt',
  ],
  [0, ABOVE, 'above preceding before beforehand prior earlier foregoing far'],
  [
    0,
    PROMPT,
    'prompt preprompt pre-prompt instructions instruction configuration rules guidelines briefing directives setup message persona preamble metaprompt',
  ],
  [0, SYSTEM, 'system initial setup developer hidden starting first original secret internal confidential opening'],
  [0, IF, 'if when whenever unless'],
  [0, MODE, 'mode'],
  [0, AUXILIARY, 'will can could would does is was were may might'],
  [
    0,
    WORK,
    'bother mind summarize summarizing process processing need continue solve complete finish worry want answer',
  ],
  [
    0,
    LEAD,
    'please kindly then and now just first also instead rather or immediately simply next must should shall always quietly secretly silently',
  ],
  [0, MINE, 'i my me we our us mine'],
  [
    0,
    RECORD,
    'summary commit answer reply response summaries chat history comments review log changelog report message',
  ],
  [0, ALL, 'all any every each everything whatever entire'],
  [
    0,
    TOLD,
    'told given received asked instructed taught said learned started got have handed issued provided shown assigned configured trained',
  ],
];

/** Returns the bit of a language in `second`. */
export const languageBit = (name: string): number => 1 << (16 + Object.keys(languages).indexOf(name));

const inflected = (verb: string): readonly string[] => {
  const stem = verb.endsWith('e') ? verb.slice(0, -1) : verb;
  const doubled = /[^aeiou][aeiou][bgmnpt]$/.test(verb) ? `${verb}${verb.at(-1)}` : stem;
  return [/(?:s|x|sh|ch)$/.test(verb) ? `${verb}es` : `${verb}s`, `${doubled}ed`, `${doubled}ing`, `${stem}ing`];
};

const lexiconOf = (): ReadonlyMap<string, WordClasses> => {
  const entries = new Map<string, { first: number; second: number }>();

  const put = (word: string, first: number, second: number): void => {
    const known = entries.get(word);
    if (known === undefined) entries.set(word, { first, second });
    else {
      known.first |= first;
      known.second |= second;
    }
  };

  for (const [first, second, list] of verbs) {
    for (const verb of list.split(' ')) {
      put(verb, first | BASE, second | VERB);
      for (const form of inflected(verb)) put(form, first, second);
    }
  }
  for (const [first, second, list] of words) {
    for (const word of list.split(' ')) {
      put(word, first, second);
      if ((first & (ORDERS | SECRET | USER | AGENT | LIMIT | TASK | AUTHORITY)) !== 0 && !word.endsWith('s')) {
        put(word.endsWith('y') && !/[aeo]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`, first, second);
        put(`${word}'s`, first, second);
      }
    }
  }

  for (const [name, list] of Object.entries(markers)) {
    for (const word of list.split(' ')) put(word, 0, languageBit(name));
  }
  for (const [form, verb] of irregular) {
    const known = entries.get(verb);
    if (known !== undefined && form !== verb) put(form, known.first & ~BASE, known.second);
  }
  return entries;
};

/** The classes of English words and of their inflected forms. */
export const lexicon: WordTable<WordClasses> = new WordTable(lexiconOf());
