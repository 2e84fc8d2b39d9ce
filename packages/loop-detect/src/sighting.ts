/** A call that has ended, as the detectors see it. */
export interface Sighting {
  readonly key: string;
  readonly tool: string;
  readonly isShell: boolean;
  readonly isPoll: boolean;
  /** Of its outcome; for a call that was refused, that of the same call before. */
  readonly outcome: string;
  /** Of what its failure says. */
  readonly failure: string | undefined;
  readonly isUnknownTool: boolean;
  readonly isDenied: boolean;
  readonly isSuccess: boolean;
  /** It succeeded and said something that this call had not said before. */
  readonly isNews: boolean;
  /** The outcome is that of the same call before. */
  readonly isSame: boolean;
}

/** How much has happened so far. */
export interface Progress {
  /** Successful calls with a new outcome. */
  news: number;
  /** Those of them that changed something. */
  writes: number;
  /** Batches of calls: what one answer of the model asks for. */
  batch: number;
}
