export type { Finding, Severity } from './scan/finding.js';
export { stripInvisible } from './scan/hiding/invisible.js';
export { scanContext, type ScanContextOptions, type ScanContextResult, type ScanPolicy } from './scan/scan-context.js';
export type { RedactionPlace, SecurityOptions } from './security-options.js';
export { security } from './security.js';
export { defuse } from './wrap/defuse.js';
export { externalContentRule } from './wrap/external-rule.js';
export { normalizeWraps, wrapExternal, type WrapExternalOptions } from './wrap/wrap-external.js';
