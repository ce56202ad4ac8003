import type { OperatorStore } from '../../console/operators/store/index.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import { isoTime } from '../../platform/clock.ts'
import type { Option } from '../command.ts'

export const EMAIL: Option = {
  type: 'string',
  value: 'ADDRESS',
  help: 'Email address.',
  required: true,
}

export type Shown = ReturnType<typeof present>

/** The address of an operator, marked if it is not verified. */
export const named = ({ email, isVerified }: Operator): string =>
  isVerified ? email : `${email} (not verified)`

/** Says what a grant removed from an unverified account, and how its owner signs in. */
export const securedNote = (email: string): string =>
  `${email} is not verified: any password, two-factor authentication, social login, session and invitation of ` +
  `the account was removed.\n${signInHint(email)}`

export const signInHint = (email: string): string =>
  `To sign them in: operator login-link --email ${email}`

/** An operator with their access. */
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

/** `installation (admin), Acme (owner)`; empty without any access. */
export const runsOf = ({ admin, tenants }: Shown): string =>
  [
    ...(admin ? ['installation (admin)'] : []),
    ...tenants.map(({ name, role }) => `${name} (${role})`),
  ].join(', ')
