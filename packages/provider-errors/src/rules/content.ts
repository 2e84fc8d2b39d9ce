import { oneOf, type Rule } from './rule.js';

/** A request that is refused for its content is refused by every credential. */
export const contentRules: readonly Rule[] = [
  {
    reason: 'content-filter',
    codes: `
      content_filter content_filtered content_policy_violation ContentPolicyViolationError
      ResponsibleAIPolicyViolation PROHIBITED_CONTENT data_inspection_failed sensitive_words_detected
      moderation_blocked 1300 1301 status:1026 status:1027`,
    status: (status) => status !== 429 && status !== 401,
    // Mistral numbers its rate limits 1300, Z.ai its filters.
    unless: ({ codes }) => codes.has('ratelimited'),
  },
  {
    reason: 'content-filter',
    messages: [
      /content[ -]?(?:management|filter(?:ing|ed)?|moderation|safety) (?:policy|polic|system|block|reject|trigger)|content blocked|blocked content|(?:violated|(?:denied|blocked|rejected|stopped) by) (?:the |a )?guardrail|guardrail (?:checks?|policy|intervened)|produced invalid content|blocked by (?:the |our |a )?(?:content|safety|moderation|guardrail)/i,
      /content exists risk|considered high risk|requires moderation|(?:input|prompt|request|message|content|response) (?:was|has been|is|were) (?:flagged|filtered)|flagged (?:for|as|by)\b/i,
      /violat\w{1,8} (?:[^.\n]|\.\S){0,30}(?:usage|content|safety|acceptable)(?:[^.\n]|\.\S){0,12} (?:polic|guideline)|due to (?:safety|content policy)|safety (?:system|filter|reasons|polic)/i,
      /(?:inappropriate|sensitive|unsafe|prohibited|harmful|disallowed) (?:content|words|material|information)|new_sensitive|敏感|不安全|违规内容/i,
    ],
    status: oneOf(undefined, 200, 400, 403, 421, 422, 446, 451, 500, 502),
  },
];
