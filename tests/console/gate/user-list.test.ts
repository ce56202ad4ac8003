import { expect, test } from 'bun:test'
import { createSearchStore } from '../../../src/engines/gate/identities/search/store.ts'
import { queryOf, scopeOf } from '../../../src/engines/gate/identities/search/terms.ts'
import { HOUR, type Tenant, useConsole } from '../fixture.ts'

const app = await useConsole()

const add = async ({ gate }: Tenant, email: string, data?: object, state = 'active') => {
  const traits = { email, ...(data && { custom_data: data }) }
  const { body } = await gate.post('/v1/gate/identities', { schema_id: 'user', traits, state })
  return body.id as string
}
const found = async ({ owner }: Tenant, q: string, more = '') =>
  (await owner.open(`/identities?q=${encodeURIComponent(q)}${more}`)).rows
/** Whether the index has the first letters of a text for a tenant. */
const isInIndex = ({ id }: Tenant, text: string): boolean =>
  app.db.client
    .query('SELECT 1 FROM gate_search WHERE gate_search MATCH ?')
    .get(queryOf(scopeOf(id), undefined, [text.slice(0, 3)])) !== null

test('Users are found by any part of email and name, in the index and before they are in it', async () => {
  const acme = await app.newTenant()
  const other = await app.newTenant()
  const ada = await add(acme, 'ada@lovelace.example', { name: 'Zoë Ångström' })
  const grace = await add(acme, 'grace@navy.example', { first_name: 'Grace', last_name: 'Hopper' })
  const li = await add(acme, 'li@example.org', { display_name: '李明' }, 'inactive')
  await add(other, 'ada@lovelace.example', { name: 'Zoë Ångström' })
  for (const isIndexed of [false, true]) {
    if (isIndexed) await app.gate.search.round()
    for (const [q, ids] of [
      ['LOVELACE', [ada]],
      ['zoe', [ada]],
      ['angstrom navy', []],
      ['zoë love', [ada]],
      ['opper', [grace]],
      ['grace hopper navy', [grace]],
      ['example', [li, grace, ada]],
      ['明', [li]],
      ['vela ada', [ada]],
      ['lovelacex', []],
      // An accent on nothing, which leaves no letter to search for.
      ['\u0301', []],
      ['@', [li, grace, ada]],
      [grace, [grace]],
    ] as const)
      expect([isIndexed, q, await found(acme, q)]).toEqual([isIndexed, q, [...ids]])
    expect(await found(acme, 'example', '&state=inactive')).toEqual([li])
  }
})

test('A search of many pages finds each user once, in and beyond the index', async () => {
  const acme = await app.newTenant()
  const ids: string[] = []
  for (let n = 0; n < 70; n++) {
    ids.unshift(await add(acme, `user-${n}@many.example`))
    if (n === 40) await app.gate.search.round()
  }
  const first = await acme.owner.open('/identities?q=many')
  const second = await acme.owner.open(first.next)
  expect([...first.rows, ...second.rows]).toEqual(ids)
  expect(second.next).toBe('')
})

test('The index follows a change, and forgets a deleted user and those of a deleted tenant', async () => {
  const acme = await app.newTenant()
  const ada = await add(acme, 'quixotic@example.com')
  const gone = await add(acme, 'zephyrous@example.com')
  await app.gate.search.round()
  expect(isInIndex(acme, 'quixotic')).toBe(true)
  await acme.gate.patch(`/v1/gate/identities/${ada}`, [
    { op: 'replace', path: '/traits/email', value: 'jubilant@example.com' },
  ])
  expect([await found(acme, 'quixotic'), await found(acme, 'jubilant')]).toEqual([[], [ada]])
  await acme.gate.delete(`/v1/gate/identities/${ada}`)
  expect(await found(acme, 'jubilant')).toEqual([])
  app.db.client.query('DELETE FROM gate_identities WHERE id = ?').run(gone)
  await app.gate.search.round()
  const words = ['quixotic', 'jubilant', 'zephyrous', 'example']
  expect(words.filter((word) => isInIndex(acme, word))).toEqual([])
})

test('A round forgets all users of a large deleted tenant', async () => {
  const search = createSearchStore(app.db)
  const [state, after] = ['active', search.lastSeq()] as const
  await app.db.commit(() => {
    for (let seq = after + 1; seq <= after + 300; seq++)
      search.put({ seq, scope: scopeOf('gone'), state, text: 'zephyrous' })
  })
  await app.gate.search.round()
  expect(search.lastSeq()).toBe(after)
})

test('An index that a backup left out is filled again', async () => {
  const acme = await app.newTenant()
  const ada = await add(acme, 'ada@restored.example')
  await app.gate.search.round()
  app.db.client.run('DROP TABLE gate_search')
  expect(await found(acme, 'restored')).toEqual([])
  await app.gate.search.round()
  expect(await found(acme, 'restored')).toEqual([ada])
})

async function signIn({ id: tenantId }: Tenant, userId: string) {
  const person = app.gate.people.existing(tenantId, userId)
  const methods = [{ method: 'password' as const, aal: 'aal1' as const }]
  const signIn = { assuranceLevel: 'aal1' as const, methods, ipAddress: null, userAgent: null }
  await app.db.commit(() => void app.gate.sessions.open(person, signIn))
}

test('Users are sorted by creation, email and last sign-in', async () => {
  const acme = await app.newTenant()
  const bob = await add(acme, 'bob@example.com')
  await app.clock.advance(HOUR)
  const ada = await add(acme, 'ada@example.com')
  const cleo = await add(acme, 'cleo@example.com', {}, 'inactive')
  await signIn(acme, ada)
  await app.clock.advance(HOUR)
  await signIn(acme, bob)
  for (const [sort, rows] of [
    ['', [cleo, ada, bob]],
    ['created', [bob, ada, cleo]],
    ['email', [ada, bob, cleo]],
    ['-email', [cleo, bob, ada]],
    ['-signed_in', [bob, ada, cleo]],
    ['signed_in', [cleo, ada, bob]],
    ['made-up', [cleo, ada, bob]],
  ] as const) {
    const page = await acme.owner.open(`/identities?sort=${sort}`)
    expect([sort, page.rows]).toEqual([sort, [...rows]])
  }
  const page = await acme.owner.open('/identities?sort=-signed_in&state=active')
  expect(page.says('aria-sort="descending"').rows).toEqual([bob, ada])
})
