import type { ModelSettings } from '@h/turn';

/** What is said about windows. */
export interface WindowSettings {
  readonly window: number | ((model: string | undefined) => number | undefined);
  readonly reserve: number | undefined;
  readonly threshold: number;
  readonly protectTokens: number | undefined;
}

/** The bounds of a request, in tokens. */
export interface Limits {
  readonly window: number;
  /** Kept free for the answer. */
  readonly reserve: number;
  /** `window − reserve`: a request may not be larger. */
  readonly usable: number;
  /** A larger request is compacted. */
  readonly limit: number;
  /** Left as it is at the end of a history. */
  readonly protectTokens: number;
}

export const defaultWindow = 128_000;
const defaultReserve = 16_384;
const defaultProtected = 40_000;

/**
 * The bounds for a model. An answer never gets more than half of the window, and a quarter where nobody has said how
 * much it needs; the protected tail never more than three tenths of what is usable.
 *
 * @param known the window that the model's provider has named, where it is smaller than the configured one
 */
export const limitsFor = (
  { window: given, reserve, threshold, protectTokens = defaultProtected }: WindowSettings,
  model: string | undefined,
  settings: Pick<ModelSettings, 'maxOutputTokens'>,
  known = Infinity,
): Limits => {
  const configured = typeof given === 'function' ? (given(model) ?? defaultWindow) : given;
  const window = Math.min(configured, known);
  const wanted = reserve ?? settings.maxOutputTokens;
  const kept = wanted === undefined ? Math.min(defaultReserve, window / 4) : Math.min(wanted, window / 2);
  const usable = window - kept;
  return {
    window,
    reserve: kept,
    usable,
    limit: usable * threshold,
    protectTokens: Math.min(protectTokens, usable * 0.3),
  };
};
