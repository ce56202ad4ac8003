/** A part of a list, newest first, starting after row `before`, or at the newest. */
export interface Scan {
  before?: number | undefined
  limit: number
}

/** Greater than every row number. */
export const END = Number.MAX_SAFE_INTEGER
