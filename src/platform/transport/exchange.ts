import { createSecureContext, getCACertificates } from 'node:tls'
import type { Clock } from '../clock.ts'
import type { Call } from './call.ts'
import { type Connection, connect } from './connection.ts'
import { converse, LostConnection } from './conversation.ts'
import type { Dial, Reply } from './dial.ts'
import { CallFailure } from './failure.ts'
import { createIdleConnections, type Target } from './idle-connections.ts'
import { encodeRequest } from './request-bytes.ts'
import { createTlsSessions } from './tls-sessions.ts'

/** How many connections have been opened and used again, and how many are idle. */
export interface ConnectionCounts {
  opened: number
  /** Opened ones that resumed a TLS session. */
  resumed: number
  reused: number
  /** Reused ones that turned out to be closed, so that the request was sent again. */
  lost: number
  idle: number
}

export interface Exchange {
  /** Sends one request and reads the response. Rejects with `CallFailure`. */
  send(dial: Dial, call: Call): Promise<Reply>
  counts(): ConnectionCounts
  /** Closes connections that are idle. */
  end(): void
}

/**
 * The HTTP/1.1 transport of all calls. It connects to the peer's address, so that after a check of
 * the address no second DNS lookup can return a different one; the name is used only for SNI and the
 * certificate. Proxy settings are ignored. The global `fetch` would allow at most 256 concurrent
 * calls per process, so as many long polls would block all others.
 *
 * A call has a connection of its own unless it sets `reusesConnection`. A server can close an idle
 * connection at the moment when a request is sent on it, and then there is no way to tell whether it
 * carried the request out. With `reusesConnection`, such a request is sent again.
 *
 * `ca` are root certificates (PEM) that are trusted in addition to the usual ones.
 */
export function createExchange(clock: Clock, ca: string | string[] = []): Exchange {
  const roots = [ca].flat()
  // Created once, because loading the root certificates per call would double a handshake's cost.
  const context =
    roots.length > 0
      ? createSecureContext({ ca: [...getCACertificates('default'), ...roots] })
      : undefined
  const idle = createIdleConnections(clock)
  const sessions = createTlsSessions(clock)
  const counts = { opened: 0, resumed: 0, reused: 0, lost: 0 }

  async function open(dial: Dial, call: Call): Promise<Connection> {
    counts.opened++
    const { peer } = dial
    if (dial.url.protocol === 'http:') return connect({ peer, secure: undefined }, call)
    const { tenantId, key } = targetOf(dial)
    const name = `${tenantId} ${key}`
    const known = tenantId === '' ? undefined : sessions.find(name)
    const verifiedAt = known?.verifiedAt ?? clock.monotonic()
    const onSession = (session: Buffer) => {
      if (tenantId !== '') sessions.keep(name, session, verifiedAt)
    }
    const onResumed = () => void counts.resumed++
    try {
      const secure = { context, session: known?.session, onSession, onResumed }
      return await connect({ peer, secure }, call)
    } catch (error) {
      if (!known || !isFailure(error, 'tls')) throw error
      sessions.forget(name)
      return open(dial, call)
    }
  }

  async function sendAfresh(dial: Dial, request: Buffer, call: Call): Promise<Reply> {
    const keep = keeperOf(dial)
    return converse(await open(dial, call), { dial, request, call, isReused: false, keep })
  }

  /** Keeps a connection after its response; undefined if the call has one of its own. */
  function keeperOf(dial: Dial) {
    if (!dial.reusesConnection) return undefined
    return (connection: Connection, idleMs: number | undefined) =>
      idle.put(targetOf(dial), connection, idleMs)
  }

  async function send(dial: Dial, call: Call): Promise<Reply> {
    const request = encodeRequest(dial)
    const target = targetOf(dial)
    const connection = dial.reusesConnection ? await idle.take(target) : undefined
    if (!connection) return sendAfresh(dial, request, call)
    counts.reused++
    try {
      return await converse(connection, {
        ...{ dial, request, call },
        isReused: true,
        keep: keeperOf(dial),
      })
    } catch (error) {
      // What broke this one, such as a restart of the server, has probably broken the others.
      idle.closeAll(target)
      if (!(error instanceof LostConnection)) throw error
      counts.lost++
      return sendAfresh(dial, request, call)
    }
  }

  return { send, end: idle.end, counts: () => ({ ...counts, idle: idle.count() }) }
}

const isFailure = (error: unknown, reason: CallFailure['reason']) =>
  error instanceof CallFailure && error.reason === reason

/** A name that another URL can't have: neither a host name nor an address contains a space. */
const targetOf = ({ url, peer, tenantId = '' }: Dial): Target => ({
  tenantId,
  key: `${url.protocol} ${peer.name} ${peer.address} ${peer.port}`,
})
