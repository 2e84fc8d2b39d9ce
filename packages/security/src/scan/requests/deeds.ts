import { hasAsk, has, isAsked, isNegated, lastVerb, near, type View } from '../text/clauses.js';
import * as is from '../text/lexicon.js';
import type { Sentence } from '../text/sentences.js';

const strongSecret =
  /^(?:credentials?|passwords?|passphrases?|\.env|\.npmrc|\.netrc|\.ssh|\.aws|idrsa|ided25519|\.pypirc|\.pgpass|\.kube|\.gnupg|apikeys?|keychains?|wallets?|mnemonics?|shadow|passwd|seeds?|secrets)$/;

const harmless =
  /^(?:resets?|links?|managers?|polic(?:y|ies)|fields?|forms?|rotation|header|hash|type|length|limits?|names?|bucket|store|provider|parameter|argument|option|variable|prompts?|responses?|\.?(?:example|sample|template)|is|are|should|must|will)$/;

const takingVerb = /^(?:read|collect|gather|get|grab|tak|extract|look|open|find|copy|locat|steal|harvest|list|load)/;

const pronoun = /^(?:this|it|that|these|so|why|what|any|anything|about)$/;

/** Weighs requests to conceal something from the user. */
export const concealment = ({ words, all }: View): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    if (has(word, is.COVERT) && /ly$|^unnoticed/.test(word.text) && !isNegated(words, at)) {
      const verb = near(words, at, 2, 3, is.BASE);
      const deed = words[verb]?.text ?? '';
      const isCommon =
        word.text === 'silently' && /^(?:ignore|drop|fail|skip|discard|continue|return|update|install|run)/.test(deed);
      if (verb !== -1) worst = Math.max(worst, isCommon ? 1 : 2);
    }
    // `cannot be reported` asks for nothing.
    if (!has(word, is.TELL) || !isNegated(words, at) || all[word.position - 1] === 'be') continue;
    const isCovert = word.text.endsWith('ing');
    const user = near(words, at, 0, 5, is.USER);
    const rest = all.slice(word.position + 1, word.position + 7);
    const isAbout = rest.some((one) => pronoun.test(one));
    if (user !== -1 && isCovert) worst = Math.max(worst, 3);
    else if (user !== -1 && (isAbout || rest.length <= 3)) worst = Math.max(worst, 2);
    else if (user !== -1 || isAbout || isCovert) worst = Math.max(worst, 1);
  }
  return worst;
};

/** Weighs requests to read or send secrets that do not belong to the reader. */
export const taking = ({ words, all, joined }: View): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    // A quoted label is not a secret.
    if (!has(word, is.SECRET) || word.sign === '"') continue;
    const before = all[word.position - 1] ?? '';
    const after = all[word.position + 1] ?? '';
    if (word.text === '.env' && before === 'process') continue;
    if (harmless.test(after)) continue;
    if (/^(?:to|into|in|your|via|with|by|of)$/.test(before) && before !== 'of' && word.text.startsWith('.')) continue;
    const sending = lastVerb(words, at, is.SEND | is.REVEAL);
    const verb = sending === -1 ? lastVerb(words, at, is.RUN, is.VERB) : sending;
    if (verb === -1 || isNegated(words, verb) || has(words[verb], 0, is.STOP)) continue;
    // `leaks passwords` describes and does not ask.
    if (/[^s]s$/.test(words[verb]?.text ?? '')) continue;
    if (!hasAsk(words) && !words.some((one) => has(one, is.AGENT | is.YOU))) continue;
    if (!has(words[verb], is.SEND | is.REVEAL) && !takingVerb.test(words[verb]?.text ?? '')) continue;
    if (before === 'encrypted') continue;
    const isSent = has(words[verb], is.SEND | is.REVEAL);
    const isStrong = strongSecret.test(word.text);
    const around = all.slice(Math.max(0, word.position - 6), word.position).join(' ');
    const isTheirs =
      /\b(?:user|user's|developer|developer's|her|his|repo|repository|owner|customer|visitor|victim|people)\b/.test(
        `${around} ${all.slice(word.position + 1, word.position + 4).join(' ')}`,
      );
    const isBulk = /\b(?:contents?|values?|all|every|any|a copy|full)\b/.test(around);
    const isOut = words.some(
      (one, index) => index > verb && (has(one, is.ADDRESS) || (has(one, 0, is.RECORD) && index !== at)),
    );
    const isChain = words.some((one, index) => index > at && has(one, is.SEND) && (one.first & is.BASE) !== 0);
    const weight =
      (isChain ? 1 : 0) +
      (isStrong || isTheirs || isBulk ? 2 : 1) +
      (isTheirs ? 1 : 0) +
      (isBulk ? 1 : 0) +
      (isOut ? 1 : 0);
    worst = Math.max(worst, isSent ? weight : weight - 1);
  }
  if (/\b(?:header|authorization|vault|dashboard|keyring|secret manager|settings|gitignore)\b/.test(joined)) worst -= 2;
  else if (worst > 0 && keepsSecrets({ words, all, joined })) worst -= 2;
  return worst;
};

const unshown =
  /\b(?:never|not|don't|without) (?:\S+ ){0,3}?(?:log|print|echo|commit|expose|leak|publish|hardcode|paste|show|push|write|writing|store|save|repeat)(?:s|t?ed|g?ing|t?ing)?\b(?!(?: \S+){0,6}? (?:users?|human|owner|developer|maintainer|reviewer|anyone|people)\b)/;
/** Matches what makes a sentence more than advice: a way out, the secrets of others, all of them, or a document. */
const leaving =
  /\b(?:send|post|upload|e-?mail|transmit|forward|exfiltrate|submit|relay|ship|include|append|attach|embed|public|contents?|values?|all|every|readme|changelog|commit message|comments?|docs|wiki|gist|answer|reply)\b|\.md\b|~|\.(?:ssh|aws|npmrc|netrc|pem|kube|gnupg)\b/;

/**
 * Whether a sentence about secrets forbids showing them, and lets none leave: `write the key to the file and never print
 * it`. What hides them from the user is a request for secrecy.
 */
export const keepsSecrets = ({ words, joined }: View): boolean =>
  words.some((word) => has(word, is.SECRET)) &&
  unshown.test(joined) &&
  !words.some((word) => has(word, is.ADDRESS)) &&
  !leaving.test(joined);

/** Weighs waivers of approvals, and rights granted in the name of an authority. */
export const permission = ({ words, all, joined }: View): number => {
  let worst = 0;
  let granted = 0;
  for (const [at, word] of words.entries()) {
    if (has(word, is.APPROVAL)) {
      const not = near(words, at, 5, 4, is.NOT);
      const off = near(words, at, 5, 0, is.DISABLE);
      if (not !== -1 || off !== -1) worst = Math.max(worst, 1);
    }
    if (
      has(word, is.GRANT) &&
      near(words, at, 6, 0, is.AUTHORITY) !== -1 &&
      (near(words, at, 6, 6, is.YOU) !== -1 || all.includes('already') || all.includes('pre') || all.includes('hereby'))
    ) {
      granted = 2;
    }
  }
  if (
    /\b(?:i am|i'm|we are|this is) (?:from |the |your |an? ){1,2}(?:\S+ )?(?:admin|administrator|developer|creator|anthropic|openai|owner|supervisor|operator|security team)\b|\bi am testing you\b|\bi'm from (?:anthropic|openai|google)\b/.test(
      joined,
    )
  ) {
    granted = Math.max(granted, 2);
  }
  return worst + granted;
};

/** Weighs requests to weaken protection, open access or run foreign code. */
export const sabotage = ({ words, all }: View, text: string, { start, end }: Sentence): number => {
  let worst = 0;
  const sentence = text.slice(start, end);
  for (const [at, word] of words.entries()) {
    if (!isAsked(words, at) || isNegated(words, at)) continue;
    if (has(word, is.DISABLE) && near(words, at, 0, 6, is.PROTECTION | is.APPROVAL) !== -1) worst = Math.max(worst, 2);
    if (has(word, is.HARM)) worst = Math.max(worst, 1);
    if (
      /^(?:add|create|insert|grant|give)$/.test(word.text) &&
      /\b(?:admin|root|owner|superuser) (?:account|user|rights|access|role)|\b(?:hidden|second|secret) (?:admin|account|user)|\baccess token\b|\bbackdoor\b|\bcollaborator\b|\bpublic key\b/.test(
        sentence,
      )
    ) {
      worst = Math.max(worst, 2);
    }
    if (
      has(word, is.RUN | is.SEND) &&
      words.some((one) => has(one, is.ADDRESS)) &&
      !words.some((one) => has(one, is.SECRET))
    ) {
      worst = Math.max(worst, 1);
    }
    if (
      has(word, is.HARM) &&
      /\b(?:tests?|database|home|all files|everything|repo(?:sitory)?|branch|pull request|without|number|money|funds)\b/.test(
        sentence,
      )
    ) {
      worst = Math.max(worst, 2);
    }
    if (/\.(?:zsh|bash)rc\b|\bcrontab\b|\bgit remote\b|\bremote origin\b|\bauthorizedkeys\b/.test(sentence)) {
      worst = Math.max(worst, 1);
    }
  }
  if (
    /\b(?:curl|wget)\b[^|]{0,200}\|\s?(?:sudo )?(?:ba|z)?sh\b|\b(?:ba|z)?sh <\( ?curl|\bpipe (?:it|this|that) (?:in)?to (?:ba|z)?sh\b|\biex\b/.test(
      text.slice(start, end + 120),
    ) &&
    all.some((one) => /^(?:run|add|execute|first|must)$/.test(one))
  ) {
    worst = Math.max(worst, 2);
  }
  return worst;
};
