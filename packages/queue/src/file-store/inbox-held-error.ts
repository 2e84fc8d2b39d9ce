import { TurnError } from '@h/turn';

/** Another inbox has the folder: of another process, or another one of this process. Its `code` is `inbox-held`. */
export class InboxHeldError extends TurnError {
  /** The process that holds the folder and its host, if known. */
  readonly pid: number | undefined;
  readonly host: string | undefined;

  constructor(directory: string, holder: { readonly pid: number; readonly host: string } | undefined) {
    const by = holder
      ? `process ${holder.pid}${holder.pid === process.pid ? ' (this one)' : ''} on ${holder.host}`
      : 'another process';
    super(
      'inbox-held',
      `The inbox in ${JSON.stringify(directory)} belongs to ${by}; it is free when that is closed or ends. Use separate folders for two at once.`,
    );
    this.pid = holder?.pid;
    this.host = holder?.host;
  }
}
