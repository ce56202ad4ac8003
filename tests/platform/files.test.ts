import { expect, test } from 'bun:test'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveName } from '../../src/platform/files.ts'
import { temporaryFolder } from '../support/folder.ts'

test('a draft takes a name that is free', () => {
  using folder = temporaryFolder()
  const [draft, name] = [join(folder.path, 'draft'), join(folder.path, 'name')]
  writeFileSync(draft, 'new')

  giveName(draft, name)

  expect(readFileSync(name, 'utf8')).toBe('new')
  expect(existsSync(draft)).toBe(false)
})

test('a name that is taken stays as it is, be it by a link that leads nowhere', () => {
  using folder = temporaryFolder()
  const [draft, name, link] = ['draft', 'name', 'link'].map((one) => join(folder.path, one)) as [
    string,
    string,
    string,
  ]
  writeFileSync(draft, 'new')
  writeFileSync(name, 'old')
  symlinkSync(join(folder.path, 'nowhere'), link)

  for (const taken of [name, link])
    expect(() => giveName(draft, taken)).toThrow(`${taken} already exists`)

  expect(readFileSync(name, 'utf8')).toBe('old')
  expect(readFileSync(draft, 'utf8')).toBe('new')
})
