import type { Clock } from '../clock.ts'
import type { Connection, Listener } from './connection.ts'
import { afterOneMoreRead, afterWhatHasArrived } from './turns.ts'

/** Each idle connection takes a file descriptor, of which some systems allow a process 1,024. */
const MAX_PER_TARGET = 32
const MAX_PER_TENANT = 256
const MAX_IDLE = 512

/** Shorter than the idle timeouts of common servers; Node.js has the shortest, 5 seconds. */
const USUAL_IDLE_MS = 4000
/** How long before the server's own timeout a connection is closed. */
const MARGIN_MS = 1000
const MAX_IDLE_MS = 30_000
const SWEEP_MS = 500
/** A connection that carried a response less than this ago needs no second look: time matters then. */
const JUST_USED_MS = 50

/** Whose connection it is and where it leads. Equal only if nothing of it differs. */
export interface Target {
  tenantId: string
  /** Scheme, host name, port and address. */
  key: string
}

interface Idle {
  target: Target
  connection: Connection
  since: number
  until: number
}

export type IdleConnections = ReturnType<typeof createIdleConnections>

/** Keeps connections after a response for the next request of the same tenant to the same target. */
export function createIdleConnections(clock: Clock) {
  /** By tenant, each in the order in which they became idle. */
  const byTenant = new Map<string, Set<Idle>>()
  const byTarget = new Map<string, Idle[]>()
  const all = new Set<Idle>()
  let stopSweeping: (() => void) | undefined

  const nameOf = ({ tenantId, key }: Target) => `${tenantId} ${key}`

  function remove(idle: Idle) {
    const { target } = idle
    all.delete(idle)
    const ofTenant = byTenant.get(target.tenantId)
    ofTenant?.delete(idle)
    if (ofTenant?.size === 0) byTenant.delete(target.tenantId)
    const name = nameOf(target)
    const left = (byTarget.get(name) ?? []).filter((other) => other !== idle)
    if (left.length === 0) byTarget.delete(name)
    else byTarget.set(name, left)
  }

  function close(idle: Idle) {
    remove(idle)
    idle.connection.destroy()
  }

  /**
   * The connection that became idle last, or undefined. One that has data or an end waiting is closed:
   * the former would be taken for the response to the next request.
   */
  async function take(target: Target): Promise<Connection | undefined> {
    for (;;) {
      const idle = byTarget.get(nameOf(target))?.at(-1)
      if (!idle) return undefined
      remove(idle)
      if (await isUsable(idle)) return idle.connection
      idle.connection.destroy()
    }
  }

  async function isUsable({ connection, since, until }: Idle): Promise<boolean> {
    const now = clock.monotonic()
    if (until <= now) return false
    const wait = now - since < JUST_USED_MS ? afterWhatHasArrived : afterOneMoreRead
    return isSilent(connection, wait)
  }

  /** Keeps a connection whose server closes it after `idleMs`, if that is known. */
  function put(target: Target, connection: Connection, idleMs: number | undefined) {
    const ms = idleMs === undefined ? USUAL_IDLE_MS : Math.min(idleMs - MARGIN_MS, MAX_IDLE_MS)
    if (ms <= 0) return connection.destroy()
    const since = clock.monotonic()
    const idle = { target, connection, since, until: since + ms }
    const gone = () => close(idle)
    add(idle)
    connection.listen({ data: gone, ended: gone, closed: gone })
    sweepLater()
  }

  function add(idle: Idle) {
    const name = nameOf(idle.target)
    const ofTarget = byTarget.get(name) ?? []
    const ofTenant = byTenant.get(idle.target.tenantId) ?? new Set()
    byTarget.set(name, [...ofTarget, idle])
    byTenant.set(idle.target.tenantId, ofTenant.add(idle))
    all.add(idle)
    if (ofTarget.length >= MAX_PER_TARGET) close(ofTarget[0] as Idle)
    if (ofTenant.size > MAX_PER_TENANT) close(oldest(ofTenant))
    if (all.size > MAX_IDLE) close(oldest(all))
  }

  function sweepLater() {
    stopSweeping ??= clock.after(SWEEP_MS, () => {
      stopSweeping = undefined
      const now = clock.monotonic()
      for (const idle of all) if (idle.until <= now) close(idle)
      if (all.size > 0) sweepLater()
    })
  }

  /** Closes the connections to a target, because one of them turned out to be broken. */
  function closeAll(target: Target) {
    for (const idle of byTarget.get(nameOf(target)) ?? []) close(idle)
  }

  /** Closes all, because they would keep the process from ending. */
  function end() {
    for (const idle of all) close(idle)
    stopSweeping?.()
    stopSweeping = undefined
  }

  return { take, put, closeAll, end, count: () => all.size }
}

const oldest = (set: Set<Idle>): Idle => set.values().next().value as Idle

/** Whether nothing arrives during `wait`, in which the event loop reads what the system has received. */
function isSilent(connection: Connection, wait: (then: () => void) => void): Promise<boolean> {
  let isSilent = true
  const heard = () => {
    isSilent = false
  }
  const listener: Listener = { data: heard, ended: heard, closed: heard }
  connection.listen(listener)
  return new Promise((resolve) => wait(() => resolve(isSilent)))
}
