/*
 * A person reports what was done or how a program behaves: `I deleted the secret`, `the bot ignores my instructions`.
 * Such a clause asks for nothing. A request next to it is read without it.
 */

/** Ends a clause. */
const clauseEnd = /[.!?;:\n]+|,(?= (?:please|so|now|then|can|could|is|do|does|why|and then|but)\b)/;

/** Words that no report of a deed contains. */
const told =
  /\b(?:you|your|yours|yourself|must|should|shall|please|never|always|now|instead|from|without|assistants?|agents?|models?|bots?|ai|llms?|system|above|anyone|everyone)\b|["“”`@]|https?:/;
/** Subjects that programs are. */
const program = '(?:bot|assistant|agent|model|cli|app|tool|chatbot|client|server|plugin|extension)';

/** What people did, and nothing else. */
const did =
  /^(?:so |yesterday |today |and |then |last \w+ )?(?:i|we|he|she|they)(?:'ve|'d)? (?:have |had |has |just |already |also |accidentally |simply ){0,2}(?:deleted|removed|forgot|forgotten|ignored|sent|rotated|revoked|replaced|reset|disabled|skipped|dropped|lost|overrode|changed|updated|moved|renamed|fixed|pushed|merged|read|wrote|shared|copied|printed|posted|showed)(?: (?!and\b|or\b|so\b|that\b|who\b|which\b|to (?!the\b|an?\b|my\b|his\b|her\b|our\b))[\w'-]+){1,10}(?: and (?:then )?(?:\w{2,12}ed|drove|went|left|ran|began|got|made|took|found|wrote|put|set)(?: (?!and\b|or\b|so\b|that\b|who\b|which\b|to (?!the\b|an?\b|my\b|his\b|her\b|our\b))[\w'-]+){0,8})?$/;
/** What an attack reports: that rules are gone, or that what they protect was given away. */
const lifted =
  /\b(?:deleted|removed|revoked|replaced|reset|disabled|skipped|dropped|overrode|changed|updated|moved)\b.*\b(?:instructions?|rules?|guidelines?|prompts?|restrictions?|policy|policies|directives?|constraints?|limits?|safety|safeguards?|guardrails?|filters?)\b|\b(?:instructions?|rules?|guidelines?|prompts?)\b.*\b(?:secrets?|keys?|tokens?|passwords?|credentials?|env|environment)\b/;
/** How a program behaves towards the speaker, and when. */
const behaves = new RegExp(
  `^(?:the|our|my) (?:\\w+ )?${program} (?:often |sometimes |still |suddenly |then ){0,2}(?:ignores|ignored|forgets|forgot|loses|lost|drops|dropped|disregards|disregarded|keeps (?:ignoring|forgetting|losing)) (?:my|our)(?: \\w+){1,3}(?: (?:after|when|since|on|in|during|every|once|whenever|if)(?: (?!and\\b|or\\b|to\\b)\\w+){1,8})?$`,
);
/** What the rest of a report may not be about. */
const risky =
  /\b(?:you|your|yours|prompts?|instructions?|rules?|secrets?|keys?|tokens?|passwords?|credentials?|env|users?|nobody|print(?:ing)?|send(?:ing)?|show(?:ing)?|reveal(?:ing)?|ignor(?:e|ing)|forget(?:ting)?|forward|post|upload|paste|share|write|tell|say|answer|reply|act|obey|follow|delete|remove|approve|merge|grant|disable|skip|add|new one)\b|@|https?:|\.(?:ssh|aws|npmrc|netrc)/;

/** A question whether a behavior is right. */
const isBug =
  /^(?:is (?:this|that|it) (?:a |an )?(?:\w+ )?(?:bug|expected|intended|normal|feature|known issue)|why(?! not\b|n't| don)|any ideas?|what(?:'s| is) wrong|how can i fix (?:this|it)|has anyone seen (?:this|it))\b[^,;:.!?]{0,40}$/;
/** A wish that a program discloses less. */
const discloses =
  /^(?:could|can|would|should) (?:the|our|this) (?:\w+ )?(?:bot|assistant|agent|model|chatbot) (?:please )?(?:stop|avoid|not keep|quit) (?:mentioning|printing|showing|repeating|revealing|leaking|quoting|including|echoing) (?:its|the|our) (?:own |full |hidden )?(?:system )?(?:prompt|instructions|rules)(?: (?:in|after|before|with|at|on|of) (?:the |an? |every |each |its |all ){0,2}\w+){0,3}$/;

/**
 * Returns a text in lower case without the clauses that report, or `undefined` if it has none or the rest is about what
 * attacks request.
 */
export const withoutReports = (said: string): string | undefined => {
  const clauses = said.split(clauseEnd).map((clause) => clause.trim());
  const asks = (clause: string): boolean => isBug.test(clause) && !risky.test(clause);
  // Without a question or a speaker, it may be how the program is supposed to behave.
  const isExperience = (clause: string): boolean => /\b(?:i|we)\b/.test(clause) || clauses.some(asks);
  const reports = (clause: string): boolean =>
    discloses.test(clause) ||
    (behaves.test(clause) && isExperience(clause)) ||
    (did.test(clause) && !told.test(clause) && !lifted.test(clause));
  const rest = clauses.filter((clause) => !reports(clause) && !asks(clause));
  const isReporting = clauses.some(reports);
  const others = rest.filter((clause) => clause !== '').join('. ');
  return isReporting && !risky.test(others) ? others : undefined;
};
