/** A part of a list, newest first, starting after row `before`, or at the newest. */
export interface Scan {
  before?: number | undefined
  limit: number
}

/** A part of a list by row number, between two of them, in either direction. */
export interface Window extends Scan {
  after?: number | undefined
  /** Oldest first. */
  isAscending?: boolean | undefined
}

/** Greater than every row number. */
export const END = Number.MAX_SAFE_INTEGER

/** The rest of a window after the last row that was read. */
export function restOf(window: Window, position: number | undefined): Window {
  const { before = END, after = 0, isAscending } = window
  if (position === undefined) return window
  return isAscending
    ? { ...window, after: Math.max(after, position) }
    : { ...window, before: Math.min(before, position) }
}
