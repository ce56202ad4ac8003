import { expect, test } from 'bun:test'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveName } from '../../src/platform/files.ts'
import { temporaryFolder } from '../support/folder.ts'

test('A draft takes a free name, and no taken one, not even of a broken link', () => {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  writeFileSync(at('draft'), 'new')
  writeFileSync(at('taken'), 'old')
  symlinkSync(at('nowhere'), at('link'))
  for (const name of ['taken', 'link'])
    expect(() => giveName(at('draft'), at(name))).toThrow(`${at(name)} already exists`)
  expect(readFileSync(at('taken'), 'utf8')).toBe('old')
  giveName(at('draft'), at('free'))
  expect(readFileSync(at('free'), 'utf8')).toBe('new')
  expect(existsSync(at('draft'))).toBe(false)
})
