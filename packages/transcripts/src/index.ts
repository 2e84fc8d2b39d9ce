export { formatTranscript, type FormatTranscriptOptions } from './format-transcript.js';
export { formatMessages, type FormattedMessages, type RequestFormat } from './format-messages.js';
export { readMessages, type ReadMessages } from './read-messages.js';
export { importTranscript } from './import-transcript.js';
export {
  detectTranscript,
  parseTranscript,
  transcriptFormats,
  type ParseTranscriptOptions,
} from './parse-transcript.js';
export type { Transcript, TranscriptFormat, TranscriptNote, TranscriptTurn } from './transcript.js';
