import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { isSame, sha256 } from '../../../../platform/crypto.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import { newTotpSecret } from '../../credentials/second-factor/totp.ts'
import type { Traits } from '../../identities/traits.ts'
import { flowInternal } from '../../sealed.ts'
import type { Store } from '../../store.ts'
import type { FlowKind, Language } from '../model.ts'
import { unmasked } from './csrf-mask.ts'
import { type FieldError, fieldError } from './failure.ts'
import type { FlowRow } from './store.ts'
import type { MessageId } from './ui/messages.ts'

const { purpose: INTERNAL, boundTo } = flowInternal
const CSRF = 'gate csrf tokens'

/** A social account that is not connected to an identity yet. */
export interface PendingAccount {
  provider: AnyProvider
  subject: string
  email: string | null
  isEmailVerified: boolean
  /** Profile traits, stored for operators only; for others only the address is kept. */
  traits?: Omit<Traits, 'email'>
  tokens: string | null
}

/** State that earlier steps of a flow have stored. */
export interface Internal {
  /** The traits of a user who registers by code. */
  traits?: Traits
  pendingAccount?: PendingAccount | undefined
  /** The secret of an authenticator app that is being set up. */
  totpSecret?: string
  /** Recovery codes that were shown; valid once the user confirms having saved them. */
  recoveryCodes?: string[]
  /** A requested change of address. It becomes void when the sessions of the identity end. */
  addressChange?: { address: string; instead: string; generation: number }
  /** The holder of the account to be verified: the owner's browser, or a program. */
  holder?: Holder
  /** A proven mailbox, while ownership of the account is not proven. */
  mailbox?: Mailbox | undefined
}

/** SHA-256 of a browser's cookie, or the program that received the flow. */
export type Holder = { browserHash: string } | 'program'

/** A mailbox that the user controls, and the identity that has or requested its address. */
export interface Mailbox {
  identityId: string
  address: string
  generation: number
}

/** A message to show the next time the flow is read. */
export type Notice = Pick<FieldError, 'id' | 'context'>

/** The initial values of a flow; the rest has defaults. */
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

/** Work of a commit; it can't be asynchronous. */
type Step<T> = (flow: FlowRow) => T extends PromiseLike<unknown> ? never : T

export type FlowRepository = ReturnType<typeof createFlowRepository>

/** The life cycle of flows. Every change runs within a commit. */
export function createFlowRepository(parts: {
  db: Db
  store: Store
  clock: Clock
  sealing: Sealing
  lifetimeMs: number
}) {
  const { db, store, clock, sealing, lifetimeMs } = parts

  /** Of any tenant: the row names it. */
  const find = (id: string): FlowRow | undefined => store.flows.find(id)

  /**
   * Runs a step within one commit, with the flow as of that commit; throws if it is expired or
   * complete by then.
   */
  const advance = <T>({ id, tenantId }: FlowRow, step: Step<T>): Promise<T> =>
    db.commitFor<T>(tenantId, () => step(requireOpen(find(id))))

  /** The same for a flow in any state. */
  const revise = <T>(row: FlowRow, step: Step<T>): Promise<T> =>
    db.commitFor<T>(row.tenantId, () => step(find(row.id) ?? row))

  const start = (flow: NewFlow): Promise<FlowRow> => db.commitFor(flow.tenantId, () => begin(flow))

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
   * A separate flow for the link of a mail, known only to the mailbox: a client that has the first
   * flow can neither use up its attempts nor redirect its code.
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

  /** A new flow with the purpose of a completed one. */
  const renew = (row: FlowRow, notices: Notice[]): FlowRow =>
    begin({
      tenantId: row.tenantId,
      kind: row.kind,
      language: row.language,
      // Only the session reveals whose flow it was.
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

  /** Throws if the flow is expired or complete. */
  function requireOpen(row: FlowRow | undefined): FlowRow {
    if (!row || isExpired(row)) throw fieldError(EXPIRED[row?.kind ?? 'login'])
    if (row.completedAt !== null) throw fieldError(COMPLETED[row.kind])
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
    internal === null ? {} : JSON.parse(sealing.open(INTERNAL, boundTo({ id }), internal))

  const sealed = ({ id }: FlowRow, internal: Internal): string =>
    sealing.seal(INTERNAL, boundTo({ id }), JSON.stringify(internal))

  /** Bound to the browser on pages, so that other sites can't make it submit another's form. */
  const csrfTokenOf = ({ id }: FlowRow, browserHash: string | null): string =>
    sealing.fingerprint(CSRF, browserHash === null ? id : `${id} ${browserHash}`)

  const isCsrfToken = (row: FlowRow, browserHash: string | null, given: string): boolean =>
    isSame(unmasked(given), csrfTokenOf(row, browserHash))

  return {
    find,
    advance,
    revise,
    start,
    begin,
    beginForLink,
    renew,
    save,
    requireOpen,
    isExpired,
    complete,
    noticesOf,
    internalOf,
    csrfTokenOf,
    isCsrfToken,
  }
}

/** Whether a browser owns the flow, or the flow is bound to no browser. */
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
