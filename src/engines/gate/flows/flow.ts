import type { AnyProvider } from '../../../config/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { sha256 } from '../../../platform/crypto.ts'
import { newId } from '../../../platform/ids.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { FlowKind, Language } from '../model/flows.ts'
import { flowInternal } from '../sealed.ts'
import { newTotpSecret } from '../second-factor/totp.ts'
import type { FlowRow } from '../store/flows.ts'
import type { Store } from '../store/index.ts'
import type { Traits } from '../traits.ts'
import { type Complaint, complain } from './failure.ts'
import type { MessageId } from './ui/messages.ts'

const { purpose: INTERNAL, place: placeOf } = flowInternal
const CSRF = 'gate csrf tokens'

/** An account elsewhere that is still to become somebody's. */
export interface PendingAccount {
  provider: AnyProvider
  subject: string
  email: string | null
  isEmailVerified: boolean
  /** What it says of an operator; of others, no more than the address is kept. */
  traits?: Omit<Traits, 'email'>
  tokens: string | null
}

/** What earlier steps of a flow have left behind. */
export interface Internal {
  /** Of somebody who registers by code. */
  traits?: Traits
  pendingAccount?: PendingAccount | undefined
  /** Of an authenticator that is being set up. */
  totpSecret?: string
  /** Shown, and good once somebody says that they are written down. */
  recoveryCodes?: string[]
  /** What is to stand instead of the address before, unless the person's sessions end first. */
  addressChange?: { address: string; instead: string; generation: number }
  /** Whose the account is that is to be confirmed: the browser of its owner, or a program. */
  holder?: Holder
  /** Whose mailbox it is has been shown, and whether the account is theirs has not. */
  mailbox?: Mailbox | undefined
}

/** SHA-256 of the cookie of a browser, or the program that the flow was handed to. */
export type Holder = { browserHash: string } | 'program'

/** A mailbox that somebody has shown to be theirs, and the person who has its address or wants it. */
export interface Mailbox {
  identityId: string
  address: string
  generation: number
}

/** Something that is said when the flow is looked at next. */
export type Notice = Pick<Complaint, 'id' | 'context'>

/** What a flow begins with; the rest is as it comes. */
export type NewFlow = Pick<FlowRow, 'tenantId' | 'kind'> & {
  language: Language
  internal?: Internal
  notices?: Notice[]
} & Partial<
    Pick<
      FlowRow,
      | 'identityId'
      | 'sessionId'
      | 'requestedAal'
      | 'isRefresh'
      | 'returnTo'
      | 'nextFlowId'
      | 'browserHash'
      | 'address'
      | 'state'
      | 'active'
      | 'expiresAt'
    >
  >

export type FlowKeeper = ReturnType<typeof createFlowKeeper>

/** Flows from beginning to end. What changes one runs within a commit. */
export function createFlowKeeper(parts: {
  store: Store
  clock: Clock
  sealing: Sealing
  lifetimeMs: number
}) {
  const { store, clock, sealing, lifetimeMs } = parts

  function begin({ internal, notices, ...given }: NewFlow): FlowRow {
    const now = clock.now()
    const row: FlowRow = {
      ...BLANK,
      id: newId(),
      state: given.kind === 'settings' ? 'show_form' : 'choose_method',
      issuedAt: now,
      updatedAt: now,
      expiresAt: now + lifetimeMs,
      notices: notices ? JSON.stringify(notices) : null,
      ...given,
    }
    const parts =
      given.kind === 'settings' ? { totpSecret: newTotpSecret(), ...internal } : internal
    if (parts) row.internal = sealed(row, parts)
    store.flows.insert(row)
    return row
  }

  /**
   * One for the link of a mail, of which nobody knows but the mailbox: whoever has the first one can
   * neither use up its tries nor send its code elsewhere.
   */
  function beginForLink(
    row: FlowRow,
    { address, expiresAt }: { address: string; expiresAt: number },
  ): FlowRow {
    const { tenantId, kind, language, identityId, returnTo } = row
    const { holder, addressChange } = internalOf(row)
    const internal = {
      ...(addressChange && { addressChange }),
      ...(holder && holder !== 'program' && { holder }),
    }
    const opened = { state: 'sent_email', active: 'code', address, expiresAt } as const
    return begin({ tenantId, kind, language, identityId, returnTo, internal, ...opened })
  }

  /** A new one for the purpose of one that is over. */
  const renew = (row: FlowRow, notices: Notice[]): FlowRow =>
    begin({
      tenantId: row.tenantId,
      kind: row.kind,
      language: row.language,
      // Who it was about is nobody's business but theirs, which the session shows.
      identityId: row.sessionId === null ? null : row.identityId,
      sessionId: row.sessionId,
      requestedAal: row.requestedAal,
      isRefresh: row.isRefresh,
      returnTo: row.returnTo,
      nextFlowId: row.nextFlowId,
      browserHash: row.browserHash,
      notices,
    })

  function save(row: FlowRow, changes: Partial<FlowRow> & { internalParts?: Internal }): FlowRow {
    const { internalParts, ...columns } = changes
    const next = { ...row, ...columns, updatedAt: clock.now() }
    if (internalParts) next.internal = sealed(next, internalParts)
    store.flows.update(next)
    return next
  }

  /** As it stands within this commit; refused when it is over. */
  function open(id: string): FlowRow {
    const row = store.flows.find(id)
    if (!row || isExpired(row)) throw complain(EXPIRED[row?.kind ?? 'login'])
    if (row.completedAt !== null) throw complain(COMPLETED[row.kind])
    return row
  }

  const isExpired = ({ expiresAt }: FlowRow): boolean => clock.now() >= expiresAt

  const complete = (row: FlowRow, changes: Partial<FlowRow> = {}): FlowRow => {
    store.codes.removeOfFlow(row.tenantId, row.id)
    return save(row, { ...changes, completedAt: clock.now(), notices: null, internal: null })
  }

  const noticesOf = ({ notices }: FlowRow): Notice[] =>
    notices === null ? [] : JSON.parse(notices)

  const internalOf = ({ id, internal }: FlowRow): Internal =>
    internal === null ? {} : JSON.parse(sealing.open(INTERNAL, placeOf({ id }), internal))

  const sealed = ({ id }: FlowRow, internal: Internal): string =>
    sealing.seal(INTERNAL, placeOf({ id }), JSON.stringify(internal))

  /**
   * What a form has to bring back: nobody who does not know the flow can make it. That of a page is
   * good in its browser alone, so that a page elsewhere cannot send somebody's browser along with
   * the form of somebody else.
   */
  const csrfTokenOf = ({ id }: FlowRow, browserHash: string | null): string =>
    sealing.fingerprint(CSRF, browserHash === null ? id : `${id} ${browserHash}`)

  return {
    begin,
    beginForLink,
    renew,
    save,
    open,
    isExpired,
    complete,
    noticesOf,
    internalOf,
    csrfTokenOf,
  }
}

/** Whether a browser is the one that a flow belongs to, or the flow belongs to none. */
export const isOfBrowser = (row: Pick<FlowRow, 'browserHash'>, browserHash: string | null) =>
  row.browserHash === null || row.browserHash === browserHash

export const browserHashOf = (cookie: string): string => sha256(cookie)

const BLANK = {
  identityId: null,
  sessionId: null,
  requestedAal: 'aal1',
  isRefresh: false,
  active: null,
  address: null,
  tries: 0,
  returnTo: null,
  nextFlowId: null,
  replacedBy: null,
  browserHash: null,
  notices: null,
  internal: null,
  exchangeHash: null,
  exchangeSessionId: null,
  exchangeExpiresAt: null,
  completedAt: null,
} as const

export const EXPIRED: Record<FlowKind, MessageId> = {
  login: 4010001,
  registration: 4040001,
  settings: 4050001,
  recovery: 4060005,
  verification: 4070005,
}

const COMPLETED: Record<FlowKind, MessageId> = {
  login: 4010007,
  registration: 4040002,
  settings: 4050001,
  recovery: 4060001,
  verification: 4070002,
}
