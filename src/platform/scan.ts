/** Rows of a list, newest first, from behind the one at `before` or from the newest on. */
export interface Scan {
  before?: number | undefined
  limit: number
}

/** Behind every row that there can be. */
export const END = Number.MAX_SAFE_INTEGER
