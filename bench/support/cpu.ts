import { readdirSync, readFileSync } from 'node:fs'

/**
 * Milliseconds of processor time that a process has used, all threads together, to the
 * microsecond; undefined where the system has no /proc.
 */
export function cpuMs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => sum + threadMs(pid, thread), 0)
  } catch {
    return undefined
  }
}

/** A thread may end between the listing and the look at it. */
function threadMs(pid: number, thread: string): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return 0
  }
}

/** Runs `work` and says how much processor time the process `pid` used meanwhile. */
export async function withCpu<T>(pid: number, work: () => Promise<T>) {
  const before = cpuMs(pid)
  const result = await work()
  const after = cpuMs(pid)
  return { result, cpu: before === undefined || after === undefined ? Number.NaN : after - before }
}
