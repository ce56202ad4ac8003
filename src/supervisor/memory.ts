import { closeSync, ftruncateSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../db/errors.ts'
import { newId } from '../platform/ids.ts'
import { SHARED_BYTES, type SharedMemory, seedShared } from '../platform/shared-memory.ts'
import { MEMORY_FD } from './protocol.ts'

/** Linux keeps files of this folder in memory. */
const IN_MEMORY = '/dev/shm'

/**
 * Memory for processes that inherit the descriptor which is returned. Its file has no name, so it is
 * gone with the last of them.
 */
export function createSharedMemory(dataDir: string): number {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const fd = openNameless([IN_MEMORY, dataDir])
  ftruncateSync(fd, SHARED_BYTES)
  seedShared({ bytes: bytesOf(fd) })
  return fd
}

/** The first folder that takes a file: a container may have no memory of its own to share. */
function openNameless([folder = '.', ...others]: readonly string[]): number {
  try {
    const path = join(folder, `gatehouse-${newId()}.limits`)
    const fd = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    return fd
  } catch (error) {
    if (others.length === 0 || !isSystemError(error)) throw error
    return openNameless(others)
  }
}

/** The memory that the supervisor passed to this process, which it started at `startedMs` of its clock. */
export function inheritedMemory(startedMs: number): SharedMemory {
  const bytes = bytesOf(MEMORY_FD)
  closeSync(MEMORY_FD)
  return { bytes, offsetMs: startedMs }
}

/** The memory behind a descriptor. */
export const bytesOf = (fd: number): ArrayBuffer =>
  Bun.mmap(`/proc/self/fd/${fd}`, { shared: true }).buffer
