import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { lenient, OptionalTimestamp, oneOf, Timestamp } from '../../../http/schemas.ts'

const AnyObject = t.Object({}, { additionalProperties: true, expected: 'a JSON object' })

const STATES = ['active', 'inactive'] as const
export const State = oneOf(STATES)

const Email = t.String({ expected: 'an email address', examples: ['ada@example.com'] })

const Password = t.Object(
  {
    config: t.Object(
      {
        password: t.Optional(t.String({ description: 'Stored as an argon2id hash.' })),
        hashed_password: t.Optional(
          t.String({
            description: 'An existing hash to import: argon2, bcrypt, scrypt or PBKDF2.',
          }),
        ),
      },
      { additionalProperties: true, expected: 'a JSON object' },
    ),
  },
  { additionalProperties: true, expected: 'a JSON object' },
)

export const NewIdentity = lenient(
  {
    schema_id: t.Literal('user', { expected: '"user"' }),
    traits: t.Object(
      { email: Email, custom_data: t.Optional(AnyObject) },
      { additionalProperties: true, expected: 'a JSON object' },
    ),
    credentials: t.Optional(
      t.Object(
        { password: t.Optional(Password) },
        { additionalProperties: true, expected: 'a JSON object' },
      ),
    ),
    state: t.Optional(State),
    metadata_public: t.Optional(AnyObject),
    verifiable_addresses: t.Optional(
      t.Array(
        t.Object(
          { value: Email, verified: t.Optional(t.Boolean()) },
          { additionalProperties: true },
        ),
        {
          maxItems: 1,
          description: 'For imports: the address in `traits.email`, if it is already verified.',
          expected: 'a list of at most 1 address',
        },
      ),
    ),
  },
  { defaults: { state: 'active', metadata_public: {} } },
)
export type NewIdentity = typeof NewIdentity.static

const address = {
  id: t.String(),
  value: t.String(),
  via: t.Literal('email'),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Identity = t.Object({
  id: t.String(),
  schema_id: t.String(),
  schema_url: t.String(),
  state: State,
  state_changed_at: Timestamp,
  traits: t.Object({
    email: t.String(),
    tenant_id: t.String({ description: 'The tenant of the API key. Cannot be set.' }),
    custom_data: t.Optional(AnyObject),
  }),
  verifiable_addresses: t.Array(
    t.Object({
      ...address,
      verified: t.Boolean(),
      status: oneOf(['pending', 'sent', 'completed']),
      verified_at: OptionalTimestamp,
    }),
  ),
  recovery_addresses: t.Array(t.Object(address)),
  metadata_public: AnyObject,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Identity = typeof Identity.static

export const IdentityDetail = t.Object({
  ...Identity.properties,
  credentials: t.Record(
    t.String(),
    t.Object({
      type: t.String(),
      identifiers: t.Array(t.String()),
      version: Type.Integer(),
      created_at: Timestamp,
      updated_at: Timestamp,
    }),
    { description: 'By type, without secrets.' },
  ),
})
export type IdentityDetail = typeof IdentityDetail.static

/** RFC 6902. Operations are validated when applied, so that an error can name one. */
export const JsonPatch = t.Array(t.Unknown(), {
  expected: 'a JSON Patch: a list of operations',
  examples: [[{ op: 'replace', path: '/traits/custom_data/plan', value: 'pro' }]],
})

export const StateChange = lenient({ state: State })

export const Metadata = t.Object(
  {},
  { additionalProperties: true, expected: 'a JSON object', examples: [{ plan: 'pro' }] },
)

export const StartedFlow = t.Object({ flow: t.Object({ id: t.String(), expires_at: Timestamp }) })
export type StartedFlow = typeof StartedFlow.static
