import packed from 'js-tiktoken/ranks/cl100k_base';
import { readVocabulary } from './vocabulary.js';

export const vocabulary = readVocabulary(packed);
