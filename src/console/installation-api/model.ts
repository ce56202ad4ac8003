import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { USUAL_GRACE_S } from '../../http/delivery-log/model.ts'
import {
  Count,
  lenient,
  Moment,
  OptionalTimestamp,
  oneOf,
  oneOfOrNull,
  Timestamp,
} from '../../http/schemas.ts'
import { ENGINES, ENVIRONMENTS } from '../../platform/engines.ts'
import { KEY_STATES } from '../../platform/keys/index.ts'
import { PLANS, SUSPEND_REASONS } from '../../platform/tenants.ts'
import { ROLES } from '../operators/rights.ts'

export const STATUSES = ['active', 'suspended', 'renewal_unpaid'] as const

/** Ten years, as for keys made elsewhere. */
const MAX_LIFETIME_S = 316_224_000
const MAX_GRACE_S = 2_592_000

const Name = t.String({ description: 'At most 200 characters.', examples: ['Acme'] })
const PlanField = oneOf(PLANS, { description: 'Default: `[metering] default_plan`.' })
const Zone = t.String({
  description: 'IANA time zone of the times in the console.',
  examples: ['Europe/Berlin'],
})
const SpendCap = Type.Integer({
  minimum: 0,
  description: 'Monthly spend cap in cents. Default: that of the installation.',
  examples: [2000],
})

/** A tenant in responses. */
export const Tenant = t.Object({
  id: t.String(),
  name: t.String({ examples: ['Acme'] }),
  plan: oneOf(PLANS),
  status: oneOf(STATUSES),
  spend_cap_cents: t.Nullable(Type.Integer({ examples: [2000] })),
  time_zone: t.String({ examples: ['Europe/Berlin'] }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const NewTenant = lenient({
  name: Name,
  plan: t.Optional(PlanField),
  time_zone: t.Optional(Zone),
  spend_cap_cents: t.Optional(SpendCap),
})
export type NewTenant = typeof NewTenant.static

export const ChangedTenant = lenient({
  name: t.Optional(Name),
  plan: t.Optional(oneOf(PLANS)),
  time_zone: t.Optional(Zone),
  spend_cap_cents: t.Optional(t.Nullable(SpendCap)),
})
export type ChangedTenant = typeof ChangedTenant.static

export const Suspension = lenient({ reason: oneOf(SUSPEND_REASONS) })

export const Deleting = t.Object(
  { id: t.String(), deleting: t.Literal(true) },
  { description: 'The tenant has ended. The rest of its data is deleted in the background.' },
)

/** The usage of a tenant in a month; money is in cents. */
export const Usage = t.Object({
  month: t.String({ examples: ['2026-01'] }),
  plan: oneOf(PLANS),
  requests: Count,
  included_requests: t.Nullable(Count),
  billed_requests: Count,
  cost_cents: Count,
  spend_cap_cents: t.Nullable(Count),
  left_requests: t.Nullable(Count),
  resets_at: Timestamp,
  days: t.Array(
    t.Object({
      day: t.String({ examples: ['2026-01-31'] }),
      engine: oneOf(ENGINES),
      environment: oneOf(ENVIRONMENTS),
      requests: Count,
    }),
  ),
})

/** A key of a tenant in responses, without its secret. */
export const ApiKey = t.Object({
  id: t.String(),
  tenant_id: t.String(),
  name: t.Nullable(t.String({ examples: ['Billing service'] })),
  note: t.Nullable(t.String({ examples: ['Deployed by Ansible'] })),
  engines: t.Array(oneOf(ENGINES)),
  environment: oneOfOrNull(ENVIRONMENTS, { examples: ['live'] }),
  scopes: t.Array(t.String()),
  hint: t.String({ description: 'Both ends of the secret.', examples: ['YRn3…h1Pd'] }),
  state: oneOf(KEY_STATES),
  created_at: Timestamp,
  last_used_at: OptionalTimestamp,
  expires_at: OptionalTimestamp,
  lifetime_seconds: t.Nullable(Type.Integer({ examples: [7_776_000] })),
  revoked_at: OptionalTimestamp,
  replaced_by: t.Nullable(
    t.String({ description: 'The ID of the key that replaced this one.', examples: [null] }),
  ),
})

export const IssuedKey = t.Object({
  ...ApiKey.properties,
  key: t.String({ description: 'Shown only once.', examples: ['svc_gate_live_sk_…'] }),
})

const KeyName = t.String({ description: 'At most 100 characters.', examples: ['Billing service'] })
const Note = t.String({ description: 'At most 500 characters.', examples: ['Deployed by Ansible'] })
const Lifetime = Type.Integer({
  minimum: 1,
  maximum: MAX_LIFETIME_S,
  description: 'Instead of `expires_at`; rotation gives the new key the same lifetime.',
  examples: [7_776_000],
})

export const NewKey = lenient({
  engines: t.Array(oneOf(ENGINES), { minItems: 1 }),
  environment: t.Optional(oneOf(ENVIRONMENTS, { description: 'Default: live. Not for jobs.' })),
  scopes: t.Optional(t.Array(t.String(), { description: 'Default: all scopes of the engines.' })),
  name: t.Optional(KeyName),
  note: t.Optional(Note),
  expires_at: t.Optional(Moment),
  lifetime_seconds: t.Optional(Lifetime),
})
export type NewKey = typeof NewKey.static

export const ChangedKey = lenient({
  name: t.Optional(t.Nullable(KeyName)),
  note: t.Optional(t.Nullable(Note)),
  expires_at: t.Optional(t.Nullable(Moment)),
  lifetime_seconds: t.Optional(t.Nullable(Lifetime)),
})
export type ChangedKey = typeof ChangedKey.static

export const KeyRotation = lenient({
  grace_seconds: t.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_S,
      default: USUAL_GRACE_S,
      description: 'How long the old key keeps working.',
    }),
  ),
})
export type KeyRotation = typeof KeyRotation.static

const role = oneOf(ROLES)

/** An operator of the console in responses. */
export const Operator = t.Object({
  id: t.String(),
  email: t.String(),
  email_verified: t.Boolean(),
  name: t.Nullable(t.String({ examples: ['Ada Berg'] })),
  state: oneOf(['active', 'inactive']),
  admin: t.Boolean(),
  tenants: t.Array(t.Object({ id: t.String(), name: t.String({ examples: ['Acme'] }), role })),
  created_at: Timestamp,
})

export const NewOperator = lenient({
  email: t.String(),
  name: t.Optional(t.String({ examples: ['Ada Berg'] })),
  admin: t.Optional(t.Boolean({ description: 'Default: false.' })),
  password: t.Optional(
    t.String({
      description: 'Never returned. Without one, the operator signs in with a sign-in link.',
      examples: ['correct horse battery'],
    }),
  ),
})
export type NewOperator = typeof NewOperator.static

export const LoginLink = t.Object({
  url: t.Nullable(
    t.String({
      description: 'Works once. Null if it was emailed to the operator, and is for no one else.',
      examples: ['https://gatehouse.example.com/console/link/Tz0q…'],
    }),
  ),
  expires_at: Timestamp,
})

/** A member of a tenant in responses. */
export const Member = t.Object({
  operator_id: t.String(),
  email: t.String(),
  email_verified: t.Boolean(),
  role,
  created_at: Timestamp,
})

export const MemberRole = lenient({ role })
