import { closeSync, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { conflict } from './errors.ts'

/** Syncs a file's content or a directory's names to disk, with the changes that `before` makes. */
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
 * Moves `draft` within a file system and never replaces a file: if two processes use one name, one
 * gets `conflict`. Without hard links, it checks for the file and then renames.
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
