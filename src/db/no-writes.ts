import { AsyncLocalStorage } from 'node:async_hooks'

const scope = new AsyncLocalStorage<boolean>()

/** A write was attempted where writes are refused. */
export class WriteRefused extends Error {
  override name = 'WriteRefused'
}

/** Runs `work`, and everything it starts, with every commit rejected by `WriteRefused`. */
export const withoutWrites = <T>(work: () => T): T => scope.run(true, work)

/** Within `withoutWrites`: runs `work`, and everything it starts, with commits as usual. */
export const withWrites = <T>(work: () => T): T =>
  areWritesRefused() ? scope.run(false, work) : work()

export const areWritesRefused = (): boolean => scope.getStore() === true
