import { describe, expect, test } from 'bun:test'
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
const leftOut = Object.assign({}, ...PORTABLE.map((part) => part.leftOut)) as Record<string, string>
const taken = PORTABLE_TABLES.map(({ table }) => nameOf(table))

describe('whatever the schema has', () => {
  test('every table is taken along or left out for a reason, and not both', () => {
    for (const name of tables.map(nameOf)) {
      const isTaken = taken.includes(name)
      expect({ name, isDecided: isTaken !== name in leftOut }).toEqual({ name, isDecided: true })
    }
    expect(Object.keys(leftOut).filter((name) => !tables.map(nameOf).includes(name))).toEqual([])
    expect(Object.values(leftOut).filter((reason) => reason.length < 5)).toEqual([])
  })

  test.each(PORTABLE_TABLES.map((portable) => [portable.kind, portable] as const))(
    'every column of %s is written, or left out for a reason',
    (_, { table, columns }) => {
      expect(Object.keys(columns).toSorted()).toEqual(
        Object.keys(getTableColumns(table)).toSorted(),
      )
    },
  )

  test('no sealed column is written as it is', () => {
    const sealed = new Set(sealedColumns.map(({ column }) => column))
    let found = 0
    for (const { table, columns, kind } of PORTABLE_TABLES)
      for (const [key, column] of Object.entries(getTableColumns(table))) {
        if (!sealed.has(column)) continue
        found++
        expect([kind, key, columns[key] === asItIs]).toEqual([kind, key, false])
      }
    expect(found).toBe(5)
  })

  test('kinds are told apart; what acts by itself comes after all else, and keys last', () => {
    const kinds = PORTABLE_TABLES.map(({ kind }) => kind)
    expect(new Set(kinds).size).toBe(kinds.length)
    expect(kinds.at(0)).toBe('tenant')
    expect(kinds.slice(-4)).toEqual(['bot', 'cron_job', 'delayed_job', 'api_key'])
  })
})
