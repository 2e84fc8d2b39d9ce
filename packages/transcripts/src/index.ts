export { formatTranscript, type FormatTranscriptOptions } from './format-transcript.js';
export { importTranscript } from './import-transcript.js';
export {
  detectTranscript,
  parseTranscript,
  transcriptFormats,
  type ParseTranscriptOptions,
} from './parse-transcript.js';
export type { Transcript, TranscriptFormat, TranscriptTurn } from './transcript.js';
