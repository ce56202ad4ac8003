import { newId } from '../ids.ts'
import type { Bodies, Body } from './body.ts'
import { headerLine } from './one-line.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** A mail to be sent. */
export interface NewMail extends Body {
  /** The tenant that sends the mail; null for the installation. */
  tenantId: string | null
  /** The subject of the mail, such as an identity: `eraseAbout` removes its mails. */
  about: string | null
  /** The purpose of the mail, such as `verification`. */
  kind: string
  /** One address in normalized form, because limits compare it literally; see `createThrottle`. */
  recipient: string
  /** Stored unencrypted, unlike the body: never put a code in it. */
  subject: string
  /** After this time the mail is useless and is not sent. */
  expiresAt: number
}

const MAX_SUBJECT_LENGTH = 200

/** Marks mails that were never meant to be sent, as opposed to failed ones. */
export const WITHHELD = 'withheld'

/** Stores mails in the caller's commit, so that none exists without the change it reports. */
export function createPost(parts: {
  store: Store
  bodies: Bodies
  hashOf: RecipientHash
  /** Whether a mail server is configured; without one, mails are kept and not sent. */
  hasServer: () => boolean
  wake: () => void
}) {
  const { store, bodies, hashOf, hasServer, wake } = parts

  /** Stores a mail to be sent and returns its id. */
  function post(renderMail: NewMail, now: number): string {
    const mail = written(renderMail, now)
    const isToSend = hasServer()
    const state = isToSend ? 'ready' : 'kept'
    store.mails.insert({ ...mail, state, lastError: null, endedAt: null })
    if (isToSend) wake()
    return mail.id
  }

  /**
   * Stores a mail that is not sent, with a reason for the outbox, such as an address without an
   * account. The client that requested it must not notice: it takes the same work as posting,
   * including sealing, and counts against the address. It ends immediately, without a body. Returns
   * its id.
   */
  function withhold(renderMail: NewMail, reason: string, now: number): string {
    const mail = written(renderMail, now)
    const lastError = `${WITHHELD}: ${reason}`
    store.mails.insert({ ...mail, body: null, state: 'failed', lastError, endedAt: now })
    return mail.id
  }

  function written(renderMail: NewMail, now: number) {
    const { tenantId, about, kind, recipient, expiresAt } = renderMail
    const id = newId()
    return {
      id,
      tenantId,
      about,
      kind,
      recipient,
      recipientHash: hashOf(tenantId, recipient),
      subject: subjectOf(renderMail.subject),
      body: bodies.seal(id, renderMail),
      expiresAt,
      createdAt: now,
    }
  }

  return { post, withhold }
}

/** The subject on one line, because a line break would begin another header. */
const subjectOf = (written: string): string =>
  [...headerLine(written)].slice(0, MAX_SUBJECT_LENGTH).join('')
