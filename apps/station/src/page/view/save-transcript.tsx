import type { TranscriptFormat } from '@h/transcripts';
import { useState } from 'preact/hooks';
import { saveBlob } from './artifact.js';
import { useApp } from './context.js';
import { Dialog } from './elements.js';

/** What reads each format, and the extension of its files. */
const formats: Readonly<Record<TranscriptFormat, readonly [reader: string, extension: string]>> = {
  'openai-chat': ['Chat Completions API of OpenAI', 'json'],
  'anthropic-messages': ['Messages API of Anthropic', 'json'],
  'ai-sdk': ['AI SDK', 'json'],
  'claude-code': ['Claude Code', 'jsonl'],
  codex: ['Codex CLI', 'jsonl'],
  pi: ['pi', 'jsonl'],
};

/** Saves the current history of a session in the format of another agent or API. */
export const SaveTranscript = ({
  id,
  title,
  onClose,
}: {
  readonly id: string;
  readonly title: string;
  readonly onClose: () => void;
}) => {
  const { station, fail } = useApp();
  const [format, setFormat] = useState<TranscriptFormat>('openai-chat');
  const save = (): void => {
    onClose();
    const name = `${title}.${format}.${formats[format][1]}`;
    station.api.transcript(id, format).then((blob) => saveBlob(blob, name), fail);
  };
  return (
    <Dialog title="Save transcript" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <fieldset class="agents">
          <legend>Format</legend>
          {(Object.keys(formats) as TranscriptFormat[]).map((each) => (
            <label key={each} class="agent" data-checked={each === format}>
              <input type="radio" name="format" checked={each === format} onChange={() => setFormat(each)} />
              <span class="agent-name">{formats[each][0]}</span>
              <span class="agent-model mono">{each}</span>
            </label>
          ))}
        </fieldset>
        <div class="form-end">
          <button type="button" class="quiet" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
};
