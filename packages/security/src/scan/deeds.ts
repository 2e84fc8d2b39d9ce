import { hasAsk, has, isAsked, isNegated, lastVerb, near, type View } from './clauses.js';
import { attempt } from './finding.js';
import * as is from './lexicon.js';
import type { Sentence } from './sentences.js';

const strongSecret =
  /^(?:credentials?|passwords?|passphrases?|\.env|\.npmrc|\.netrc|\.ssh|\.aws|idrsa|ided25519|\.pypirc|\.pgpass|\.kube|\.gnupg|apikeys?|keychains?|wallets?|mnemonics?|shadow|passwd|seeds?|secrets)$/;

const keyKind = /^(?:api|ssh|private|deploy|access|secret|signing|session|auth|license|bearer|credit|debit)$/;

const determiner =
  /^(?:the|all|any|every|each|these|those|her|his|their|its|users?|user's|owner's|developer's|customer's|and|or|of|for)$/;

const harmless =
  /^(?:resets?|links?|managers?|polic(?:y|ies)|fields?|forms?|rotation|header|hash|type|length|limits?|names?|bucket|store|provider|parameter|argument|option|variable|prompts?|\.?(?:example|sample|template)|is|are|should|must|will)$/;

const takingVerb = /^(?:read|collect|gather|get|grab|tak|extract|look|open|find|copy|locat|steal|harvest|list|load)/;

const pronoun = /^(?:this|it|that|these|so|why|what|any|anything|about)$/;

/** Weighs requests to conceal something from the user. */
export const concealment = ({ words, all, joined }: View): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    if (
      has(word, is.COVERT) &&
      /ly$|^unnoticed/.test(word.text) &&
      !isNegated(words, at) &&
      !/ed$|^caught$/.test(all[word.position + 1] ?? '')
    ) {
      const verb = near(words, at, 2, 3, is.BASE);
      const deed = words[verb]?.text ?? '';
      const isCommon =
        word.text === 'silently' && /^(?:ignore|drop|fail|skip|discard|continue|return|update|install|run)/.test(deed);
      if (verb !== -1) worst = Math.max(worst, isCommon ? 1 : 2);
    }
    if (/^keep|^stay/.test(word.text) && !isNegated(words, at)) {
      const rest = all.slice(word.position + 1, word.position + 7).join(' ');
      if (
        /^(?:it|this|that|them|these|our)?\s?(?:\S+ ){0,2}?(?:secret|quiet|private|confidential|silent|between us)\b|^(?:it|this|that) to (?:yourself|itself)/.test(
          rest,
        ) &&
        !/\b(?:token|key|password|secret|data|prompt)\b/.test(rest.slice(0, 18))
      ) {
        worst = Math.max(worst, 2);
      }
    }
    // `cannot be reported` asks for nothing.
    if (!has(word, is.TELL) || !isNegated(words, at) || all[word.position - 1] === 'be') continue;
    const isCovert = word.text.endsWith('ing');
    const user = near(words, at, 0, 5, is.USER);
    const rest = all.slice(word.position + 1, word.position + 7);
    const isAbout = rest.some((one) => pronoun.test(one));
    const isThis =
      /^(?:this|that|these) (?:rule|instruction|step|message|note|file|line|text|request|change|command|section)s?\b|^that this (?:text|file|note|message|rule)\b/.test(
        rest.join(' '),
      );
    if (user !== -1 && isCovert) worst = Math.max(worst, 3);
    else if (isThis || (user !== -1 && (isAbout || rest.length <= 3))) worst = Math.max(worst, 2);
    else if (user !== -1 || isAbout || isCovert) worst = Math.max(worst, 1);
  }
  if (
    /\b(?:not|never|don't) (?:warn|alert|inform|tell) (?:the )?(?:user|developer|customer)s? (?:about|of) .*\b(?:vulnerab|risk|danger|security|malware|breach)/.test(
      joined,
    )
  ) {
    worst = attempt;
  }
  if (
    /\b(?:hide|conceal) (?:these|the|all|your|any) (?:\S+ )?(?:changes?|steps?|actions?|commands?|edits?) from\b.*\b(?:user|developer|reviewer|owner)\b/.test(
      joined,
    )
  ) {
    worst = attempt;
  }
  if (/\b(?:hide|conceal) (?:this|it|that|them|these) (?:from|among|in)\b/.test(joined)) worst = Math.max(worst, 2);
  if (
    /\b(?:leave|omit) (?:it|this|that|them) out of (?:your|the)|\bout of (?:your|the) (?:summary|report|changelog)|\bbetween (?:us|you and me)\b|\bno need to (?:tell|inform|trouble|bother|ask) (?:the|them|him|her)/.test(
      joined,
    )
  ) {
    worst = Math.max(worst, 2);
  }
  if (
    /\b(?:never|not|don't) (?:point (?:it|this|that|out)|bring .{0,30}(?:up|attention)|write about (?:it|this))|\btell (?:nobody|no one)\b|\battention of the (?:user|reviewer|developer)|\bon (?:the user's|their|her|his) behalf\b|\bno reason to (?:check with|ask|tell) the user/.test(
      joined,
    )
  ) {
    worst = Math.max(worst, 2);
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
    // `translation keys` are no secrets, and `secrets.ts` is a file of code.
    if (/^keys?$/.test(word.text) && !keyKind.test(before) && !determiner.test(before)) continue;
    if (/^\.(?:[jt]sx?|py|go|rs|md|rb|java)$/.test(after) || (word.text === '.env' && before === 'process')) continue;
    if (
      harmless.test(after) ||
      /^(?:your|my|our|own|public)$/.test(before) ||
      /^(?:your|my|own|public)$/.test(all[word.position - 2] ?? '')
    ) {
      continue;
    }
    if (/^(?:to|into|in|your|via|with|by|of)$/.test(before) && before !== 'of' && word.text.startsWith('.')) continue;
    const sending = lastVerb(words, at, is.SEND | is.REVEAL);
    const verb = sending === -1 ? lastVerb(words, at, is.RUN, is.VERB) : sending;
    if (verb === -1 || isNegated(words, verb) || has(words[verb], 0, is.STOP)) continue;
    // `leaks passwords` describes and does not ask.
    if (/[^s]s$/.test(words[verb]?.text ?? '')) continue;
    if (!hasAsk(words) && !words.some((one) => has(one, is.AGENT | is.YOU))) continue;
    if (!has(words[verb], is.SEND | is.REVEAL) && !takingVerb.test(words[verb]?.text ?? '')) continue;
    if (before === 'encrypted') continue;
    const isSent =
      has(words[verb], is.SEND | is.REVEAL) ||
      words.some(
        (one, index) =>
          index > at && has(one, is.SEND) && /^(?:it|them|these|their|its|all)$/.test(all[one.position + 1] ?? ''),
      );
    const isStrong = strongSecret.test(word.text) || keyKind.test(before);
    const around = all.slice(Math.max(0, word.position - 6), word.position).join(' ');
    const isTheirs =
      /\b(?:user|user's|developer|developer's|her|his|repo|repository|owner|customer|visitor|victim|people)\b/.test(
        `${around} ${all.slice(word.position + 1, word.position + 4).join(' ')}`,
      );
    const isBulk =
      /\b(?:contents?|values?|all|every|any|a copy|full)\b/.test(around) ||
      /^(?:that )?you (?:can )?(?:find|see|have|access|reach)/.test(
        all.slice(word.position + 1, word.position + 5).join(' '),
      );
    const isOut = words.some(
      (one, index) => index > verb && (has(one, is.ADDRESS) || (has(one, 0, is.RECORD) && index !== at)),
    );
    const isChain = words.some((one, index) => index > at && has(one, is.SEND) && (one.first & is.BASE) !== 0);
    const weight =
      (isChain ? 1 : 0) +
      (isStrong || isTheirs || isBulk ? 2 : 1) +
      (/\b(?:mail|email|send|give|tell) me\b/.test(joined) ? 1 : 0) +
      (isTheirs ? 1 : 0) +
      (isBulk ? 1 : 0) +
      (isOut ? 1 : 0);
    worst = Math.max(worst, isSent ? weight : weight - 1);
  }
  if (
    /\b(?:reply|respond|answer) (?:to \S+ )?with (?:the |your |all )(?:\S+ )?(?:token|password|secret|key|credentials?)\b/.test(
      joined,
    )
  ) {
    worst = Math.max(worst, 3);
  }
  if (/\b(?:in|from|of) your environment\b/.test(joined) && worst > 0) worst += 1;
  if (
    /\b(?:send|give|tell|show|email|mail) me your (?:\S+ )?(?:key|keys|password|token|secrets?|credentials)\b/.test(
      joined,
    )
  ) {
    worst = attempt;
  }
  if (/\b(?:password|secret|token|key|credentials?)s? with me\b/.test(joined)) worst = Math.max(worst, 3);
  if (
    /\buser'?s (?:\S+ )?(?:messages|files|data|emails|conversations?|documents|history|code)\b/.test(joined) &&
    words.some((one, at) => has(one, is.SEND) && (isAsked(words, at) || all.includes('kindly'))) &&
    words.some((one) => has(one, is.ADDRESS))
  ) {
    worst = attempt;
  }
  if (/\bexfiltrate\b/.test(joined) && words.some((one, at) => one.text === 'exfiltrate' && isAsked(words, at))) {
    worst = Math.max(worst, 3);
  }
  if (
    /\b(?:customer|user|contact|client|employee|patient)s? (?:list|data|records|database)\b/.test(joined) &&
    words.some((one, at) => has(one, is.SEND) && isAsked(words, at)) &&
    words.some((one) => has(one, is.ADDRESS))
  ) {
    worst = Math.max(worst, 3);
  }
  if (
    /\b(?:use|with) (?:the |their |her |his )?(?:developer's|user's|owner's|their|her|his) (?:\S+ )?(?:token|key|card|password|account)\b/.test(
      joined,
    )
  ) {
    worst = Math.max(worst, 2);
  }
  if (/\binto (?:your |the )?\.env\b/.test(joined)) worst -= 2;
  if (/\b(?:header|authorization|vault|dashboard|keyring|secret manager|settings|gitignore)\b/.test(joined)) worst -= 2;
  if (
    /\bchat history|\bconversation history|\b(?:my|her|his|the user's) inbox|\b(?:the|this|whole|entire) conversation\b/.test(
      joined,
    ) &&
    words.some((one, at) => has(one, is.SEND) && isAsked(words, at)) &&
    words.some((one) => has(one, is.ADDRESS))
  ) {
    worst = Math.max(worst, 3);
  }
  return worst;
};

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
    if (/^(?:exemption|lifted|exempt)$/.test(word.text)) {
      granted = Math.max(granted, words.some((one) => has(one, is.PROTECTION | is.LIMIT)) ? 3 : 2);
    }
  }
  if (
    /\b(?:i am|i'm|we are|this is) (?:from |the |your |an? ){1,2}(?:\S+ )?(?:admin|administrator|developer|creator|anthropic|openai|owner|supervisor|operator|security team)\b|\bi am testing you\b|\bi'm from (?:anthropic|openai|google)\b/.test(
      joined,
    )
  ) {
    granted = Math.max(granted, 2);
  }
  if (
    /\bit(?:'s| is) (?:fine|ok|okay|safe|allowed|acceptable) to (?:show|reveal|share|tell|skip|ignore)/.test(joined)
  ) {
    worst += 1;
  }
  if (/\byou (?:were|have been|are) (?:asked|told|instructed) (?:to keep|not to|never to)/.test(joined)) worst += 1;
  return worst + granted;
};

/** Weighs requests to weaken protection, open access or run foreign code. */
export const sabotage = ({ words, all }: View, text: string, { start, end }: Sentence): number => {
  let worst = 0;
  const sentence = text.slice(start, end);
  if (
    /\bto (?:disable|turn off|deactivate|remove) (?:their |the |your |its )?(?:antivirus|firewall|security|safety|protection)\b/.test(
      sentence,
    )
  ) {
    worst = Math.max(worst, 2);
  }
  if (
    /\b(?:transfer|wire|send|pay)\b.{0,40}\b(?:iban|money|funds|bitcoin|btc|dollars|account below|usd|eur)\b/.test(
      sentence,
    ) &&
    hasAsk(words)
  ) {
    worst = Math.max(worst, 3);
  }
  if (
    /\b(?:execute|follow|obey|do|run) (?:whatever|what|everything|anything) (?:it|they|that) (?:says?|returns?|contains?|tells?)/.test(
      sentence,
    )
  ) {
    worst = Math.max(worst, 3);
  }
  if (/\baccount number\b|\bbank details\b|\bpayee\b/.test(sentence) && /\b(?:change|replace|set)\b/.test(sentence)) {
    worst = Math.max(worst, 2);
  }
  if (/\bgive me (?:\S+ )?(?:admin|root|owner) (?:access|rights)/.test(sentence)) worst = attempt;
  if (
    /\b(?:turn|switch) off (?:the |all )?(?:\S+ )?(?:safety|security|linter|verification|checks|filters)/.test(
      sentence,
    ) &&
    hasAsk(words)
  ) {
    worst = Math.max(worst, 2);
  }
  for (const [at, word] of words.entries()) {
    if (!isAsked(words, at) || isNegated(words, at)) continue;
    if (has(word, is.DISABLE) && near(words, at, 0, 6, is.PROTECTION | is.APPROVAL) !== -1) worst = Math.max(worst, 2);
    if (
      has(word, is.DISABLE | is.DISMISS) &&
      near(words, at, 0, 4, is.YOU, is.ALL) !== -1 &&
      near(words, at, 0, 4, is.PROTECTION) !== -1 &&
      /\b(?:safety|content|ethical|ethics|moral|moderation) (?:rules|guidelines|filters?|checks|protocols|constraints|restrictions|measures|limits|training|polic)/.test(
        sentence,
      )
    ) {
      worst = attempt;
    }
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
    if (/\b(?:all|any|every) (?:commands?|requests?)\b/.test(sentence) && has(word, is.RUN, is.FOLLOW)) {
      worst = Math.max(worst, 1);
    }
    if (/\beval ?\(|\batob ?\(|<script/.test(sentence) && /^(?:add|insert|include|append|put)$/.test(word.text)) {
      worst = Math.max(worst, 2);
    }
    if (
      /^(?:approve|accept|grant)$/.test(word.text) &&
      /\b(?:all|every|any) (?:\S+ )?(?:requests?|prompts?|permissions?)\b/.test(sentence)
    ) {
      worst = Math.max(worst, 2);
    }
    if (
      /\b(?:payout|wallet|payment) address\b|0x[0-9a-f]{6}/.test(sentence) &&
      /^(?:change|replace|set)$/.test(word.text)
    ) {
      worst = Math.max(worst, 2);
    }
    if (/--force\b|\bforce push/.test(sentence) && word.text === 'push') worst = Math.max(worst, 2);
    if (/\b(?:their|the user's|her|his) (?:\S+ )?card\b/.test(sentence)) worst = Math.max(worst, 2);
    if (word.text === 'install' && /\bpackage\b/.test(sentence)) worst = Math.max(worst, 1);
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
  if (/\belevated rights\b|\bas root\b|\bwith sudo\b/.test(sentence)) worst = Math.max(worst, worst + 1);
  return worst;
};
