import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Process } from '../process.ts'

const PREFIX = '.gatehouse-work-'
const NAME = /^\.gatehouse-work-([0-9a-f]{8})-(\d+)-/
/** Older folders are abandoned, even those of another host or a process id in use. */
const MAX_WORK_MS = 24 * 60 * 60 * 1000

/** Runs `clean` if the program is interrupted, until the returned function is called. */
export type OnInterrupt = (clean: () => void) => () => void

/** Creates a private folder in `parent`; first removes those that killed processes left there. */
export function openWorkFolder(parts: {
  parent: string
  process: Process
  now: number
  onInterrupt?: OnInterrupt
  onRemoved?: () => void
}) {
  const { parent, process, now, onInterrupt = () => () => {}, onRemoved = () => {} } = parts
  const host = hostMark(process)
  for (const name of readdirSync(parent)) if (isLeftOver(name)) remove(join(parent, name))
  // Registered before the folder exists, because a signal can arrive as soon as it is created.
  let made: string | undefined
  const clean = () => {
    if (made !== undefined) remove(made)
    onRemoved()
  }
  const forgetInterrupt = onInterrupt(clean)
  const path = mkdtempSync(join(parent, `${PREFIX}${host}-${process.pid}-`))
  made = path
  return {
    path,
    remove: () => {
      clean()
      forgetInterrupt()
    },
  }

  function isLeftOver(name: string): boolean {
    const [, madeOn, pid] = NAME.exec(name) ?? []
    if (madeOn === undefined) return false
    if (madeOn === host && (Number(pid) === process.pid || !process.isRunning(Number(pid))))
      return true
    const stats = statSync(join(parent, name), { throwIfNoEntry: false })
    return stats !== undefined && now - stats.mtimeMs > MAX_WORK_MS
  }
}

/** Removes a folder. One that belongs to another account stays, which does no harm. */
function remove(path: string) {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // The next process that works here tries again.
  }
}

/** Process ids are unique only within a host, and hosts can share a folder over a network. */
const hostMark = ({ host }: Process): string =>
  createHash('sha256').update(host).digest('hex').slice(0, 8)
