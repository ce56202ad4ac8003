import { emailOf, type Filling, type Ground, HASH } from './filling.ts'

/** People of the tenants, each with an address and a session, and what was decided about some. */
export function gateRows({ first, both, ids, owner, at, created }: Ground): Filling[] {
  return [
    {
      table: 'gate_identities',
      of: first.identity,
      count: both,
      columns: (i) => ({
        id: ids.identity(i),
        ...owner(i),
        ...created(i),
        email: emailOf(i),
        state: `iif(${i} % 100 < 2, 'inactive', 'active')`,
        traits: `json_set(row.traits, '$.email', ${emailOf(i)})`,
      }),
    },
    {
      table: 'gate_addresses',
      of: first.identity,
      by: 'identity_id',
      count: both,
      columns: (i) => ({
        id: ids.address(i),
        identity_id: ids.identity(i),
        ...owner(i),
        value: emailOf(i),
      }),
    },
    {
      table: 'gate_sessions',
      of: first.session,
      count: both,
      columns: (i) => ({
        id: ids.session(i),
        identity_id: ids.identity(i),
        ...owner(i),
        token_hash: HASH,
      }),
    },
    {
      table: 'gate_decisions',
      of: first.decision,
      count: both,
      columns: (i) => ({
        id: ids.decision(i),
        ...owner(i),
        at: at(i),
        subject: `'user:' || (${i} % 1000)`,
      }),
    },
  ]
}
