import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
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

/** Replaces a small file, so that a crash leaves the old one or the new one. */
export function writeDurably(file: string, text: string) {
  const draft = `${file}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  sync(draft)
  renameSync(draft, file)
  sync(dirname(file))
}

/** The text of a file; undefined if there is none. */
export function readIfAny(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
