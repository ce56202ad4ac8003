import { messageOf } from '../db/errors.ts'
import { type Clock, sleep } from '../platform/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../platform/durations.ts'
import type { Log } from '../platform/log.ts'
import type { PairState } from '../platform/replication/pair.ts'
import type { FromWorker, Role, ToWorker } from './protocol.ts'
import { createScrapes } from './scrapes.ts'
import { type Ending, type Launch, startWorker, type WorkerProcess } from './worker-process.ts'

/** How long a process may take until it serves, such as with a migration of a large database. */
const START_MS = HOUR_MS
/** How long its successor may take at a reload, when nothing is left to migrate. */
const RELOAD_MS = 2 * MINUTE_MS
/** The delay before a process that crashed is started again; doubled by each further failure. */
const FIRST_RESTART_MS = 100
const LAST_RESTART_MS = 30_000
/** A process that has run for this long starts with the first delay again. */
const STEADY_MS = MINUTE_MS

type Place = Omit<Role, 'startedMs' | 'generation'>

/** What the supervisor itself takes from the configuration. */
export interface Plan {
  /** How many processes serve. */
  count: number
  port: number
  /** How long a process may take to end, in milliseconds. */
  stopMs: number
}

/** Starts the processes of a server, keeps them running and replaces them one after the other. */
export function createSupervisor(parts: {
  log: Log
  clock: Clock
  launch: Omit<Launch, 'receive'>
  plan: Plan
}) {
  const { log, clock } = parts
  const launch: Launch = { ...parts.launch, receive }
  /** All that have not ended. */
  const workers = new Set<WorkerProcess>()
  /** The one that serves in each role. */
  const serving = new Map<number, WorkerProcess>()
  const failures = new Map<number, number>()
  const scrapes = createScrapes({ clock, workers })
  let { plan } = parts
  let isStopping = false
  let failed = false
  let pair: ToWorker | undefined

  /**
   * Resolves once all processes serve; false if one can't, or if the supervisor is stopping. The first
   * one migrates the database.
   */
  async function start(): Promise<boolean> {
    const rest = Array.from({ length: plan.count - 1 }, (_, index) => index + 2)
    if (!(await begin(1, { isFirst: true }))) return false
    const begun = await Promise.all(rest.map((number) => begin(number)))
    return begun.every(Boolean)
  }

  async function begin(number: number, { isFirst = false } = {}): Promise<boolean> {
    const worker = begun(roleOf(number, plan, isFirst))
    if (!worker || !(await isReadyWithin(worker, START_MS)) || isStopping) return false
    serving.set(number, worker)
    return true
  }

  const roleOf = (number: number, { count, port }: Plan, isFirst = false): Place => ({
    ...{ number, count, port, isFirst },
  })

  /** Undefined if it cannot be started now, such as without memory, or if the supervisor is stopping. */
  function begun(role: Place): WorkerProcess | undefined {
    if (isStopping) return undefined
    try {
      const worker = startWorker(launch, role)
      workers.add(worker)
      void worker.exited.then((how) => end(worker, how))
      return worker
    } catch (error) {
      log.error('process cannot be started', { process: role.number, reason: messageOf(error) })
      return undefined
    }
  }

  function isReadyWithin(worker: WorkerProcess, ms: number): Promise<boolean> {
    const cancel = clock.after(ms, worker.giveUp)
    return worker.isReady.finally(cancel)
  }

  function end(worker: WorkerProcess, { code, signal }: Ending) {
    workers.delete(worker)
    scrapes.end(worker)
    if (code !== 0) failed = true
    const { number, pid } = worker
    const isExpected = isStopping
      ? code === 0 || signal === 'SIGKILL'
      : serving.get(number) !== worker
    if (isExpected) return
    log.error('process ended', { process: number, pid, code, signal })
    if (!isStopping) void restart(worker)
  }

  /** Starts a successor, after a pause that grows with the number of crashes and of failed starts. */
  async function restart(worker: WorkerProcess) {
    const { number, startedAt } = worker
    if (performance.now() - startedAt > STEADY_MS) failures.delete(number)
    let successor: WorkerProcess | undefined
    while (!successor) {
      const before = failures.get(number) ?? 0
      failures.set(number, before + 1)
      await sleep(clock, Math.min(FIRST_RESTART_MS * 2 ** before, LAST_RESTART_MS))
      if (isStopping || serving.get(number) !== worker) return
      successor = begun(roleOf(number, plan))
    }
    serving.set(number, successor)
  }

  /**
   * Replaces each process by one that reads the configuration again; an old one serves until its
   * successor does. If a successor can't start, the old ones go on. Returns false then.
   */
  async function reload(next: Plan): Promise<boolean> {
    for (let number = 1; number <= next.count; number++) {
      const worker = begun(roleOf(number, next))
      if (!worker || !(await isReadyWithin(worker, RELOAD_MS))) {
        worker?.kill()
        return false
      }
      plan = next
      const old = serving.get(number)
      serving.set(number, worker)
      if (old) await finish(old, false)
    }
    const surplus = [...serving].filter(([number]) => number > next.count)
    for (const [number] of surplus) serving.delete(number)
    await Promise.all(surplus.map(([, worker]) => finish(worker, false)))
    return true
  }

  /** Lets a process finish its requests. `withAll`: no other one takes over. */
  async function finish(worker: WorkerProcess, withAll: boolean) {
    worker.send({ is: 'stop', withAll })
    const cancel = clock.after(plan.stopMs, worker.kill)
    await worker.exited
    cancel()
  }

  /**
   * Ends all processes. Returns false if one of them failed. They first report for a while that they
   * are not ready, unless another server is waiting to serve instead.
   */
  async function stop({ isAwaited = false } = {}): Promise<boolean> {
    isStopping = true
    failed = false
    await Promise.all([...workers].map((worker) => finish(worker, !isAwaited)))
    return !failed
  }

  /** Asks all processes to end immediately. */
  function kill() {
    for (const worker of workers) worker.send({ is: 'end' })
  }

  /** Kills all processes, and resolves once none is left. */
  async function destroy() {
    isStopping = true
    const all = [...workers]
    for (const worker of all) worker.kill()
    await Promise.all(all.map(({ exited }) => exited))
  }

  /** Tells all processes of the other servers, also those that start later. */
  function tellOfPair(state: PairState) {
    pair = { is: 'pair', state }
    for (const worker of workers) worker.send(pair)
  }

  function receive(from: WorkerProcess, message: FromWorker) {
    if (message.is === 'ready' && pair) from.send(pair)
    if (message.is === 'scrape') void scrapes.answer(from, message.id)
    else if (message.is === 'families') scrapes.settle(from)
    else if (message.is === 'told')
      for (const worker of workers) if (worker !== from) worker.send(message)
  }

  return { start, reload, stop, kill, destroy, tellOfPair, isStopping: () => isStopping }
}
