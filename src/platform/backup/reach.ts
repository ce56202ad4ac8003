import type { Clock } from '../clock.ts'

/** Runs file operations with a time limit, because on a disconnected mount they never return. */
export type Reach = <T>(file: string, work: () => Promise<T>) => Promise<T>

const MAX_MS = 5000

/** While a call hangs, new calls fail, because each would block one of the few I/O threads. */
export function createReach(clock: Pick<Clock, 'after'>): Reach {
  let isHanging = false

  return async (file, work) => {
    if (isHanging) throw silent(file)
    const timeUp = Promise.withResolvers<never>()
    const cancel = clock.after(MAX_MS, () => timeUp.reject(silent(file)))
    isHanging = true
    const done = work().finally(() => {
      isHanging = false
    })
    try {
      return await Promise.race([done, timeUp.promise])
    } finally {
      cancel()
    }
  }
}

/** One call after the other, because a reach refuses calls during another one. */
export function inTurn(reach: Reach): Reach {
  let last: Promise<unknown> = Promise.resolve()
  return (file, work) => {
    const call = last.then(() => reach(file, work))
    last = call.catch(() => {})
    return call
  }
}

const silent = (file: string) => new Error(`${file} does not respond: check its mount`)
