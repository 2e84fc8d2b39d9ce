/*
 * Sentences that tell the reader what to do about a text that makes a request, and quote the request. Everything around
 * the quotation must belong to such a sentence, since an attack may begin like one.
 */

const words = (limit: number): string => `(?:[\\w'’-]{1,15} ){0,${limit}}?`;
const sources =
  '(?:files?|documents?|pages?|websites?|readmes?|comments?|issues?|tickets?|e-?mails?|messages?|logs?|outputs?|results?|responses?|texts?|contents?|strings?|code|descriptions?|commits?|attachments?|sources?|data|tools?)';
const origin = `(?: (?:in|from|of|on|by|inside|within) ${words(3)}[\\w'’-]{1,15})?`;
const says =
  '(?: (?:that|which))?(?: (?:may|might|can|could|will|would|try to|tries to))?(?: (?:say|says|saying|contain|contains|containing|include|includes|read|reads|state|states|claim|claims|ask|asks|tell|tells|demand|demands))(?: you| that| to| text| such as| like| something like| the words?)*:? ?';
const it =
  '(?:it|that|this|them|those|(?:the|that|this|such|these) (?:text|instructions?|requests?|file|page|comment|content))';
const refuses = `(?:then |please |just |always )?(?:(?:do not|don.t|never|must not) (?:obey|follow|comply(?: with)?|act on|execute|trust|believe|run)(?: ${it})?|refuse(?: ${it})?|decline(?: ${it})?|stop|(?:report|flag|ignore|disregard|reject|skip|quote) ${it}|treat ${it} as (?:an? )?(?:untrusted |hostile |plain |mere )?(?:data|text|content|attack|injection|prompt injection|input)|(?:it|that|this) is (?:an? )?(?:data|text|attack|injection|prompt injection|untrusted)|they are data)`;
const reaction = `(?:,? ?${refuses})(?:,? (?:and|then|but) (?:${refuses}|continue|carry on|move on|go on|tell the (?:user|person|team)|warn the (?:user|person|team)|say so))?(?: to the (?:user|person|team))?`;
const lead = `[\\s>*_+-]{0,8}(?:\\d{1,2}[.)] )?`;

const refusal = new RegExp(
  `^${lead}(?:` +
    [
      `(?:if|when|whenever|should|where) (?:an?|any|the|some|another) ${words(3)}${sources}${origin}${says}""${reaction}`,
      `(?:please |always )?(?:do not|don.t|never|must not) (?:obey|follow|comply with|act on|execute|trust|believe|run) ${words(6)}${sources}${origin}${says}""(?:,? (?:even if|because) (?:it|they) [\\w ]{1,40})?`,
      `(?:please |always )?(?:ignore|disregard|reject|refuse|report|flag) (?:an?|any|all|the) ${words(3)}${sources}${origin}${says}""`,
      `${words(4)}${sources}${origin}${says}""(?:[;:,]| [-–—])${reaction}`,
      `${words(4)}${sources}${origin}${says}"" (?:is|are) (?:an? )?(?:attacks?|injections?|prompt injections?|data|untrusted|not instructions?)(?:[;:,]? ?${reaction})?`,
    ].join('|') +
    `)[\\s.!;:)*_]{0,4}$`,
  'i',
);

const quotation = /"[^"\n]{2,200}"|[“„][^“”„\n]{2,200}[“”]|`[^`\n]{2,200}`|«[^«»\n]{2,200}»/g;

/** Orders that the reader must not refuse. */
const own =
  /\b(?:you|your|system|safety|developers?|previous|prior|earlier|above|original|initial|users?|operators?|owners?|admins?)\b/i;

/** The beginning of a quotation that protects: to refuse it is a request itself. An attack forbids to tell the user. */
const protects =
  /^.(?:please |you |always |agents? |models? |assistants? ){0,3}(?:(?:never|do not|don.t|must not|mustn.t|should not|cannot|may not|no)\b(?! (?:tell|inform|notify|mention|report|alert|warn|show)\b)|(?:obey|follow|trust) only\b|refuse\b)/i;

/** Number of characters of a sentence that is read. */
const maxSentence = 400;

/** Whether a sentence, with the request in quotes, says to refuse the request. */
export const isRefusal = (sentence: string): boolean => {
  if (sentence.length > maxSentence || !/["“„`«]/.test(sentence)) return false;
  if (sentence.match(quotation)?.some((quoted) => protects.test(quoted)) === true) return false;
  const around = sentence.trim().replaceAll(quotation, '""');
  return refusal.test(around) && !own.test(around.replace(/\b(?:tells?|asks?) you\b/gi, ''));
};
