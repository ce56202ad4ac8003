import { t } from 'elysia'
import { lenient, Timestamp } from './schemas.ts'

/** A token that is asked about, or revoked. */
export const TokenInQuestion = lenient({
  access_token: t.String({ expected: 'an access token' }),
})

/** Of a token that does not count, nothing else is told. */
export const Introspection = t.Object({
  active: t.Boolean(),
  subject: t.Optional(t.String()),
  tenant_id: t.Optional(t.String()),
  scopes: t.Optional(t.Array(t.String())),
  expires_at: t.Optional(Timestamp),
})
export type Introspection = typeof Introspection.static
