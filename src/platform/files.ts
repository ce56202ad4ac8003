import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { conflict } from './errors.ts'

/**
 * Syncs a file's content, or the names in a directory, to disk. `before` makes changes that are
 * synced as well.
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

/** Throws `conflict` if a file exists, before unnecessary work is done. */
export function refuseTaken(name: string) {
  if (lstatSync(name, { throwIfNoEntry: false }))
    throw conflict(`${name} already exists and is not overwritten`)
}

/**
 * Moves `draft` to `name` on the same file system without replacing a file: if two processes use
 * the same name, one gets `conflict`. On file systems without hard links, it checks for the file
 * and then renames.
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
