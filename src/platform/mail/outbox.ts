import type { Scan } from '../scan.ts'
import { SealError } from '../sealing/index.ts'
import type { Bodies, Body } from './body.ts'
import type { Store } from './store/index.ts'
import type { MailSummary } from './store/mails.ts'

/** Mails of one tenant, of the instance (null), or of everybody. */
export type Whose = { tenantId: string | null } | 'all'

/**
 * A mail as it can be shown. Null is the body of one that was sent, given up or withheld, and all
 * that told of somebody who is gone.
 */
export type OpenMail = MailSummary & { body: Body | null }

/** What was written to whom: without a server for mail, the only place to read it. */
export function createOutbox({ store, bodies }: { store: Store; bodies: Bodies }) {
  /** Newest first. */
  const list = (whose: Whose, scan: Scan): MailSummary[] =>
    whose === 'all' ? store.mails.ofAll(scan) : store.mails.ofOne(whose.tenantId, scan)

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

  return { list, read }
}
