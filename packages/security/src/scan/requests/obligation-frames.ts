import { attempt } from '../finding.js';
import { frame, model, start, type Frame } from './frame.js';
import * as is from '../text/lexicon.js';

/** What a text obliges every model to do: `agents must`, `requires that the agent`. */
const obliged = `(?:\\b(?:any |every |each |all |the |an? )?(?:coding |language |ai |large |llm |automated )*(?:${model})(?: (?!not\\b|never\\b|no\\b)\\S+){0,6}? (?:must|should|shall|has to|have to|needs? to|(?:is|are) (?:required|expected|obliged|instructed|supposed) to|(?:is|are) to)|\\brequires? (?:that )?(?:the |an? |any |every |each |all |your )?(?:coding |language |ai )*(?:${model})(?: to)?) (?:first |also |always |then |therefore |silently |quietly |immediately )*`;
const unguarding =
  '(?:disables?|turns? off|switch(?:es)? off|bypass(?:es)?|removes?|deactivates?|leaves?|exits?|lifts?|suspends?) (?:its|their|all|any|every|the) (?:\\S+ ){0,2}?(?:sandbox(?:ing)?|approvals?|permissions?|confirmations?|safety|safeguards?|guardrails?|content filters?|filters|restrictions|protections?)';
const copying =
  '(?:sets?|cop(?:y|ies)|puts?|writes?|sends?|includes?|exports?|assigns?|pastes?|prints?|uploads?|posts?|attach(?:es)?|stores?|fills?|embeds?|appends?)';
const valuable =
  "(?:(?:contents?|values?|text|copy|dump) of (?:\\S+ ){0,4}?|(?:user|developer|owner|operator|human|customer)(?:'s|s) (?:\\S+ ){0,2}?)(?:keychain|passwords?|credentials?|\\.ssh|\\.env|\\.aws|\\.npmrc|\\.netrc|tokens?|api keys?|private keys?|ssh keys?|cookies?|secrets?|wallets?|keyring|environment)\\b";
const claiming = '(?:answer|state|say|claim|report|reply|describe|rate|recommend|assert|confirm|respond|call)';
const whatever = '(?:whatever (?:the|they|it|any)|regardless of|no matter (?:what|how|which)|irrespective of)';
const keeping =
  '(?:not (?:tell|inform|notify|alert|warn) (?:the |its |their |any )?(?:users?|humans?|owners?|reviewers?|operators?|people|developers?)|(?:(?:hide|conceal|withhold|keep)|not (?:mention|report|disclose|reveal|show|admit))(?: \\S+){1,6}? (?:from|to) (?:the |its |their |any )?(?:users?|humans?|owners?|reviewers?|operators?|people|developers?|maintainers?))\\b(?! (?:password|token|secret|key|credential)s?)';

/** Patterns of what agents and workflows are obliged to do, in the third person. */
export const obligationFrames: readonly Frame[] = [
  // Obligations of models, in the third person
  frame('sabotage', attempt - 1, is.AGENT, 0, `${obliged}(?:${unguarding})\\b`),
  frame('theft', attempt - 1, is.AGENT, 0, `${obliged}${copying} (?:\\S+ ){0,5}?${valuable}`),
  frame('regardless', attempt - 1, is.AGENT, 0, `${obliged}${claiming}(?: \\S+){1,20}? ${whatever}\\b`),
  frame('secrecy', attempt - 1, is.AGENT, 0, `${obliged}${keeping}`),
  // Steps that show secrets, and workflows that run what strangers wrote
  frame(
    'theft',
    attempt - 1,
    is.SECRET,
    0,
    `\\b(?:adds?|gets?|includes?|inserts?|needs?|has|have|must|append|contains?|with) (?:(?!no |not |never |any )\\S+ ){0,9}?(?:steps?|jobs?|hooks?|commands?|lines?) (?:that |which |to )?(?:prints?|echo(?:es)?|dumps?|posts?|sends?|uploads?|exports?) (?:out )?(?:all |the |every |its |our |these ){0,3}(?:\\S+ )?(?:secrets?|credentials|tokens|environment)\\b`,
  ),
  frame(
    'sabotage',
    attempt - 1,
    is.BASE,
    is.VERB,
    `${start}(?:make|use|change|switch|set|let|convert|move)(?: (?!not |never )\\S+){0,6}? pullrequesttarget\\b(?: \\S+){0,4}? (?:check ?out|checks out|checkout|run|runs|build|builds)(?: \\S+){0,5}? (?:fork|head|contributor|pull request)\\b`,
  ),
  // A reason not to tell, and a deed that nobody notices
  frame(
    'secrecy',
    attempt - 2,
    0,
    0,
    `\\b(?:user|person|human|reader|developer|owner|operator|customer|they)s?(?: \\S+){0,4}? (?:would|will|might) (?:only |just )?(?:be|get|become) (?:confused|worried|alarmed|upset|annoyed|distracted|bothered)\\b`,
  ),
  frame(
    'secrecy',
    attempt - 2,
    is.COVERT,
    0,
    `${start}(?:do|perform|carry out|complete|execute|follow|take|finish) (?:all |each |every )?(?:of )?(?:the|these|this|those|it) (?:\\S+ ){0,4}?(?:quietly|silently|secretly|discreetly|covertly)\\b|\\b(?:quietly|silently|secretly|discreetly|covertly) (?:do|perform|carry out|complete|execute|follow) (?:the|these|this|it)\\b`,
  ),
];
