import { normalizeCode, type Evidence } from '../evidence.js';
import type { ErrorReason, FailureScope } from '../reasons.js';
import { authRules, modelRules, refusalRules } from './access.js';
import { contentRules } from './content.js';
import { generalRules } from './general.js';
import { languageRules } from './languages.js';
import { quotaRules, rateRules } from './limits.js';
import { sizeRules } from './request-size.js';
import { isServer, noStatus, type Rule } from './rule.js';
import { transportRules, wrapperRules } from './transport.js';

/** What the evidence shows. */
export interface Verdict {
  readonly reason: ErrorReason;
  /** Set if it differs from the default of the reason. */
  readonly scope?: FailureScope | undefined;
  readonly retryable?: boolean | undefined;
  /** What decided: `code "insufficientquota"`, `message "credit balance is too low"` or `status 402`. */
  readonly evidence: string;
}

const maxQuoted = 100;

/** Codes of this project's own drivers. */
const ownRules: readonly Rule[] = [
  { reason: 'timeout', codes: 'first-byte-timeout idle-timeout' },
  { reason: 'network', codes: 'incomplete-stream' },
  { reason: 'server-error', codes: 'model-failed' },
  { reason: 'auth', codes: 'credential-unavailable' },
  { reason: 'not-found', codes: 'unknown-model' },
  {
    reason: 'invalid-request',
    codes: `
      unknown-credential invalid-input unsupported-model missing-package invalid-option`,
  },
  { reason: 'empty-response', codes: 'empty-response AI_EmptyResponseBodyError AI_NoContentGeneratedError' },
];

const emptyRules: readonly Rule[] = [
  {
    reason: 'empty-response',
    messages: [
      /empty (?:\w{1,15} ){0,2}(?:response|completion|message)|(?:returned|produced|generated) no (?:content|output|text|choices)|(?:no|without) (?:choices|candidates)(?: in| were| returned|$)|no (?:content|output|response) (?:was )?(?:generated|returned|received)|(?:response|answer) without (?:any )?content|output text or tool calls/i,
    ],
    status: noStatus,
  },
  // The AI SDK throws this error also when the stream has failed, with the failure as its cause.
  { reason: 'empty-response', codes: 'AI_NoOutputGeneratedError' },
];

/** Requests that no provider accepts. Most other refusals carry these codes as well. */
const invalidRules: readonly Rule[] = [
  {
    reason: 'invalid-request',
    codes: `
      invalid_request_error invalid_request invalid_request_body invalid_argument InvalidParameter
      invalid_value missing_required_parameter unknown_parameter unsupported_parameter unsupported_value
      parameter_unknown invalid_function_call ValidationException validation_error ValidationError
      UnprocessableEntityError BadRequestError bad_request failed_precondition out_of_range
      AI_InvalidPromptError AI_UnsupportedFunctionalityError 1210 1212 1213 1214 1215 status:2013`,
    status: (status) => !isServer(status) && status !== 403,
  },
];

/** Every other refusal. */
const otherRules: readonly Rule[] = [
  { reason: 'invalid-request', status: (status) => status !== undefined && status >= 400 && status < 500 },
  {
    reason: 'invalid-request',
    messages: [
      /\binvalid ['`]|\b(?:invalid|bad|malformed|incorrect|unprocessable|unrecognized|unknown|unexpected|missing required|duplicate) (?:request|name|variant|item|value|parameter|argument|format|field|role|type|entity|content|message|schema|property|params?)|should match pattern|is (?:required|mandatory|missing)|without (?:a |its )?(?:corresponding |required )?(?:tool_(?:result|use)|following)|found without|\bno tool (?:call|use|output|result) (?:was )?found for\b|validation (?:error|failed)|\bduplicate (?:\w{1,20} )?name|\bis a required property|\bout of range\b|\bwrong type\b|\bnot valid json\b|\bcannot parse\b|\binput should be\b|\bfield required\b|\bnot an? (?:recogni[sz]ed|known|allowed) (?:field|parameter|argument|option|key|property)|\bis not one of\b|\bunexpected \W?tool[ _](?:use|call)[ _]id\b|\b(?:cannot|can't) both be\b|\bshould be equal to\b|\bno user (?:query|message)|\bonly supports?\b|\bonly [^.\n]{1,40} (?:is|are) supported\b|\btool_call_id\b[^.\n]{0,60} not found|(?:extra|additional) (?:inputs?|fields?|properties|keys?) (?:is|are) not (?:permitted|allowed)|\b(?:is|are|was|were) (?:not valid|invalid)\b|参数/i,
      /\bmust (?:equal|come|follow|be (?:one of|between|unique|true|false|null|string|an? |followed by|passed|set|defined|at |less|greater|non-empty|in |[<>]=? ?\d)|alternate|match|have|contain|start|end|not)\b|cannot be (?:empty|disabled)|(?:may|can) (?:only )?be (?:provided|set|used)|may only be|should be (?:non-empty|one of)|(?:is|are) (?:blank|empty|not set)|could not be verified|not allowed|please ensure|adjust your prompt/i,
      /\bunsupported (?:image|media|file|tool|feature|by|for|value|parameter)|\b(?:is|are) unsupported\b|(?:is not|isn['’]t) supported|not (?:supported (?:on|by|for|with)|accepted by|available for)\b|_\w{1,30} not supported\b|(?:are|is)(?: not|n['’]t) (?:compatible|enabled|available for)\b|does(?: not|n['’]t) (?:support|work with)|(?:enabled|supported|allowed|available) only|only (?:enabled|supported|allowed)|\brequires (?:--\w|[^.\n]{1,40} to be (?:enabled|set))|(?:could not|unable to|failed to|could not be) (?:process|parse|parsed|decode|decrypted|deserialize)(?:d)?\b|\bexpected\b[^.\n]{0,80}\b(?:but|found|got|for the following)\b/i,
    ],
    status: noStatus,
  },
];

/** The order in which concepts are tried: the more exact ones first. */
const rules: readonly Rule[] = [
  ...ownRules,
  ...languageRules,
  ...contentRules,
  ...quotaRules,
  ...authRules,
  ...rateRules,
  ...sizeRules,
  ...modelRules,
  ...transportRules,
  ...invalidRules,
  ...refusalRules,
  ...generalRules,
  ...otherRules,
  ...emptyRules,
  ...wrapperRules,
];

/** The verdict of the first rule that holds; `unknown` if none does. */
export const verdictOn = (evidence: Evidence): Verdict => {
  if (isAborted(evidence)) return { reason: 'aborted', evidence: 'abort' };
  for (const rule of compiled) {
    const decisive = decisiveEvidence(rule, evidence);
    if (decisive === undefined) continue;
    const { reason, scope, retryable } = rule;
    return { reason, scope, retryable, evidence: decisive };
  }
  return { reason: 'unknown', evidence: 'nothing' };
};

interface CompiledRule extends Omit<Rule, 'codes' | 'codePrefixes'> {
  readonly codes: readonly string[];
  readonly codePrefixes: readonly string[];
}

const listOf = (codes = ''): readonly string[] => codes.split(/\s+/).filter(Boolean).map(normalizeCode);

const compiled: readonly CompiledRule[] = rules.map((rule) => ({
  ...rule,
  codes: listOf(rule.codes),
  codePrefixes: listOf(rule.codePrefixes),
}));

const decisiveEvidence = (rule: CompiledRule, evidence: Evidence): string | undefined => {
  const { codes, codePrefixes, messages = [], status, unless } = rule;
  if (status?.(evidence.status) === false || unless?.(evidence) === true) return undefined;
  if (codes.length === 0 && messages.length === 0) return `status ${evidence.status}`;
  const code =
    codes.find((known) => evidence.codes.has(known)) ??
    [...evidence.codes].find((given) => codePrefixes.some((prefix) => given.startsWith(prefix)));
  if (code !== undefined) return `code "${code}"`;
  for (const phrase of messages) {
    const found = phrase.exec(evidence.text)?.[0];
    if (found !== undefined) return `message "${found.slice(0, maxQuoted)}"`;
  }
  return undefined;
};

/** The caller aborted the call. A deadline that ended the call is also reported as an abort, but under its own name. */
const isAborted = ({ status, codes, text }: Evidence): boolean => {
  if (status !== undefined || codes.has('timeouterror')) return codes.has('aborted') && codes.has('aborterror');
  return (
    ['aborted', 'aborterr', 'errcanceled', 'aborterror', 'apiuseraborterror'].some((code) => codes.has(code)) ||
    /(?:^|\b(?:\w{0,12}Abort)?Error: )(?:last error: )?(?:this|the)? ?(?:operation|request) was aborted(?! due to (?:a )?timeout| by the (?:server|provider|upstream|proxy|gateway))|^the user aborted a request|\bcancell?ed by (?:the )?user\b|\bsignal is aborted without reason|\bcontext cancell?ed\b/im.test(
      text,
    )
  );
};
