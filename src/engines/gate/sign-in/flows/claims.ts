import { type Clock, isoTime } from '../../../../platform/clock.ts'
import type { Metering } from '../../../../platform/metering/index.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { SessionWithIdentity } from '../../sessions/store.ts'
import type { Client } from './client.ts'
import { FlowRefusal } from './failure.ts'
import { EXPIRED, type FlowRepository, isOfBrowser, type Notice } from './flow.ts'
import type { SessionAccess } from './session-access.ts'
import type { FlowRow } from './store.ts'
import type { Throttle } from './throttle.ts'

/** A flow that its client may continue, and the session that it acts for, if any. */
interface Claimed {
  flow: FlowRow
  session: SessionWithIdentity | undefined
}

export type Claims = ReturnType<typeof createClaims>

/** Decides whether a client may read or continue a flow. Throws `FlowRefusal`. */
export function createClaims(parts: {
  clock: Clock
  repository: FlowRepository
  sessions: Sessions
  access: SessionAccess
  throttle: Throttle
  metering: Metering
}) {
  const { clock, repository, sessions, access, throttle, metering } = parts

  /** The flow in the client's language. */
  async function toRead(row: FlowRow, client: Client): Promise<FlowRow> {
    const { flow, session } = await claim(row, client)
    await requireLevel(flow, session, client)
    return { ...flow, language: client.language ?? flow.language }
  }

  async function toSubmit(row: FlowRow, client: Client): Promise<Claimed> {
    const claimed = await claim(row, client)
    const flow = await inLanguageOf(client, claimed.flow)
    await requireLevel(flow, claimed.session, client)
    return { ...claimed, flow }
  }

  /**
   * A flow that acts for a session is bound to the first browser that opens it, so that knowing its
   * URL does not suffice for a second one. Programs show the session token instead. Other flows can
   * be opened by anyone, like links in mails.
   */
  async function claim(row: FlowRow, client: Client): Promise<Claimed> {
    if (row.sessionId === null) {
      requireBrowser(row, client)
      return { flow: await unexpired(row, client), session: undefined }
    }
    if (row.browserHash !== null || client.wants !== 'page') {
      const session = access.requireOwner(row, client)
      return { flow: await unexpired(row, client), session }
    }
    const flow = await bind(row, client)
    const session =
      flow.kind === 'settings'
        ? access.requireOwner(flow, client)
        : sessions.alive(flow.tenantId, row.sessionId)
    return { flow, session }
  }

  async function requireLevel(
    flow: FlowRow,
    session: SessionWithIdentity | undefined,
    client: Client,
  ) {
    if (session && flow.kind === 'settings') await access.requireSecondFactor(flow, session, client)
  }

  /** A completed flow is not bound. */
  async function bind(row: FlowRow, client: Client): Promise<FlowRow> {
    throttle.admit(client)
    return repository.revise(row, (current) => {
      if (current.browserHash !== null) return requireBrowser(current, client)
      if (repository.isExpired(current))
        throw new FlowRefusal('self_service_flow_expired', 'the flow has expired')
      if (current.completedAt !== null)
        throw new FlowRefusal('other_browser', 'the flow is complete')
      return repository.save(current, { browserHash: client.browserHash })
    })
  }

  function requireBrowser(row: FlowRow, { browserHash }: Client): FlowRow {
    if (isOfBrowser(row, browserHash)) return row
    throw new FlowRefusal('other_browser', 'the flow belongs to another browser')
  }

  /** Throws for an expired flow with its successor, which stays the same until it expires too. */
  async function unexpired(row: FlowRow, client: Client): Promise<FlowRow> {
    if (!repository.isExpired(row)) return row
    throttle.admit(client)
    const next = await repository.revise(row, (current) => {
      const known = current.replacedBy === null ? undefined : repository.find(current.replacedBy)
      if (known && !repository.isExpired(known)) return known
      const renewed = succeed(current, [{ id: EXPIRED[row.kind] }])
      repository.save(current, { replacedBy: renewed.id })
      return renewed
    })
    throw new FlowRefusal('self_service_flow_expired', 'the flow has expired', {
      use_flow_id: next.id,
      expired_at: isoTime(row.expiresAt),
      since: clock.now() - row.expiresAt,
    })
  }

  /** A new flow that succeeds another one. Throws if metering admits no new flow. */
  function succeed(row: FlowRow, notices: Notice[]): FlowRow {
    metering.admit(row.tenantId)
    return repository.renew(row, notices)
  }

  /** Uses the language of the client for mails and later steps. */
  async function inLanguageOf(client: Client, row: FlowRow): Promise<FlowRow> {
    const { language } = client
    if (language === undefined || language === row.language || row.completedAt !== null) return row
    if (!throttle.takeIfRoom(client)) return { ...row, language }
    return repository.revise(row, (current) => repository.save(current, { language }))
  }

  return { toRead, toSubmit, succeed }
}
