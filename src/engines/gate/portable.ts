import { type TSchema, Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { PROVIDERS } from '../../config/index.ts'
import { SECOND_MS } from '../../platform/durations.ts'
import { conflict, invalid } from '../../platform/errors.ts'
import {
  between,
  counter,
  json,
  MAX_COUNTED,
  Milliseconds,
  requireShape,
  requireWebUrl,
  sealedJson,
} from '../../platform/portable/fields.ts'
import {
  asItIs,
  type Field,
  numbered,
  type Portable,
  type PortableTable,
} from '../../platform/portable/table.ts'
import { createPdp } from './authorization/policy/pdp.ts'
import { parseHash } from './credentials/passwords/index.ts'
import type { CredentialRow } from './credentials/store.ts'
import type { AddressRow } from './identities/addresses-store.ts'
import { isJsonObject } from './identities/documents/json.ts'
import type { IdentityRow } from './identities/store.ts'
import { checkMetadata, checkTraits } from './identities/traits.ts'
import {
  MAX_PASSWORD_MIN_LENGTH,
  MAX_RETURN_URLS,
  MAX_SESSION_SECONDS,
  MIN_PASSWORD_LENGTH,
  MIN_SESSION_SECONDS,
} from './limits.ts'
import {
  gateAddresses,
  gateCredentials,
  gateErasures,
  gateIdentities,
  gateMailTexts,
  gateSettings,
  gateSocialLinks,
} from './schema.ts'
import { providerTokens, totpSecret } from './sealed.ts'
import type { SettingsRow } from './settings/store.ts'
import { checkKeptText } from './sign-in/mail-templates/texts.ts'
import type { MailTextRow } from './sign-in/mail-templates/texts-store.ts'
import type { SocialLinkRow } from './sign-in/social/links-store.ts'
import { createStore } from './store.ts'

const settings: PortableTable<SettingsRow> = {
  kind: 'gate_settings',
  table: gateSettings,
  columns: {
    tenantId: asItIs,
    isPasswordlessEnabled: asItIs,
    isMfaEnabled: asItIs,
    providers: json(Type.Array(Type.Union(PROVIDERS.map((name) => Type.Literal(name))))),
    returnUrls: json(Type.Array(Type.String(), { maxItems: MAX_RETURN_URLS }), checkUrls),
    policies: asItIs,
    policiesVersion: counter,
    policiesUpdatedAt: asItIs,
    sessionLifetimeMs: between(MIN_SESSION_SECONDS * SECOND_MS, MAX_SESSION_SECONDS * SECOND_MS),
    sessionIdleMs: between(MIN_SESSION_SECONDS * SECOND_MS, MAX_SESSION_SECONDS * SECOND_MS),
    sessionIdleSetAt: asItIs,
    passwordMinLength: between(MIN_PASSWORD_LENGTH, MAX_PASSWORD_MIN_LENGTH),
  },
  order: ['tenantId'],
  check({ policies }) {
    if (policies !== null) createPdp().check(policies)
  },
}

function checkUrls(urls: unknown) {
  for (const url of urls as string[]) requireWebUrl(url, 'return_urls')
}

const mailText: PortableTable<MailTextRow> = {
  kind: 'mail_text',
  table: gateMailTexts,
  columns: {
    tenantId: asItIs,
    mail: asItIs,
    language: asItIs,
    subject: asItIs,
    intro: asItIs,
    updatedAt: asItIs,
  },
  order: ['mail', 'language'],
  check: checkKeptText,
}

const identity: PortableTable<IdentityRow> = {
  kind: 'identity',
  table: gateIdentities,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    schemaId: asItIs,
    state: asItIs,
    stateChangedAt: asItIs,
    traits: json(Type.Unknown(), checkKeptTraits),
    email: { leftOut: 'is part of the traits', instead: ({ traits }) => JSON.parse(traits).email },
    metadataPublic: json(Type.Unknown(), checkMetadata),
    sessionGeneration: counter,
    tokenGeneration: counter,
    createdAt: asItIs,
    updatedAt: asItIs,
    lastSignInAt: { leftOut: 'history', instead: () => 0 },
  },
  order: ['seq'],
  check({ schemaId }) {
    if (!/^[a-z][a-z0-9_-]{0,63}$/.test(schemaId))
      throw invalid('is not a known schema', { field: 'schema_id', rule: 'unknown' })
  },
  /** Refuses the id of an identity that another tenant has deleted. */
  arriving(db) {
    const { erasures } = createStore(db)
    return {
      requireRoom({ id, tenantId }) {
        const owner = erasures.ownerOf(id)
        if (owner !== undefined && owner !== tenantId)
          throw conflict('is the id of a deleted identity', { field: 'identity.id', rule: 'taken' })
      },
    }
  },
}

/** Addresses must have their normalized spelling; otherwise sign-in would not find them. */
function checkKeptTraits(traits: unknown) {
  if (!isJsonObject(traits))
    throw invalid('must be a JSON object', { field: 'traits', rule: 'type' })
  if (checkTraits(traits).email !== traits.email)
    throw invalid('must be in the normalized form that addresses are stored in', {
      field: 'traits.email',
      rule: 'format',
    })
}

/** Selected through the identity, which has the index on the tenant. */
const throughIdentity = (
  identityId: typeof gateAddresses.identityId | typeof gateCredentials.identityId,
) => ({
  table: gateIdentities,
  tenant: gateIdentities.tenantId,
  order: gateIdentities.seq,
  on: eq(identityId, gateIdentities.id),
})

const address: PortableTable<AddressRow> = {
  kind: 'address',
  table: gateAddresses,
  columns: {
    id: asItIs,
    tenantId: asItIs,
    identityId: asItIs,
    value: asItIs,
    status: asItIs,
    verifiedAt: asItIs,
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['id'],
  through: throughIdentity(gateAddresses.identityId),
  oneEach: 'identity',
  check({ status, verifiedAt }) {
    if ((status === 'completed') !== (verifiedAt !== null))
      throw invalid('must only be set if status is completed', {
        field: 'verified_at',
        rule: 'mismatch',
      })
  },
  /** The address must match the identity's, or mails and sign-ins would use different ones. */
  arriving(db) {
    const { identities } = createStore(db)
    return {
      add({ tenantId, identityId, value }) {
        if (identities.find(tenantId, identityId)?.email !== value)
          throw invalid('must be the address of its identity', {
            field: 'address.value',
            rule: 'mismatch',
          })
      },
    }
  },
}

const Kept = <T extends Record<string, TSchema>>(members: T) =>
  Type.Object(members, { additionalProperties: false })
const Count = Type.Integer({ minimum: 0, maximum: MAX_COUNTED })
const OptionalCount = Type.Union([Count, Type.Null()])
const OptionalTime = Type.Union([Milliseconds, Type.Null()])

const CONFIGS = {
  password: Kept({ hashed_password: Type.String() }),
  totp: Kept({
    secret: Type.String({ pattern: '^[A-Z2-7]{16,128}$' }),
    after: OptionalCount,
    failures: Count,
    failedAt: OptionalTime,
    byMailbox: Type.Optional(Kept({ failures: Count, failedAt: OptionalTime })),
  }),
  lookup_secret: Kept({
    codes: Type.Array(
      Kept({ hash: Type.String({ pattern: '^[0-9a-f]{64}$' }), usedAt: OptionalTime }),
      { maxItems: 100 },
    ),
  }),
} as const

/** The secret of an authenticator is exported in clear text; other credentials are hashes. */
const config: Field<CredentialRow> = {
  write(value, { identityId, type }, sealing) {
    const kept = JSON.parse(`${value}`)
    if (type !== 'totp') return kept
    const { purpose, boundTo } = totpSecret
    return { ...kept, secret: sealing.open(purpose, boundTo({ id: identityId }), kept.secret) }
  },
  read(value, { identityId, type }, sealing) {
    requireShape(CONFIGS[type], value)
    if ('hashed_password' in value) parseHash(value.hashed_password)
    if (!('secret' in value)) return JSON.stringify(value)
    const { purpose, boundTo } = totpSecret
    const secret = sealing.seal(purpose, boundTo({ id: identityId }), value.secret)
    return JSON.stringify({ ...value, secret })
  },
}

const credential: PortableTable<CredentialRow> = {
  kind: 'credential',
  table: gateCredentials,
  columns: {
    tenantId: asItIs,
    identityId: asItIs,
    type: asItIs,
    config,
    version: counter,
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['type'],
  through: throughIdentity(gateCredentials.identityId),
  tied: {
    purpose: 'gate recovery codes',
    name: 'recovery_codes',
    holds: ({ type }) => type === 'lookup_secret',
  },
}

const socialLink: PortableTable<SocialLinkRow> = {
  kind: 'social_link',
  table: gateSocialLinks,
  columns: {
    tenantId: asItIs,
    provider: asItIs,
    subject: asItIs,
    identityId: asItIs,
    tokens: sealedJson(providerTokens, Type.Record(Type.String(), Type.Unknown())),
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['provider', 'subject'],
  check({ provider }) {
    if (!PROVIDERS.some((name) => name === provider))
      throw invalid('is not a known provider', { field: 'provider', rule: 'unknown' })
  },
}

const erasedIdentity: PortableTable<typeof gateErasures.$inferSelect> = {
  kind: 'erased_identity',
  table: gateErasures,
  columns: { identityId: asItIs, tenantId: asItIs, requestedAt: asItIs, completedAt: asItIs },
  order: ['identityId'],
  /** Refuses the id of any tenant's identity, which could otherwise not be deleted any more. */
  arriving(db) {
    const { identities } = createStore(db)
    return {
      requireRoom({ identityId }) {
        if (identities.ownerOf(identityId) !== undefined)
          throw conflict('is the id of an existing identity', {
            field: 'erased_identity.identity_id',
            rule: 'taken',
          })
      },
    }
  },
}

/** Identities with their credentials, and the tenant's settings. */
export const portable: Portable = {
  tables: [settings, mailText, identity, address, credential, socialLink, erasedIdentity],
  leftOut: {
    gate_sessions: 'users sign in again',
    gate_sign_ins: 'history of the exporting installation',
    gate_access_tokens: 'expire within a day',
    gate_decisions: 'history',
    gate_search_entries: 'derived from the identities',
    gate_flows: 'expire within hours',
    gate_codes: 'expire within minutes',
    gate_round_trips: 'expire within minutes',
    gate_test_sign_ins: 'of admins of the installation',
  },
}
