import { rowsBetween } from '../../db/seq-from.ts'
import { createCursor, type Page, page } from '../cursor.ts'
import { conflict, fail, notFound } from '../errors.ts'
import { restOf } from '../scan.ts'
import { SealError } from '../sealing/index.ts'
import type { Bodies, Body } from './body.ts'
import type { Store } from './store/index.ts'
import type { MailSummary, Sought } from './store/outbox-queries.ts'

/** The mails of one tenant, of the installation (null) or of all tenants. */
export type Whose = { tenantId: string | null } | 'all'

/** The body is null if sent, failed or withheld; other fields if the person was deleted. */
export type OpenMail = MailSummary & { body: Body | null }

/** A part of the outbox: newest first unless ascending, filtered by state, recipient and creation. */
export interface OutboxQuery extends Pick<Sought, 'states' | 'recipient'> {
  cursor?: string | undefined
  limit: number
  isAscending?: boolean
  since?: number | undefined
  until?: number | undefined
}

/** The maximum number of mails that one page scans, so that searches for rare mails stay short. */
export const MAX_SCANNED = 20_000

const cursors = createCursor('outbox')

/** The outbox; without a mail server, the only place to read mails. */
export function createOutbox(parts: {
  store: Store
  bodies: Bodies
  clock: { now: () => number }
  wake: () => void
}) {
  const { store, bodies, clock, wake } = parts
  const { outbox, queue } = store

  /** A page can hold fewer than `limit` although more follow. */
  function list(whose: Whose, { states, recipient, ...query }: OutboxQuery): Page<MailSummary> {
    const { cursor, limit, isAscending } = query
    const sought = { owner: whose === 'all' ? undefined : whose.tenantId, states, recipient }
    const range = { ...rowsBetween(outbox.seqFrom, query), isAscending, limit: limit + 1 }
    const scan = { ...restOf(range, cursors.positionOf(cursor)), most: MAX_SCANNED }
    const found = outbox.seek(sought, scan)
    if (found.length > limit) return page(found, limit, ({ seq }) => cursors.encode(seq))
    const edge = outbox.edge(sought, scan)
    if (edge === undefined) return { data: found, has_more: false, next_cursor: null }
    const next = cursors.encode(isAscending ? edge - 1 : edge + 1)
    return { data: found, has_more: true, next_cursor: next }
  }

  /** Failed mails, counted up to `most`. */
  const countFailed = (most: number): number => outbox.countFailed(most)

  /** The mails that are due, that wait for a retry or for a mail server, each counted up to 10,000. */
  const open = (): { ready: number; waiting: number; kept: number } => ({
    ready: queue.readyCount(),
    waiting: queue.waitingCount(),
    kept: queue.keptCount(),
  })

  function read(whose: Whose, id: string): OpenMail | undefined {
    const mail = outbox.find(id)
    if (!mail || (whose !== 'all' && mail.tenantId !== whose.tenantId)) return undefined
    return { ...mail, body: bodyOf(mail.id, mail.body) }
  }

  /** Runs inside a commit. Throws `conflict` if the mail isn't waiting for a retry. */
  function hasten(id: string): MailSummary {
    const mail = existing(id)
    if (!outbox.hasten(id, clock.now()))
      throw conflict('only an email that is waiting for a retry can be sent now')
    wake()
    return mail
  }

  /** Deletes a mail; runs inside a commit. Throws `conflict` if it is being sent. */
  function remove(id: string): MailSummary {
    const mail = existing(id)
    if (!outbox.remove(id)) throw conflict('the email is being sent')
    return mail
  }

  const existing = (id: string): MailSummary => outbox.find(id) ?? fail(notFound('email not found'))

  /**
   * The body of a mail; null if it was sealed with another master key, so that the rest of the mail
   * stays readable.
   */
  function bodyOf(id: string, sealed: string | null): Body | null {
    try {
      return sealed === null ? null : bodies.open(id, sealed)
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return null
    }
  }

  return { list, countFailed, open, read, hasten, remove }
}
