export { createKey } from './limits/clients.js';
export {
  configSchema,
  ConfigError,
  parseConfig,
  readConfig,
  type ProxyConfig,
  type ProxyConfigInput,
} from './config.js';
export { startProxy, type ProxyContext, type RunningProxy } from './proxy.js';
