import { readdirSync, readFileSync } from 'node:fs'

const MB = 1024 * 1024
const KB_PER_MB = 1024

/** What a process holds at this moment, by the name of the measure; NaN where it cannot be read. */
export const holdings = (pid: number) => ({
  'RSS MB': inMap(pid, 'Rss') / KB_PER_MB,
  'PSS MB': inMap(pid, 'Pss') / KB_PER_MB,
  'own MB': inMap(pid, 'Anonymous') / KB_PER_MB,
  descriptors: count(`/proc/${pid}/fd`),
  threads: count(`/proc/${pid}/task`),
})

/** What it has done since its start: how often it began to wait, and what it sent to disk. */
export const activity = (pid: number) => ({
  waits: waits(pid),
  writtenKb: (field(`/proc/${pid}/io`, 'write_bytes') / MB) * KB_PER_MB,
})

const inMap = (pid: number, name: string) => field(`/proc/${pid}/smaps_rollup`, name)

/** Of all threads: each was woken once for each time it began to wait. */
const waits = (pid: number) =>
  names(`/proc/${pid}/task`)
    .map((thread) => field(`/proc/${pid}/task/${thread}/status`, 'voluntary_ctxt_switches'))
    .reduce((sum, waits) => sum + waits, 0)

const count = (folder: string) => names(folder).length || Number.NaN

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** The number after a name in a file of such lines. */
function field(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1])
  } catch {
    return Number.NaN
  }
}
