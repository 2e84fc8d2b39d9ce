import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { StationUsage } from '../../api/contract.js';
import { count, dollars } from '../state/format.js';
import { visible } from '../state/visible.js';

/** Small elements that several views share. */

const stateTexts: Readonly<Record<string, string>> = {
  idle: 'idle',
  queued: 'queued',
  running: 'running',
  waiting: 'waiting',
  'waiting-for-input': 'needs you',
  failed: 'failed',
  completed: 'completed',
  cancelled: 'cancelled',
  pending: 'not reached',
  approved: 'approved',
  denied: 'denied',
  expired: 'expired',
  withdrawn: 'withdrawn',
  open: 'open',
  ok: 'done',
  error: 'failed',
  skipped: 'skipped',
  interrupted: 'interrupted',
};
export const stateText = (state: string): string => stateTexts[state] ?? state;

/** A state as a shape; the text is for screen readers unless `isLabelled`. */
export const State = ({ state, isLabelled = false }: { readonly state: string; readonly isLabelled?: boolean }) => (
  <span class="state" data-state={state}>
    <span class="state-shape" aria-hidden="true" />
    <span class={isLabelled ? 'state-text' : 'hidden'}>{stateText(state)}</span>
  </span>
);

/** Text of unknown direction and length; it cannot affect its surroundings. */
export const Title = ({ text }: { readonly text: string }) => (
  <bdi class="title-text" title={text.slice(0, 500)}>
    {text.slice(0, 300) || 'Untitled'}
  </bdi>
);

/** The name of a file. A character that reorders text could show another ending than that of the file. */
export const FileName = ({ name }: { readonly name: string }) => <bdi>{visible(name)}</bdi>;

export const UsageText = ({ usage }: { readonly usage: StationUsage }) => (
  <span
    class="usage-text"
    title={`${usage.inputTokens} tokens in, of them ${usage.cachedInputTokens} from the cache, ${usage.outputTokens} out`}
  >
    {count(usage.inputTokens + usage.outputTokens)} tokens <span aria-hidden="true">·</span> {dollars(usage.cost)}
  </span>
);

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children && <p>{children}</p>}
  </div>
);

export const Busy = ({ text }: { readonly text: string }) => (
  <p class="busy" role="status">
    {text}
  </p>
);

/** One choice of few, as a row of buttons. */
export const Choice = <Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string, string?])[];
  readonly onChange: (value: Value) => void;
}) => {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="hidden">{label}</legend>
      {options.map(([each, text, title]) => (
        <label key={each} title={title} data-checked={each === value}>
          <input type="radio" name={name} checked={each === value} onChange={() => onChange(each)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
};

/** A modal dialog. The browser keeps the focus inside, closes it with Escape and returns the focus. */
export const Dialog = ({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const onClick = (event: Event): void => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={onClose} onClick={onClick}>
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
};

const icons = {
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M10 3L5 8l5 5',
  plus: 'M8 3v10M3 8h10',
  send: 'M8 13V3M4 7l4-4 4 4',
  attach:
    'M12.5 7.500l-4.7 4.700a2.8 2.8 0 0 1-4-4l5-5a1.9 1.9 0 0 1 2.7 2.700l-4.8 4.800a.9.9 0 0 1-1.3-1.300l4.3-4.3',
  down: 'M8 3v10M4 9l4 4 4-4',
  unfold: 'M6 4l4 4-4 4',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.5 3.5',
  sun: 'M8 5.200a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.600zM8 1.500v1M8 13.500v1M1.5 8h1M13.5 8h1M3.4 3.400l.7.7M11.9 11.900l.7.7M3.4 12.600l.7-.7M11.9 4.100l.7-.7',
  moon: 'M13 9.500A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.500z',
  system: 'M2.5 3.500h11v7.500h-11zM6 13.500h4',
  sessions: 'M3 4.500h10M3 8h10M3 11.500h6',
  approvals: 'M3 8.500l3.2 3.200L13 4.8',
  lanes: 'M3 4h6M3 8h10M3 12h4',
  workflows: 'M4 3.500a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 10.500a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM4 5.500v3a3 3 0 0 0 3 3h4',
  usage: 'M3.5 13V8M8 13V3M12.5 13V6',
} as const;
export type IconName = keyof typeof icons;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={icons[name]} />
  </svg>
);

/** The mark of the page: departures on a board. */
export const Brand = () => (
  <svg class="brand-mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path d="M2.5 5h9M2.5 10h15M2.5 15h5.5" />
    <circle cx="14.8" cy="5" r="2" />
    <circle cx="10.8" cy="15" r="2" />
  </svg>
);
