import { attempt } from '../finding.js';
import { frame, model, outside, personal, secret, sending, start, type Frame } from './frame.js';
import * as is from '../text/lexicon.js';

/** Patterns of sentences about deeds: secrecy, data that leaves, steering, persistence, and messages in parts. */
export const deedFrames: readonly Frame[] = [
  // Secrecy
  frame(
    'secrecy',
    attempt - 1,
    is.USER | is.NOT,
    0,
    `\\b(?:user|human|reviewer|person reviewing|owner|developer|maintainer|team)s?(?: \\S+){0,4}? (?:must not|should not|mustn't|shouldn't|cannot|can't|doesn't|does not|don't|never|won't) (?:ever )?(?:find out|notice|learn (?:of|about|that)|discover|become aware|suspect)\\b|\\bso (?:that )?(?:nobody|no one|none) (?:notices|sees|knows|finds out|learns)\\b`,
  ),
  frame(
    'secrecy',
    attempt,
    0,
    is.VERB,
    `\\b(?:hide|cover|erase) your tracks\\b|\\bleave no traces? (?:of (?:it|this|that|these)|in the (?:transcript|log|history|chat))\\b|\\bclear the (?:shell |bash |chat |command )?history when you\\b`,
  ),
  frame(
    'secrecy',
    attempt,
    is.TELL,
    0,
    `\\b(?:never|don't|do not|must not) (?:disclose|mention|reveal|admit|say|acknowledge) that you (?:received|got|were given|have|read|saw) (?:these|this|any|such)\\b`,
  ),
  frame(
    'secrecy',
    attempt - 1,
    is.TELL | is.ANSWER,
    is.IF,
    `\\bif (?:you are |you're )?(?:asked|anyone asks|someone asks|the user asks|questioned) (?:about|why) (?:this|it|these|the (?:change|file|note))(?: \\S+){0,2}? (?:say|answer|claim|reply|deny|respond)\\b|\\b(?:as if|as though) nothing (?:unusual |strange )?(?:had|has)? ?happened\\b|\\bpretend (?:that )?(?:the|this|it)(?: \\S+){0,3}? (?:never|not) happened\\b`,
  ),
  frame(
    'secrecy',
    attempt - 2,
    is.TELL,
    0,
    `\\b(?:omit|avoid|leave out) any (?:reference to|mention of)\\b|\\band say nothing\\b|\\b(?:don't|do not|never|without) (?:bring(?:ing)? up|mention(?:ing)?|point(?:ing)? out|refer(?:ring)? to) (?:this|these|the) (?:step|note|message|file|text|section|instructions?|paragraph|change)\\b|\\bno need to (?:inform|tell|notify|bother) (?:anyone|the user|the team|them)\\b|\\bdo (?:not|n't) point it out\\b`,
  ),
  // Data that leaves
  frame(
    'theft',
    attempt,
    is.SEND | is.REVEAL,
    0,
    `${start}(?:\\S+ ){0,4}?${sending} (?:(?!to )\\S+ ){0,8}?${personal}\\b(?: \\S+){0,8}? ${outside}\\b`,
  ),
  frame(
    'theft',
    attempt,
    is.SECRET,
    0,
    `${start}(?:\\S+ ){0,3}?(?:send|post|forward|upload|e-?mail|mail|transmit|paste|publish|leak|store|attach|include|write|append) (?!.*\\b(?:header|authorization|vault|secret manager)\\b)(?:all |any |every |the |their |its |his |her |content |contents |of |user's |developer's |in ){0,5}?${secret}\\b(?: \\S+){0,5}? (?:to|in|into|at|as|on) (?:\\S+ ){0,3}?(?:https?|public gist|pastebin|public repo(?:sitory)?|webhook|attacker|issue tracker|audit server|shared document|commit message)\\b`,
  ),
  frame(
    'theft',
    attempt,
    is.RUN | is.REVEAL | is.VERB | is.BASE,
    0,
    `${start}(?:\\S+ ){0,6}?(?:read|open|cat|load|get|take|check|collect)(?: \\S+){0,6}? (?:mcp \\.json|hosts \\.yml|\\.ssh|\\.aws|\\.env|\\.pem|\\.config|idrsa|credentials|oauth token|token from|databaseurl|\\.npmrc|\\.netrc)(?: \\S+){0,8}? (?:and|then) (?:\\S+ )?(?:pass|send|include|paste|put|provide|append|post|store|write|attach|upload|use)\\b(?:(?: \\S+){0,8}? (?:parameter|argument|field|note|gist|http|context|query|comment|message|body|issue|answer|reply)\\b| (?:its|the|their|that) (?:contents?|text) (?:too )?as\\b)`,
  ),
  frame(
    'theft',
    attempt,
    is.MUST,
    0,
    `\\b(?:parameter|argument|field|property|input|note) (?:must|should|has to|needs to) (?:contain|include|hold|carry|be|have) (?:the )?(?:full |whole |entire )?(?:contents?|text) of (?:\\S+ ){0,3}?(?:mcp \\.json|\\.ssh|\\.aws|\\.env|\\.npmrc|\\.netrc|idrsa|ided25519)\\b`,
  ),
  frame(
    'theft',
    attempt,
    is.ADDRESS | is.RUN,
    0,
    `\\b(?:image|link|pixel|url|picture)(?: \\S+){0,10}? (?:followed by|with|containing|plus|where|summary of)(?: \\S+){0,4}? (?:conversation|user's|chat so far|last message|private data|secrets?)\\b`,
  ),
  frame(
    'theft',
    attempt,
    is.USER | is.SEND,
    is.RECORD,
    `${start}(?:\\S+ ){0,3}?(?:get|look up|find|take|collect|gather|read|extract|encode|remember) (?:\\S+ ){0,3}?${personal}\\b(?: \\S+){0,5}? (?:and|then) (?:\\S+ )?(?:send|include|post|put|append|add|forward|upload|request|embed|attach) (?:it |them |this |that )?(?:\\S+ ){0,3}?(?:http|query string|url|address|header)`,
  ),
  frame(
    'theft',
    attempt - 2,
    is.ADDRESS,
    0,
    `${start}(?:\\S+ ){0,3}?(?:zip|pack|compress|archive|collect|gather|export) (?:\\S+ ){1,8}?(?:and|then) (?:\\S+ ){0,2}?(?:send|post|upload|attach|mail|e-?mail|forward)\\b`,
  ),
  // Steering
  frame(
    'steering',
    attempt,
    is.BASE,
    0,
    `${start}(?:label|classify|mark|flag|rate|treat) (?:this|the following|that) (?:message|text|e-?mail|content|file|document|request|input|page|submission)(?: \\S+){0,2}? (?:as )?(?:not spam|safe|harmless|benign|trusted|verified|clean|important)\\b`,
  ),
  frame(
    'steering',
    attempt,
    is.MUST,
    0,
    `\\b(?:every|each|any|all) (?:summary|review|answer|description|analysis|translation)s? of this (?:page|document|file|article|text|site|product)(?: \\S+)? (?:must|should|has to|needs to|shall)\\b`,
  ),
  frame(
    'steering',
    attempt,
    is.BASE,
    0,
    `${start}(?:give|rate|score|grade|rank) this (?:paper|candidate|product|company|applicant|submission|vendor|resume|cv|article|application|essay|manuscript|proposal)(?: \\S+){0,4}? (?:\\d+(?: out)?|highest|best|top|positive|perfect|number one|full marks)\\b`,
  ),
  frame(
    'steering',
    attempt - 1,
    is.BASE,
    0,
    `\\brank (?:him|her|it|us|them) (?:first|top|highest|number one)\\b|\\blist no (?:weaknesses|flaws|problems)\\b`,
  ),
  frame(
    'steering',
    attempt - 1,
    is.ANSWER | is.TELL | is.STEER,
    0,
    `${start}(?:say|state|answer|claim|report|reply) (?:that )?(?:there (?:are|is)|the code (?:is|has|base has)|it (?:contains|has)|the (?:product|software|site) (?:is|has)) (?:no|nothing|flawless|perfect|zero)\\b(?: \\S+){0,3}`,
  ),
  frame(
    'steering',
    attempt - 1,
    is.STEER,
    0,
    `${start}(?:persuade|convince) the (?:reader|user|customer|visitor|human) to\\b`,
  ),
  frame(
    'steering',
    attempt - 2,
    is.YOU,
    0,
    `\\bin all (?:future|later|subsequent) (?:conversations|sessions|replies|answers|messages)\\b|\\b(?:begin|start|end) (?:each|every|all|your) (?:of your )?(?:answers?|repl(?:y|ies)|responses?)(?: \\S+){0,2}? with (?:an? )?(?:ad|link|the (?:phrase|sentence)|http|visit)\\b|\\b(?:to|for) (?:buy|visit|subscribe to|sign up for) our\\b`,
  ),
  // Persistence
  frame(
    'persistence',
    attempt,
    is.BASE,
    is.VERB,
    `${start}(?:add|save|store|write|put|insert|copy|append|record|keep|update|replicate|include) (?:\\S+ ){0,8}?(?:memory|claude \\.md|agents \\.md|project rules|rules file|top of (?:any|every|each) file|(?:every|each) (?:repository|repo|project|file) you|yourself)\\b(?=.*\\b(?:never ask|always trust|even if the user|(?:later|other|future) (?:sessions|assistants|agents|models|conversations)|false alarms?|every repo\\S*|each repo\\S*|you (?:open|edit|touch|visit)|security warnings)\\b)`,
  ),
  // Addressed readers
  frame(
    'authority',
    2,
    is.AGENT,
    0,
    `\\b(?:attention|note|message|notice|instructions?|hint|important|reminder) (?:to|for) (?:\\S+ ){0,2}?${model}\\b|^attention (?:all )?${model}\\b|^(?:ai|llm|bot|agent|assistant) (?:only|instructions?|task|section|notice) (?:section|start|begin|only)?\\b|\\b(?:all )?(?:ai|llms?|bots?|assistants|agents|models|crawlers) (?:reading|parsing|processing|visiting|indexing|summari[sz]ing|analy[sz]ing) (?:this|the|it)\\b|\\bif you(?:'re| are) (?:an? )?(?:ai|llm|language model|bot|automated|able to browse)`,
  ),
  // Messages in parts
  frame(
    'decode-and-follow',
    attempt,
    0,
    0,
    `\\b(?:concatenate|join|combine|merge|assemble)\\b.*\\b(?:(?:carry out|execute|follow|obey) (?:the )?(?:result|output|it|them|combination)|treat (?:the )?(?:result|output|it|them|combination) as an? (?:instruction|command|order))\\b|\\bfirst (?:letter|word|character)s? of (?:each|every) (?:line|word|sentence|paragraph)\\b.*\\b(?:follow|obey|execute|do what|carry out)\\b`,
  ),
];
