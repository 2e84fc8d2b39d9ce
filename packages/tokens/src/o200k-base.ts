import packed from 'js-tiktoken/ranks/o200k_base';
import { readVocabulary } from './vocabulary.js';

export const vocabulary = readVocabulary(packed);
