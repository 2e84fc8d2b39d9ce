import { isPromptTooLarge } from '../context-window.js';
import { isServer, oneOf, type Rule, type StatusCheck } from './rule.js';

/** Local servers report an overflow as 500, and gateways hide it behind other server errors. */
const mayBeRequest: StatusCheck = (status) =>
  status === undefined || (status >= 400 && status < 429 && ![401, 402, 403, 407].includes(status)) || isServer(status);

/** Requests that are too large: by files and settings, which compaction cannot change, or by their length. */
export const sizeRules: readonly Rule[] = [
  // Files and lists that are too large stay too large when the conversation gets shorter.
  {
    reason: 'invalid-request',
    messages: [
      /\b(?:image|images|pdf|document|file|audio|video|attachment|media)\b(?:[^.\n]|\.\S){0,60}(?:exceeds?|too (?:large|big|many|long)|larger than|max(?:imum)?(?:[^.\n]|\.\S){0,20}(?:size|pixels|bytes|pages))/i,
      /too many (?:images|tools|functions|files|pages|documents|stop)|maximum of \d{1,5} (?:images?|pdf|pages?|files?|documents?|tools?)|exceeds? (?:[^.\n]|\.\S){0,20}upload|array too long|name(?:[^.\n]|\.\S){0,10} too long|context window (?:is )?too small/i,
      /\btools?\b(?:[^.\n]|\.\S){0,40}\b(?:response|result|output)\b(?:[^.\n]|\.\S){0,30} exceeds? maximum allowed tokens/i,
      /(?:tool|function)s?\b(?:[^.\n]|\.\S){0,40}(?:name|description)\b(?:[^.\n]|\.\S){0,40}(?:too long|exceeds?|at most|maximum length)/i,
      /string too long[^\n]{0,60}maximum length \d{1,5}\b|'(?:tools|user|metadata|functions|stop|name)\b[^\n]{0,60}string too long/i,
    ],
    status: mayBeRequest,
    unless: ({ text }) => /tokens? of image and text exceed|request entity too large/i.test(text),
  },
  // More output than the model can produce is a setting; more input than it can read is an overflow.
  {
    reason: 'context-overflow',
    messages: [
      /max_tokens must be at least 1, got -|string too long[^\n]{0,60}maximum length \d{6,}/i,
      /input length and .{0,3}max_tokens|inputs?.{0,3} tokens \+ .{0,3}max_new_tokens|max_tokens would exceed|value at \W?body[^\n]{0,60}length less than/i,
    ],
    status: mayBeRequest,
  },
  {
    reason: 'context-overflow',
    messages: [/max_(?:completion_)?tokens\W{0,3} is too large|requested \d{1,9} output tokens/i],
    status: mayBeRequest,
    unless: ({ text }) => !isPromptTooLarge(text),
  },
  {
    reason: 'invalid-request',
    messages: [
      /max(?:imum)?[_ ]?(?:completion_|output_|new_)?tokens?\W{0,4}(?:value |parameter )?(?:\d{1,9} )?(?:is |are |was )?(?:too (?:large|high|big)|must be|should be|can ?not|may not|invalid|out of range|exceeds?\b)/i,
      /max(?:imum)?[_ ]?(?:completion_|output_|new_)?tokens?\W{0,3}[=:]?\W{0,3}\d{1,9} (?:cannot|>|is greater)/i,
      /maximum (?:allowed )?(?:number of )?output tokens|supports at most \d{1,9} (?:completion|output) tokens|range of (?:.{0,3})max_?(?:completion_|output_)?tokens|invalid max_(?:completion_|output_)?tokens|maxOutputTokens value|maximum value for .{0,3}max_/i,
      /maximum tokens you requested exceeds?|higher max_tokens|output (?:token )?(?:limit|length)(?:[^.\n]|\.\S){0,30}(?:exceed|reached)|(?:requested|exceeds?)(?:[^.\n]|\.\S){0,40} (?:completion|output) tokens?\b|thinking(?:[^.\n]|\.\S){0,30}budget/i,
    ],
    status: mayBeRequest,
    unless: ({ text }) => /exceed\w{0,3} (?:the|this) model.{0,3} (?:maximum )?context/i.test(text),
  },
  {
    reason: 'context-overflow',
    codes: `
      context_length_exceeded context_window_exceeded context_limit_exceeded context_limit
      model_context_window_exceeded max_context_length_exceeded exceed_context_size_error
      ContextWindowExceededError ContextOverflowError model_max_prompt_tokens_exceeded
      max_prompt_tokens_exceeded prompt_too_long prompt_tokens_exceeded input_too_long input_tokens_exceeded
      request_too_large string_above_max_length tokens_exceeded_error tokens_limit_reached 1261 status:1039`,
    status: mayBeRequest,
  },
  {
    reason: 'context-overflow',
    messages: [
      // The input is too long.
      /(?:prompt|inputs?|context|conversation|sequence|messages?|transcript|history|chat)\b(?:[^.\n]|\.\S){0,80}\b(?:is |are |was )?too (?:long|large|big)\b/i,
      /request (?:entity |payload |body |size )?(?:is )?too large|payload too large|too large for model|content too large|too many (?:input |prompt )?tokens(?! per (?:min|day|sec|hour))/i,
      // The input exceeds the window.
      /(?:exceed\w{0,3}|greater than|larger than|longer than|more than|over|beyond|surpass\w{0,2}|larger|overflow\w{0,3})\b(?:[^.\n]|\.\S){0,60}\b(?:context|max_?model_?len|maximum (?:number of (?:input |prompt )?tokens|(?:allowed |model |input |prompt |sequence )?(?:length|size))|max(?:imum)? (?:length|size|(?:input |prompt |message |allowed )?tokens?)|(?:model |input |prompt |request )token limit|configured limit|token limits?)/i,
      /context(?! deadline| cancel)[ _-]?(?:window|length|size|limit|budget)?\b(?:[^.\n]|\.\S){0,60}\b(?:exceed|overflow|too long|is only|limit reached|would exceed|超)/i,
      /(?:prompt|inputs?|messages?(?: size)?|request|conversation|history)\b(?:[^.\n]|\.\S){0,60}\bexceed\w{0,3}\b(?:[^.\n]|\.\S){0,20}\b(?<!\btime )(?:limit|maximum|max)\b(?! (?:duration|time))|total message size|token limit exceeded|exceed\w{0,3} (?:the )?model(?:.?s)?\b(?:[^.\n]|\.\S){0,30}(?:limit|length|window)/i,
      /\b(?:number of|input|prompt|total) tokens\b(?:[^.\n]|\.\S){0,20}\bexceeds? (?:the )?max(?:imum)?\b|longer than (?:what )?the model|maximum allowed input|token count\b(?:[^.\n]|\.\S){0,30}\bover the limit|tokens per request exceeded|too many (?:\w{1,12} ){1,3}(?:bytes|characters)\b/i,
      /\b(?:prompt|input|request|conversation)\b[^.\n]{0,20}\b(?:is|has|contains) \d[\d,]{2,12} tokens\b[^.\n]{0,30}\b(?:context|window|model)\b[^.\n]{0,20}\b(?:is|has|holds|allows|takes) \d/i,
      // The window is smaller than the input.
      /maximum (?:context|prompt|input|sequence|model|token)\w{0,3} (?:length|size|window|limit|tokens)|maximum number of (?:input |prompt )tokens|context window is \d|max_context_length|n_ctx(?:_slot)?\b|slot context|length is \d{1,9} while limit is|context is full|configured context size/i,
      /(?:prompt|input)\w{0,7}\b(?:[^.\n]|\.\S){0,60}\b(?:must|should) be (?:less than|at most) max_?(?:seq|model)_?len|range of input length|inputs?\W{0,3} must have less than|must be (?:shorter|fewer|less) than \d{1,9} tokens|tokens in request more than|total number of tokens in the prompt|context the overflows|overflows? the context/i,
      /reduce (?:the )?(?:length|size|number)(?:[^.\n]|\.\S){0,20} (?:of )?(?:the |your )?(?:messages|prompt|input|context|conversation|tokens)|reduce (?:your|the) (?:prompt|input|context|message)|shorten (?:your|the) (?:prompt|input|conversation)/i,
      /コンテキスト[^。\n]{0,10}超|上下文[^。\n]{0,20}(?:过长|超|压缩)|压缩上下文|超过最大长度|超出最大|(?:输入|提示|prompt)[^。\n]{0,12}(?:过长|超长|超过|超出)/i,
    ],
    status: mayBeRequest,
    unless: ({ text }) => /content[- ]length|header/i.test(text) && !/context|token/i.test(text),
  },
  // Together reports an overflow as 403.
  {
    reason: 'context-overflow',
    messages: [/less than the context length|exceeds? the (?:maximum )?context length/i],
    status: oneOf(403),
  },
  // Several gateways answer a request that is too long with a status alone.
  { reason: 'context-overflow', status: oneOf(413) },
  {
    reason: 'context-overflow',
    messages: [/\b400 (?:status code )?\(no body\)/i],
    status: oneOf(400),
  },
];
