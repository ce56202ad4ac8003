import { ENVIRONMENTS, type Environment } from '../platform/engines.ts'
import { conflict, notFound } from '../platform/errors.ts'
import type { Tenant, Tenants } from '../platform/tenants.ts'
import { type Invocation, type Option, oneOf } from './command.ts'

/** The tenant and environment of a manifest, for commands. */
export const MANIFEST_SCOPE = {
  tenant: { type: 'string', value: 'TENANT', help: 'ID or name of the tenant.', required: true },
  env: {
    type: 'string',
    value: 'ENV',
    help: 'Environment of the webhook endpoints: live (the default) or test.',
  },
} satisfies Record<string, Option>

/** The field of an error about the tenant. */
export const TENANT = '--tenant'

/** The tenant with an ID, or else the only one with a name. Undefined if there is none. */
export function tenantNamed(
  tenants: Pick<Tenants, 'exists' | 'find' | 'list'>,
  given: string,
): Tenant | undefined {
  if (tenants.exists(given)) return tenants.find(given)
  const [found, ...others] = tenants.list().filter(({ name }) => name === given)
  if (others.length > 0)
    throw conflict(`${others.length + 1} tenants have this name: use an ID`, {
      field: TENANT,
      rule: 'mismatch',
    })
  return found
}

/** Throws `not_found`. */
export function noTenant(given: string): never {
  throw notFound(`no tenant has the ID or name ${given}. See tenant list`, {
    field: TENANT,
    rule: 'unknown',
  })
}

/** The environment that `--env` names. */
export const environmentIn = ({ env }: Invocation['options']): Environment =>
  env === undefined ? 'live' : oneOf(ENVIRONMENTS, 'env', env)
