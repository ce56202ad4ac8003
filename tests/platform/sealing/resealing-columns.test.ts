import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { getTableName } from 'drizzle-orm'
import { sealedColumns } from '../../../src/cli/secrets.ts'
import { openDatabase } from '../../../src/db/open.ts'
import {
  enrolled,
  halfway,
  recoveryCodes,
  withToken,
} from '../../engines/gate/sign-in/flows/acts.ts'
import { bootSocial } from '../../engines/gate/sign-in/flows/social-fixture.ts'
import { bootPassepartout } from '../../engines/passepartout/fixture.ts'
import type { TestApp } from '../../support/app.ts'
import { newAccount } from '../../support/social/index.ts'
import { ACTOR, rotationOn, turned, UNWATCHED } from './fixture.ts'

type Held = Pick<TestApp, 'db' | 'clock'>

const SEALED = /s1\.[0-9a-f]{12}\.[\w-]{38}/

/** How many sealed texts each column of a database has, or each table. */
function sealedIn({ db: { client } }: Held, by: 'column' | 'table') {
  const columns = client.query<{ name: string; column: string }, []>(
    `SELECT t.name, c.name AS "column" FROM sqlite_schema t JOIN pragma_table_info(t.name) c
      WHERE t.type = 'table' AND c.type IN ('TEXT', 'BLOB')`,
  )
  const counts: Record<string, number> = {}
  for (const { name, column } of columns.all()) {
    const texts = client.query(`SELECT "${column}" FROM "${name}"`).values().flat()
    const count = texts.filter((text) => SEALED.test(`${text}`)).length
    const key = by === 'table' ? name : `${name}.${column}`
    if (count > 0) counts[key] = (counts[key] ?? 0) + count
  }
  return counts
}

/** Rotates the key; returns the columns with sealed texts, all of which are resealed. */
async function expectAllResealed(app: Held): Promise<string[]> {
  const [before, tables] = [sealedIn(app, 'column'), sealedIn(app, 'table')]
  const dataDir = dirname(app.db.file)
  const db = openDatabase({ dataDir, synchronous: 'full' })
  using _ = { [Symbol.dispose]: db.close }
  const rotation = rotationOn(db, app.clock, dataDir).rotate(ACTOR, UNWATCHED)
  const { from, to, ...counts } = await turned(app.clock, rotation)
  expect(counts).toEqual({ resealed: tables, unopenable: {} })
  const texts = sealedIn(app, 'column')
  expect(texts).toMatchObject(before)
  expect(from).not.toBe(to)
  return Object.keys(texts)
}

test('Every column with sealed texts is on the list and is resealed', async () => {
  const social = await bootSocial()
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
  const found = [social.app, messenger.app].map(expectAllResealed)
  const listed = sealedColumns.map(({ column }) => `${getTableName(column.table)}.${column.name}`)
  expect([...new Set((await Promise.all(found)).flat())].toSorted()).toEqual(listed.toSorted())
  // With the fingerprint keys that the first rotation made.
  await expectAllResealed(social.app)
  const { flow, token: half } = await halfway(social)
  const code = { method: 'lookup_secret', lookup_secret: codes[0] }
  expect(await social.send(flow, code, withToken(half))).toMatchObject({ status: 200 })
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
  await social.stop()
  await messenger.stop()
})
