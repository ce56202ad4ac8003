import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Process } from '../process.ts'

const PREFIX = '.gatehouse-work-'
const NAME = /^\.gatehouse-work-([0-9a-f]{8})-(\d+)-/
/** Nothing takes so long: from then on one of another host, or whose number is taken, is left over. */
const MAX_WORK_MS = 24 * 60 * 60 * 1000

/** Has `clean` run when somebody ends the program, until the returned function is called. */
export type OnInterrupt = (clean: () => void) => () => void

/**
 * A folder in `parent` that nobody else can look into, for what is not done yet; those that
 * killed processes have left there are removed first.
 */
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
  // Heard from before there is a folder: a signal may come as soon as it is to be seen.
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

/** One of another account stays: that it is left over does not keep us from our work. */
function remove(path: string) {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // Whoever works here next tries again.
  }
}

/** Hosts share a folder when it is on a network; a process number means something on one alone. */
const hostMark = ({ host }: Process): string =>
  createHash('sha256').update(host).digest('hex').slice(0, 8)
