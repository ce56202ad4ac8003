import { JOBS_PER_TENANT } from '../../../src/engines/clockwork/limits.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { emailOf, type Filling, type Ground, HASH } from './filling.ts'

/** Of an installation that has grown large. */
const TENANTS = 10_000

/** Keys, what was written down, and what is of the installation. */
export function platformRows(ground: Ground): Filling[] {
  const { tenants, operator, first, rows, both, ids, owner, at, created } = ground
  const jobs = 2 * Math.min(JOBS_PER_TENANT, rows)
  return [
    {
      table: 'audit_log',
      of: first.audited,
      by: 'seq',
      count: both,
      columns: (i) => ({
        ...owner(i),
        at: at(i),
        action: `iif(${i} % 20000 < 2, 'key.issued', row.action)`,
        object: `'job:' || ${ids.job(`${i} % ${jobs}`)}`,
      }),
    },
    {
      table: 'api_keys',
      of: first.key,
      count: both,
      columns: (i) => ({
        id: ids.key(i),
        ...owner(i),
        hash: HASH,
        hint: `printf('svc_live_%06d', ${i})`,
        created_at: at(i),
        revoked_at: `iif(${i} % 100 < 98, ${at(i)}, null)`,
      }),
    },
    {
      table: 'tenants',
      of: tenants[0],
      count: TENANTS,
      columns: (i) => ({
        id: ids.tenant(i),
        ...created(i),
        name: `'Tenant number ' || ${i}`,
        status: `iif(${i} % 100 = 0, 'suspended', 'active')`,
      }),
    },
    {
      table: 'mails',
      of: first.mail,
      count: both,
      columns: (i) => ({
        id: ids.mail(i),
        ...owner(i),
        recipient: emailOf(i),
        recipient_hash: HASH,
        state: `iif(${i} % 20000 < 2, 'failed', 'kept')`,
        created_at: at(i),
      }),
    },
    {
      table: 'gate_identities',
      of: operator.id,
      count: rows,
      columns: (i) => ({
        id: ids.operator(i),
        tenant_id: `'${SYSTEM_TENANT_ID}'`,
        ...created(i),
        email: `printf('operator-%07d@example.com', ${i})`,
        traits: `json_set(row.traits, '$.email', printf('operator-%07d@example.com', ${i}))`,
      }),
    },
    {
      table: 'console_memberships',
      of: first.membership,
      by: 'rowid',
      count: rows,
      columns: (i) => ({
        operator_id: ids.operator(i),
        tenant_id: ids.tenant(`${i} % ${TENANTS / 2}`),
        role: "'viewer'",
      }),
    },
  ]
}
