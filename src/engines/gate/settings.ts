import { type AnyProvider, OPERATOR_PROVIDERS, PROVIDERS } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { HOUSE_ID } from '../../platform/house.ts'
import { createReadCache } from '../../platform/read-cache.ts'
import type { Store } from './store/index.ts'
import type { SettingsRow } from './store/settings.ts'

/** What a tenant has set. */
export interface Settings
  extends Pick<
    SettingsRow,
    'isPasswordlessEnabled' | 'isMfaEnabled' | 'policies' | 'policiesVersion' | 'policiesUpdatedAt'
  > {
  /** In the order in which they are listed everywhere. */
  providers: AnyProvider[]
  returnUrls: string[]
}

/** Each may have a hundred kilobytes of policies and addresses. */
const REMEMBERED_TENANTS = 200

export type TenantSettings = ReturnType<typeof createSettings>

/** The settings of tenants, remembered until one of them changes. Those of the house never do. */
export function createSettings(parts: {
  db: Db
  store: Store
  audit: Audit
  /** Whether mails go out, so that operators can sign in by them. */
  hasMailServer: boolean
}) {
  const { db, store, audit, hasMailServer } = parts
  const known = createReadCache<Settings>(db, REMEMBERED_TENANTS)

  const of = (tenantId: string): Settings =>
    tenantId === HOUSE_ID
      ? house
      : (known.get(tenantId) ?? known.set(tenantId, settingsIn(store.settings.find(tenantId))))

  const house: Settings = {
    ...AS_IT_COMES,
    isPasswordlessEnabled: hasMailServer,
    isMfaEnabled: true,
    providers: [...OPERATOR_PROVIDERS],
  }

  /** Reads, changes and writes within one commit. `what` names the part for the audit log. */
  const change = (
    caller: Caller,
    what: string,
    changes: (settings: Settings) => Partial<Settings>,
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
}
