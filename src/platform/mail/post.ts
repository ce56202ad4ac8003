import { newId } from '../ids.ts'
import type { Bodies, Body } from './body.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** A mail to be sent. */
export interface Letter extends Body {
  /** Whose matter it is; null for that of the instance. */
  tenantId: string | null
  /** Whoever it is about, such as an identity: `eraseAbout` takes it away with them. */
  about: string | null
  /** What it is for, such as `verification`. */
  kind: string
  /** One address, in the spelling under which it is counted: see `createThrottle`. */
  recipient: string
  /** Kept as it is, unlike the body: never put a code in it. */
  subject: string
  /** From then on it is of no use to anybody, and is not sent. */
  expiresAt: number
}

const LONGEST_SUBJECT = 200

/** Takes a mail in, inside the caller's commit: it goes out if what it tells of has happened. */
export function createPost(parts: {
  store: Store
  bodies: Bodies
  hashOf: RecipientHash
  /** Without a server for mail, nobody sends it. */
  hasServer: boolean
  wake: () => void
}) {
  const { store, bodies, hashOf, hasServer, wake } = parts

  /** Returns the id of the mail. */
  return function post(letter: Letter, now: number): string {
    const { tenantId, about, kind, recipient, expiresAt } = letter
    const id = newId()
    store.mails.insert({
      id,
      tenantId,
      about,
      kind,
      recipient,
      recipientHash: hashOf(tenantId, recipient),
      subject: subjectOf(letter.subject),
      body: bodies.seal(id, letter),
      state: hasServer ? 'ready' : 'kept',
      expiresAt,
      createdAt: now,
    })
    if (hasServer) wake()
    return id
  }
}

/** One line: a line break would begin another header. */
const subjectOf = (written: string): string =>
  [...written.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()]
    .slice(0, LONGEST_SUBJECT)
    .join('')
    .toWellFormed()
