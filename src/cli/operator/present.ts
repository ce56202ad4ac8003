import type { OperatorStore } from '../../console/operators/store/index.ts'
import type { Operator } from '../../engines/gate/house/roster.ts'
import { isoTime } from '../../platform/clock.ts'
import type { Option } from '../command.ts'

export const EMAIL: Option = {
  type: 'string',
  value: 'ADDRESS',
  help: 'Their e-mail address.',
  required: true,
}

export type Shown = ReturnType<typeof present>

/** By the address, and whether no one has proven to receive mail there. */
export const named = ({ email, isVerified }: Operator): string =>
  isVerified ? email : `${email} (not verified)`

/** What a grant did to an account that is not verified, and how its owner gets in. */
export const securedNote = (email: string): string =>
  `${email} is not verified: any password, two-factor authentication, social login, session and invitation of ` +
  `the account was removed.\n${wayIn(email)}`

export const wayIn = (email: string): string =>
  `To let them in: operator login-link --email ${email}`

/** An operator with what they run. */
export function present(
  store: Pick<OperatorStore, 'isAdmin' | 'membershipsOf'>,
  { id, email, name, isVerified, state, createdAt }: Operator,
) {
  return {
    id,
    email,
    email_verified: isVerified,
    name: name === '' ? null : name,
    state,
    admin: store.isAdmin(id),
    tenants: store
      .membershipsOf(id)
      .map(({ tenantId, tenantName, role }) => ({ id: tenantId, name: tenantName, role })),
    created_at: isoTime(createdAt),
  }
}

/** `the installation, Acme (owner)`; empty for who runs nothing. */
export const runsOf = ({ admin, tenants }: Shown): string =>
  [
    ...(admin ? ['the installation'] : []),
    ...tenants.map(({ name, role }) => `${name} (${role})`),
  ].join(', ')
