import { expect, test } from 'bun:test'
import { PORTABLE_TABLES } from '../../../src/console/portable-tables.ts'
import { openPage } from '../../support/page.ts'

const { text } = await openPage('export.md')

test('The page lists every kind that an export counts', () => {
  const [, list = ''] = /`counts` has every kind: ([^.]+)\./.exec(text) ?? []
  const listed = [...list.matchAll(/`(\w+)`/g)].map(([, kind]) => kind)
  expect(listed).toEqual(PORTABLE_TABLES.map(({ kind }) => kind))
})
