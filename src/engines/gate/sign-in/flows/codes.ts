import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { isSame, mintSecret, randomDigits } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import type { Tenants } from '../../../../platform/tenants.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Store } from '../../store.ts'
import { createMailTemplates, type MailTemplates } from '../mail-templates/index.ts'
import type { FlowKind } from '../model.ts'
import type { Client } from './client.ts'
import type { CodeRow } from './codes-store.ts'
import { tooSoon } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { FlowRow } from './store.ts'
import type { Throttle } from './throttle.ts'
import type { MessageId } from './ui/messages.ts'

const DIGITS = 6
/** Maximum number of codes that can be entered in one flow. */
const MAX_ATTEMPTS = 5
const KEPT = 'gate codes'
/**
 * Minimum lifetime of a link. It exceeds the longest wait between two mails to an address, so a
 * mailbox that receives no further mail for now still has a working link.
 */
const LINK_MS = 30 * MINUTE_MS
/** Mails that let users back in. They are sent regardless of how many other mails were sent. */
const WAYS_IN: ReadonlySet<string> = new Set(['recovery', 'login'])

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
  /**
   * The client that requests the mail; undefined for a tenant's server, which has its own limits.
   */
  client?: Client
  /**
   * Target of the link in the mail: a separate flow known only to the mailbox, or this flow if no
   * one else knows it. If omitted, the mail has no link.
   */
  link?: 'own flow' | 'this flow'
  /**
   * Whether to skip the mail instead of failing when it is too soon for another one, because the
   * link in the latest mail still works.
   */
  latestWorks?: boolean
  /** Whether codes sent to this address earlier for the same purpose become invalid. */
  replacesEarlier?: boolean
  letter: (
    mailTemplates: MailTemplates,
    about: WrittenAbout,
  ) => { subject: string; text: string; html: string }
}

/** The values that a mail contains besides its wording. */
interface WrittenAbout {
  tenantName: string
  code: string
  lifetimeMs: number
  /** Empty in a mail without a link. */
  link: string
  linkLifetimeMs: number
}

export type Checked =
  | { verdict: 'right'; code: CodeRow }
  | { verdict: 'wrong' | 'spent'; code?: undefined }

export type Codes = ReturnType<typeof createCodes>

/**
 * Six-digit codes that are emailed and entered in the same flow, and links that work in any
 * browser. Everything runs within a commit. Only the mailbox reveals whether an address has an
 * account: without one, a code is created, stored, counted and written like any other, but not
 * sent.
 */
export function createCodes(parts: {
  db: Db
  store: Store
  clock: Clock
  sealing: Sealing
  mail: Mail
  tenants: Tenants
  repository: FlowRepository
  throttle: Throttle
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  lifetimeMs: number
}) {
  const { db, store, clock, sealing, mail, tenants, repository, throttle } = parts
  const { urlOf, lifetimeMs } = parts

  /**
   * Replaces the flow's previous code. Throws when it is too soon for another mail, unless the
   * latest link in the mailbox still works, so that strangers who request mails cannot lock out the
   * owner.
   */
  function send(flow: FlowRow, sending: Sending): FlowRow {
    const waitMs = waitFor(flow, sending)
    if (waitMs > 0 && !sending.latestWorks) throw tooSoon(waitMs)
    if (waitMs > 0) forgetOther(flow, sending)
    else post(flow, sending)
    const { address } = sending
    return repository.save(flow, { state: 'sent_email', address, active: 'code', notices: null })
  }

  /** Checks the limit of the address first, so that a rejected client keeps its own allowance. */
  function waitFor({ tenantId, kind: flowKind }: FlowRow, sending: Sending): number {
    const { address, client, kind = flowKind } = sending
    const allowance = mail.sharedAllowance(tenantId, address, clock.now(), kind)
    if (!allowance.allowed) return allowance.retryAfterMs
    return client === undefined ? 0 : throttle.mailWait(client, { tenantId, kind, address })
  }

  /** A code sent to one address must not be accepted for another one. */
  function forgetOther({ tenantId, id, address }: FlowRow, sending: Sending) {
    if (address !== sending.address) store.codes.removeOfFlow(tenantId, id)
  }

  function post(flow: FlowRow, sending: Sending) {
    const { tenantId } = flow
    const { address, client, kind = flow.kind } = sending
    const now = clock.now()
    if (client) db.afterCommit(() => throttle.mailed(client, { tenantId, kind, address }))
    // Computed for every address, so that all responses take the same time.
    const pestering = pestered(tenantId, address, now)
    const withheld = sending.withheld ?? (WAYS_IN.has(kind) ? undefined : pestering)
    const owner = withheld === undefined ? sending.person : undefined
    if (sending.replacesEarlier && owner)
      store.codes.removeOfKind(tenantId, owner.id, { kind: flow.kind, address })
    store.codes.removeOfFlow(tenantId, flow.id)
    const code = randomDigits(DIGITS)
    const expiresAt = sending.expiresAt ?? Math.min(now + lifetimeMs, flow.expiresAt)
    keep(flow, code, { address, owner, expiresAt })
    const link = linkFor(flow, sending, { owner, code, expiresAt })
    write(flow, { ...sending, kind, withheld }, { code, expiresAt, now, link })
  }

  function keep(
    flow: FlowRow,
    code: string,
    of: { address: string; owner: IdentityRow | undefined; expiresAt: number },
  ) {
    const { address, owner, expiresAt } = of
    store.codes.insert({
      id: newId(),
      tenantId: flow.tenantId,
      flowId: flow.id,
      identityId: owner?.id ?? null,
      generation: owner?.sessionGeneration ?? null,
      address,
      hash: hashOf(flow, code),
      issuedAt: clock.now(),
      expiresAt,
    })
  }

  /** The link of a mail; undefined for a mail without one. */
  function linkFor(
    flow: FlowRow,
    { address, link, expiresAt: given }: Sending,
    { owner, code, expiresAt }: { owner: IdentityRow | undefined; code: string; expiresAt: number },
  ): { url: string; expiresAt: number } | undefined {
    if (link === undefined) return undefined
    if (link === 'this flow') return { url: urlOf(flow.kind, { flow: flow.id, code }), expiresAt }
    const until = given ?? clock.now() + Math.max(lifetimeMs, LINK_MS)
    const own = repository.beginForLink(flow, { address, expiresAt: until })
    const secret = mintSecret()
    keep(own, secret, { address, owner, expiresAt: until })
    return { url: urlOf(own.kind, { flow: own.id, code: secret }), expiresAt: until }
  }

  const pestered = (tenantId: string, address: string, now: number) =>
    mail.isPestered(tenantId, address, now) ? 'too many emails to this address' : undefined

  function write(
    { tenantId, language }: FlowRow,
    { address, person, kind, withheld, letter }: Sending & { kind: string },
    of: {
      code: string
      expiresAt: number
      now: number
      link: { url: string; expiresAt: number } | undefined
    },
  ) {
    const { code, now, link } = of
    const expiresAt = link?.expiresAt ?? of.expiresAt
    const content = letter(createMailTemplates(language), {
      tenantName: tenants.nameOf(tenantId),
      code,
      lifetimeMs: of.expiresAt - now,
      link: link?.url ?? '',
      linkLifetimeMs: expiresAt - now,
    })
    const about = person?.id ?? null
    const mailing = { tenantId, about, kind, recipient: address, expiresAt, ...content }
    if (withheld === undefined) mail.post(mailing, now)
    else mail.withhold(mailing, withheld, now)
  }

  /**
   * Checks an entered code. Each attempt counts before the code is compared and must be stored even
   * if it fails, so the result is returned and not thrown. A correct code works once.
   */
  function check(flow: FlowRow, typed: string): Checked & { flow: FlowRow } {
    if (flow.tries >= MAX_ATTEMPTS) return { verdict: 'spent', flow }
    const next = repository.save(flow, { tries: flow.tries + 1 })
    const code = store.codes.ofFlow(flow.tenantId, flow.id)
    const hash = hashOf(flow, typed.replaceAll(/\s/g, ''))
    const isRight = code !== undefined && isSame(code.hash, hash) && clock.now() < code.expiresAt
    if (!isRight) return { verdict: 'wrong', flow: next }
    store.codes.removeOfFlow(flow.tenantId, flow.id)
    return { verdict: 'right', code, flow: next }
  }

  const hashOf = ({ id }: FlowRow, code: string) => sealing.fingerprint(KEPT, `${id} ${code}`)

  return { send, check }
}

/** The message for a code that was not accepted. */
export const complaintOf = (kind: FlowKind, { verdict }: Pick<Checked, 'verdict'>): MessageId =>
  verdict === 'spent' ? 4900001 : WRONG_CODE[kind]

const WRONG_CODE: Record<FlowKind, MessageId> = {
  login: 4010008,
  registration: 4040003,
  recovery: 4060006,
  verification: 4070006,
  settings: 4000001,
}
