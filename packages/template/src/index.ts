export { streakAfter } from './streak.js';
export { template, type TemplateOptions } from './template.js';
