import { t } from 'elysia'
import { oneOf, Timestamp } from '../../../http/schemas.ts'
import { Identity } from '../identities/model.ts'

export const ASSURANCE_LEVELS = ['aal1', 'aal2'] as const
const AssuranceLevel = oneOf(ASSURANCE_LEVELS)
export type AssuranceLevel = (typeof ASSURANCE_LEVELS)[number]

const AuthenticationMethod = t.Object({
  method: t.String({ examples: ['password'] }),
  aal: AssuranceLevel,
  completed_at: Timestamp,
  provider: t.Optional(t.String({ examples: ['github'] })),
})
export type AuthenticationMethod = typeof AuthenticationMethod.static

export const Session = t.Object({
  id: t.String(),
  active: t.Boolean(),
  expires_at: Timestamp,
  authenticated_at: Timestamp,
  authenticator_assurance_level: AssuranceLevel,
  authentication_methods: t.Array(AuthenticationMethod),
  issued_at: Timestamp,
  devices: t.Array(
    t.Object({
      id: t.String(),
      ip_address: t.Nullable(t.String()),
      user_agent: t.Nullable(t.String()),
      location: t.Null(),
    }),
  ),
})
export type Session = typeof Session.static

export const SessionDetail = t.Object({ ...Session.properties, identity: Identity })
export type SessionDetail = typeof SessionDetail.static
