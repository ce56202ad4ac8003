import { type Filling, type Ground, HASH } from './filling.ts'

/** People of a messenger, and a sign-in of each. */
export function passepartoutRows({ first, both, ids, owner, at, created }: Ground): Filling[] {
  return [
    {
      table: 'passepartout_people',
      of: first.user,
      count: both,
      columns: (i) => ({
        id: ids.user(i),
        ...owner(i),
        ...created(i),
        platform_user_id: `'9' || ${i}`,
        username: `'person' || ${i}`,
      }),
    },
    {
      table: 'passepartout_attempts',
      of: first.login,
      count: both,
      columns: (i) => ({
        id: ids.login(i),
        ...owner(i),
        environment: "'live'",
        nonce_hash: HASH,
        link_hash: HASH,
        state: `iif(${i} % 200 < 2, 'denied', 'approved')`,
        person_id: ids.user(i),
        created_at: at(i),
        opened_at: at(i),
        ended_at: at(i),
        expires_at: at(i),
      }),
    },
  ]
}
