export { matchesAny, matchesWildcard } from './matches-wildcard.js';
