import type { Db } from '../../db/open.ts'
import {
  checkSecret,
  liveSecrets,
  newSecret,
  rotate,
  type SigningSecret,
} from '../../delivery/signing-secrets.ts'
import { type Rotation, USUAL_GRACE_S } from '../../http/delivery-log/model.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoOrNull } from '../../platform/clock.ts'
import { fail } from '../../platform/errors.ts'
import { SealError, type Sealing } from '../../platform/sealing/index.ts'
import { MASK } from '../../platform/secret-headers.ts'
import type { SigningSecret as Answer } from './model.ts'
import { signingSecrets as column } from './sealed.ts'
import type { Store } from './store/index.ts'

export type SigningSecrets = ReturnType<typeof createSigningSecrets>

/** The secret that signs the requests of a tenant's signed jobs. The first such job creates it. */
export function createSigningSecrets(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  store: Store
}) {
  const { db, clock, audit, sealing, store } = parts

  function secretsOf(tenantId: string): SigningSecret[] {
    const sealed = store.signingSecrets.find(tenantId)
    if (sealed === undefined) return []
    return JSON.parse(sealing.open(column.purpose, column.boundTo({ tenantId }), sealed))
  }

  /** Without those that can't be decrypted, which a rotation replaces. */
  function readable(tenantId: string): SigningSecret[] {
    try {
      return secretsOf(tenantId)
    } catch (error) {
      if (error instanceof SealError) return []
      throw error
    }
  }

  /** Whether there is a secret that can't be decrypted. */
  const isLost = (tenantId: string): boolean =>
    store.signingSecrets.find(tenantId) !== undefined && readable(tenantId).length === 0

  function save(tenantId: string, secrets: readonly SigningSecret[]) {
    const sealed = sealing.seal(
      column.purpose,
      column.boundTo({ tenantId }),
      JSON.stringify(secrets),
    )
    store.signingSecrets.save(tenantId, sealed, clock.now())
  }

  /** Creates the secret if there is none. Runs inside a commit. */
  function ensure(tenantId: string) {
    if (store.signingSecrets.find(tenantId) === undefined)
      save(tenantId, [{ secret: newSecret(), expiresAt: null }])
  }

  /** The secrets to sign with, the current one first. Throws if there are none: nothing is sent unsigned. */
  function live(tenantId: string): string[] {
    const secrets = liveSecrets(secretsOf(tenantId), clock.now())
    return secrets.length > 0 ? secrets : fail(new Error('the signing secret of jobs is missing'))
  }

  /** Null if there is none that can be decrypted. Masked for read-only callers, who could otherwise sign requests. */
  function get({ tenantId, isReadOnly = false }: Caller): Answer {
    const now = clock.now()
    const secrets = readable(tenantId)
    const [secret] = liveSecrets(secrets, now)
    const old = secrets.flatMap(({ expiresAt }) => ((expiresAt ?? 0) > now ? [expiresAt] : []))
    return {
      secret: isReadOnly && secret !== undefined ? MASK : (secret ?? null),
      previous_expires_at: isoOrNull(old[0] ?? null),
    }
  }

  /** Replaces the secret, or creates the first. The old one also signs during the grace period. */
  function replace({ tenantId, actor }: Caller, input: Rotation | null): Promise<Answer> {
    const { secret = newSecret(), grace_seconds = USUAL_GRACE_S } = input ?? {}
    checkSecret(secret)
    return db.commitFor(tenantId, () => {
      const graceMs = grace_seconds * 1000
      const secrets = rotate(readable(tenantId), secret, { now: clock.now(), graceMs })
      save(tenantId, secrets)
      const object = `tenant:${tenantId}`
      audit.record({ tenantId, actor, action: 'jobs.secret_rotated', object, detail: { graceMs } })
      return { secret, previous_expires_at: isoOrNull(secrets[1]?.expiresAt ?? null) }
    })
  }

  return { ensure, live, isLost, get, replace }
}
