import { useEffect, useRef, useState } from 'preact/hooks';
import type { MessageMode } from '../client/api.js';
import type { PendingMessage } from '../state/turn-events.js';
import { useApp } from './context.js';
import { Choice, FileName, Icon } from './elements.js';

const modes: readonly (readonly [MessageMode, string, string])[] = [
  ['steer', 'Steer', 'Delivered to the running turn before its next step'],
  ['followup', 'Follow up', 'Begins another turn when this one has ended'],
  ['collect', 'Collect', 'Waits with other messages and begins one turn with all of them'],
  ['interrupt', 'Interrupt', 'Ends the running turn and begins another one'],
];
const maxFiles = 10;
const maxFileBytes = 8_000_000;

/** Texts that were not sent yet, by session, so that a look at another session does not lose them. */
const drafts = new Map<string, string>();

interface Attachment {
  readonly name: string;
  readonly mediaType: string;
  readonly data: string;
}

export const Composer = ({
  session,
  isRunning,
  pending,
  onSend,
}: {
  readonly session: string;
  readonly isRunning: boolean;
  readonly pending: readonly PendingMessage[];
  readonly onSend: (text: string, mode: MessageMode, files: readonly Attachment[]) => Promise<void>;
}) => {
  const { fail, notify } = useApp();
  const [text, setText] = useState(drafts.get(session) ?? '');
  const [mode, setMode] = useState<MessageMode>('steer');
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight + 2, innerHeight / 3)}px`;
  }, [text]);

  const change = (value: string): void => {
    setText(value);
    if (value === '') drafts.delete(session);
    else drafts.set(session, value);
  };
  const send = async (): Promise<void> => {
    if (text.trim() === '' || isBusy) return;
    setBusy(true);
    try {
      await onSend(text.trim(), isRunning ? mode : 'steer', files);
      change('');
      setFiles([]);
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
      field.current?.focus();
    }
  };
  const attach = async (chosen: readonly File[]): Promise<void> => {
    const tooLarge = chosen.find(({ size }) => size > maxFileBytes);
    if (tooLarge) notify(`${tooLarge.name} is larger than 8 MB. Attach a smaller file.`, 'error');
    const usable = chosen.filter(({ size }) => size <= maxFileBytes);
    const read = await Promise.all(usable.map(readFile)).catch(fail);
    if (read) setFiles((before) => [...before, ...read].slice(0, maxFiles));
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {pending.length > 0 && (
        <ul class="pending" aria-label="Messages that the agent has not received">
          {pending.map((message) => (
            <li key={message.id}>
              <span class="muted">{message.mode === 'steer' ? 'next step' : message.mode}</span>
              <bdi>{message.text.slice(0, 200)}</bdi>
            </li>
          ))}
        </ul>
      )}
      <div class="composer-box">
        <textarea
          ref={field}
          id="message"
          rows={1}
          dir="auto"
          value={text}
          maxLength={200_000}
          aria-label="Message"
          placeholder={isRunning ? 'Message to the running turn' : 'Message'}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            const isNewLine = event.shiftKey || event.isComposing || matchMedia('(pointer: coarse)').matches;
            if (event.key === 'Enter' && (!isNewLine || event.metaKey || event.ctrlKey)) {
              event.preventDefault();
              void send();
            } else if (event.key === 'Escape') event.currentTarget.blur();
          }}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (pasted.length === 0) return;
            event.preventDefault();
            void attach(pasted);
          }}
        />
        <div class="composer-tools">
          <button
            type="button"
            class="quiet icon"
            aria-label="Attach files"
            title="Attach files"
            onClick={() => chooser.current?.click()}
          >
            <Icon name="attach" />
          </button>
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              void attach([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
          {files.map((file, index) => (
            <button
              key={file.name}
              type="button"
              class="chip"
              aria-label={`Remove ${file.name}`}
              onClick={() => setFiles(files.filter((_, other) => other !== index))}
            >
              <FileName name={file.name} /> <Icon name="close" />
            </button>
          ))}
          {isRunning && <Choice label="Delivery" value={mode} options={modes} onChange={setMode} />}
          <button
            type="submit"
            class="primary icon send"
            disabled={isBusy || text.trim() === ''}
            aria-label="Send"
            title="Send (Enter)"
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
};

const readFile = (file: File): Promise<Attachment> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve({
        name: file.name.slice(0, 200),
        mediaType: file.type.split(';')[0] || 'application/octet-stream',
        data: url.slice(url.indexOf(',') + 1),
      });
    });
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read. Choose it again.`)));
    reader.readAsDataURL(file);
  });
