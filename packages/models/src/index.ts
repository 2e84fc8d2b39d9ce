export { driverOf } from './driver.js';
export { secretsIn } from './keys.js';
export { ModelError } from './model-error.js';
export { openModels, type ChosenModel, type ModelChoice, type Models, type ModelsOptions } from './open-models.js';
export { providers, type Connection, type ModelFactory, type Provider, type ProviderSettings } from './providers.js';
