import { WORKER_VARIABLE } from '../config/environment.ts'
import type { Family } from '../platform/metrics/family.ts'
import { isCompiled } from '../platform/version.ts'
import { type FromWorker, MEMORY_FD, type Role, type ToWorker } from './protocol.ts'

export type WorkerProcess = ReturnType<typeof startWorker>

/** The program that runs now; a compiled executable starts itself. */
export const program = isCompiled
  ? [process.execPath]
  : [process.execPath, ...process.execArgv, Bun.main]

/** What is the same for all processes of a supervisor. */
export interface Launch {
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  memoryFd: number
  /** Of the lease, see `Role`. */
  generation?: number | undefined
  receive: (from: WorkerProcess, message: FromWorker) => void
}

/** How a process ended; `signal` is null unless one ended it. */
export interface Ending {
  code: number
  signal: NodeJS.Signals | number | null
}

/** Starts a process that serves in this role. It writes to the same output as the supervisor. */
export function startWorker(
  { args, env, cwd, memoryFd, generation, receive }: Launch,
  place: Omit<Role, 'startedMs' | 'generation'>,
) {
  const isReady = Promise.withResolvers<boolean>()
  const stdio: (number | 'ignore' | 'inherit')[] = ['ignore', 'inherit', 'inherit']
  stdio[MEMORY_FD] = memoryFd
  const role: Role = { ...place, generation, startedMs: performance.now() }
  const child = Bun.spawn([...program, ...args], {
    cwd,
    env: { ...env, [WORKER_VARIABLE]: JSON.stringify(role) },
    stdio: stdio as ['ignore', 'inherit', 'inherit'],
    ipc: (message: FromWorker) => {
      if (message.is === 'ready') isReady.resolve(true)
      if (message.is === 'scrape' || message.is === 'families') worker.families = message.families
      receive(worker, message)
    },
  })
  const exited = child.exited.then((code): Ending => {
    isReady.resolve(false)
    return { code, signal: child.signalCode }
  })

  function send(message: ToWorker) {
    try {
      child.send(message)
    } catch {
      // It has disconnected, so it is about to end. `onDisconnect` would tell it too late.
    }
  }

  const worker = {
    number: role.number,
    pid: child.pid,
    startedAt: role.startedMs,
    /** The metrics that it reported last. */
    families: [] as Family[],
    /** False once it has ended, or will not become ready. */
    isReady: isReady.promise,
    giveUp: () => isReady.resolve(false),
    exited,
    send,
    kill: () => child.kill('SIGKILL'),
  }
  return worker
}
