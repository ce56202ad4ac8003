import type { Chance } from './chance.ts'
import { CUSTOMERS, emailOf } from './people.ts'
import { created, type Premises } from './premises.ts'

const DAY = 24 * 3_600_000

/** Those who have been there before the day begins. */
export const REGULARS = CUSTOMERS.slice(0, 24)

export const PASSWORD = 'correct horse battery'

/** Customers of long ago; others sign up as the day goes on. */
export async function addRegulars(premises: Premises, chance: Chance): Promise<string[]> {
  const { db } = premises.app
  const ids: string[] = []
  for (const name of REGULARS) ids.push(await addPerson(premises, chance, name))
  for (const id of ids) {
    const ago = chance.between(20, 400) * DAY
    db.client
      .query('UPDATE gate_identities SET created_at = created_at - ? WHERE id = ?')
      .run(ago, id)
  }
  db.client.run(
    `UPDATE gate_addresses SET status = 'completed', verified_at =
     (SELECT created_at + 60000 FROM gate_identities WHERE id = identity_id)`,
  )
  return ids
}

export async function addPerson(
  { api }: Pick<Premises, 'api'>,
  chance: Chance,
  name: (typeof CUSTOMERS)[number],
): Promise<string> {
  const person = {
    schema_id: 'user',
    traits: { email: emailOf(name), custom_data: { name: name.join(' ') } },
    credentials: { password: { config: { password: PASSWORD } } },
    metadata_public: { loyalty: chance.oneOf(['none', 'silver', 'gold']) },
  }
  return created(await api.gate.post('/v1/gate/identities', person))
}
