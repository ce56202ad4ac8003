import { AsyncLocalStorage } from 'node:async_hooks'

const scope = new AsyncLocalStorage<true>()

/** A write was asked for where none may be made. */
export class WriteRefused extends Error {
  override name = 'WriteRefused'
}

/** Does `work`, and all that it begins, with every commit refused by `WriteRefused`. */
export const withoutWrites = <T>(work: () => T): T => scope.run(true, work)

export const areWritesRefused = (): boolean => scope.getStore() === true
