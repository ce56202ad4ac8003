import { bootMs } from './boot-clock.ts'

/** A deadline, and whether confirmations count. */
export const FENCE_BYTES = 16

export type Fence = ReturnType<typeof createFence>

/**
 * What keeps two servers from serving at once: all processes of the active one see, in shared memory,
 * until when it surely holds the lease. `bytes` begins with zeros, which is a closed fence.
 */
export function createFence(bytes: ArrayBuffer, start: number, now = bootMs) {
  const deadline = new Float64Array(bytes, start, 1)
  const published = new Int32Array(bytes, start + 8, 1)

  return {
    /** Whether this server holds the lease now. Takes a microsecond. */
    isOpen: () => now() < (deadline[0] as number),
    /** Whether what Litestream uploads is where the next active server will look for it. */
    isPublished: () => Atomics.load(published, 0) === 1,
    /** For the holder of the lease: it is held until `until`, by `bootMs`. */
    extend(until: number) {
      deadline[0] = until
    },
    publish: () => void Atomics.store(published, 0, 1),
    close() {
      deadline[0] = 0
      Atomics.store(published, 0, 0)
    },
  }
}
