export { asPlugin, type PluginOptions } from './as-plugin.js';
export type { AttachStop, ModelChoice } from '@h/bridge';
