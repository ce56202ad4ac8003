import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { conflict } from './errors.ts'

/**
 * Brings a file's content, or the names in a directory, to disk; `before` does the rest of what
 * has to be on disk by then.
 */
export function sync(path: string, before = (_descriptor: number) => {}) {
  const descriptor = openSync(path, 'r')
  try {
    before(descriptor)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** For what is known to end in a name, before the work is done for nothing. */
export function refuseTaken(name: string) {
  if (lstatSync(name, { throwIfNoEntry: false }))
    throw conflict(`${name} already exists and is not overwritten`)
}

/**
 * Moves `draft` to `name` on the same file system and replaces nothing: of two that want the name
 * at once one is refused. Some file systems know no links; there the look before has to do.
 */
export function giveName(draft: string, name: string) {
  try {
    linkSync(draft, name)
  } catch {
    refuseTaken(name)
    renameSync(draft, name)
    return
  }
  rmSync(draft)
}
