import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds by process and thread. A thread that ends leaves what it has used behind. */
const used = new Map<number, Map<string, number>>()

/** The processor time of a process, and of those that it supervises. */
export const cpuOfAll = (pid: number): number =>
  [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuMs(one), 0)

function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return children.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/**
 * Milliseconds of processor time that a process has used, all threads together, to the
 * microsecond; NaN where the system has no /proc.
 */
export function cpuMs(pid: number): number {
  const byThread = used.get(pid) ?? new Map<string, number>()
  used.set(pid, byThread)
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) note(byThread, pid, thread)
  } catch {
    return Number.NaN
  }
  return byThread.values().reduce((sum, ms) => sum + ms, 0)
}

/** The thread may have ended since the listing. */
function note(byThread: Map<string, number>, pid: number, thread: string) {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    byThread.set(thread, Number(nanoseconds) / 1e6)
  } catch {}
}

/** Runs `work` and returns the processor time that the process `pid` used during it. */
export async function withCpu<T>(pid: number, work: () => Promise<T>) {
  const before = cpuMs(pid)
  const result = await work()
  return { result, cpu: cpuMs(pid) - before }
}
