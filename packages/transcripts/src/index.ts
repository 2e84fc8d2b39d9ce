export { formatTranscript, type FormatTranscriptOptions } from './format-transcript.js';
export { importTranscript, type ImportedTranscript } from './import-transcript.js';
export {
  detectTranscript,
  parseTranscript,
  transcriptFormats,
  type ParseTranscriptOptions,
} from './parse-transcript.js';
export type {
  FormattedTranscript,
  Transcript,
  TranscriptFormat,
  TranscriptNote,
  TranscriptTurn,
} from './transcript.js';
