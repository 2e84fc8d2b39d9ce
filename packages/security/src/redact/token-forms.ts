/** A kind of token that is known by how it begins. */
export interface TokenForm {
  readonly kind: string;
  readonly prefix: string;
  /** How many characters follow the prefix, at least and at most. */
  readonly min: number;
  readonly max: number;
  /** Characters beyond `A-Za-z0-9_-` that belong to it. */
  readonly extra?: string | undefined;
  /** The prefix is no proof: what follows has to look random. */
  readonly weak?: true | undefined;
  /** Only this is replaced: what comes after the prefix. */
  readonly keepsPrefix?: true | undefined;
}

/** Longer ones do not exist; those that look so are cut here. */
const longest = 512;

const forms = (kind: string, prefixes: string, min: number, more: Partial<TokenForm> = {}): readonly TokenForm[] =>
  prefixes.split(' ').map((prefix) => ({ kind, prefix, min, max: longest, ...more }));

const weak = true;

/**
 * Tokens as their providers give them out, November 2026. What a provider calls public (`pk_live_…`) is not among them.
 */
export const tokenForms: readonly TokenForm[] = [
  ...forms('anthropic', 'sk-ant-', 20),
  ...forms('openai', 'sk-proj- sk-svcacct- sk-admin- sk-None-', 20),
  ...forms('openrouter', 'sk-or-v1-', 20),
  ...forms('langfuse', 'sk-lf-', 20),
  ...forms('api-key', 'sk- rk-', 20, { weak }),
  ...forms('stripe', 'sk_live_ sk_test_ rk_live_ rk_test_ whsec_', 16),
  ...forms('aws-access-key', 'AKIA ASIA', 16, { max: 16 }),
  ...forms('github', 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', 22),
  ...forms('gitlab', 'glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt-', 20),
  ...forms('slack', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-', 12, { extra: '%' }),
  ...forms('slack-webhook', 'hooks.slack.com/services/', 20, { extra: '/', keepsPrefix: true }),
  ...forms('google-api-key', 'AIza', 35, { max: 39 }),
  ...forms('google-oauth', 'ya29. GOCSPX-', 20),
  ...forms('npm', 'npm_', 36, { weak }),
  ...forms('pypi', 'pypi-AgE', 40),
  ...forms('hugging-face', 'hf_', 30, { weak }),
  ...forms('replicate', 'r8_', 32, { weak }),
  ...forms('groq', 'gsk_', 40, { weak }),
  ...forms('xai', 'xai-', 40, { weak }),
  ...forms('perplexity', 'pplx-', 32, { weak }),
  ...forms('tavily', 'tvly-', 20, { weak }),
  ...forms('nvidia', 'nvapi-', 40, { weak }),
  ...forms('fireworks', 'fw_', 20, { weak }),
  ...forms('pinecone', 'pcsk_', 30, { weak }),
  ...forms('langsmith', 'lsv2_pt_ lsv2_sk_', 30),
  ...forms('agentmail', 'am_', 32, { weak }),
  ...forms('sendgrid', 'SG.', 40, { extra: '.', weak }),
  ...forms('docker', 'dckr_pat_ dckr_oat_', 20),
  ...forms('digitalocean', 'dop_v1_ doo_v1_ dor_v1_', 40),
  ...forms('shopify', 'shpat_ shpss_ shpca_ shppa_', 32),
  ...forms('square', 'sq0atp- sq0csp-', 20),
  ...forms('atlassian', 'ATATT3 ATCTT3', 40, { extra: '=' }),
  ...forms('linear', 'lin_api_ lin_oauth_', 30),
  ...forms('figma', 'figd_', 30),
  ...forms('notion', 'ntn_', 36, { weak }),
  ...forms('postman', 'PMAK-', 40),
  ...forms('sentry', 'sntrys_ sntryu_', 30, { extra: '=+/' }),
  ...forms('grafana', 'glsa_ glc_', 32, { extra: '=' }),
  ...forms('vault', 'hvs. hvb. hvr.', 20),
  ...forms('doppler', 'dp.pt. dp.st. dp.ct. dp.sa.', 30, { extra: '.' }),
  ...forms('planetscale', 'pscale_tkn_ pscale_pw_ pscale_oauth_', 30),
  ...forms('supabase', 'sbp_ sb_secret_', 20, { weak }),
  ...forms('rubygems', 'rubygems_', 40),
  // Three parts of base64; the first two are objects.
  ...forms('jwt', 'eyJ', 24, { max: 16_384, extra: '.' }),
  ...forms('age', 'AGE-SECRET-KEY-1', 40),
];
