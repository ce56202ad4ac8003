import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import { isSame, mintSecret, randomDigits } from '../../../platform/crypto.ts'
import { newId } from '../../../platform/ids.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import { createLetters, type Letters } from '../letters/index.ts'
import type { FlowKind } from '../model/flows.ts'
import type { CodeRow } from '../store/codes.ts'
import type { FlowRow } from '../store/flows.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { Store } from '../store/index.ts'
import type { Client } from './client.ts'
import { tooSoon } from './failure.ts'
import type { FlowKeeper } from './flow.ts'
import type { Throttle } from './throttle.ts'
import type { MessageId } from './ui/messages.ts'

const DIGITS = 6
/** Codes that may be typed in within one flow; none is looked at after that. */
const MOST_TRIES = 5
const KEPT = 'gate codes'
/**
 * The least that a link works. Longer than an address may have to wait for its next mail: so there
 * is always a link that works in a mailbox that gets no further mail for now.
 */
const LINK_MS = 30 * 60_000
/** Mails that let people in. However many mails of other kinds there were, these are sent. */
const WAYS_IN: ReadonlySet<string> = new Set(['recovery', 'login'])

/** A code that is to go out. */
export interface Sending {
  address: string
  /** Who has the address, if anybody. */
  person: IdentityRow | undefined
  /** Why nobody is written to, and the code is good for nobody; undefined when a mail goes out. */
  withheld?: string | undefined
  /** Of the mail, by which it is counted; that of the flow unless given. */
  kind?: string
  /** Unless it is to be good for longer than codes are. */
  expiresAt?: number
  /** Who asks for it; undefined for a tenant's server, which has limits of its own. */
  client?: Client
  /**
   * Where the link of the mail leads: to a flow of its own that only the mailbox knows, or to this
   * flow where nobody else knows it. Without it the mail has no link.
   */
  link?: 'own flow' | 'this flow'
  /** Whether it is no matter that it is too soon for this mail: the link of the latest one works. */
  latestWorks?: boolean
  /** Whether codes that the person was sent before at this address, for the same purpose, stop working. */
  replacesEarlier?: boolean
  letter: (letters: Letters, about: WrittenAbout) => { subject: string; text: string; html: string }
}

/** What a mail says, besides its words. */
interface WrittenAbout {
  tenantName: string
  code: string
  lifetimeMs: number
  /** Empty in a mail without one. */
  link: string
  linkLifetimeMs: number
}

export type Checked =
  | { verdict: 'right'; code: CodeRow }
  | { verdict: 'wrong' | 'spent'; code?: undefined }

export type Codes = ReturnType<typeof createCodes>

/**
 * Six digits that go out by mail and come back within the same flow, and links that work in any
 * browser. All of it runs within a commit. Whether somebody has an address shows in nothing but the mailbox: a code for nobody is
 * made, kept, counted and written like any other, and not sent.
 */
export function createCodes(parts: {
  db: Db
  store: Store
  clock: Clock
  sealing: Sealing
  mail: Mail
  tenants: Tenants
  keeper: FlowKeeper
  throttle: Throttle
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  lifetimeMs: number
}) {
  const { db, store, clock, sealing, mail, tenants, keeper, throttle } = parts
  const { urlOf, lifetimeMs } = parts

  /**
   * Takes the place of whatever code the flow had before. Throws when it is too soon for another
   * mail; not so where the link of the latest one in the mailbox works, so that strangers who ask for
   * mails keep nobody from going on.
   */
  function send(flow: FlowRow, sending: Sending): FlowRow {
    const waitMs = waitFor(flow, sending)
    if (waitMs > 0 && !sending.latestWorks) throw tooSoon(waitMs)
    if (waitMs > 0) forgetOther(flow, sending)
    else post(flow, sending)
    const { address } = sending
    return keeper.save(flow, { state: 'sent_email', address, active: 'code', notices: null })
  }

  /** The address first: a client that is put off for it keeps its own share. */
  function waitFor({ tenantId, kind: flowKind }: FlowRow, sending: Sending): number {
    const { address, client, kind = flowKind } = sending
    const allowance = mail.sharedAllowance(tenantId, address, clock.now(), kind)
    if (!allowance.allowed) return allowance.retryAfterMs
    return client === undefined ? 0 : throttle.mailWait(client, { tenantId, kind, address })
  }

  /** A code that went to one address is not to be typed in where another one is shown. */
  function forgetOther({ tenantId, id, address }: FlowRow, sending: Sending) {
    if (address !== sending.address) store.codes.removeOfFlow(tenantId, id)
  }

  function post(flow: FlowRow, sending: Sending) {
    const { tenantId } = flow
    const { address, client, kind = flow.kind } = sending
    const now = clock.now()
    if (client) db.afterCommit(() => throttle.mailed(client, { tenantId, kind, address }))
    // Asked for everybody, so that all answers take the same time.
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

  /** Undefined for a mail without one. */
  function linkFor(
    flow: FlowRow,
    { address, link, expiresAt: given }: Sending,
    { owner, code, expiresAt }: { owner: IdentityRow | undefined; code: string; expiresAt: number },
  ): { url: string; expiresAt: number } | undefined {
    if (link === undefined) return undefined
    if (link === 'this flow') return { url: urlOf(flow.kind, { flow: flow.id, code }), expiresAt }
    const until = given ?? clock.now() + Math.max(lifetimeMs, LINK_MS)
    const own = keeper.beginForLink(flow, { address, expiresAt: until })
    const secret = mintSecret()
    keep(own, secret, { address, owner, expiresAt: until })
    return { url: urlOf(own.kind, { flow: own.id, code: secret }), expiresAt: until }
  }

  const pestered = (tenantId: string, address: string, now: number) =>
    mail.isPestered(tenantId, address, now) ? 'too many mails to this address' : undefined

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
    const content = letter(createLetters(language), {
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
   * What a typed code is good for. Each look counts before it is taken, and is to be kept even if
   * it leads nowhere: the verdict is returned and not thrown. A right code is good this once.
   */
  function check(flow: FlowRow, typed: string): Checked & { flow: FlowRow } {
    if (flow.tries >= MOST_TRIES) return { verdict: 'spent', flow }
    const next = keeper.save(flow, { tries: flow.tries + 1 })
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

/** What is said of a code that was not taken. */
export const complaintOf = (kind: FlowKind, { verdict }: Pick<Checked, 'verdict'>): MessageId =>
  verdict === 'spent' ? 4900001 : WRONG_CODE[kind]

const WRONG_CODE: Record<FlowKind, MessageId> = {
  login: 4010008,
  registration: 4040003,
  recovery: 4060006,
  verification: 4070006,
  settings: 4000001,
}
