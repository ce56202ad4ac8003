import type { PresentedOperator } from '../../console/operators/presented.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import type { Option } from '../command.ts'

export const EMAIL: Option = {
  type: 'string',
  value: 'ADDRESS',
  help: 'Email address.',
  required: true,
}

/** The address of an operator, marked if it is not verified. */
export const named = ({ email, isVerified }: Operator): string =>
  isVerified ? email : `${email} (not verified)`

/** Says what a grant removed from an unverified account, and how its owner signs in. */
export const securedNote = (email: string): string =>
  `${email} is not verified: any password, two-factor authentication, social login, session and invitation of ` +
  `the account was removed.\n${signInHint(email)}`

export const signInHint = (email: string): string =>
  `To sign them in: operator login-link --email ${email}`

/** `installation (admin), Acme (owner)`; empty without any access. */
export const runsOf = ({ admin, tenants }: PresentedOperator): string =>
  [
    ...(admin ? ['installation (admin)'] : []),
    ...tenants.map(({ name, role }) => `${name} (${role})`),
  ].join(', ')
