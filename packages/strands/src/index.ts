export { asPlugin, type ModelChoice, type PluginOptions, type PluginStop } from './as-plugin.js';
