import { useEffect } from 'preact/hooks';

/** The shortcuts of the page, in the order in which the help lists them. */
export const shortcuts: readonly (readonly [string, string])[] = [
  ['/', 'Search sessions'],
  ['n', 'New session'],
  ['j', 'Next session'],
  ['k', 'Previous session'],
  ['m', 'Write a message'],
  ['l', 'Conversation or timeline'],
  ['1 – 5', 'Sessions, approvals, lanes, workflows, usage'],
  ['t', 'Light, dark or system colors'],
  ['Esc', 'Leave a field or close a dialog'],
  ['?', 'This list'],
];

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/iu.test(target.tagName));

/** Calls a handler for a key outside of fields and dialogs, and without Ctrl, Alt or Meta. */
export const useShortcuts = (handle: (key: string) => boolean): void => {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      if (event.key === 'Escape' && isField(event.target)) (event.target as HTMLElement).blur();
      if (isField(event.target) || document.querySelector('dialog[open]')) return;
      if (handle(event.key)) event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [handle]);
};
