import { existsSync, statfsSync, statSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { databaseFile } from '../../db/open.ts'
import { systemClock } from '../../platform/clock.ts'
import { adviceOn, codeOf, type Finding, ok, problem, warning, within } from './finding.ts'
import { MB, megabytes } from './words.ts'

const LEAST_FREE_BYTES = 200 * MB
const LEAST_FREE_INODES = 1000

/** How much of a disk is left. */
export interface Room {
  freeBytes: number
  /** Free inodes; null where the file system has no limit. */
  freeInodes: number | null
}

const TMP = 'disk of tmp'

/** Lowers a problem to a warning: only commands that check a backup need this disk. */
const atMostWarned = (finding: Finding): Finding =>
  finding.result === 'problem' ? { ...finding, result: 'warning' } : finding

/** Free space for the data, backups and temporary files, each disk once. */
export function space(config: Config, unreachable: ReadonlySet<string>): Finding[] {
  const { dataDir, backup } = config
  const copy = 2 * sizeOf(databaseFile(dataDir))
  const directories = [
    { check: 'disk', path: dataDir, needed: copy },
    { check: 'disk of backups', path: backup.directory ?? dataDir, needed: copy },
    { check: TMP, path: tmpdir(), needed: copy },
  ]
  return firstOfEachDisk(directories.filter(({ path }) => !unreachable.has(path)))
    .flatMap(({ check, path, needed }) => judgeRoom(check, path, roomIn(path), needed))
    .map((finding) => (finding.check === TMP ? atMostWarned(finding) : finding))
}

function firstOfEachDisk<T extends { path: string }>(directories: T[]): T[] {
  const there = directories.filter(({ path }) => existsSync(path))
  const disks = there.map(({ path }) => statSync(path).dev)
  return there.filter((_, index) => disks.indexOf(disks[index] ?? -1) === index)
}

/** Judges the free space. `needed`: bytes for a backup or a copy before a migration. */
export function judgeRoom(check: string, path: string, room: Room, needed: number): Finding[] {
  const { freeBytes, freeInodes } = room
  const free = `${megabytes(freeBytes)} free`
  if (freeInodes !== null && freeInodes < LEAST_FREE_INODES)
    return [problem(check, `only ${freeInodes} inodes free in ${path}: delete files there`)]
  if (freeBytes < LEAST_FREE_BYTES)
    return [problem(check, `only ${free} in ${path}: free some space. No restart needed`)]
  if (freeBytes < needed)
    return [
      warning(
        check,
        `${free} in ${path}: a backup may need ${megabytes(needed)}, twice the size of the database`,
      ),
    ]
  return [ok(check, free)]
}

function roomIn(path: string): Room {
  const { bavail, bsize, files, ffree } = statfsSync(path)
  return { freeBytes: bavail * bsize, freeInodes: files > 0 ? ffree : null }
}

/** The size of a file; 0 if it can't be read, which other checks report. */
function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}

const WRITES = 3
const MAX_WRITE_MS = 5000
const SLOW_SYNC_MS = 50
const MAX_SKEW_MS = 5000

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space. No restart needed',
  EDQUOT: 'the disk quota is used up: free some space or raise the quota',
  EROFS: 'the file system is read-only: check `dmesg` for the reason, then remount it writable',
  EIO: 'the disk is failing: check `dmesg`, then restore a backup on another disk',
}

/** Tests the disk by writing and removing a small file, only in a directory of this account. */
export async function writing(dataDir: string): Promise<Finding[]> {
  const check = 'writing'
  if (statSync(dataDir).uid !== process.getuid?.())
    return [ok(check, 'not tested: the directory belongs to another account')]
  try {
    const written = await within(MAX_WRITE_MS, writeSome(dataDir), 'late' as const)
    if (written === 'late')
      return [
        problem(
          check,
          `writing a small file to ${dataDir} takes longer than ${MAX_WRITE_MS / 1000} s`,
        ),
      ]
    return [judgeSync(written.syncMs), ...judgeFileTime(written.skewMs)]
  } catch (error) {
    return [notWritten(error)]
  }
}

export const notWritten = (error: unknown): Finding =>
  problem('writing', REMEDIES[codeOf(error)] ?? adviceOn(error))

async function writeSome(directory: string) {
  const file = join(directory, `.doctor-${process.pid}-${Bun.randomUUIDv7()}`)
  const handle = await open(file, 'wx', 0o600)
  try {
    const times: number[] = []
    while (times.length < WRITES) {
      const before = systemClock.monotonic()
      await handle.write(Buffer.alloc(4096))
      await handle.sync()
      times.push(systemClock.monotonic() - before)
    }
    const { mtimeMs } = await handle.stat()
    const [, middle = 0] = times.toSorted((a, b) => a - b)
    return { syncMs: middle, skewMs: mtimeMs - systemClock.now() }
  } finally {
    await handle.close()
    await rm(file, { force: true })
  }
}

export function judgeSync(ms: number): Finding {
  const took = `a write takes ${Math.max(Math.round(ms), 1)} ms to reach the disk`
  return ms > SLOW_SYNC_MS
    ? warning('writing', `slow disk: ${took}, which delays every commit`)
    : ok('writing', took)
}

/** Compares the clock of the file system, which may be another machine's. */
export const judgeFileTime = (skewMs: number): Finding[] =>
  Math.abs(skewMs) > MAX_SKEW_MS
    ? [
        warning(
          'clock',
          `the clock of the file system differs by ${Math.round(skewMs / 1000)} s from this machine: use NTP on both`,
        ),
      ]
    : []
