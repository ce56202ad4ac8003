import { expect, test } from 'bun:test'
import { getTableColumns, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { PORTABLE, PORTABLE_TABLES } from '../../../src/cli/portable.ts'
import { sealedColumns } from '../../../src/cli/secrets.ts'
import * as consoleSchema from '../../../src/console/operators/schema.ts'
import * as delivery from '../../../src/delivery/schema.ts'
import * as clockwork from '../../../src/engines/clockwork/schema.ts'
import * as gate from '../../../src/engines/gate/schema.ts'
import * as passepartout from '../../../src/engines/passepartout/schema.ts'
import * as relay from '../../../src/engines/relay/schema.ts'
import { asItIs } from '../../../src/platform/portable/table.ts'
import * as platform from '../../../src/platform/schema.ts'

const tables = [platform, delivery, clockwork, gate, passepartout, relay, consoleSchema]
  .flatMap((schema) => Object.values<unknown>(schema))
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
const nameOf = (table: SQLiteTable) => getTableConfig(table).name

test('Every table is either exported or left out for a reason', () => {
  const leftOut = Object.assign({}, ...PORTABLE.map((part) => part.leftOut)) as Record<
    string,
    string
  >
  const exported = PORTABLE_TABLES.map(({ table }) => nameOf(table))
  const decided = [...exported, ...Object.keys(leftOut)].toSorted()
  expect(decided).toEqual(tables.map(nameOf).toSorted())
  expect(Object.values(leftOut).filter((reason) => reason.length < 5)).toEqual([])
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
  expect(codecs).toHaveLength(5)
  expect(codecs).not.toContain(asItIs)
})

test('Kinds are unique; the tenant comes first, then data, what acts by itself, and keys', () => {
  const kinds = PORTABLE_TABLES.map(({ kind }) => kind)
  expect(new Set(kinds).size).toBe(kinds.length)
  expect(kinds.at(0)).toBe('tenant')
  expect(kinds.slice(-4)).toEqual(['bot', 'cron_job', 'delayed_job', 'api_key'])
})
