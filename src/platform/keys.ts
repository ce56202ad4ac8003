import type { Db } from '../db/open.ts'
import type { Actor, Audit } from './audit/index.ts'
import type { KeyHolder } from './caller.ts'
import { type Clock, isoOrNull, isoTime } from './clock.ts'
import { isMinted, mintSecret, sha256 } from './crypto.ts'
import { MINUTE_MS } from './durations.ts'
import {
  ENGINE_SCOPES,
  ENVIRONMENTS,
  type Engine,
  type Environment,
  hasEnvironments,
} from './engines.ts'
import { conflict, fail, invalid, notFound } from './errors.ts'
import { newId } from './ids.ts'
import { createKeyStore, type KeyRow, type KeyWithTenant } from './keys-store.ts'
import { createImportStore } from './portable/imports-store.ts'
import { createReadCache } from './read-cache.ts'
import { createTenantStore } from './tenants-store.ts'

/** A key in lists, without its secret. */
export interface ApiKey {
  id: string
  tenant_id: string
  engine: Engine
  environment: Environment | null
  scopes: string[]
  hint: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

/** A key with the id of the key that replaced it at rotation. */
export interface FoundKey extends ApiKey {
  replaced_by: string | null
}

/** A new key; its value is shown only once. */
export interface IssuedKey {
  id: string
  key: string
  engine: Engine
  environment: Environment | null
  scopes: string[]
}

export interface NewKey {
  tenantId: string
  engine: Engine
  environment?: Environment
  /** All scopes of the engine if absent. */
  scopes?: string[]
}

const SCOPE = /^[a-z0-9][a-z0-9_.:-]{0,63}$/
const LAST_USED_PRECISION_MS = MINUTE_MS
const REMEMBERED_KEYS = 1000

type Lifetime = Pick<KeyRow, 'revokedAt' | 'expiresAt'>

interface Verified {
  row: KeyWithTenant
  holder: KeyHolder
}

export type Keys = ReturnType<typeof createKeys>

/** Issues, verifies, rotates and revokes API keys; each change is recorded in the audit log. */
export function createKeys(parts: { db: Db; clock: Clock; audit: Audit; prefix: string }) {
  const { db, clock, audit, prefix } = parts
  const store = createKeyStore(db)
  const tenants = createTenantStore(db)
  const imports = createImportStore(db)
  const verified = createReadCache<Verified>(db, REMEMBERED_KEYS)
  const byId = createReadCache<Lifetime>(db, REMEMBERED_KEYS)
  const touched = new Map<string, number>()

  async function issue(actor: Actor, input: NewKey): Promise<IssuedKey> {
    const key = checkedKey(input)
    return db.commitFor(key.tenantId, () => {
      if (!tenants.find(key.tenantId)) throw notFound('tenant not found')
      imports.refuseUnfinished(key.tenantId)
      const issued = insert(key)
      record(actor, 'key.created', key.tenantId, issued.id, {
        engine: key.engine,
        scopes: key.scopes,
      })
      return issued
    })
  }

  /** Issues a new key with the same scopes; the old one stays valid for `graceMs`. */
  function rotate(actor: Actor, id: string, graceMs: number): Promise<IssuedKey> {
    return db.commit(() => {
      const old = existing(id)
      if (!isValid(old)) throw conflict('the key is revoked or expired')
      if (old.replacedBy) throw conflict(`the key has already been rotated, to ${old.replacedBy}`)
      const issued = insert({ ...old, scopes: JSON.parse(old.scopes) })
      store.supersede(id, issued.id, clock.now() + graceMs)
      forget()
      record(actor, 'key.rotated', old.tenantId, id, { replaced_by: issued.id, grace_ms: graceMs })
      return issued
    })
  }

  /** Revokes a key; does nothing if it is already revoked. */
  function revoke(actor: Actor, id: string): Promise<ApiKey> {
    return db.commit(() => {
      const key = existing(id)
      if (key.revokedAt !== null) return present(key)
      record(actor, 'key.revoked', key.tenantId, id, {})
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

  /** Keys, newest first, starting after `before`. */
  const newest = (
    tenantId: string,
    limit: number,
    before?: { createdAt: number; id: string },
  ): ApiKey[] => store.newest(tenantId, limit, before).map(present)

  /** Whether a tenant has a key that is not revoked. */
  const hasLive = (tenantId: string): boolean => store.hasLive(tenantId)

  function find(tenantId: string, id: string): FoundKey {
    const key = existing(id)
    if (key.tenantId !== tenantId) throw notFound('key not found')
    return { ...present(key), replaced_by: key.replacedBy }
  }

  function isOf(tenantId: string, engine: Engine, id: string): boolean {
    const key = store.find(id)
    return key?.tenantId === tenantId && key.engine === engine
  }

  /**
   * The holder of a key; undefined if the key is malformed, unknown, revoked or past its grace
   * period. A wrong check digit is detected without a database query. Only hashes are compared, so
   * timing reveals nothing about the secret.
   */
  function verify(key: string): KeyHolder | undefined {
    const hash = sha256(key)
    const known = verified.get(hash) ?? lookUp(key, hash)
    if (!known || !isValid(known.row)) return undefined
    noteUse(known.row)
    return known.holder
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

  function insert({ tenantId, engine, environment, scopes }: Required<StoredKey>): IssuedKey {
    const { key, secret } = mint(engine, environment)
    const id = newId()
    store.insert({
      id,
      tenantId,
      engine,
      environment,
      scopes: JSON.stringify(scopes),
      hash: sha256(key),
      hint: `${secret.slice(0, 4)}…${secret.slice(-4)}`,
      createdAt: clock.now(),
    })
    return { id, key, engine, environment, scopes }
  }

  function mint(engine: Engine, environment: Environment | null) {
    const secret = mintSecret()
    const kind = environment === null ? engine : `${engine}_${environment}_sk`
    return { key: `${prefix}_${kind}_${secret}`, secret }
  }

  const existing = (id: string): KeyRow => store.find(id) ?? fail(notFound('key not found'))

  const record = (
    actor: Actor,
    action: string,
    tenantId: string,
    keyId: string,
    detail: Record<string, unknown>,
  ) => audit.record({ tenantId, actor, action, object: `key:${keyId}`, detail })

  return { issue, rotate, revoke, list, newest, hasLive, find, isOf, isAlive, verify, forget }
}

const holderOf = (row: KeyWithTenant): KeyHolder => ({
  keyId: row.id,
  tenantId: row.tenantId,
  tenantStatus: row.tenantStatus,
  plan: row.plan,
  spendCapCents: row.spendCapCents,
  engine: row.engine,
  environment: row.environment,
  scopes: new Set<string>(JSON.parse(row.scopes)),
})

interface StoredKey {
  tenantId: string
  engine: Engine
  environment: Environment | null
  scopes: string[]
}

function checkedKey({ tenantId, engine, environment, scopes }: NewKey): StoredKey {
  return {
    tenantId,
    engine,
    environment: checkedEnvironment(engine, environment),
    scopes: checkedScopes(engine, scopes),
  }
}

function checkedEnvironment(engine: Engine, environment?: Environment): Environment | null {
  if (hasEnvironments(engine)) return environment ?? ENVIRONMENTS[0]
  if (environment === undefined) return null
  throw invalid(`must not be set: ${engine} keys have no environment`, {
    field: 'environment',
    rule: 'not_allowed',
  })
}

/** Validates scopes. A key can also have scopes that the tenant defined. */
function checkedScopes(engine: Engine, scopes?: string[]): string[] {
  if (scopes === undefined) return [...ENGINE_SCOPES[engine]]
  if (scopes.length === 0)
    throw invalid('must name at least one scope', { field: 'scopes', rule: 'required' })
  const malformed = scopes.find((scope) => !SCOPE.test(scope))
  if (malformed !== undefined)
    throw invalid(
      `must be lowercase letters, digits and _ . : -, unlike ${JSON.stringify(malformed)}`,
      { field: 'scopes', rule: 'format' },
    )
  return [...new Set(scopes)]
}

const present = (row: KeyRow): ApiKey => ({
  id: row.id,
  tenant_id: row.tenantId,
  engine: row.engine,
  environment: row.environment,
  scopes: JSON.parse(row.scopes),
  hint: row.hint,
  created_at: isoTime(row.createdAt),
  last_used_at: isoOrNull(row.lastUsedAt),
  expires_at: isoOrNull(row.expiresAt),
  revoked_at: isoOrNull(row.revokedAt),
})
