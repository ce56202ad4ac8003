import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { lenient, Timestamp } from '../../../http/schemas.ts'
import { MAX_TTL, USUAL_TTL } from '../limits.ts'

export const TokenRequest = lenient(
  {
    api_key: t.String({
      expected: 'the API key',
      description: 'Replaces the Authorization header.',
      examples: ['svc_gate_live_sk_…'],
    }),
    subject: t.String({
      minLength: 1,
      maxLength: 256,
      expected: 'a string of 1 to 256 characters',
      description: 'ID of a user, or the name of a service.',
      examples: ['billing'],
    }),
    scopes: t.Optional(
      t.Array(t.String({ expected: 'a scope name' }), {
        maxItems: 100,
        expected: 'a list of at most 100 scope names',
        description: 'A subset of the scopes of the key. Default: all.',
      }),
    ),
    ttl_seconds: t.Optional(Type.Integer({ minimum: 1, maximum: MAX_TTL })),
  },
  { defaults: { ttl_seconds: USUAL_TTL } },
)
export type TokenRequest = typeof TokenRequest.static

export const AccessToken = t.Object({
  access_token: t.String({ examples: ['gat_live_at_…'] }),
  expires_at: Timestamp,
  subject: t.String(),
  tenant_id: t.String(),
})
export type AccessToken = typeof AccessToken.static
