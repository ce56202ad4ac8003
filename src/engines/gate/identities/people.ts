import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { conflict, forbidden, notFound } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { Credential } from '../credentials/new-credential.ts'
import { isOperatorTenant } from '../operators/tenant.ts'
import type { Store } from '../store.ts'
import type { TokenGenerations } from '../tokens/generations.ts'
import type { Events } from '../webhooks/events.ts'
import type { JsonObject } from './documents/json.ts'
import type { IdentityRow, State } from './store.ts'
import { schemaOf, type Traits } from './traits.ts'

/** A change to an identity. */
export interface Change {
  traits?: Traits
  metadataPublic?: JsonObject
  /** Reported to webhooks even if the state stays the same. */
  state?: State
}

/** The data of a new identity. */
interface NewPerson {
  tenantId: string
  schemaId: string
  state: State
  traits: Traits
  metadataPublic: JsonObject
  /** Whether the address was verified by another system. */
  isVerified: boolean
  credential: Credential | undefined
  /** How the identity was created. The contract has two values; the API counts as `password`. */
  method: 'password' | 'oidc'
}

/** Hooks of the console, called within the commit of an operator's change. */
export interface OperatorHooks {
  /** A new operator has registered. */
  onSignUp?: (operator: IdentityRow) => void
  /** An operator's address was verified. */
  onVerified?: (operator: IdentityRow) => void
}

export type People = ReturnType<typeof createPeople>

/** The row of an identity and everything that changes with it, inside the caller's commit. */
export function createPeople(parts: {
  store: Store
  clock: Clock
  audit: Audit
  events: Events
  generations: TokenGenerations
  operatorHooks?: OperatorHooks
}) {
  const { store, clock, audit, events, generations, operatorHooks = {} } = parts
  const hooksOf = (tenantId: string) => (isOperatorTenant(tenantId) ? operatorHooks : {})

  /** contract/gate, errors: 403 for an identity of another tenant, 404 if it does not exist. */
  function existing(tenantId: string, id: string): IdentityRow {
    const row = store.identities.find(tenantId, id)
    if (row) return row
    throw store.identities.ownerOf(id) === undefined
      ? notFound('identity not found')
      : forbidden('the identity belongs to another tenant')
  }

  /** Throws `conflict` if another identity of the tenant has the address. */
  function add({ isVerified, credential, method, ...person }: NewPerson): IdentityRow {
    const now = clock.now()
    const { tenantId, traits } = person
    const { email } = traits
    const row = newRow(person, now)
    const { id } = row
    if (!store.identities.insert(row)) throw emailTaken()
    const times = { createdAt: now, updatedAt: now }
    store.addresses.put(newAddress({ tenantId, identityId: id, value: email, now, isVerified }))
    if (credential) store.credentials.put({ ...credential, ...times, tenantId, identityId: id })
    events(tenantId, { type: 'identity.created', identityId: id, payload: { email, method } }, now)
    return existing(tenantId, id)
  }

  /** Adds an identity that registered itself. Its address is not verified. */
  function addByThemselves(
    tenantId: string,
    traits: Traits,
    method: NewPerson['method'],
  ): IdentityRow {
    const person = add({
      tenantId,
      schemaId: schemaOf(tenantId),
      state: 'active',
      traits,
      metadataPublic: {},
      isVerified: false,
      credential: undefined,
      method,
    })
    const actor: Actor = { kind: 'person', id: person.id }
    audit.record({ tenantId, actor, action: 'identity.created', object: `identity:${person.id}` })
    hooksOf(tenantId).onSignUp?.(person)
    return person
  }

  /** Marks the identity's address as verified. */
  function prove(person: IdentityRow) {
    const { tenantId, id } = person
    const now = clock.now()
    const address = store.addresses.of(tenantId, id)
    if (!address || address.verifiedAt !== null) return
    store.addresses.put({ ...address, status: 'completed', verifiedAt: now, updatedAt: now })
    events(tenantId, { type: 'identity.email_verified', identityId: id, payload: {} }, now)
    hooksOf(tenantId).onVerified?.(person)
  }

  /** Unchanged values are neither written nor audited. */
  function change(row: IdentityRow, actor: Actor, change: Change): IdentityRow {
    const now = clock.now()
    const next = { ...row, ...columnsOf(change) }
    if (next.state !== row.state) Object.assign(next, switched(row, now))
    const fields = CHANGEABLE.filter((name) => next[name] !== row[name])
    if (fields.length > 0) {
      next.updatedAt = now
      if (next.email !== row.email) move(next, now)
      store.identities.update(next)
      store.search.changed(next)
      if (next.tokenGeneration !== row.tokenGeneration) generations.forget()
      record(next, actor, fields)
    }
    if (change.state) publishState(next, now)
    return next
  }

  /** Reactivating an identity does not restore what its deactivation ended. */
  const switched = (row: IdentityRow, now: number): Partial<IdentityRow> => ({
    ...nextGeneration(row),
    stateChangedAt: now,
  })

  /** Ends all sessions and access tokens, for an account that may have changed hands. */
  function endAccess(row: IdentityRow): IdentityRow {
    const next = { ...row, ...nextGeneration(row) }
    store.identities.update(next)
    generations.forget()
    return next
  }

  /** Changes the address. The new one is unverified, and codes for the old one become invalid. */
  function move({ tenantId, id, email }: IdentityRow, now: number) {
    const taken = store.identities.byEmail(tenantId, email)
    if (taken && taken.id !== id) throw emailTaken()
    store.codes.removeOfIdentity(tenantId, id)
    store.addresses.put(newAddress({ tenantId, identityId: id, value: email, now }))
  }

  function record(
    { tenantId, id, state }: IdentityRow,
    actor: Actor,
    fields: readonly Changeable[],
  ) {
    const row = { tenantId, actor, object: `identity:${id}` }
    const others = [...new Set(fields.map((name) => NAMES[name]))].filter(
      (name) => name !== 'state',
    )
    if (others.length > 0)
      audit.record({ ...row, action: 'identity.updated', detail: { fields: others } })
    if (fields.includes('state'))
      audit.record({ ...row, action: 'identity.state_changed', detail: { state } })
  }

  const publishState = ({ tenantId, id, state }: IdentityRow, now: number) =>
    events(tenantId, { type: 'identity.state_changed', identityId: id, payload: { state } }, now)

  function remove({ seq, tenantId, id }: IdentityRow) {
    store.identities.remove(tenantId, id)
    store.search.remove(seq)
    generations.forget()
    events(tenantId, { type: 'identity.deleted', identityId: id, payload: {} }, clock.now())
  }

  return { existing, add, addByThemselves, prove, change, endAccess, remove }
}

const NAMES = {
  state: 'state',
  email: 'traits',
  traits: 'traits',
  metadataPublic: 'metadata_public',
} as const
type Changeable = keyof typeof NAMES
const CHANGEABLE = Object.keys(NAMES) as Changeable[]

/** Sessions and access tokens are valid only in the generation in which they were created. */
const nextGeneration = ({ sessionGeneration, tokenGeneration }: IdentityRow) => ({
  sessionGeneration: sessionGeneration + 1,
  tokenGeneration: tokenGeneration + 1,
})

const columnsOf = ({ traits, metadataPublic, state }: Change): Partial<IdentityRow> => ({
  ...(traits && { traits: JSON.stringify(traits), email: traits.email }),
  ...(metadataPublic && { metadataPublic: JSON.stringify(metadataPublic) }),
  ...(state && { state }),
})

export const emailTaken = () =>
  conflict('is the address of another identity', { field: 'traits.email', rule: 'taken' })

const newRow = (person: Omit<NewPerson, 'isVerified' | 'credential' | 'method'>, now: number) => ({
  ...person,
  id: newId(),
  stateChangedAt: now,
  email: person.traits.email,
  traits: JSON.stringify(person.traits),
  metadataPublic: JSON.stringify(person.metadataPublic),
  sessionGeneration: 0,
  tokenGeneration: 0,
  createdAt: now,
  updatedAt: now,
  lastSignInAt: 0,
})

/** A new, unverified address. */
const newAddress = (of: {
  tenantId: string
  identityId: string
  value: string
  now: number
  isVerified?: boolean
}) => ({
  id: newId(),
  tenantId: of.tenantId,
  identityId: of.identityId,
  value: of.value,
  status: of.isVerified ? ('completed' as const) : ('pending' as const),
  verifiedAt: of.isVerified ? of.now : null,
  createdAt: of.now,
  updatedAt: of.now,
})
