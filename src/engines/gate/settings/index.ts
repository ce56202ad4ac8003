import { type AnyProvider, OPERATOR_PROVIDERS, PROVIDERS } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import { createReadCache } from '../../../platform/read-cache.ts'
import { isOperatorTenant } from '../operators/tenant.ts'
import type { Store } from '../store.ts'
import type { SettingsRow } from './store.ts'

/** The settings of a tenant. */
export interface Settings
  extends Pick<
    SettingsRow,
    | 'isPasswordlessEnabled'
    | 'isMfaEnabled'
    | 'policies'
    | 'policiesVersion'
    | 'policiesUpdatedAt'
    | 'sessionLifetimeMs'
    | 'sessionIdleMs'
    | 'sessionIdleSetAt'
    | 'passwordMinLength'
  > {
  /** In the fixed order of all lists. */
  providers: AnyProvider[]
  returnUrls: string[]
}

/** Each tenant may have up to a hundred kilobytes of policies and URLs. */
const REMEMBERED_TENANTS = 200

export type TenantSettings = ReturnType<typeof createSettings>

/** Settings of tenants, cached until they change. Those of operators depend on the installation alone. */
export function createSettings(parts: {
  db: Db
  store: Store
  audit: Audit
  /** With a mail server, operators can sign in by code. */
  mail: Pick<Mail, 'hasServer'>
}) {
  const { db, store, audit, mail } = parts
  const known = createReadCache<Settings>(db, REMEMBERED_TENANTS)

  const of = (tenantId: string): Settings =>
    isOperatorTenant(tenantId)
      ? ofOperators()
      : (known.get(tenantId) ?? known.set(tenantId, settingsIn(store.settings.find(tenantId))))

  const ofOperators = (): Settings => ({
    ...AS_IT_COMES,
    isPasswordlessEnabled: mail.hasServer,
    isMfaEnabled: true,
    providers: [...OPERATOR_PROVIDERS],
  })

  /** Reads and writes the settings in one commit. `what` names the part in the audit log. */
  const change = (
    caller: Caller,
    what: string,
    changes: (settings: Settings) => Partial<Settings>,
    detail?: Record<string, unknown>,
  ): Promise<Settings> =>
    db.commitFor(caller.tenantId, () => {
      const { tenantId } = caller
      const before = settingsIn(store.settings.find(tenantId))
      const next = { ...before, ...changes(before) }
      store.settings.put(rowOf(tenantId, next))
      known.forget()
      audit.record({
        tenantId,
        actor: caller.actor,
        action: `${what}.changed`,
        object: `tenant:${tenantId}`,
        ...(detail && { detail }),
      })
      return next
    })

  return { of, change }
}

const settingsIn = (row: SettingsRow | undefined): Settings => {
  if (!row) return AS_IT_COMES
  const enabled = new Set<string>(JSON.parse(row.providers))
  return {
    ...row,
    providers: PROVIDERS.filter((name) => enabled.has(name)),
    returnUrls: JSON.parse(row.returnUrls),
  }
}

const rowOf = (tenantId: string, settings: Settings): SettingsRow => ({
  ...settings,
  tenantId,
  providers: JSON.stringify(settings.providers),
  returnUrls: JSON.stringify(settings.returnUrls),
})

const AS_IT_COMES: Settings = {
  isPasswordlessEnabled: false,
  isMfaEnabled: false,
  providers: [],
  returnUrls: [],
  policies: null,
  policiesVersion: 0,
  policiesUpdatedAt: null,
  sessionLifetimeMs: null,
  sessionIdleMs: null,
  sessionIdleSetAt: null,
  passwordMinLength: null,
}
