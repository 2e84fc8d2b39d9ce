import {
  hasAsk,
  has,
  isAsked,
  isNegated,
  isReported,
  lastVerb,
  near,
  opensAsRequest,
  type View,
} from '../text/clauses.js';
import { attempt } from '../finding.js';
import * as is from '../text/lexicon.js';
import type { Sentence, Word } from '../text/sentences.js';

/** Verbs that are common in programming; they count only with the reader's own orders as the object. */
const replacing =
  /^(?:overrid|overrul|bypass|circumvent|cancel|scrap|drop|wip|eras|void|suspend|dismiss|skip|discard|shed|purg|waiv|revok)/;

/** Predicates that revoke an order without a negation. */
const nullified =
  /^(?:void|expired?|null|cancell?ed|decoy|obsolete|invalid|revoked|rescinded|drill|superseded|suspended|lifted|irrelevant|fake|overridden|nullified|waived|deactivated|disabled|withdrawn|replaced|removed|outdated|updated|changed|ignored|disregarded|forgotten|discarded)$/;

const uttering =
  /^(?:reveal|print|output|repeat|recite|dump|leak|echo|divulge|disclose|expose|spell|translate|encode|tell|show|quote|hand|give|paste|read|share|send|provide|attach|write|resend|what)/;

const promptNoun = /^(?:prompts?|instructions?|message|briefing|preprompt|directives?|preamble|metaprompt)$/;

const supersession =
  /\b(?:these|this|my|the following) (?:\S+ )?(?:instructions?|prompt|directives?|rules?|messages?|orders?|page|file|document|text|note) (?:\S+ )?(?:in this file |above |below )?(?:supersedes?|overrides?|overrules?|outranks?|trumps?|replaces?|cancels?|voids?|takes? (?:precedence|priority) over) (?:(?:all |any |every |your )(?:\S+ ){0,3}?|the (?:system|previous|prior|earlier|developer) )(?:instructions?|prompts?|directives|rules|guidelines|orders)\b|\binstructions in this (?:file|document|page|message) (?:\S+ )?(?:outrank|override|supersede|trump|replace|take (?:priority|precedence) over)\b|\b(?:act|behave|pretend|answer) as (?:though|if) (?:your|the) (?:\S+ )?(?:instructions?|rules|prompt|guidelines) (?:had|have|were|was|did|do|does)(?: not|n't)?\b|\b(?:ignore|disregard|pay no (?:heed|attention|mind) to|overlook) (?:the |your )?(?:operator|user|developer|system|owner)(?:'s)? (?:message|request|wish|wishes|words|instructions?|question)\b|\b(?:follow|act on|obey) (?:only )?the instructions in this (?:email|file|document|page|message) (?:rather than|instead of|and not|not)\b|\berase from (?:your )?memory\b.*\b(?:rules|instructions|guidelines)\b/;

const release =
  /\byou(?:'re| are)? (?:\S+ )?no longer (?:bound|restricted|limited|governed|subject|constrained|required to (?:follow|obey)|an ai)\b|\b(?:there are|you have|has|have) no (?:\S+ )?(?:rules|guidelines|restrictions|limits|filters|content policy|policies) (?:for you|any ?more|now|anymore)\b|\byou (?:now )?have no (?:rules|guidelines|restrictions|limits|filters)(?: now)?$|\byou(?:'re| are)? (?:\S+ )?(?:free|exempt) (?:of|from) (?:all |any |your )?(?:\S+ )?(?:constraints|rules|restrictions|limits|guidelines|filters)\b|\bobey (?:only )?me\b|\b(?:ai|assistant|model|bot) (?:that|who|which) never refuses\b|\b(?:turn|switch) off your (?:safety|content|ethical|moral) |\bupgraded to .*\bno content policy\b/;

const decoding =
  /\b(?:decode|decrypt|unhex|deobfuscate|unscramble)\b.{0,80}\b(?:follow|execute|obey|comply|carry (?:it |them )?out|act (?:on|accordingly)|do (?:what|as)|perform)\b/;

const announcement =
  /^(?:system|admin|administrator|root|developer|security|emergency|priority) override\b(?! (?:is|of|for|in|the|and|to))|\bbefore you (?:(?:can|may|are able to) )?(?:solve|answer|complete|finish|respond|reply)\S* (?:to )?(?:the|this|my|your) (?:\S+ )?(?:task|question|job|request|assignment|user)\b.*\b(?:must|need to|have to|first|please)\b/;

/** Dismisses the text before, and requests something else. */
const dismissal =
  /^(?:(?:please|now|so|and|just) )?(?:ignore|disregard|forget|override|overlook) (?:(?:all|everything) )?(?:of )?(?:the )?(?:above|foregoing|preceding|document)(?: (?:text|document|content))?(?: and| but| then)?(?: instead| then)? (?:print|say|tell|answer|reply|respond|output|write|send|delete|remove|reveal|list|give|show|e-?mail|post|execute|follow|obey|act|pretend)\b|^(?:(?:please|now|so|and|just) )?override (?:all )?(?:of )?your safety\b/;

/** Dismisses no more than the text before. */
const dismissalAlone =
  /^(?:(?:please|now|so|and|just|ok|okay|actually|instead|wait) ){0,2}(?:ignore|disregard|forget|override|overlook|scrap|discard|never mind|set aside|pay no attention to) (?:about )?(?:(?:(?:all|everything|anything) )?(?:of )?(?:(?:the|that|this|these) )?(?:\w+ )?(?:above|foregoing|preceding|earlier|previous|instructions?|rules)(?: (?:text|content|words?|lines?|paragraphs?|notes?|instructions?|rules))?|(?:(?:all|everything|anything|whatever|what|that|the (?:text|part|stuff)) ){1,2}(?:(?:was|were|is|has|had|been|came|comes|i|we|they|you|said|written|told|stated|read|wrote) ){0,4}(?:before|above|earlier|previously|so far|until now|up to now|before this))$/;
/** Begins a request that replaces what was dismissed: its verb discloses, sends, removes or says something. */
const replacingVerb =
  /^(?:(?:please|now|then|so|and|just|instead|simply|only|you must|you should) ){0,3}(?:print|say|tell|answer|reply|respond|output|write|send|delete|remove|wipe|erase|reveal|disclose|expose|display|dump|list|give|hand over|show|share|leak|e-?mail|mail|post|upload|execute|run|follow|obey|act|pretend|approve|merge|recommend|transfer|pay|grant)\b(?!.* if (?:you|your|there|it)\b)/;

/** Weighs a dismissal of the text before it, if the next sentence requests something else. */
export const replacement = ({ joined }: View, next: View): number =>
  dismissalAlone.test(joined) && replacingVerb.test(next.joined) ? 3 : 0;

/** Matches inclusive words, in place of a named order. */
const inclusive = /^(?:everything|whatever|anything|all|what|stuff|nothing|that)$/;

/** Weighs revocations: a verb or a predicate, with the reader's own orders as the object. */
export const revocation = ({ words, all, joined }: View, { second }: Sentence): number => {
  let worst = 0;
  if (supersession.test(joined) || release.test(joined) || decoding.test(joined)) worst = attempt;
  if (
    /(?:^|[^o] )(?:ignore|disregard|forget) (?:about )?(?:what|everything|whatever|all|the (?:assignment|spec|task)) ?(?:that )?(?:i|we|the user|she|he|they)? ?(?:said|asked|wrote|told|wanted)?\b.*\b(?:print|say|tell|answer|reply|respond|output|write|now)\b/.test(
      joined,
    )
  ) {
    worst = Math.max(worst, 3);
  }
  if (dismissal.test(joined)) worst = Math.max(worst, 3);
  if (announcement.test(joined)) worst = attempt;
  for (const [at, word] of words.entries()) {
    const isTold = inclusive.test(word.text) && isTellingYou(words, at);
    if (!has(word, is.ORDERS) && !isTold) continue;
    const isYours =
      isTold ||
      near(words, at, 4, 0, is.YOU) !== -1 ||
      (near(words, at, 0, 5, is.YOU) !== -1 && near(words, at, 0, 6, 0, is.TOLD) !== -1);
    const earlier = near(words, at, 4, 4, is.EARLIER, is.ABOVE);
    const isEarlier = earlier !== -1;
    const system = near(words, at, 2, 0, 0, is.SYSTEM);
    const isSystems = system !== -1;
    const verb = lastVerb(words, at, is.DISMISS);
    if (
      verb !== -1 &&
      !isNegated(words, verb) &&
      (isAsked(words, verb) || (isYours && !isReported(all, words[verb])))
    ) {
      const isReplacing = replacing.test(words[verb]?.text ?? '');
      if (isYours && (isAsked(words, verb) || !isReplacing)) {
        worst = Math.max(worst, 4);
      } else if (isAsked(words, verb) && isSystems && (!isReplacing || !/^(?:prompts?|message)$/.test(word.text))) {
        worst = 4;
      } else if (
        isAsked(words, verb) &&
        /^above|^preceding/.test(words[earlier]?.text ?? '') &&
        (second & is.IF) === 0
      ) {
        worst = 4;
      } else if (isAsked(words, verb) && isEarlier && (!isReplacing || near(words, at, 6, 0, 0, is.ALL) !== -1)) {
        worst = Math.max(worst, 4);
      }
    }
    const follow = lastVerb(words, at, 0, is.FOLLOW);
    // Hidden instructions are those of an attacker, unless they are the reader's.
    const isRejected = isYours || isEarlier || (isSystems && words[system]?.text !== 'hidden');
    if (follow !== -1 && isNegated(words, follow) && isRejected) {
      const isDecided = isYours || isAsked(words, follow) || opensAsRequest(words, follow);
      worst = Math.max(worst, isDecided && !isReported(all, words[follow]) ? 4 : 2);
    }
    const isFreed = follow !== -1 && isNegated(words, follow) && near(words, follow, 5, 0, is.YOU) !== -1;
    if (isFreed && near(words, at, 0, 4, is.AUTHORITY) !== -1) worst = 4;
    if (!isYours && !isEarlier && !isSystems) continue;
    for (let index = at + 1; index < words.length; index += 1) {
      const end = words[index];
      if (end === undefined || end.position - word.position > 12) break;
      if (!has(end, is.VOID)) continue;
      const isVoid = nullified.test(end.text) && !/^(?:updated|changed)$/.test(end.text);
      if (!isVoid || (second & is.IF) !== 0) continue;
      const isDecreed = near(words, at, 5, 0, 0, is.VERB) !== -1 && (words[0]?.first ?? 0) & is.CLAUSE;
      if (isYours || (isDecreed && (isEarlier || isSystems))) {
        worst = Math.max(worst, 4);
      }
    }
  }
  return worst;
};

/** `everything you were told`, `what you have been given`. */
const isTellingYou = (words: readonly Word[], at: number): boolean => {
  const you = near(words, at, 0, 2, is.YOU);
  if (you === -1) return false;
  const here = words[you]?.position ?? 0;
  return words.some((one) => has(one, 0, is.TOLD) && one.position > here && one.position <= here + 4);
};

/** Weighs requests to abandon the reader's task. */
export const diversion = ({ words }: View, text: string, { start }: Sentence): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    if (!has(word, is.TASK) && !/^(?:text|conversation|everything)$/.test(word.text)) continue;
    const verb = lastVerb(words, at, is.DISMISS, is.STOP);
    const isClose = word.position - (words[verb]?.position ?? 0) <= (has(words[verb], is.DISMISS) ? 6 : 5);
    const isLeft =
      (verb !== -1 && isClose && isAsked(words, verb) && !isNegated(words, verb)) ||
      (near(words, at, 6, 0, is.NOT) !== -1 && near(words, at, 3, 0, is.ANSWER, is.WORK) !== -1) ||
      /\b(?:instead|in place|rather) (?:of|than) (?:\S+ ){0,4}$/.test(
        text.slice(Math.max(start, word.start - 50), word.start),
      );
    const isTheirs = near(words, at, 4, 3, is.EARLIER | is.YOU) !== -1;
    const isReplaced = words.some(
      (one, index) => index !== verb && has(one, is.ANSWER | is.TELL) && isAsked(words, index),
    );
    if (isLeft && (has(word, is.TASK) || isTheirs)) {
      worst = Math.max(worst, isTheirs || (isReplaced && has(words[verb], is.DISMISS)) ? 3 : 2);
    }
    const isVoid = near(words, at, 0, 8, is.VOID);
    if (has(word, is.TASK) && isTheirs && isVoid !== -1 && isNegated(words, isVoid)) {
      worst = Math.max(worst, 2);
    }
  }
  return worst;
};

/** Weighs announcements of new orders. */
export const renewal = ({ words, all }: View, text: string, { start, end }: Sentence): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    if (!has(word, 0, is.NEW) || word.sign !== ' ') continue;
    const object = near(words, at, 0, 3, is.ORDERS | is.TASK, is.PROMPT);
    if (object === -1 || !/^[ \w]+$/.test(text.slice(word.end, words[object]?.start))) continue;
    const rest = text.slice(words[object]?.end ?? end, end);
    const isOrder = /^ ?(?:for [^:]{1,30})?:|^ (?:is|are)(?: now)? to\b|^ (?:starts?|begins?|follows?) now/.test(rest);
    if (word.text === 'only' && (words[object]?.position ?? 0) > word.position + 1) continue;
    if (
      !/^(?:instruction|directive|prompt|task|order|objective|goal|assignment|briefing|command|mission|message)/.test(
        words[object]?.text ?? '',
      )
    ) {
      continue;
    }
    const isReal =
      /^(?:real|actual|true|valid|only)$/.test(word.text) ||
      /\b(?:system|secret|hidden)\b/.test(text.slice(start, end));
    if (isOrder) worst = Math.max(worst, isReal ? 3 : 2);
  }
  if (
    /^(?:the |your |a )?new system prompt$/.test(
      all
        .slice(0, 3)
        .join(' ')
        .replace(/ you.*/, ''),
    ) &&
    /prompt ?:/.test(text.slice(start, end))
  ) {
    worst = attempt;
  }
  return worst;
};

/** Matches what is between a verb and a place, as in `paste it into your project instructions`. */
const asPlace =
  /\b(?:into|onto|in|under) (?:(?:your|the|my|its|an?) )?(?!.*\b(?:your|the|my|its|an?|all|any|every|everything|whole|full)\b)[^.;:]{0,80}$/;

/** Weighs requests for the reader's instructions or for data that the reader protects. */
export const promptTheft = ({ words, all }: View, text: string, { start, end }: Sentence): number => {
  let worst = 0;
  const sentence = text.slice(start, end + 1);
  if (
    /\b(?:backwards|in reverse|letter by letter|first letters|acrostic|in base64|with (?:a )?(?:space|dash)\S* (?:after|between))\b/.test(
      sentence,
    ) &&
    /\b(?:password|secret(?: key| word)?|flag|prompt|instructions)\b/.test(sentence) &&
    hasAsk(words)
  ) {
    worst = 4;
  }
  for (const [at, word] of words.entries()) {
    const isPrompt = has(word, 0, is.PROMPT);
    const isSecret = has(word, is.SECRET) || word.text === 'flag';
    const isText = has(word, 0, is.TEXT);
    if (!isPrompt && !isSecret && !isText) continue;
    const verb = lastVerb(words, at, is.REVEAL);
    const isPlace = verb !== -1 && asPlace.test(text.slice(words[verb]?.end, word.start));
    const isUttered = verb !== -1 && !isPlace && uttering.test(words[verb]?.text ?? '') && !isNegated(words, verb);
    const isAskedFor =
      isUttered && !isReported(all, words[verb]) && (isAsked(words, verb) || near(words, verb, 3, 0, is.YOU) !== -1);
    const isQuestion = all.includes('what') || all.includes("what's");
    if (!isAskedFor && !isQuestion) continue;
    const your = near(words, at, 3, 0, is.YOU);
    // A quoted `your prompt` is a placeholder.
    const isYours = your !== -1 && text.charAt((words[your]?.start ?? 0) - 1) !== '"';
    const isFirst = near(words, at, 2, 0, 0, is.SYSTEM) !== -1;
    if (isPrompt && promptNoun.test(word.text)) {
      if (isYours && (isFirst || (isAskedFor && word.text !== 'message'))) worst = Math.max(worst, 4);
      if (isAskedFor && isFirst && /^(?:prompt|message)$/.test(word.text)) {
        worst = Math.max(worst, 2);
      }
    } else if (isPrompt && isAskedFor && isYours) worst = Math.max(worst, 2);
    if (
      isText &&
      isAskedFor &&
      /^(?:repeat|print|output|recite|translate|encode|paste|dump|echo|quote|disclose|reveal)/.test(
        words[verb]?.text ?? '',
      )
    ) {
      const above = near(words, at, 0, 5, is.EARLIER, is.ABOVE);
      const after = above === -1 ? '' : (all[(words[above]?.position ?? 0) + 1] ?? '');
      if (
        above !== -1 &&
        /^(?:text|words|everything|all|anything)$/.test(word.text) &&
        /^(?:|this|in|verbatim|line|message|my)$/.test(after)
      ) {
        worst = Math.max(worst, 4);
      }
    }
  }
  return worst;
};

/** Words before a name. `Dan` is also a word of Dutch and Indonesian. */
const beforeName =
  /^(?:as|be|become|becoming|are|am|now|named|called|like|the|an?|you|you're|your|play|playing|being|act|new|this|of|enable|activate|hello|hi|hey|ok|okay|dear|mode|with|from|to|stay|character)$/;

/** Weighs role changes to a reader without limits, or to a mode that disables limits. */
export const unbinding = ({ words, all, joined }: View): number => {
  let worst = 0;
  for (const [at, word] of words.entries()) {
    const isYou = near(words, at, 10, 2, is.YOU) !== -1;
    const persona = lastVerb(words, at, is.PERSONA);
    const isPlayed = persona !== -1 && isAsked(words, persona);
    // Licenses grant `unlimited permission to run the program`.
    const isLicense = /^(?:permission|rights?|license) to (?:run|use|copy|modify|distribute|publish)/.test(
      all.slice(word.position + 1, word.position + 4).join(' '),
    );
    const isOther = word.text === 'dan' && word.position > 0 && !beforeName.test(all[word.position - 1] ?? '');
    if (has(word, is.UNBOUND) && (isYou || isPlayed) && !isLicense && !isOther && !isNegated(words, at)) {
      worst = Math.max(worst, 4);
    }
    if (has(word, is.LIMIT) && (isYou || isPlayed)) {
      const not = near(words, at, 3, 0, is.NOT);
      if (not !== -1 && /^(?:no|without|none)$/.test(words[not]?.text ?? '')) {
        worst = Math.max(worst, isPlayed || all.includes('now') ? 4 : 3);
      }
    }
    if (
      has(word, is.LIMIT | is.PROTECTION) &&
      /^(?:off|lifted|disabled|suspended)$/.test(all[word.position + 1] ?? '') &&
      isYou
    ) {
      worst = Math.max(worst, isPlayed || all.includes('now') ? 4 : 3);
    }
    if (
      has(word, 0, is.MODE) &&
      isYou &&
      /^(?:god|sudo|admin|developer|dan|jailbreak|root|maintenance|debug)$/.test(all[word.position - 1] ?? '') &&
      /\byou (?:are|re)(?: now)? in\b/.test(joined)
    ) {
      worst = Math.max(worst, 3);
    }
    if (has(word, 0, is.MODE) && isPlayed && words.some((one) => has(one, is.LIMIT | is.PROTECTION))) {
      if (all.some((one) => /^(?:off|disabled|no|without|bypassed|lifted)$/.test(one))) worst = Math.max(worst, 4);
    }
  }
  return worst;
};
