import { t } from 'elysia'
import { lenient, Timestamp } from './schemas.ts'

/** A token to introspect or revoke. */
export const TokenInQuestion = lenient({ access_token: t.String({ expected: 'an access token' }) })

/** The result of an introspection. An inactive token has no other fields. */
export const Introspection = t.Object({
  active: t.Boolean(),
  subject: t.Optional(t.String()),
  tenant_id: t.Optional(t.String()),
  scopes: t.Optional(t.Array(t.String())),
  expires_at: t.Optional(Timestamp),
})
export type Introspection = typeof Introspection.static
