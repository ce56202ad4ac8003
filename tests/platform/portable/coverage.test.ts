import { expect, test } from 'bun:test'
import { getTableColumns, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { sealedColumns } from '../../../src/cli/secrets.ts'
import * as checklist from '../../../src/console/checklist/schema.ts'
import * as consoleSchema from '../../../src/console/operators/schema.ts'
import { PORTABLE, PORTABLE_TABLES } from '../../../src/console/portable-tables.ts'
import * as delivery from '../../../src/delivery/schema.ts'
import * as clockwork from '../../../src/engines/clockwork/schema.ts'
import * as gate from '../../../src/engines/gate/schema.ts'
import * as notifications from '../../../src/engines/notifications/schema.ts'
import * as passepartout from '../../../src/engines/passepartout/schema.ts'
import { personalData } from '../../../src/engines/passepartout/store/personal-data.ts'
import * as relay from '../../../src/engines/relay/schema.ts'
import * as alerts from '../../../src/platform/alerts/schema.ts'
import { auditOf } from '../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import { asItIs } from '../../../src/platform/portable/table.ts'
import * as platform from '../../../src/platform/schema.ts'
import * as testReceiver from '../../../src/platform/test-receiver/schema.ts'
import { usePassepartout } from '../../engines/passepartout/fixture.ts'

const SCHEMAS = [
  ...[
    platform,
    alerts,
    testReceiver,
    delivery,
    clockwork,
    gate,
    notifications,
    passepartout,
    relay,
  ],
  ...[consoleSchema, checklist],
]
const tables = SCHEMAS.flatMap((schema) => Object.values<unknown>(schema)).filter(
  (value): value is SQLiteTable => is(value, SQLiteTable),
)
const nameOf = (table: SQLiteTable) => getTableConfig(table).name

test('Every table is either exported or left out for a reason', () => {
  const leftOut = PORTABLE.flatMap((part) => Object.entries<string>(part.leftOut))
  const exported = PORTABLE_TABLES.map(({ table }) => nameOf(table))
  const decided = [...exported, ...leftOut.map(([name]) => name)].toSorted()
  expect(decided).toEqual(tables.map(nameOf).toSorted())
  expect(leftOut.filter(([, reason]) => reason.length < 5)).toEqual([])
})

test('Every column of an exported table is decided, and no sealed one is written as it is', () => {
  const sealed = new Set(sealedColumns.map(({ column }) => column))
  const codecs = PORTABLE_TABLES.flatMap(({ table, columns }) => {
    const known = getTableColumns(table)
    expect(Object.keys(columns).toSorted()).toEqual(Object.keys(known).toSorted())
    return Object.entries(known)
      .filter(([, column]) => sealed.has(column))
      .map(([key]) => columns[key])
  })
  expect(codecs).toHaveLength(10)
  expect(codecs).not.toContain(asItIs)
})

test('Kinds are unique; the tenant comes first, then data, what acts by itself, and keys', () => {
  const kinds = PORTABLE_TABLES.map(({ kind }) => kind)
  expect(new Set(kinds).size).toBe(kinds.length)
  expect(kinds.at(0)).toBe('tenant')
  expect(kinds.slice(-6)).toEqual([
    ...['bot', 'monitor', 'job_signing_secret', 'cron_job', 'delayed_job', 'api_key'],
  ])
})

const contract = await usePassepartout()
const CLIENT = { ip: '198.51.100.7', user_agent: 'stranger', label: 'Their phone' }

test('The origin of a sign-in is personal data of the person who signed in, not of who opened it', async () => {
  const acme = await contract.newTenant()
  const ada = contract.botApi.person({ first_name: 'Ada' })
  const { nonce, deep_link: own, match_code: shown } = await acme.live.start(CLIENT)
  await contract.answer(acme.bot, ada, own, `${shown}`)
  const { user } = (await acme.live.status(nonce)).body
  const { deep_link: theirs } = await acme.live.start(CLIENT)
  await contract.answer(acme.bot, ada, theirs, 'Deny')
  using snapshot = openSnapshot(contract.app.db)
  const [denied, approved] = personalData(snapshot, acme.id, user.id)?.sign_ins ?? []
  expect(denied).toMatchObject({ state: 'denied' })
  expect(JSON.stringify(denied)).not.toMatch(/198\.51|stranger|phone/)
  const { ip: client_ip, user_agent: client_user_agent, label: client_label } = CLIENT
  const origin = { client_ip, client_user_agent, client_label }
  expect(approved).toMatchObject({ state: 'approved', ...origin })
})

test('The audit of a person has entries of their tenant alone, and addresses of their own actions', async () => {
  const { app } = contract
  const insert = app.db.client.query(
    `INSERT INTO audit_log (at, tenant_id, actor_kind, actor_id, action, object, source, detail)
      VALUES (0, ?, ?, ?, ?, ?, '192.0.2.1', '{}')`,
  )
  insert.run('acme', 'person', 'ada', 'own', 'session:1')
  insert.run('acme', 'operator', 'bob', 'about', 'identity:ada')
  insert.run('acme', 'person', 'eve', 'other', 'identity:eve')
  insert.run('other', 'person', 'ada', 'foreign', 'session:1')
  insert.run('other', 'operator', 'bob', 'foreign', 'identity:ada')
  using snapshot = openSnapshot(app.db)
  const entries = auditOf(snapshot, 'acme', { id: 'ada', objects: ['identity:ada'] })
  expect(entries.map(({ action, from }) => [action, from])).toEqual([
    ['about', undefined],
    ['own', '192.0.2.1'],
  ])
})
