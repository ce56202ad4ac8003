import { conflict, fail, notFound } from '../errors.ts'
import type { Scan } from '../scan.ts'
import { SealError } from '../sealing/index.ts'
import type { Bodies, Body } from './body.ts'
import type { Store } from './store/index.ts'
import type { MailSummary, Sought } from './store/outbox-queries.ts'

/** The mails of one tenant, of the installation (null) or of all tenants. */
export type Whose = { tenantId: string | null } | 'all'

/** The body is null if sent, failed or withheld; other fields if the person was deleted. */
export type OpenMail = MailSummary & { body: Body | null }

/** A part of the outbox, newest first. */
export interface OutboxPage {
  mails: MailSummary[]
  /** The `before` of the next page; undefined on the last one. */
  next: number | undefined
}

/** The maximum number of mails that one page scans, so that searches for rare mails stay short. */
export const MAX_SCANNED = 20_000

/** The outbox; without a mail server, the only place to read mails. */
export function createOutbox(parts: {
  store: Store
  bodies: Bodies
  clock: { now: () => number }
  wake: () => void
}) {
  const { store, bodies, clock, wake } = parts
  const { outbox, queue } = store

  /** Mails, newest first. */
  const list = (whose: Whose, scan: Scan): MailSummary[] => outbox.list(ownerOf(whose), scan)

  /** A page can hold fewer than `limit` although more follow; then `next` is set. */
  function page(whose: Whose, sought: Sought, { before, limit }: Scan): OutboxPage {
    const owner = ownerOf(whose)
    const scan = { before, limit: limit + 1, most: MAX_SCANNED }
    const found = outbox.seek(owner, sought, scan)
    const mails = found.slice(0, limit)
    if (found.length > limit) return { mails, next: mails.at(-1)?.seq }
    const behind = outbox.edge(owner, scan)
    return { mails, next: behind === undefined ? undefined : behind + 1 }
  }

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

  return { list, page, open, read, hasten, remove }
}

const ownerOf = (whose: Whose): string | null | undefined =>
  whose === 'all' ? undefined : whose.tenantId
