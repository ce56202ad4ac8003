import type { History } from './history.ts'
import type { Kind } from './kinds.ts'
import { send } from './requests.ts'
import type { Server } from './server.ts'

/** How long a client waits for an answer before it tries the other server. */
const PATIENCE_MS = 3000
/** Its pause after a failure. */
const PAUSE_MS = 50
/** Time between probes, and how long one waits: longer than any server is paused. */
const PROBE_MS = 300
const PROBE_PATIENCE_MS = 60_000
/** Time for the answers to what is under way at the end. */
const LAST_ANSWERS_MS = 3000

/**
 * Clients that send to the server that answered last, and to the other one after a failure. Probes are
 * sent to each server all the time, so that one which answers although it must not is seen.
 */
export function startLoad(given: {
  servers: readonly [Server, Server]
  choose: () => Kind
  history: History
  clients: number
  /** Operations a second, of all clients together. */
  rate: number
}) {
  const { servers, choose, history, clients, rate } = given
  const pace = (clients / rate) * 1000
  const end = new AbortController()
  let isOver = false
  const working = Array.from({ length: clients }, (_, n) => work(n))
  const probes = new Set<Promise<unknown>>()
  const probing = setInterval(probe, PROBE_MS)

  async function work(client: number) {
    await Bun.sleep(Math.random() * pace)
    for (let at = 0; !isOver; ) {
      const began = performance.now()
      const server = servers[at] as Server
      const isDone = await operate(server, client, AbortSignal.timeout(PATIENCE_MS))
      if (!isDone) at = 1 - at
      await Bun.sleep(isDone ? Math.max(0, began + pace - performance.now()) : PAUSE_MS)
    }
  }

  function probe() {
    for (const server of servers) {
      const patience = AbortSignal.any([end.signal, AbortSignal.timeout(PROBE_PATIENCE_MS)])
      const running = operate(server, undefined, patience).finally(() => probes.delete(running))
      probes.add(running)
    }
  }

  /** Returns whether the server did its part; what is refused for its content is none of its faults. */
  async function operate(server: Server, client: number | undefined, patience: AbortSignal) {
    const kind = choose()
    const request = kind.request()
    const sentAt = performance.now()
    const known = { kind: kind.name, isWrite: kind.isWrite, client, server: server.name, sentAt }
    try {
      const { status, body } = await send(server.url, request, patience)
      const key = request.key ?? (kind.keyIn ? kind.keyIn(body) : body.id)
      history.add({
        ...{ ...known, status, answeredAt: performance.now(), generation: server.generation() },
        ...(status < 300 && typeof key === 'string' && { key }),
      })
      return status < 500
    } catch {
      history.add({ ...known, generation: server.generation() })
      return false
    }
  }

  return {
    /** Resolves when all have their answer. */
    async stop() {
      isOver = true
      clearInterval(probing)
      await Promise.all(working)
      await Promise.race([Promise.allSettled(probes), Bun.sleep(LAST_ANSWERS_MS)])
      end.abort()
      await Promise.allSettled(probes)
    },
  }
}
