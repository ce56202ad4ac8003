import type { Branding } from '../../../../platform/branding/index.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { mintSecret, randomDigits } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { MailAllowance } from '../mail-allowance.ts'
import type { MailTemplates } from '../mail-templates/index.ts'
import type { TenantMails } from '../mail-templates/tenant-mails.ts'
import type { FlowKind } from '../model.ts'
import type { Client } from './client.ts'
import type { Codes } from './codes.ts'
import { fieldError, tooSoon } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { FlowRow } from './store.ts'

const DIGITS = 6
/** Minimum lifetime of a link; exceeds the longest wait between mails, so that one always works. */
const LINK_MS = 30 * MINUTE_MS
/** Kinds of mails that let users back in, sent regardless of how many other mails were sent. */
const SIGN_IN_MAILS: ReadonlySet<string> = new Set(['recovery', 'login'])

/** A code to be sent. */
export interface Sending {
  address: string
  /** The identity with the address, if there is one. */
  person: IdentityRow | undefined
  /** The reason why no mail is sent and the code is invalid; undefined if the mail is sent. */
  withheld?: string | undefined
  /** The mail kind for rate limits; by default the kind of the flow. */
  kind?: string
  /** Overrides the default lifetime of codes. */
  expiresAt?: number
  /** The time from which the mail counts its lifetime, if its flow was begun just before. */
  now?: number
  /** The client that requests the mail; undefined for a tenant's server, which has other limits. */
  client?: Client
  /** The flow that the link opens; `this flow` only if no one else has it. If omitted, no link. */
  link?: 'own flow' | 'this flow'
  /** Skips a mail that is too soon instead of failing, because the latest link still works. */
  latestWorks?: boolean
  /** Whether codes sent to this address earlier for the same purpose become invalid. */
  replacesEarlier?: boolean
  write: (
    mailTemplates: MailTemplates,
    values: MailValues,
  ) => { subject: string; text: string; html: string }
}

/** The values that a mail contains besides its wording. */
interface MailValues {
  tenantName: string
  code: string
  lifetimeMs: number
  /** Empty in a mail without a link. */
  link: string
  linkLifetimeMs: number
}

/** A new code, and the account it is for: none if no mail is sent. */
interface NewCode {
  code: string
  owner: IdentityRow | undefined
  expiresAt: number
}

interface Link {
  url: string
  expiresAt: number
}

export type CodeMails = ReturnType<typeof createCodeMails>

/**
 * Mails with a six-digit code that is entered in the same flow, and a link that works in any
 * browser. Everything runs within a commit. Only the mailbox reveals whether an address has an
 * account: without one, a code is created, stored, counted and written like any other, but not
 * sent.
 */
export function createCodeMails(parts: {
  clock: Clock
  mail: Mail
  branding: Pick<Branding, 'nameOf'>
  tenantMails: Pick<TenantMails, 'templatesFor'>
  mailAllowance: MailAllowance
  repository: FlowRepository
  codes: Codes
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  lifetimeMs: number
}) {
  const { clock, mail, branding, tenantMails, mailAllowance, repository, codes } = parts
  const { urlOf, lifetimeMs } = parts

  /**
   * Replaces the flow's code. Throws if it is too soon for a mail, unless the latest link still
   * works: strangers who request mails must not lock out the owner. Without a mail server, users get
   * an error; what a tenant's server requests is kept until there is one.
   */
  function send(flow: FlowRow, sending: Sending): FlowRow {
    const { address, client, kind = flow.kind, latestWorks } = sending
    const { tenantId } = flow
    if (client && !mail.hasServer) throw fieldError(4900016)
    const waitMs = mailAllowance.waitMs({ tenantId, kind, address }, client)
    if (waitMs > 0 && !latestWorks) throw tooSoon(waitMs)
    if (waitMs <= 0) post(flow, { ...sending, kind })
    // A code sent to one address must not be accepted for another one.
    else if (flow.address !== address) codes.remove(flow)
    return repository.save(flow, { state: 'sent_email', address, active: 'code', notices: null })
  }

  function post(flow: FlowRow, sending: Sending & { kind: string }) {
    const { tenantId } = flow
    const { address, client, kind } = sending
    // Read once, because the mail states its lifetime in minutes, rounded down.
    const { now = clock.now() } = sending
    mailAllowance.count({ tenantId, kind, address }, client)
    // Computed for every address, so that all responses take the same time.
    const isPestered = mail.isPestered(tenantId, address, now)
    const tooMany =
      isPestered && !SIGN_IN_MAILS.has(kind) ? 'too many emails to this address' : undefined
    const withheld = sending.withheld ?? tooMany
    const newCode: NewCode = {
      code: randomDigits(DIGITS),
      owner: withheld === undefined ? sending.person : undefined,
      expiresAt: sending.expiresAt ?? Math.min(now + lifetimeMs, flow.expiresAt),
    }
    if (sending.replacesEarlier && newCode.owner) codes.removeEarlier(flow, newCode.owner, address)
    codes.remove(flow)
    codes.insert(flow, { ...newCode, address })
    const link = linkFor(flow, sending, newCode, now)
    deliver(flow, { ...sending, withheld }, { newCode, link, now })
  }

  /** The link of a mail; undefined for a mail without one. */
  function linkFor(
    flow: FlowRow,
    sending: Sending,
    newCode: NewCode,
    now: number,
  ): Link | undefined {
    const { address, link } = sending
    const { code, owner, expiresAt } = newCode
    if (link === undefined) return undefined
    if (link === 'this flow') return { url: urlOf(flow.kind, { flow: flow.id, code }), expiresAt }
    const until = sending.expiresAt ?? now + Math.max(lifetimeMs, LINK_MS)
    const own = repository.beginForLink(flow, { address, expiresAt: until })
    const secret = mintSecret()
    codes.insert(own, { code: secret, owner, expiresAt: until, address })
    return { url: urlOf(own.kind, { flow: own.id, code: secret }), expiresAt: until }
  }

  function deliver(
    { tenantId, language }: FlowRow,
    { address, person, kind, withheld, write }: Sending & { kind: string },
    { newCode, link, now }: { newCode: NewCode; link: Link | undefined; now: number },
  ) {
    const expiresAt = link?.expiresAt ?? newCode.expiresAt
    const content = write(tenantMails.templatesFor(tenantId, language), {
      tenantName: branding.nameOf(tenantId),
      code: newCode.code,
      lifetimeMs: newCode.expiresAt - now,
      link: link?.url ?? '',
      linkLifetimeMs: expiresAt - now,
    })
    const about = person?.id ?? null
    const message = { tenantId, about, kind, recipient: address, expiresAt, ...content }
    if (withheld === undefined) mail.post(message, now)
    else mail.withhold(message, withheld, now)
  }

  return { send }
}
