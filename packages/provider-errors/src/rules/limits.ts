import { isServer, oneOf, type Rule, type StatusCheck } from './rule.js';

/** Providers report limits as 400, 403, 413, 422, 429 and 5xx. */
const mayBeLimit: StatusCheck = (status) =>
  status === undefined || [400, 403, 408, 413, 422, 429].includes(status) || isServer(status);

/** One minute and less is a rate; anything longer is an allowance that is used up. */
const perMinute =
  /(?:per|this)[ -]?(?:min|sec)|perminute|persecond|\/ ?(?:min|sec)|\b(?:TPM|RPM|RPS|QPS|TPS)\b|every minute/i;

const concurrency = /concurren|并发|频率/i;

/** Matches an allowance that is available again within a minute, as the one of a rate. */
const resetsSoon = /\bresets? (?:in|after) \d{1,2}(?:\.\d{1,9})? ?s(?:ec|econds?)?\b/i;

/** Money: credits, balances, bills, spending limits, subscriptions. */
const money: readonly RegExp[] = [
  /(?:insufficient|not enough|no(?:t have)? any|no prepaid|exceeded its prepaid|doesn't have any|out of|no (?:more|remaining|usable)|exhausted(?: all)?|depleted|used (?:up )?all|used up (?:your )?|negative|add|purchase|buy|more|zero)\b(?:[^.\n]|\.\S){0,28}\b(?:credits?|balance|funds|points|extra usage|account balance|(?:a|your) plan)\b/i,
  /\b(?:credits?|balance|funds|wallet|prepaid|package|subscription|plan|(?<!thinking |token )budget)\b(?:[^.\n]|\.\S){0,40}\b(?:too low|insufficient|exhausted|depleted|used up|has run out|ran out|not enough|negative|exceeded|has expired|have expired)\b/i,
  /payment (?:is )?required|payment method|card (?:was |has been )?declined|unpaid|remaining budget|trial (?:has |period )?(?:ended|expired|is over)|past[ -]due|overdue|in arrears|arrearage|good standing|recharge|top[ -]?up|can only afford|requires? (?:more|additional) credits|out of credits|credits? (?:are |is )?required|spend(?:ing)? (?:limit|cap)|(?<!thinking |token )budget (?:has been|is|was|limit)? ?(?:exceeded|reached|exhausted|used up)|(?:crossed|hit|reached|over)(?:[^.\n]|\.\S){0,30} budget|maximum budget|credit limit|\b(?:subscription|plan|credits?) expired\b/i,
  /billing (?:(?:hard )?limit|is not|not enabled|has not|to be enabled|disabled|account)|enable billing|plans? (?:&|and) billing|included credits|残高|guthaben|(?:balance|credits?) (?:is|are) (?:zero|0\b)|余额不足|余量已用尽|欠费|充值|套餐已到期|resource package/i,
];

/** Allowances of plans: quotas, and limits of a period longer than a minute. */
const allowance: readonly RegExp[] = [
  /(?<!not your )\busage[ -]limits?\b|usage cap|premium requests?\b|request allowance|have no quota|exceeded your (?:monthly|weekly|daily|premium|current|plan)/i,
  /\bquota\b(?! (?:metric|id|increase))(?:[^.\n]|\.\S){0,30}\b(?:exceeded|exhausted|depleted|used up|reached|insufficient|not enough|too low|resets?|will reset)\b|(?:exceed\w{0,3}|exhausted|reached|insufficient|not enough|over|used up|out of)\b(?:[^.\n]|\.\S){0,30}(?<!account )\bquota\b(?!s)/i,
  /\b(?:daily|weekly|monthly|hourly|yearly|session|\d{1,2}[- ]hours?|weekly\/monthly)\b(?:[^.\n]|\.\S){0,30}\b(?:limits?|quota|usage|allowance|allocation|cap)\b|limit (?:reached|exceeded)(?:[^.\n]|\.\S){0,12} for \d{1,2} hours?|limited to \d(?:[^.\n]|\.\S){0,20}\/ ?month/i,
  /(?:limit|quota|usage|allowance)\b(?:[^.\n]|\.\S){0,30}\b(?:per (?:day|week|month)|for (?:today|this (?:month|week|period|billing))|this (?:billing cycle|period))|\b(?:requests|messages|calls) (?:for )?today\b|(?:on|in|with|for) paid (?:plans?|users?|tiers?)|\b(?:plan|subscription) (?:is )?required|free-models-per-day|regain access on|free tier of the model|key limit exceeded|exhausted your capacity|(?<!rate )limit\W{1,3}(?:will )?resets?\b|\b(?:plan|subscription) limit\b|limit reached\|\d{10}/i,
  // A rate recovers within minutes, so that no message names hours.
  /\b(?:try again|retry|wait|come back|resets?|available again)\b[^.\n\d]{0,20}\d{1,3} (?:hours?|hrs?|days?|weeks?)\b/i,
  /使用上限|限额|额度|今日调用次数/,
];

/** OpenAI and Google add this sentence to rate limits, too. */
const withoutPlanAdvice = (text: string): string => text.replaceAll(/please check your plan and billing details/gi, '');

/** Quotas, plans and money. They look like rate limits, bad requests and overflows, and come before all of them. */
export const quotaRules: readonly Rule[] = [
  // A gateway may answer with an overload under the code of a rate limit, and with a rate limit under that of a quota.
  {
    reason: 'rate-limit',
    codes: `
      limit_requests limit_burst_rate rate_limit_exceeded_per_minute Throttling.RateQuota Throttling.AllocationQuota
      1302 1303 1313 status:1002`,
    unless: ({ text }) =>
      /\b(?:free|hour|day|week|month) allocated\b/i.test(text) || money.some((phrase) => phrase.test(text)),
  },
  // Google states the period in the ids of its quotas.
  { reason: 'quota', scope: 'model', messages: [/PerDay/], status: oneOf(undefined, 429) },
  { reason: 'rate-limit', messages: [/PerMinute(?:PerProject)?/], status: oneOf(undefined, 429) },
  {
    reason: 'quota',
    scope: 'model',
    messages: [
      /extra usage is required|from your extra usage|(?:usage )?credits are required for long context/i,
      /(?:tokens?|requests?|calls?|limit|quota)(?:[^.\n]|\.\S){0,20}[ _]per (?:day|\d{4,6} ?s)\b|[ _]per[-_]day|\/ ?day\b|\bTPD\b|\bRPD\b/i,
      /plan (?:does not|doesn't) (?:include|support|have access)|not available on (?:the |your )?(?:free|current)|暂未开放/i,
    ],
    status: (status) => status !== 400 && (mayBeLimit(status) || status === 402),
  },
  {
    reason: 'quota',
    codes: `
      insufficient_quota insufficient_credits insufficient_funds insufficient_balance insufficient_user_quota
      quota_exceeded quota_exhausted session_quota_exceeded token_quota_exceeded exceeded_current_quota_error
      InsufficientQuotaError ServiceQuotaExceededException billing_not_active billing_hard_limit_reached
      billing_not_configured BILLING_DISABLED billing_error payment_required payment_error usage_limit_reached
      usage_limit_exceeded usage_not_included additional_spend_limit_reached user_weekly_rate_limited FreeUsageLimitError
      GoUsageLimitError CreditsError MonthlyLimitError token_quota_reached
      FailedOperation.ResourcePackExhausted
      model_not_supported_on_free_tier budget_exceeded BudgetExceededError ExceededBudget ExceededTokenBudget balance_depleted
      AllocationQuota.FreeTierOnly Arrearage PrepaidBillOverdue PostpaidBillOverdue
      CommodityNotPurchased AccessDenied.Unpurchased 1113 1304 1308 1309 1310 1311 1316 1317 1318 1319 1320
      1321 status:1008 status:1028 status:1030 status:2056 status:2061`,
    unless: ({ text }) => perMinute.test(text) || concurrency.test(text),
  },
  {
    reason: 'quota',
    messages: [...money, ...allowance],
    unless: ({ text, times, codes }) =>
      perMinute.test(text) ||
      concurrency.test(text) ||
      resetsSoon.test(text) ||
      (times.has('retrydelay') && !/credit|balance|billing|spend/i.test(withoutPlanAdvice(text))) ||
      codes.has('ratelimitexceeded') ||
      codes.has('edquot') ||
      /\bdisk quota\b/i.test(text) ||
      (/(?:aiplatform|googleapis)\.com/i.test(text) && /quota exceeded for/i.test(text)),
  },
  { reason: 'quota', status: oneOf(402) },
];

/** Matches the limit and the size of the request, as in `Limit 30000, Used 29105, Requested 1661`. */
const statedSizes = /limit:? {0,3}(\d{1,9})[^\n]{0,40} requested:? {0,3}(\d{1,9})/i;

/** Whether a text names a limit that the request does not exceed. */
const mayFitLimit = (text: string): boolean => {
  const [, limit, requested] = statedSizes.exec(text) ?? [];
  return limit !== undefined && Number(requested) <= Number(limit);
};

/** Overload of the provider, then limits of a rate. */
export const rateRules: readonly Rule[] = [
  // A request that is larger than the limit of a whole minute passes only if it becomes shorter.
  {
    reason: 'context-overflow',
    messages: [/request too large[^\n]{0,300}(?:per min|TPM)/i, statedSizes],
    status: mayBeLimit,
    unless: ({ text }) => !perMinute.test(text) || mayFitLimit(text),
  },
  {
    reason: 'overloaded',
    codes: `
      overloaded_error overloaded OverloadedError engine_overloaded engine_overloaded_error
      service_tier_capacity_exceeded 3505 ModelNotReadyException slow_down server_overloaded
      server_is_overloaded model_at_capacity MODEL_CAPACITY_EXHAUSTED ServiceUnavailableError
      ServiceUnavailableException service_unavailable unavailable 1305 1312`,
    unless: ({ text }) => /model (?:\S{1,60} )?(?:is )?(?:not available|does not exist)/i.test(text),
  },
  {
    reason: 'overloaded',
    messages: [
      /overload|over capacity|at (?:full |max(?:imum)? )?capacity|capacity (?:(?:temporarily )?exceeded|constraints)|(?:no|insufficient|not enough) (?:available )?capacity|high (?:demand|load|traffic|volume)|heavy (?:load|traffic)/i,
      /(?:server|service|system|model|engine|replica|worker|instance)s?(?: is| are)?(?: currently| too| all)? busy|too busy|queue (?:is )?full|pending requests exceeded|unable to (?:process|handle) (?:your|the|additional|more|any) requests?|(?:is|are) (?:currently |still )?(?:loading|warming up)\b|being loaded|not ready for inference/i,
      /service (?:is )?(?:temporarily )?unavailable|temporarily (?:unavailable|unable)|no (?:healthy upstream|available (?:server|instance|channel|worker|account|deployment)s?|(?:free )?(?:servers?|instances?|workers?|replicas?|gpus?|slots?)(?: are)?(?: currently)? available|free (?:gpu )?slots?)|(?:^|\n)loading model|scaling up\b|reset reason: overflow|访问量过大|繁忙|负载/i,
    ],
    status: (status) => status === undefined || status === 408 || status === 424 || status >= 429,
    unless: ({ text, status }) => status === 429 && /No deployments available/i.test(text),
  },
  { reason: 'overloaded', status: oneOf(498, 503, 529) },
  {
    reason: 'rate-limit',
    codes: `
      rate_limit rate_limit_exceeded rate_limit_error rate_limit_reached_error RateLimitError rate_limited
      RateLimitExceeded RateLimitReached user_global_rate_limited user_model_rate_limited
      integration_rate_limited request_quota_exceeded model_cooldown too_many_requests too_many_requests_error
      ThrottlingException throttling_error throttling throttled TooManyRequestsException resource_exhausted`,
    unless: ({ status }) => status === 400 || status === 404,
  },
  { reason: 'rate-limit', status: oneOf(429) },
  {
    reason: 'rate-limit',
    messages: [
      /rate.?limit|too many (?:concurrent |parallel )?(?:requests|connections|calls)|limiting (?:your )?requests|too many tokens(?:, please wait|,? (?:this|per|a|in (?:the last|one|a)) (?:second|minute))|throttl|slow down|resource (?:has been )?exhausted|exhausted your capacity|quota exceeded for [^\n]{0,60}googleapis\.com/i,
      /(?:tokens?|requests?|calls?) (?:per|\/) ?(?:min|sec)|request rate|rate (?:of requests|increased)|\brequests in (?:the last )?\d{1,4} ?s(?:ec|econds)?\b|\bburst limit|リクエストが多すぎ|\b(?:TPM|RPM|RPS|QPS)\b/i,
      /concurren(?:t|cy)(?:[^.\n]|\.\S){0,40}(?:limit|exceed|high|reduce|reached|quota|too many)|(?:reduce|high|too many|limit|max|reached)(?:[^.\n]|\.\S){0,30} concurren|频率|并发|限流|过于频繁|流量限制/i,
    ],
    status: mayBeLimit,
  },
];
