import { folded, type Order } from '../../db/keyset.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { KeyHolder } from '../caller.ts'
import { type Clock, isoOrNull } from '../clock.ts'
import { isMinted, mintSecret, sha256 } from '../crypto.ts'
import { type Page, sortedPage } from '../cursor.ts'
import { MINUTE_MS } from '../durations.ts'
import type { KeyEngine } from '../engines.ts'
import { conflict, fail, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { createImportStore } from '../portable/imports-store.ts'
import { createReadCache } from '../read-cache.ts'
import { NEVER } from '../schema.ts'
import { SYSTEM_TENANT_ID } from '../system-tenant.ts'
import { createTenantStore } from '../tenants-store.ts'
import {
  checkedExpiry,
  checkedKeyName,
  checkedNote,
  checkedTerms,
  installationTerms,
  type KeyChange,
  type KeyTerms,
  type NewInstallationKey,
  type NewKey,
} from './checked.ts'
import { type ApiKey, EXPIRY_NOTICE_MS, type IssuedKey, present } from './model.ts'
import {
  createKeyStore,
  type KeyEdit,
  type KeyRow,
  type KeyWithTenant,
  SORT_KEYS,
} from './store.ts'

export type { Expiry, KeyChange, NewInstallationKey, NewKey } from './checked.ts'
export { type ApiKey, type IssuedKey, KEY_STATES, type KeyState, stateOf } from './model.ts'

const LAST_USED_PRECISION_MS = MINUTE_MS
const REMEMBERED_KEYS = 1000

type Lifetime = Pick<KeyRow, 'revokedAt' | 'expiresAt'>

interface Verified {
  row: KeyWithTenant
  holder: KeyHolder
}

interface KeyQuery extends Order<keyof typeof SORT_KEYS> {
  matches?: ((key: ApiKey) => boolean) | undefined
  cursor?: string | undefined
  limit: number
}

export type Keys = ReturnType<typeof createKeys>

/**
 * Issues, verifies, changes, rotates and revokes API keys; each change is recorded in the audit log. Keys
 * without a tenant (null) are those of the installation.
 */
export function createKeys(parts: { db: Db; clock: Clock; audit: Audit; prefix: string }) {
  const { db, clock, audit, prefix } = parts
  const store = createKeyStore(db)
  const tenants = createTenantStore(db)
  const imports = createImportStore(db)
  const verified = createReadCache<Verified>(db, REMEMBERED_KEYS)
  const byId = createReadCache<Lifetime>(db, REMEMBERED_KEYS)
  const touched = new Map<string, number>()

  async function issue(actor: Actor, { tenantId, ...input }: NewKey): Promise<IssuedKey> {
    const key = { ...checkedTerms(input), ...checkedEdit(input) }
    return db.commitFor(tenantId, () => {
      if (!tenants.find(tenantId)) throw notFound('tenant not found')
      imports.refuseUnfinished(tenantId)
      return create(actor, tenantId, key)
    })
  }

  /** Issues a key of the installation, which no tenant can have. */
  async function issueForInstallation(actor: Actor, input: NewInstallationKey): Promise<IssuedKey> {
    const key = { ...installationTerms(input), ...checkedEdit(input) }
    return db.commitFor(SYSTEM_TENANT_ID, () => create(actor, SYSTEM_TENANT_ID, key))
  }

  const checkedEdit = ({ name, note, expiry }: NewInstallationKey): Omit<KeyEdit, 'scopes'> => ({
    name: checkedKeyName(name),
    note: checkedNote(note),
    ...checkedExpiry(expiry, clock.now()),
  })

  function create(actor: Actor, tenantId: string, key: Terms): IssuedKey {
    const issued = insert(actor, tenantId, key)
    record(actor, 'key.created', { id: issued.id, tenantId }, described(issued))
    return issued
  }

  /**
   * Issues a new key with the same name, rights and lifetime; the old one stays valid for `graceMs`,
   * but not beyond its own expiry. A key with a fixed end is replaced by one with the same end.
   */
  function rotate(actor: Actor, id: string, graceMs: number): Promise<IssuedKey> {
    return db.commit(() => {
      const old = existing(id)
      if (!isValid(old)) throw conflict('the key is revoked or expired')
      if (old.replacedBy) throw conflict(`the key has already been rotated, to ${old.replacedBy}`)
      const now = clock.now()
      const { lifetimeMs, tenantId } = old
      const expiry = lifetimeMs === null ? old : checkedExpiry({ afterMs: lifetimeMs }, now)
      const engines = JSON.parse(old.engines)
      const issued = insert(actor, tenantId, {
        ...{ ...old, engines, scopes: JSON.parse(old.scopes) },
        ...{ expiresAt: expiry.expiresAt, lifetimeMs },
      })
      const end = Math.min(now + graceMs, old.expiresAt ?? Number.POSITIVE_INFINITY)
      store.supersede(id, issued.id, end)
      forget()
      record(actor, 'key.rotated', old, { replaced_by: issued.id, grace_ms: graceMs })
      return issued
    })
  }

  /** Changes what is given. The expiry of a key that has ended or was rotated stays. */
  function change(actor: Actor, id: string, input: KeyChange): Promise<ApiKey> {
    return db.commit(() => {
      const old = existing(id)
      const edit = { ...old, ...checkedChange(old, input) }
      if (input.expiry !== undefined && (!isValid(old) || old.replacedBy !== null))
        throw conflict('the key is revoked, expired or rotated, so its expiry stays')
      const changes = changesIn(old, edit)
      if (Object.keys(changes).length === 0) return present(old)
      record(actor, 'key.changed', old, changes)
      forget()
      return present(store.change(id, edit))
    })
  }

  function checkedChange(old: KeyRow, { name, note, expiry, scopes }: KeyChange): Partial<KeyEdit> {
    const terms = { engines: JSON.parse(old.engines), environment: old.environment ?? undefined }
    return {
      ...(scopes !== undefined && {
        scopes: JSON.stringify(checkedTerms({ ...terms, scopes }).scopes),
      }),
      ...(name !== undefined && { name: checkedKeyName(name) }),
      ...(note !== undefined && { note: checkedNote(note) }),
      ...(expiry !== undefined && checkedExpiry(expiry, clock.now())),
    }
  }

  /** Revokes a key; does nothing if it is already revoked. */
  function revoke(actor: Actor, id: string): Promise<ApiKey> {
    return db.commit(() => {
      const key = existing(id)
      if (key.revokedAt !== null) return present(key)
      record(actor, 'key.revoked', key, described(present(key)))
      forget()
      return present(store.revoke(id, clock.now()))
    })
  }

  /** Clears the caches. Must be called after every change of a key or its tenant. */
  function forget() {
    verified.forget()
    byId.forget()
  }

  const list = (tenantId?: string): ApiKey[] =>
    (tenantId === undefined ? store.all() : store.ofTenant(tenantId)).map(present)

  const newest = (tenantId: string | null, limit: number): ApiKey[] =>
    store.sorted(ownerOf(tenantId), { by: 'created', isDescending: true, limit }).map(present)

  /** Keys in an order. With a filter, a page can be short although more follow. */
  function page(tenantId: string | null, { matches, ...query }: KeyQuery): Page<ApiKey> {
    const owner = ownerOf(tenantId)
    const of = {
      ...{ list: `keys of ${owner}`, keys: SORT_KEYS, keyOf, byId: true as const },
      matches: matches && ((row: KeyRow) => matches(present(row))),
    }
    const found = sortedPage(of, query, (range) => store.sorted(owner, { ...query, ...range }))
    return { ...found, data: found.data.map(present) }
  }

  function find(tenantId: string | null, id: string): ApiKey {
    const key = existing(id)
    if (key.tenantId !== ownerOf(tenantId)) throw notFound('key not found')
    return present(key)
  }

  /** Keys of a tenant that expire within a week and weren't rotated, the first to expire first. */
  function expiring(tenantId: string | null, limit: number): ApiKey[] {
    const now = clock.now()
    return store
      .expiring(ownerOf(tenantId), { after: now, until: now + EXPIRY_NOTICE_MS, limit })
      .map(present)
  }

  function isOf(tenantId: string, engine: KeyEngine, id: string): boolean {
    const key = store.find(id)
    return key?.tenantId === tenantId && present(key).engines.includes(engine)
  }

  /**
   * The holder of a key; undefined if the key is malformed, unknown, revoked or expired. A wrong check digit is detected without a database query. Only hashes are compared, so
   * timing reveals nothing about the secret.
   */
  function verify(key: string): KeyHolder | undefined {
    const hash = sha256(key)
    const known = verified.get(hash) ?? lookUp(key, hash)
    if (!known || !isValid(known.row)) return undefined
    noteUse(known.row)
    return known.holder
  }

  /** Why a key that was valid no longer is; undefined for a key that never existed. */
  function endOf(key: string): 'revoked' | 'expired' | undefined {
    const row = isWellFormed(key) ? store.findByHash(sha256(key)) : undefined
    if (row === undefined || isValid(row)) return undefined
    return row.revokedAt === null ? 'expired' : 'revoked'
  }

  /** Unknown keys are not cached, because there is no limit to them. */
  function lookUp(key: string, hash: string): Verified | undefined {
    if (!isWellFormed(key)) return undefined
    const row = store.findByHash(hash)
    return row && verified.set(hash, { row, holder: holderOf(row) })
  }

  const isWellFormed = (key: string): boolean =>
    key.startsWith(`${prefix}_`) && isMinted(key.slice(key.lastIndexOf('_') + 1))

  /** Whether a key is still valid, for sessions and data that depend on it. */
  function isAlive(id: string): boolean {
    const row = byId.get(id) ?? remembered(id)
    return row !== undefined && isValid(row)
  }

  function remembered(id: string): Lifetime | undefined {
    const row = store.find(id)
    return row && byId.set(id, { revokedAt: row.revokedAt, expiresAt: row.expiresAt })
  }

  const isValid = ({ revokedAt, expiresAt }: Lifetime): boolean =>
    revokedAt === null && (expiresAt === null || clock.now() < expiresAt)

  /** Stores when a key was last used, at most once a minute per key and outside the request. */
  function noteUse({ id, tenantId, lastUsedAt }: Pick<KeyRow, 'id' | 'tenantId' | 'lastUsedAt'>) {
    const now = clock.now()
    const last = Math.max(lastUsedAt ?? 0, touched.get(id) ?? 0)
    if (now - last < LAST_USED_PRECISION_MS) return
    touched.set(id, now)
    db.commitFor(tenantId, () => store.touch(id, now)).catch(() => touched.delete(id))
  }

  function insert(actor: Actor, tenantId: string, { engines, scopes, ...terms }: Terms): IssuedKey {
    const { name, note, environment, expiresAt, lifetimeMs } = terms
    const { key, secret } = mint({ engines, environment })
    const id = newId()
    store.insert({
      ...{ id, tenantId, name, note, environment, expiresAt, lifetimeMs },
      engines: JSON.stringify(engines),
      scopes: JSON.stringify(scopes),
      hash: sha256(key),
      hint: `${secret.slice(0, 4)}…${secret.slice(-4)}`,
      createdAt: clock.now(),
      creatorKind: actor.kind,
      creatorId: actor.id ?? null,
    })
    return { id, key, name, engines, environment, scopes, expires_at: isoOrNull(expiresAt) }
  }

  /** A key names its engine if it has only one, and its environment if its engines have any. */
  function mint({ engines, environment }: Pick<KeyTerms, 'engines' | 'environment'>) {
    const secret = mintSecret()
    const kind = [
      ...(engines.length === 1 ? engines : []),
      ...(environment === null ? [] : [environment, 'sk']),
    ]
    return { key: [prefix, ...kind, secret].join('_'), secret }
  }

  const existing = (id: string): KeyRow => store.find(id) ?? fail(notFound('key not found'))

  const record = (
    actor: Actor,
    action: string,
    { id, tenantId }: Pick<KeyRow, 'id' | 'tenantId'>,
    detail: Record<string, unknown>,
  ) => audit.record({ tenantId, actor, action, object: `key:${id}`, detail })

  return {
    issue,
    issueForInstallation,
    rotate,
    change,
    revoke,
    list,
    newest,
    page,
    expiring,
    find,
    isOf,
    isAlive,
    verify,
    endOf,
    forget,
  }
}

const ownerOf = (tenantId: string | null): string => tenantId ?? SYSTEM_TENANT_ID

/** As the index has it, which sorts them. */
const keyOf = {
  created: ({ createdAt }: KeyRow) => createdAt,
  name: ({ name, hint }: KeyRow) => folded(name ?? hint),
  used: ({ lastUsedAt }: KeyRow) => lastUsedAt ?? 0,
  expires: ({ expiresAt }: KeyRow) => expiresAt ?? NEVER,
}

type Terms = KeyTerms & Omit<KeyEdit, 'scopes'>

/** A key in the audit log. */
const described = ({ name, engines, environment, scopes, expires_at }: Described) => ({
  ...(name !== null && { name }),
  engines,
  ...(environment !== null && { environment }),
  scopes,
  ...(expires_at !== null && { expires_at }),
})

type Described = Pick<ApiKey, 'name' | 'engines' | 'environment' | 'scopes' | 'expires_at'>

/** The changed values of an edit, for the audit log. */
const changesIn = (old: KeyEdit, edit: KeyEdit) => ({
  ...(edit.name !== old.name && { name: edit.name }),
  ...(edit.note !== old.note && { note: edit.note }),
  ...(edit.scopes !== old.scopes && { scopes: JSON.parse(edit.scopes) }),
  ...(edit.expiresAt !== old.expiresAt && { expires_at: isoOrNull(edit.expiresAt) }),
})

const holderOf = (row: KeyWithTenant): KeyHolder => ({
  keyId: row.id,
  tenantId: row.tenantId,
  tenantStatus: row.tenantStatus,
  plan: row.plan,
  spendCapCents: row.spendCapCents,
  engines: JSON.parse(row.engines),
  environment: row.environment,
  scopes: new Set<string>(JSON.parse(row.scopes)),
})
