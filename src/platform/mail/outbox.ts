import type { Scan } from '../scan.ts'
import { SealError } from '../sealing/index.ts'
import type { Bodies, Body } from './body.ts'
import type { Store } from './store/index.ts'
import type { MailSummary } from './store/mails.ts'
import type { MailState } from './store/rows.ts'

/** Mails of one tenant, of the instance (null), or of everybody. */
export type Whose = { tenantId: string | null } | 'all'

/**
 * A mail as it can be shown. Null is the body of one that was sent, given up or withheld, and all
 * that told of somebody who is gone.
 */
export type OpenMail = MailSummary & { body: Body | null }

/** A part of the outbox, newest first. */
export interface OutboxPage {
  mails: MailSummary[]
  /** What to go on with as `before`; undefined at the end. */
  next: number | undefined
}

/** Rows that are read at once. */
const SLICE = 500
/** Rows that one page looks at: a rare state is looked for page by page, not in one go. */
const MOST_LOOKED_AT = 5000

/** What was written to whom: without a server for mail, the only place to read it. */
export function createOutbox({ store, bodies }: { store: Store; bodies: Bodies }) {
  /** Newest first. */
  const list = (whose: Whose, scan: Scan): MailSummary[] =>
    whose === 'all' ? store.mails.ofAll(scan) : store.mails.ofOne(whose.tenantId, scan)

  /** Those in one of the states, or all: fewer than `limit` with a `next` where they are rare. */
  function page(whose: Whose, states: ReadonlySet<MailState>, { before, limit }: Scan): OutboxPage {
    const found: MailSummary[] = []
    let next = before
    for (let looked = 0; looked < MOST_LOOKED_AT; looked += SLICE) {
      const rows = list(whose, { before: next, limit: SLICE })
      for (const mail of rows) {
        if (found.length === limit) return { mails: found, next }
        if (states.size === 0 || states.has(mail.state)) found.push(mail)
        next = mail.seq
      }
      if (rows.length < SLICE) return { mails: found, next: undefined }
    }
    return { mails: found, next }
  }

  /** How many are due, and how many wait for a retry, each counted up to 10,000. */
  const open = (): { ready: number; waiting: number } => ({
    ready: store.line.count('ready'),
    waiting: store.line.count('waiting'),
  })

  function read(whose: Whose, id: string): OpenMail | undefined {
    const mail = store.mails.byId(id)
    if (!mail || (whose !== 'all' && mail.tenantId !== whose.tenantId)) return undefined
    return { ...mail, body: bodyOf(mail.id, mail.body) }
  }

  /** What another master key has sealed must not hide the rest. */
  function bodyOf(id: string, sealed: string | null): Body | null {
    try {
      return sealed === null ? null : bodies.open(id, sealed)
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return null
    }
  }

  return { list, page, open, read }
}
