/** A kind of token with a known prefix. */
export interface TokenForm {
  readonly kind: string;
  readonly prefix: string;
  /** Minimum and maximum number of characters after the prefix. */
  readonly min: number;
  readonly max: number;
  /** Characters of the token besides `A-Za-z0-9_-`. */
  readonly extra?: string | undefined;
  /** Documented pattern of the whole rest of the token. */
  readonly body?: RegExp | undefined;
  /** Whether the rest must look random, because the prefix also occurs in other text. */
  readonly isWeak?: true | undefined;
  /** Whether the token begins with letters and digits before the prefix. */
  readonly isInner?: true | undefined;
  /** Documented pattern of the characters before the prefix, up to the beginning of the word. */
  readonly head?: RegExp | undefined;
  /** Whether only the part after the prefix is replaced. */
  readonly keepsPrefix?: true | undefined;
}

/** Maximum length of a token. */
const longest = 512;

const forms = (kind: string, prefixes: string, min: number, more: Partial<TokenForm> = {}): readonly TokenForm[] =>
  prefixes.split(' ').map((prefix) => ({ kind, prefix, min, max: longest, ...more }));

/** Declares an exact length, which suffices to recognize the token. */
const exactly = (length: number, more: Partial<TokenForm> = {}): Partial<TokenForm> & { readonly max: number } => ({
  max: length,
  ...more,
});

const isWeak = true;
const keepsPrefix = true;
const hex = /^[0-9a-f]+$/i;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const base58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const dot = { extra: '.' };

/**
 * Token formats that providers document or public scanners list, as of November 2026.
 * Keys that a provider calls public (`pk_live_`, `phc_`) are not included.
 */
export const tokenForms: readonly TokenForm[] = [
  // Models
  ...forms('anthropic', 'sk-ant-', 20),
  ...forms('openai', 'sk-proj- sk-svcacct- sk-admin- sk-None-', 20),
  ...forms('openrouter', 'sk-or-v1-', 20),
  ...forms('langfuse', 'sk-lf-', 20),
  ...forms('api-key', 'csk- llx- ak- as-', 20, { isWeak }),
  ...forms('hugging-face', 'hf_', 34, exactly(40)),
  ...forms('hugging-face', 'api_org_', 34, exactly(34)),
  ...forms('replicate', 'r8_', 37, exactly(40)),
  ...forms('groq', 'gsk_', 48, exactly(56)),
  ...forms('xai', 'xai-', 70),
  ...forms('perplexity', 'pplx-', 40),
  ...forms('nvidia', 'nvapi-', 40),
  ...forms('fireworks', 'fw_', 20, { isWeak }),
  ...forms('together', 'tgp_v1_', 30),
  ...forms('pinecone', 'pcsk_', 30),
  ...forms('langsmith', 'lsv2_pt_ lsv2_sk_', 30),
  ...forms('firecrawl', 'fc-', 32, exactly(32, { body: hex })),
  ...forms('exa', 'e2b_', 30, { isWeak }),
  ...forms('apify', 'apify_api_', 30),
  ...forms('agentmail', 'am_', 32, { isWeak }),
  ...forms('composio', 'ak_', 20, { isWeak }),
  ...forms('weights-and-biases', 'wandb_v1_', 30),
  ...forms('cursor', 'crsr_', 40),
  ...forms('runpod', 'rpa_', 40, { isWeak }),
  ...forms('context7', 'ctx7sk-', 32, { isWeak }),
  ...forms('brave-search', 'BSA', 28, exactly(28, { isWeak })),
  ...forms('daytona', 'dtn_', 40, { isWeak }),
  ...forms('scrapegraph', 'sgai-', 32, { isWeak }),
  ...forms('hugging-face', 'hf_oauth_', 40, dot),
  ...forms('heygen', 'sk_V2_', 40),
  ...forms('key', 'key_', 64, { max: 130, body: hex }),
  ...forms('helicone', 'sk-helicone-', 20),
  ...forms('langsmith', 'ls__', 32, exactly(32, { isWeak })),
  ...forms('baidu', 'bce-v3/ALTAK-', 50, { extra: '/' }),
  ...forms('unkey', 'unkey_', 20, { isWeak }),
  ...forms('warp', 'wk-1.', 40, { isWeak }),
  ...forms('coderabbit', 'cr-', 58, exactly(58, { body: hex })),
  ...forms('anyscale', 'esecret_', 26, exactly(26, { isWeak })),
  ...forms('predibase', 'pb_', 22, exactly(22, { isWeak })),
  ...forms('murf', 'ap2_', 36, exactly(36, { body: uuid })),
  ...forms('dify', 'app- dataset-', 24, exactly(24, { isWeak, body: /^(?=.*[A-Z])/ })),
  ...forms('mintlify', 'mint_ creem_', 22, exactly(22, { isWeak })),
  // Clouds
  ...forms('aws-session', 'IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz', 60, { extra: '+/=', max: 4096 }),
  // Keys of Azure have the name of the service before their checksum.
  ...forms('azure', '+ASt +AEh +ASb +ARm +ACR +ABa ACDb AIoT', 4, {
    extra: '+/=',
    max: 12,
    isInner: true,
    head: /^[A-Za-z\d+/]{30,80}$/,
    body: /^[A-Za-z\d]{4,8}={0,2}$/,
  }),
  ...forms('azure', 'AzFu AzSe AzCa JQQJ99', 4, { extra: '=', max: 40, isInner: true, head: /^[A-Za-z\d]{40,60}$/ }),
  ...forms('aws-access-key', 'AKIA ASIA ABIA ACCA', 16, exactly(16, { body: /^[A-Z\d]{16}$/ })),
  ...forms('aws-bedrock', 'ABSK', 100, { extra: '+/=', isWeak }),
  ...forms('azure', 'AZDO', 4, exactly(4, { isInner: true, head: /^[A-Za-z\d]{76}$/ })),
  ...forms('aws-bedrock', 'ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-', 60, { extra: '+/=' }),
  ...forms('azure', 'Q~', 31, { max: 34, extra: '.~', isInner: true, body: /[\w~.-]{31}/ }),
  ...forms('google-api-key', 'AIza', 35, exactly(39)),
  ...forms('google-api-key', 'AQ.Ab', 35),
  ...forms('google-oauth', 'ya29. GOCSPX-', 20, dot),
  ...forms('google-refresh', '1//0', 40),
  ...forms('alibaba', 'LTAI', 16, { max: 24, isWeak }),
  ...forms('tencent', 'AKID', 32, exactly(32, { isWeak })),
  ...forms('yandex', 'AQVN', 35, { max: 38, isWeak }),
  ...forms('yandex', 't1.', 90, { extra: '.', isWeak }),
  ...forms('yandex', 'YC', 38, exactly(38, { isWeak })),
  ...forms('scalingo', 'tk-us-', 48, exactly(48)),
  ...forms('octopus', 'API-', 26, exactly(26, { body: /^(?=.*\d)[A-Z0-9]{26}$/ })),
  ...forms('defined', 'dnkey-', 70),
  ...forms('digitalocean', 'dop_v1_ doo_v1_ dor_v1_', 40),
  ...forms('cloudflare', 'cfk_ cfut_ cfat_', 40),
  ...forms('cloudflare', 'v1.0-', 100),
  ...forms('heroku', 'HRKU-', 36),
  ...forms('fly', 'fo1_ fm1_ fm1a_ fm1r_ fm2_', 40, { extra: '+/=,' }),
  ...forms('vercel', 'vcp_ vci_ vca_ vcr_ vck_', 24, { isWeak }),
  ...forms('vercel', 'vercel_blob_rw_', 20),
  ...forms('netlify', 'nfp_ nfc_ nfo_ nfu_ nfb_', 36),
  ...forms('render', 'rnd_', 24, { isWeak }),
  ...forms('scaleway', 'SCW', 17, exactly(17, { isWeak })),
  ...forms('aiven', 'AVNS_', 16),
  ...forms('databricks', 'dapi dose dkea', 32, { max: 34, body: /^[0-9a-f]{32}(?:-\d)?$/ }),
  ...forms('openshift', 'sha256~', 43),
  ...forms('pulumi', 'pul-', 40, exactly(40, { body: hex })),
  ...forms('terraform', '.atlasv1.', 60, { isWeak, isInner: true }),
  ...forms('vault', 'hvs. hvb. hvr.', 20),
  ...forms('docker-swarm', 'SWMTKN-1-', 76, exactly(76, { body: /^[a-z\d]{50}-[a-z\d]{25}$/ })),
  ...forms('doppler', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', 30, dot),
  ...forms('infisical', 'st.', 60, { extra: '.', isWeak }),
  ...forms('1password', 'ops_eyJ', 100, { extra: '+/=' }),
  ...forms('1password', 'A3-', 31, {
    body: /^[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}$/,
  }),
  ...forms('tailscale', 'tskey-', 20),
  // Code hosting and packages
  ...forms('github', 'ghp_ gho_ ghu_ ghs_ ghr_', 36),
  ...forms('github', 'github_pat_', 22),
  ...forms('gitlab', 'glpat- gldt- glrt- glcbt- glptt- glft- glffct- glsoat- glagent- gloas- glimt- glrtr-', 20, dot),
  ...forms('gitlab', 'GR1348941', 20),
  ...forms('bitbucket', 'ATBB ATCTT3xFfGN0', 28, { extra: '=', isWeak }),
  ...forms('npm', 'npm_', 36, exactly(36)),
  ...forms('pypi', 'pypi-AgE', 40),
  ...forms('rubygems', 'rubygems_', 40),
  ...forms('crates', 'cio', 32, exactly(32, { isWeak })),
  ...forms('nuget', 'oy2', 43, exactly(43, { body: /^[a-z0-9]{43}$/, isWeak })),
  ...forms('packagist', 'packagist_', 40),
  ...forms('clojars', 'CLOJARS_', 60),
  ...forms('docker', 'dckr_pat_ dckr_oat_', 20),
  ...forms('artifactory', 'AKCp cmVmd', 59, { max: 69, isWeak }),
  ...forms('sonar', 'sqp_ squ_ sqa_', 40, exactly(40, { body: hex })),
  ...forms('buildkite', 'bkua_', 40),
  ...forms('circleci', 'CCIPAT_ CCIPRJ_', 30),
  ...forms('sourcegraph', 'sgp_ slk_', 40),
  ...forms('snyk', 'snyk_uat.', 20, dot),
  ...forms('harness', 'pat. sat.', 60, { extra: '.', isWeak }),
  ...forms('prefect', 'pnu_ pnb_', 36),
  ...forms('readme', 'rdme_', 70),
  ...forms('huggingface-jwt', 'hf_jwt_', 40, dot),
  ...forms('launchdarkly', 'api- sdk- mob-', 36, exactly(36, { body: uuid })),
  ...forms('zuplo', 'zpka_', 32, { isWeak }),
  ...forms('exoscale', 'EXO', 24, exactly(24, { body: hex })),
  ...forms('endor', 'endr+', 16, { isWeak }),
  ...forms('cloudflare', 'eyJhIjoi', 80, { extra: '+/=', isWeak }),
  ...forms('tinybird', 'p.eyJ', 60, dot),
  ...forms('checkly', 'cu_', 32, exactly(32, { body: hex })),
  ...forms('wakatime', 'waka_', 36, exactly(36, { body: uuid })),
  ...forms('upcloud', 'ucat_', 26, exactly(26, { isWeak })),
  ...forms('sealed', 'Fe26.2*', 60, { extra: '*' }),
  // Databases
  ...forms('fauna', 'fnAE', 36, exactly(36, { isWeak })),
  ...forms('appwrite', 'standard_', 200, { body: hex }),
  ...forms('pubnub', 'sec-c-', 40, { extra: '+/=' }),
  ...forms('planetscale', 'pscale_tkn_ pscale_pw_ pscale_oauth_', 30, dot),
  ...forms('supabase', 'sbp_', 40, exactly(44)),
  ...forms('supabase', 'sb_secret_', 20),
  ...forms('neon', 'napi_', 40),
  ...forms('neon', 'npg_', 12, { max: 24, body: /\d/ }),
  ...forms('elastic', 'essu_ essa_ essr_', 40, { extra: '+/=' }),
  ...forms('databento', 'db-', 29, exactly(29, { isWeak })),
  ...forms('settlemint', 'sm_aat_ sm_pat_ sm_sat_', 16, exactly(16)),
  ...forms('mongodb', 'mdb_sa_sk_', 40),
  ...forms('confluent', 'cflt', 60, { extra: '+/=', isWeak }),
  ...forms('cockroach', 'CCDB1_', 40),
  ...forms('clickhouse', '4b1d', 38, exactly(38, { isWeak })),
  ...forms('airtable', 'pat', 79, { max: 79, extra: '.', body: /^[A-Za-z0-9]{14}\.[0-9a-f]{64}$/ }),
  ...forms('contentful', 'CFPAT-', 40),
  // Messages
  ...forms('slack', 'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxp- xoxe.xoxb- xwfp-', 12, {
    extra: '%',
  }),
  ...forms('slack-webhook', 'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/', 20, {
    extra: '/',
    keepsPrefix,
  }),
  ...forms('discord-webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', 40, {
    extra: '/',
    keepsPrefix,
  }),
  ...forms('teams-webhook', 'webhook.office.com/webhookb2/', 40, { extra: '/@', keepsPrefix }),
  ...forms('discord', 'MT Mj Mz ND NT Nj Nz OD OT', 55, { extra: '.', body: /^[\w-]{20,26}\.[\w-]{6}\.[\w-]{27,}/ }),
  ...forms(
    'webhook',
    'hooks.zapier.com/hooks/catch/ open.feishu.cn/open-apis/bot/v2/hook/ open.larksuite.com/open-apis/bot/v2/hook/ outlook.office.com/webhook/ maker.ifttt.com/use/ /with/key/ webhook/send?key=',
    12,
    { extra: '/@', keepsPrefix },
  ),
  ...forms('webhook', '/hooks/', 26, exactly(26, { isInner: true, keepsPrefix, isWeak, body: /^[a-z\d]+$/ })),
  ...forms('sendgrid', 'SG.', 40, { extra: '.', isWeak }),
  ...forms('mailgun', 'key-', 32, exactly(32, { body: hex })),
  ...forms('brevo', 'xkeysib- xsmtpsib-', 60),
  ...forms('resend', 're_', 33, exactly(33, { body: /^(?=.*\d)[A-Za-z\d]{8}_(?=.*\d)(?=.*[A-Z])[A-Za-z\d]{24}$/ })),
  ...forms('resend', 're_', 24, { isWeak }),
  ...forms('twilio', 'SK', 32, exactly(32, { body: /^[0-9a-f]{32}$/ })),
  // Payments and shops
  ...forms('stripe', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_', 16),
  ...forms('shopify', 'shpat_ shpss_ shpca_ shppa_ prtapi_', 32),
  ...forms('square', 'sq0atp- sq0csp- sq0idp-', 20),
  ...forms('square', 'EAAA', 60, { isWeak }),
  ...forms('facebook', 'EAAB EAAC EAAD EAAG EAAJ EAAM EAAN EAAT', 60, { isWeak }),
  ...forms('firebase', 'APA91b', 130),
  ...forms('plaid', 'access-sandbox- access-production- access-development-', 36),
  ...forms('razorpay', 'rzp_live_ rzp_test_', 14, exactly(20)),
  ...forms('paddle', 'pdl_live_apikey_ pdl_sdbx_apikey_', 26),
  ...forms('flutterwave', 'FLWSECK- FLWSECK_TEST-', 30),
  ...forms('shippo', 'shippo_live_ shippo_test_', 40),
  ...forms('duffel', 'duffel_live_ duffel_test_', 40),
  ...forms('easypost', 'EZAK EZTK', 54, exactly(54, { isWeak })),
  ...forms('polar', 'polar_oat_ polar_pat_', 30),
  ...forms('mailchimp', '-us', 1, { max: 2, isInner: true, head: /^[0-9a-f]{32}$/, body: /^\d{1,2}$/ }),
  ...forms('mandrill', 'md-', 22, exactly(22, { isWeak })),
  ...forms('courier', 'pk_prod_', 28, exactly(28, { isWeak })),
  ...forms('onfido', 'api_live. api_sandbox. secret_live_', 30, dot),
  ...forms('twitch', 'live_', 36, { max: 50, body: /^\d{6,12}_[A-Za-z\d]{30}/ }),
  ...forms('twitch', 'oauth:', 30, exactly(30, { isWeak })),
  ...forms('rapidapi', 'jsn', 12, exactly(12, { isInner: true, head: /^[\da-f]{10}msh[\da-f]{15}p1[\da-f]{6}$/ })),
  ...forms('telnyx', 'KEY', 55, exactly(55, { body: /^[\dA-F]{32}_/ })),
  ...forms('klaviyo', 'pk_', 34, exactly(34, { body: hex })),
  ...forms('persona', 'persona_production_ persona_sandbox_', 36, exactly(36, { body: uuid })),
  ...forms('adyen', 'AQE', 80, { extra: '.+/=', isWeak }),
  ...forms('twitter', 'AAAAAAAAAAAAAAAAAAAAA', 60, { extra: '%' }),
  ...forms('instagram', 'IGAA IGQV', 80, { isWeak }),
  // Work management
  ...forms('linkedin', 'WPL_AP1.', 20, { extra: '.+/=' }),
  ...forms('metabase', 'mb_', 40, { extra: '+/=', isWeak }),
  ...forms('plain', 'plainApiKey_', 30),
  ...forms('sanity', 'sk', 100, { max: 200, isWeak, body: /^[A-Za-z\d]+$/ }),
  ...forms('okta', '00', 40, exactly(40, { isWeak, body: /^(?=.*[a-z])(?=.*[A-Z])/ })),
  ...forms('atlassian', 'ATATT3 ATCTT3', 40, { extra: '=' }),
  ...forms('trello', 'ATTA', 60, { isWeak }),
  ...forms('linear', 'lin_api_ lin_oauth_', 30),
  ...forms('figma', 'figd_ figo_ figor_', 30),
  ...forms('notion', 'ntn_', 40),
  ...forms('postman', 'PMAK-', 40),
  ...forms('dropbox', 'sl. sl.u.', 100),
  ...forms('conda', 'conda.anaconda.org/t/', 39, {
    max: 39,
    keepsPrefix,
    body: /^[a-z\d]{2}-[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/,
  }),
  ...forms('plex', 'claim-', 20, exactly(20, { isWeak })),
  ...forms('typeform', 'tfp_', 40),
  ...forms('hubspot', 'pat-na1- pat-na2- pat-eu1-', 36),
  ...forms('frame-io', 'fio-u-', 60),
  ...forms('intercom', 'dG9rO', 40, { extra: '+/=', isWeak }),
  ...forms('intra', 's-s4t2ud- s-s4t2af-', 64, exactly(64)),
  ...forms('clickup', 'pk_', 35, { max: 44, body: /^\d{6,9}_[A-Z0-9]{26,34}$/ }),
  ...forms('rootly', 'rootly_', 64),
  ...forms('salesforce', '!AQ', 80, { extra: '.', isWeak }),
  ...forms('things-network', 'NNSXS.', 60, dot),
  ...forms('adafruit', 'aio_', 28, exactly(28, { isWeak })),
  ...forms('adobe', 'p8e-', 32, exactly(32, { isWeak })),
  ...forms('canva', 'cnvca', 20, { isWeak }),
  // Monitoring
  ...forms('sentry', 'sntrys_ sntryu_ sntrya_', 30, { extra: '+/=' }),
  ...forms('grafana', 'glsa_ glc_', 32, { extra: '+/=' }),
  ...forms('dynatrace', 'dt0c01. dt0s01. dt0s16.', 80, dot),
  ...forms('new-relic', 'NRAK- NRII- NRAA- NRAL- NRSP- NRJS-', 19),
  ...forms('new-relic', 'FFFFNRAL', 0, exactly(0, { isInner: true, head: /^[\da-z]{32,36}$/i })),
  ...forms('grafana', 'eyJrIjoi', 70, { extra: '+/=', isWeak }),
  ...forms('honeycomb', 'hcaik_ hcbik_ hcxik_ hcamk_', 40),
  ...forms('axiom', 'xaat- xapt-', 36),
  ...forms('posthog', 'phx_ phs_', 30),
  ...forms('inngest', 'signkey-prod- signkey-test- signkey-branch-', 32),
  ...forms('maxmind', '_mmk', 0, exactly(0, { isInner: true, head: /^[A-Za-z\d]{6}_[A-Za-z\d]{29}$/ })),
  ...forms('datadog', 'ddapp_ ddpat_', 30),
  // Links that log in anyone who opens them
  ...forms(
    'link',
    '/magic/ /magic-link/ /reset/ /reset-password/ /password/reset/ /invite/ /activate/ /verify-email/',
    20,
    {
      isWeak,
      keepsPrefix,
      isInner: true,
    },
  ),
  // Formats
  ...forms('key', 'base64:', 44, exactly(44, { extra: '+/=', isWeak, body: /^[A-Za-z\d+/]{43}=$/ })),
  ...forms('fernet', 'gAAAAAB', 73, { extra: '=', isWeak }),
  ...forms('bitcoin', 'xprv9', 100, { max: 112 }),
  // Private keys in the import format of wallets, of compressed and other keys.
  ...forms('bitcoin', 'Kw Kx Ky Kz L1 L2 L3 L4 L5', 50, exactly(50, { isWeak, body: base58 })),
  ...forms('bitcoin', '5H 5J 5K', 49, exactly(49, { isWeak, body: base58 })),
  ...forms('vmess', 'vmess://', 60, { extra: '+/=', keepsPrefix, max: 4096 }),
  ...forms('nostr', 'nsec1', 58, exactly(58, { isWeak })),
  ...forms('nats', 'SUA SAA SOA SXA', 55, exactly(55, { body: /^[A-Z2-7]{55}$/ })),
  ...forms('jwt', 'eyJ', 24, { max: 16_384, extra: '.' }),
  ...forms('mapbox', 'sk.eyJ', 60, dot),
  ...forms('grub', 'grub.pbkdf2.sha512.', 200, { extra: '.', max: 800 }),
  ...forms('git-crypt', 'AEdJVENSWVBUS0VZ', 100, { extra: '+/=', max: 4096 }),
  ...forms('age', 'AGE-SECRET-KEY-1', 58),
  ...forms(
    'encoded-secret',
    'c2stYW50LW c2stcHJvai Z2hwX Z2l0aHViX3BhdF LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklWQVRF',
    32,
    {
      max: 16_384,
      extra: '+/=',
    },
  ),
  ...forms('encoded-secret', 'LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVOU1NI ZXlKaGJHY2lP ZXlKMGVYQWlP', 32, {
    max: 16_384,
    extra: '+/=',
  }),
];
