import type { ModelSettings } from '@h/turn';

/** The options about windows. */
export interface WindowSettings {
  readonly window: number | ((model: string | undefined) => number | undefined);
  readonly reserve: number | undefined;
  readonly threshold: number;
  readonly protectTokens: number | undefined;
}

/** The limits of a request, in tokens. */
export interface Limits {
  readonly window: number;
  /** Reserved for the answer. */
  readonly reserve: number;
  /** `window − reserve`: the maximum size of a request. */
  readonly usable: number;
  /** A larger request is compacted. */
  readonly limit: number;
  /** Unchanged at the end of a history. */
  readonly protectTokens: number;
}

export const defaultWindow = 128_000;
const defaultReserve = 16_384;
const defaultProtected = 40_000;

/**
 * The limits for a model. The answer gets at most half of the window, or a quarter if its size is not configured; the
 * protected tail at most three tenths of the usable window.
 *
 * @param known - the window that the provider named, if it is smaller than the configured one
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
  const reserved = wanted === undefined ? Math.min(defaultReserve, window / 4) : Math.min(wanted, window / 2);
  const usable = window - reserved;
  return {
    window,
    reserve: reserved,
    usable,
    limit: usable * threshold,
    protectTokens: Math.min(protectTokens, usable * 0.3),
  };
};
