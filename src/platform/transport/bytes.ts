/** Bytes that are collected up to a limit. */
export interface Bytes {
  /** Adds the bytes that fit; false if some didn't. */
  add(chunk: Uint8Array): boolean
  length(): number
  /** What was collected, valid until the next `add`. */
  view(): Buffer
  /** A copy of what was collected. */
  copy(): Uint8Array
}

/** One doubling block, because a list of single-byte chunks could take 100 times the limit. */
export function collectUpTo(limit: number): Bytes {
  let block: Buffer = Buffer.alloc(0)
  let length = 0

  function reserve(needed: number) {
    if (needed <= block.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(needed, 2 * block.length), limit))
    block.copy(larger, 0, 0, length)
    block = larger
  }

  return {
    add: (chunk) => {
      const fitting = chunk.length <= limit - length ? chunk : chunk.subarray(0, limit - length)
      reserve(length + fitting.length)
      block.set(fitting, length)
      length += fitting.length
      return fitting.length === chunk.length
    },
    length: () => length,
    view: () => block.subarray(0, length),
    copy: () => new Uint8Array(block.subarray(0, length)),
  }
}
