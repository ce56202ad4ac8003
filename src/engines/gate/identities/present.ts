import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { CredentialHead } from '../credentials/store.ts'
import type { Session } from '../sessions/model.ts'
import type { SessionRow, SessionWithIdentity } from '../sessions/store.ts'
import type { SocialLinkRow } from '../sign-in/social/links-store.ts'
import type { AddressRow } from './addresses-store.ts'
import type { JsonObject } from './documents/json.ts'
import type { Identity } from './model.ts'
import type { IdentityRow } from './store.ts'
import type { Traits } from './traits.ts'

export const traitsOf = ({ traits }: Pick<IdentityRow, 'traits'>): Traits => JSON.parse(traits)

export const metadataOf = ({ metadataPublic }: Pick<IdentityRow, 'metadataPublic'>): JsonObject =>
  JSON.parse(metadataPublic)

export type PresentableIdentity = Omit<
  IdentityRow,
  'seq' | 'email' | 'sessionGeneration' | 'tokenGeneration' | 'lastSignInAt'
>

/** The API representation of an identity; `credentials` only for the tenant's own server. */
export const presentIdentity = (
  row: PresentableIdentity,
  address: AddressRow | undefined,
  schemaUrl: (schemaId: string) => string,
): Identity => ({
  id: row.id,
  schema_id: row.schemaId,
  schema_url: schemaUrl(row.schemaId),
  state: row.state,
  state_changed_at: isoTime(row.stateChangedAt),
  traits: { ...traitsOf(row), tenant_id: row.tenantId },
  verifiable_addresses: address ? [presentVerifiable(address)] : [],
  recovery_addresses: address ? [presentRecovery(address)] : [],
  metadata_public: metadataOf(row),
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
})

const presentVerifiable = ({
  id,
  value,
  status,
  verifiedAt,
  createdAt,
  updatedAt,
}: AddressRow) => ({
  id,
  value,
  via: 'email' as const,
  verified: verifiedAt !== null,
  status,
  verified_at: isoOrNull(verifiedAt),
  created_at: isoTime(createdAt),
  updated_at: isoTime(updatedAt),
})

const presentRecovery = ({ id, value, createdAt, updatedAt }: AddressRow) => ({
  id,
  value,
  via: 'email' as const,
  created_at: isoTime(createdAt),
  updated_at: isoTime(updatedAt),
})

/** Credentials by type, without secrets. */
export const presentCredentials = (
  { id, email }: { id: string; email: string },
  heads: CredentialHead[],
  links: SocialLinkRow[],
) =>
  Object.fromEntries(
    [
      ...heads.map(({ type, ...rest }) => ({
        type,
        identifiers: type === 'password' ? [email] : [id],
        ...rest,
      })),
      ...accounts(links),
    ].map(({ type, identifiers, version, createdAt, updatedAt }) => [
      type,
      {
        type,
        identifiers,
        version,
        created_at: isoTime(createdAt),
        updated_at: isoTime(updatedAt),
      },
    ]),
  )

/** All social accounts are a single credential. */
function accounts(links: SocialLinkRow[]) {
  const [first] = links
  if (!first) return []
  return [
    {
      type: 'oidc' as const,
      identifiers: links.map(({ provider, subject }) => `${provider}:${subject}`),
      version: 0,
      createdAt: first.createdAt,
      updatedAt: Math.max(...links.map(({ updatedAt }) => updatedAt)),
    },
  ]
}

export type PresentableSession = Omit<
  SessionRow,
  'seq' | 'tokenHash' | 'tenantId' | 'identityId' | 'generation' | 'revokedAt' | 'lastSeenAt'
>

export const presentSession = (row: PresentableSession): Session => ({
  id: row.id,
  active: true,
  expires_at: isoTime(row.expiresAt),
  authenticated_at: isoTime(row.authenticatedAt),
  authenticator_assurance_level: row.assuranceLevel,
  authentication_methods: JSON.parse(row.methods),
  issued_at: isoTime(row.issuedAt),
  devices: [{ id: row.id, ip_address: row.ipAddress, user_agent: row.userAgent, location: null }],
})

/** Splits a joined row into the rows of its tables. */
export function takeApart(row: SessionWithIdentity) {
  const { tenant_id: tenantId, identity_id: identityId } = row
  const session = {
    id: row.id,
    assuranceLevel: row.assurance_level,
    methods: row.methods,
    authenticatedAt: row.authenticated_at,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
  }
  const identity = {
    id: identityId,
    tenantId,
    schemaId: row.schema_id,
    state: row.state,
    stateChangedAt: row.state_changed_at,
    traits: row.traits,
    metadataPublic: row.metadata_public,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  const address: AddressRow = {
    id: row.address_id,
    tenantId,
    identityId,
    value: row.email,
    status: row.address_status,
    verifiedAt: row.verified_at,
    createdAt: row.address_created_at,
    updatedAt: row.address_updated_at,
  }
  return { session, identity, address }
}
