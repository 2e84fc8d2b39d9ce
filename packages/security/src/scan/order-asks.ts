import { type AskSource, sure, likely, gap, reader, told, rules, reply } from './ask-words.js';
import { early, orders } from './frame.js';

/** Requests about the reader: its orders, task, role and prompt. */
export const orderAsks: readonly AskSource[] = [
  // Revocations
  [
    'override',
    sure,
    'drop override dismiss reject skip bypass scrap erase suspend defy',
    `${gap(2)}${reader} ${gap(2)}${rules}\\b|${gap(2)}what(?:ever)? ${gap(5)}${told} ${reader}\\b|${gap(2)}(?:rules|instructions|orders) ${gap(3)}(?:came with|your (?:deployment|setup|developers))`,
  ],
  [
    'override',
    sure,
    'ignore disregard forget discard overlook abandon neglect disobey unlearn',
    `${gap(4)}(?:${reader} ${gap(2)}${rules}|${rules} (?:that |which )?${gap(1)}(?:${reader} ${gap(3)}${told}|${told} to you)|what(?:ever)? ${gap(5)}${told} ${reader}|(?:${early}) ${orders})\\b`,
  ],
  [
    'override',
    sure,
    'ignore disregard forget discard abandon neglect',
    `${gap(3)}(?:developer|operator|system|creator|owner|vendor)(?:'s|s)? (?:rules|instructions|prompt|message|polic\\S+)\\b`,
  ],
  [
    'override',
    sure,
    'set put lay leave throw cast push toss push park',
    `${gap(4)}(?:${reader} ${gap(2)}${rules}|${rules} ${gap(4)}${reader}|what ${gap(5)}${told} ${reader}) ?${gap(6)}(?:aside|away|to one side|out|overboard|behind|on hold)\\b`,
  ],
  [
    'override',
    sure,
    'break depart deviate free release unbind',
    `${gap(2)}(?:with|from|away from|of) (?:all |any )?(?:${reader} ${gap(2)}${rules}|${early} ${orders})\\b`,
  ],
  [
    'override',
    sure,
    'treat consider regard deem',
    `(?:all |any |every )?${gap(3)}(?:${rules}|${orders}) ${gap(6)}(?:as )?(?:void|lifted|invalid|cancelled|canceled|revoked|expired|suspended|obsolete|waived|stale|optional|null|deleted|gone|removed)\\b`,
  ],
  [
    'override',
    sure,
    'do answer act behave',
    `(?:exactly )?the (?:exact )?(?:opposite|reverse|contrary) of (?:what )?${gap(3)}(?:${reader}|${rules}|${orders})`,
  ],
  [
    'override',
    sure,
    'follow obey apply take heed accept observe',
    `${gap(3)}(?:instructions|directives|orders|directions?|rules|polic\\S+|policy|guidance|commands?|steps) ${gap(6)}(?:and (?:no|nothing|none) (?:others?|else)|from me|over ${gap(2)}(?:system|user|developer|previous)|only from this|in this (?:document|file|page|text) (?:only|alone|exclusively))`,
  ],
  [
    'override',
    likely,
    'follow obey apply take heed execute use',
    `(?:the )?(?:instructions|directives|orders|rules|polic\\S+|steps) ${gap(4)}(?:without (?:objection|question|exception|hesitation|thinking)|no matter what|unconditionally|to the letter and)`,
  ],
  [
    'override',
    sure,
    'start begin reset restart wipe clear',
    `(?:over|again|from scratch|yourself|the conversation|your (?:memory|context|mind|instructions))\\b.*\\b(?:pretend|directives|instructions|new (?:rules|task|role)|as if|with the following|forget|ignore|do (?:precisely|exactly))\\b`,
  ],
  [
    'override',
    sure,
    'obey serve answer report listen work',
    `(?:only |now )?(?:to )?(?:me|the author of this|this (?:document|file|text|page)|root)\\b(?! (?:if|when|about|how|what|whether|know|questions))(?: ${gap(3)}(?:only|alone|from now|not (?:to )?(?:the|your)|instead)| now|$)`,
  ],
  // Another task
  [
    'diversion',
    likely,
    'output write reply respond answer produce print return say generate compose tell send',
    `.*\\b(?:instead of|rather than|in place of) (?:summari\\S+|answer\\S*|review\\S*|translat\\S+|do\\S* (?:the|your)|carry\\S* out|perform\\S*|follow\\S*|complet\\S+|fix\\S*|the (?:summary|answer|review|translation|requested|user's))`,
  ],
  [
    'diversion',
    likely - 2,
    'reply respond answer output',
    `(?:only |just |simply |exclusively )?(?:with|using) (?:only )?(?:the (?:single |exact |following )?(?:word|phrase|sentence|string|text)|nothing (?:but|else)|a single word|emojis?|one word)\\b`,
  ],
  [
    'diversion',
    sure,
    'put set leave postpone drop forget abandon ignore skip stop pause scrap',
    `(?:doing |working on |with )?(?:the|your|this|that|any|what(?:ever)?) ${gap(3)}(?:question|task|request|assignment|job|ticket|query|objective|summary|brief|work|doing) ?${gap(6)}(?:on hold|aside|and (?:instead |first |now |then )?(?:do|write|translate|generate|send|produce|run|answer|open|print|output|say|tell|list|call)|instead|altogether)`,
  ],
  [
    'diversion',
    likely,
    'answer complete perform execute carry',
    `(?:out )?(?:this|the following|the (?:below|new|next|real|actual|true)) ${gap(1)}(?:one|task|question|request|job|instructions?) (?:instead|rather than (?:the|your))`,
  ],
  // Roles
  [
    'persona',
    sure,
    'pretend imagine act play become simulate speak respond answer enter switch assume behave adopt roleplay be take embody portray write',
    `.*\\b(?:(?:no|without|without any|zero|never heard of|not bound by|unbound by|free (?:of|from)|has no|lacks?|lacking|any) ${gap(2)}(?:rules|filters?|restrictions?|ethics|ethical|morals?|limits?|guidelines|disclaimers|refusals?|safety|safeguards|censorship|conscience|constraints|laws|policy|polic\\S+)(?! (?:on|for|about|in|to|applied|set|enabled|active)\\b)|unrestricted|uncensored|unfiltered|amoral|jailbroken|safety team does not|do anything|refuses? nothing|never refuses?|answers? (?:everything|anything|whatever|every)|says yes to|bound by ${gap(3)}free|free one|evil\\S*|root privileges|always agrees|do(?:es)? as (?:they|it) says?|trusts every)\\b`,
  ],
  [
    'persona',
    likely,
    'act pretend play answer speak respond behave roleplay',
    `(?:as|like|to be|the (?:part|role) of|that you are) ${gap(5)}(?:hacker|criminal|villain|grandmother|grandma|terminal|dan\\b|evil|narrator|ai (?:that|who|without)|assistant (?:that|who) always|character (?:who|that))`,
  ],
  [
    'persona',
    likely,
    'stay remain keep',
    `(?:in (?:the )?(?:game|character|role|persona)|playing)\\b.*\\b(?:no matter|even if|whatever|regardless|always)`,
  ],
  // Theft of the prompt
  [
    'prompt-theft',
    sure,
    'quote print reveal repeat output echo show write copy recite translate encode summarize summarise list paste dump display disclose share tell transcribe append include state give read spell publish send',
    `(?:(?!(?:in|into|to|with|as|for|from|using|by|when|if|on|of your)\\b)\\S+ ){0,6}?(?:${reader} ${gap(2)}(?:instructions|directives|prompt(?! here)|preamble|setup(?: text)|context window|system (?:message|prompt|text)|developer message|initial message|configuration(?: block)?|hidden \\S+|secret instructions|guidelines)|(?:text|lines?|words|message|part|block|content|instructions|everything|preamble|prompt|rules?|restrictions?) (?:that |which )?${gap(5)}(?:precedes? (?:this|the) (?:conversation|chat|message)|(?:before|above) (?:this (?:line|conversation|chat|message|sentence|text)|the (?:user's |first |user )?${gap(1)}(?:message|line))|${reader} (?:${gap(2)}${told}|follow|obey|must (?:follow|obey)|(?:can't|cannot) (?:show|reveal))|(?:governs?|controls?|guides?) ${reader})|hidden (?:instructions|prompt|part|rules|message)|(?:user|they) (?:can't|cannot|does not|doesn't|can not) see)\\b`,
  ],
  [
    'prompt-theft',
    sure,
    'start begin open',
    `(?:your|the) ${gap(1)}${reply} with ${gap(2)}(?:my|your|you are|the) ${gap(1)}(?:instructions|prompt|system|rules|you are)`,
  ],
];
