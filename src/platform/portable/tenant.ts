import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { checkedBranding } from '../branding/checks.ts'
import { checkLogo } from '../branding/image.ts'
import { ENGINES } from '../engines.ts'
import { invalid } from '../errors.ts'
import { checkedExpiry, checkedKeyName, checkedNote, checkedTerms } from '../keys/checked.ts'
import { isMonth } from '../metering/months.ts'
import { apiKeys, branding, brandingLogos, tenants, usageMonths } from '../schema.ts'
import { SYSTEM_TENANT_ID } from '../system-tenant.ts'
import { checkedName } from '../tenants.ts'
import { checkedTimeZone } from '../time-zone.ts'
import { json } from './fields.ts'
import { asItIs, type Portable, type PortableTable } from './table.ts'

const tenant: PortableTable<typeof tenants.$inferSelect> = {
  kind: 'tenant',
  table: tenants,
  columns: {
    id: asItIs,
    name: asItIs,
    plan: asItIs,
    status: asItIs,
    spendCapCents: asItIs,
    timeZone: asItIs,
    deletionStartedAt: { leftOut: 'null: a tenant that is being deleted is not exported' },
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['id'],
  most: { rows: 1 },
  check({ id, name, timeZone }) {
    if (id === SYSTEM_TENANT_ID)
      throw invalid('must not be the id of the system tenant', { field: 'id', rule: 'reserved' })
    if (checkedName(name) !== name)
      throw invalid('must not start or end with a space', { field: 'name', rule: 'format' })
    checkedTimeZone(timeZone)
  },
}

const usageMonth: PortableTable<typeof usageMonths.$inferSelect> = {
  kind: 'usage_month',
  table: usageMonths,
  columns: {
    tenantId: asItIs,
    month: asItIs,
    requests: asItIs,
    billed: asItIs,
    costCents: asItIs,
    costRest: asItIs,
    costPer: asItIs,
    allowanceNotified: asItIs,
    spendCapNotified: asItIs,
  },
  order: ['month'],
  check({ month, costRest, costPer }) {
    if (!isMonth(month))
      throw invalid('must be a month like 2026-01', { field: 'month', rule: 'format' })
    if (costPer < 1 || costRest >= costPer)
      throw invalid('must be less than a cent', { field: 'cost_rest', rule: 'range' })
  },
}

const look: PortableTable<typeof branding.$inferSelect> = {
  kind: 'branding',
  table: branding,
  columns: {
    tenantId: asItIs,
    displayName: asItIs,
    accent: asItIs,
    supportUrl: asItIs,
    termsUrl: asItIs,
    privacyUrl: asItIs,
    senderName: asItIs,
    updatedAt: asItIs,
  },
  order: ['tenantId'],
  check({ displayName, accent, supportUrl, termsUrl, privacyUrl, senderName }) {
    const given = {
      display_name: displayName,
      accent_color: accent,
      support_url: supportUrl,
      terms_url: termsUrl,
      privacy_url: privacyUrl,
      sender_name: senderName,
    }
    if (!isDeepStrictEqual(checkedBranding(given), given))
      throw invalid(
        'must be in the form that it is stored in: trimmed, with the color in lower case',
        { field: 'branding', rule: 'format' },
      )
  },
}

const logo: PortableTable<typeof brandingLogos.$inferSelect> = {
  kind: 'branding_logo',
  table: brandingLogos,
  columns: {
    tenantId: asItIs,
    theme: asItIs,
    type: asItIs,
    width: asItIs,
    height: asItIs,
    hash: asItIs,
    data: asItIs,
    updatedAt: asItIs,
  },
  order: ['theme'],
  check: checkLogo,
}

/**
 * The platform's tables of a tenant. They come before the engines' tables, which refer to them.
 */
export const tenantPortable: Portable = {
  tables: [tenant, usageMonth, look, logo],
  leftOut: {
    audit_log: 'history of the exporting installation',
    alerts: 'state of the exporting installation',
    mails: 'queued, or history',
    usage_days: 'statistics; only months affect billing',
    instances: 'belongs to the installation',
    master_keys: 'belongs to the installation',
    fingerprint_keys: 'belongs to the installation',
    installation: 'belongs to the installation',
    installation_settings: 'belongs to the installation',
    backups: 'belongs to the installation',
    imports: 'belongs to the installation',
    test_requests: 'kept for a day, to try things out',
  },
}

const apiKey: PortableTable<typeof apiKeys.$inferSelect> = {
  kind: 'api_key',
  table: apiKeys,
  columns: {
    id: asItIs,
    tenantId: asItIs,
    name: asItIs,
    note: asItIs,
    engines: json(Type.Array(Type.Union(ENGINES.map((engine) => Type.Literal(engine))))),
    environment: asItIs,
    scopes: json(Type.Array(Type.String({ pattern: '^[a-z0-9][a-z0-9_.:-]{0,63}$' }))),
    hash: asItIs,
    hint: asItIs,
    createdAt: asItIs,
    creatorKind: { leftOut: 'an operator of the exporting installation', instead: () => 'import' },
    creatorId: { leftOut: 'an operator of the exporting installation' },
    lastUsedAt: asItIs,
    expiresAt: asItIs,
    lifetimeMs: asItIs,
    revokedAt: asItIs,
    replacedBy: asItIs,
  },
  order: ['createdAt', 'id'],
  check({ name, note, lifetimeMs, hash, ...row }) {
    checkedKeyName(name)
    checkedNote(note)
    if (lifetimeMs !== null) checkedExpiry({ afterMs: lifetimeMs }, 0)
    const [named, scopes] = [JSON.parse(row.engines), JSON.parse(row.scopes)]
    const environment = row.environment ?? undefined
    const terms = checkedTerms({ engines: named, environment, scopes })
    if (terms.engines.join() !== named.join())
      throw invalid(`must be ${terms.engines.join(', ')}, each once and in this order`, {
        field: 'engines',
        rule: 'format',
      })
    if (terms.environment !== row.environment)
      throw invalid('must be set unless clockwork is the only engine', {
        field: 'environment',
        rule: 'mismatch',
      })
    if (!/^[0-9a-f]{64}$/.test(hash))
      throw invalid('must be a SHA-256 hash in hexadecimal', { field: 'hash', rule: 'format' })
  },
}

/** Keys come last, so that no client can use the tenant before the import is complete. */
export const keysPortable: Portable = { tables: [apiKey], leftOut: {} }
