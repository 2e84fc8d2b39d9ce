export { encodingOf, loadTokenizer, type Encoding, type Tokenizer } from './load-tokenizer.js';
export { charsPerToken, estimateTokens, approximateTokens } from './estimate.js';
