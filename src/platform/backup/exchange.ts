import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../db/errors.ts'
import { conflict } from '../errors.ts'
import { sync } from '../files.ts'
import { ownLike } from './files.ts'
import { type Marker, unmark } from './marker.ts'
import { DATA_FILES, ENTRIES } from './names.ts'

/**
 * Replaces the files of a marked data directory with those of `staged` and moves the old files to
 * the folder that the marker names. Without a key in `staged`, the key of the data directory stays.
 * Each step is synced to disk before the next one begins. If the exchange is interrupted, the
 * marker prevents use of the directory, and the next exchange continues.
 */
export function* exchange(parts: {
  dataDir: string
  staged: string
  marker: Marker
}): Generator<string, string | undefined> {
  const { dataDir, staged, marker } = parts
  const names = namesFor(staged)
  const previous = join(dataDir, marker.previous)
  makeLike(previous, dataDir)
  yield 'made room'
  for (const name of names) {
    if (marker.files.includes(name) && moveAway(name, dataDir, previous)) yield `moved ${name} away`
  }
  for (const name of names) rmSync(join(dataDir, name), { force: true })
  sync(dataDir)
  yield 'cleared'
  for (const name of names) {
    if (move(name, staged, dataDir)) yield `moved ${name} in`
  }
  const isKept = readdirSync(previous).length > 0
  if (!isKept) rmdirSync(previous)
  unmark(dataDir)
  return isKept ? previous : undefined
}

const namesFor = (staged: string): string[] =>
  DATA_FILES.filter((name) => name !== ENTRIES.key || existsSync(join(staged, name)))

function makeLike(folder: string, dataDir: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  ownLike(folder, dataDir)
  sync(dataDir)
}

/** Moves a file away. The key is moved first: if that fails, nothing has changed. */
function moveAway(name: string, dataDir: string, previous: string): boolean {
  try {
    return move(name, dataDir, previous)
  } catch (error) {
    if (name !== ENTRIES.key) throw error
    if (readdirSync(previous).length === 0) {
      rmdirSync(previous)
      unmark(dataDir)
    }
    throw fixedKey(dataDir, error)
  }
}

const fixedKey = (dataDir: string, error: unknown) =>
  conflict(
    `${join(dataDir, ENTRIES.key)} must be replaced by the key in the archive, but cannot be moved ` +
      `(${messageOf(error)}). If it is mounted, for example as a Docker secret, replace its source ` +
      `with the key in the archive (tar -xzOf FILE ${ENTRIES.key}), then restore again`,
  )

/** Moves a file unless `to` has it: a later file of that name isn't the one in the marker. */
function move(name: string, from: string, to: string): boolean {
  if (!existsSync(join(from, name)) || existsSync(join(to, name))) return false
  renameSync(join(from, name), join(to, name))
  sync(to)
  sync(from)
  return true
}

/** Root gives away only known names, because the server's account may have replaced the folder. */
export function handOver(staged: string, dataDir: string) {
  for (const name of namesFor(staged)) {
    const path = join(staged, name)
    if (existsSync(path)) ownLike(path, dataDir)
  }
}
