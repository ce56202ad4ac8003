import { expect, test } from 'bun:test'
import { getTableName } from 'drizzle-orm'
import { sealedColumns } from '../../../src/cli/secrets.ts'
import { openDatabase } from '../../../src/db/open.ts'
import {
  enrolled,
  halfway,
  recoveryCodes,
  withToken,
} from '../../engines/gate/sign-in/flows/acts.ts'
import { bootSocial, startFakes } from '../../engines/gate/sign-in/flows/social-fixture.ts'
import { bootPassepartout } from '../../engines/passepartout/fixture.ts'
import type { TestApp } from '../../support/app.ts'
import { newAccount } from '../../support/social/index.ts'
import { ACTOR, rotationOn, turned } from './fixture.ts'

type Held = Pick<TestApp, 'db' | 'clock'>

/** Columns of a database with something sealed in them, and how much. */
function sealedIn({ db: { client } }: Pick<TestApp, 'db'>): Record<string, number> {
  const found: Record<string, number> = {}
  const columns = client
    .query<{ boundTo: string; name: string; column: string }, []>(
      `SELECT t.name || '.' || c.name AS boundTo, t.name, c.name AS "column"
        FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND c.type IN ('TEXT', 'BLOB')`,
    )
    .all()
  for (const { boundTo, name, column } of columns) {
    const texts = client.query<{ text: string }, []>(`SELECT "${column}" AS text FROM "${name}"`)
    const count = texts.all().filter(({ text }) => SEALED.test(`${text}`)).length
    if (count > 0) found[boundTo] = count
  }
  return found
}

const SEALED = /s1\.[0-9a-f]{12}\.[\w-]{38}/

const byTable = (counts: Record<string, number>): Record<string, number> => {
  const tables: Record<string, number> = {}
  for (const [boundTo, count] of Object.entries(counts)) {
    const [table = ''] = boundTo.split('.')
    tables[table] = (tables[table] ?? 0) + count
  }
  return tables
}

/** From a process of its own, as far as the server can tell. */
async function rotate({ db: { file }, clock }: Held) {
  const dataDir = file.replace(/\/[^/]+$/, '')
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const watch = { onResealed: () => {}, onWaiting: () => {} }
  try {
    return await turned(clock, rotationOn(db, clock, dataDir).rotate(ACTOR, watch))
  } finally {
    db.close()
  }
}

/** Whatever was sealed is resealed, by the list; and with the list, it is what opens it. */
async function expectAllResealed(app: Held): Promise<string[]> {
  const before = sealedIn(app)
  const { from, to, resealed, unopenable } = await rotate(app)
  expect(unopenable).toEqual({})
  expect(resealed).toEqual(byTable(before))
  const texts = sealedIn(app)
  expect(texts).toMatchObject(before)
  expect(from).not.toBe(to)
  return Object.keys(texts)
}

test('each column that anything is sealed in is on the list, and is resealed by it', async () => {
  const fakes = await startFakes()
  const social = await bootSocial(fakes)
  const messenger = await bootPassepartout()

  await social.security({ mfa_enabled: true })
  const { token } = await enrolled(social)
  const codes = await recoveryCodes(social, token)
  await social.settings(token)
  await social.signInWith('google', newAccount())
  await social.authorizeUrl(await social.begin('login'), 'google')
  await social.begin('recovery')
  const acme = await messenger.newTenant()
  const login = await messenger.signIn(acme, messenger.botApi.person())

  const found = [
    ...(await expectAllResealed(social.app)),
    ...(await expectAllResealed(messenger.app)),
  ]

  const listed = sealedColumns.map(({ column }) => `${getTableName(column.table)}.${column.name}`)
  expect([...new Set(found)].toSorted()).toEqual(listed.toSorted())
  // Those that the first rotation has brought into being.
  await expectAllResealed(social.app)
  // And all of it is still good for what it is for.
  const { flow, token: half } = await halfway(social)
  const code = { method: 'lookup_secret', lookup_secret: codes[0] }
  expect(await social.send(flow, code, withToken(half))).toMatchObject({ status: 200 })
  expect((await login.status()).body).toMatchObject({ status: 'completed' })

  await social.stop()
  await messenger.stop()
  await fakes.stop()
}, 60_000)
