import type { Clock } from '../../../platform/clock.ts'
import { isSame, randomDigits } from '../../../platform/crypto.ts'
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
import { tooSoon } from './failure.ts'
import type { FlowKeeper } from './flow.ts'
import type { MessageId } from './ui/messages.ts'

const DIGITS = 6
/** Codes that may be typed in within one flow; none is looked at after that. */
const MOST_TRIES = 5
const KEPT = 'gate codes'

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
  letter: (
    letters: Letters,
    about: { tenantName: string; code: string; link: string; lifetimeMs: number },
  ) => { subject: string; text: string; html: string }
}

export type Checked =
  | { verdict: 'right'; code: CodeRow }
  | { verdict: 'wrong' | 'spent'; code?: undefined }

export type Codes = ReturnType<typeof createCodes>

/**
 * Six digits that go out by mail and come back within the same flow. All of it runs within a
 * commit. Whether somebody has an address shows in nothing but the mailbox: a code for nobody is
 * made, kept, counted and written like any other, and not sent.
 */
export function createCodes(parts: {
  store: Store
  clock: Clock
  sealing: Sealing
  mail: Mail
  tenants: Tenants
  keeper: FlowKeeper
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  lifetimeMs: number
}) {
  const { store, clock, sealing, mail, tenants, keeper, urlOf, lifetimeMs } = parts

  /** Takes the place of whatever code the flow had before. Throws when it is too soon. */
  function send(flow: FlowRow, sending: Sending): FlowRow {
    const { tenantId } = flow
    const { address, kind = flow.kind } = sending
    const now = clock.now()
    const allowance = mail.allowance(tenantId, address, now, kind)
    if (!allowance.allowed) throw tooSoon(allowance.retryAfterMs)
    // Asked for everybody, so that all answers take the same time.
    const pestering = pestered(tenantId, address, now)
    const withheld = sending.withheld ?? pestering
    const owner = withheld === undefined ? sending.person : undefined
    const code = randomDigits(DIGITS)
    const expiresAt = sending.expiresAt ?? Math.min(now + lifetimeMs, flow.expiresAt)
    store.codes.removeOfFlow(tenantId, flow.id)
    store.codes.insert({
      id: newId(),
      tenantId,
      flowId: flow.id,
      identityId: owner?.id ?? null,
      generation: owner?.sessionGeneration ?? null,
      address,
      hash: hashOf(flow, code),
      issuedAt: now,
      expiresAt,
    })
    write(flow, { ...sending, kind, withheld }, { code, expiresAt, now })
    return keeper.save(flow, { state: 'sent_email', address, active: 'code', notices: null })
  }

  const pestered = (tenantId: string, address: string, now: number) =>
    mail.isPestered(tenantId, address, now) ? 'too many mails to this address' : undefined

  function write(
    { id, tenantId, kind: flowKind, language }: FlowRow,
    { address, person, kind, withheld, letter }: Sending & { kind: string },
    { code, expiresAt, now }: { code: string; expiresAt: number; now: number },
  ) {
    const content = letter(createLetters(language), {
      tenantName: tenants.nameOf(tenantId),
      code,
      link: urlOf(flowKind, { flow: id, code }),
      lifetimeMs: expiresAt - now,
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
