import { TurnError } from '@h/turn';

/** Thrown if another inbox holds the folder, in this process or in another one. Its `code` is `inbox-held`. */
export class InboxHeldError extends TurnError {
  /** The process that holds the folder, if known. */
  readonly pid: number | undefined;
  readonly host: string | undefined;

  constructor(directory: string, holder: { readonly pid: number; readonly host: string } | undefined) {
    const by = holder
      ? `process ${holder.pid}${holder.pid === process.pid ? ' (this one)' : ''} on ${holder.host}`
      : 'another process';
    super(
      'inbox-held',
      `The inbox in ${JSON.stringify(directory)} is held by ${by} until that inbox is closed or its process ends. Use a separate folder for each inbox.`,
    );
    this.pid = holder?.pid;
    this.host = holder?.host;
  }
}
