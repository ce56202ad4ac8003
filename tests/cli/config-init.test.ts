import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

const init = (cwd: string, file: string) => cli(cwd)('config', 'init', file)

test('a configuration is written once; a second time the command line was wrong', async () => {
  using folder = temporaryFolder()
  expect(await init(folder.path, 'a.toml')).toMatchObject({ code: 0, err: '' })
  const { code, err } = await init(folder.path, 'a.toml')
  expect(code).toBe(2)
  expect(err).toContain(`${join(folder.path, 'a.toml')} already exists`)
})

test('a place that cannot be written is told in a sentence', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'none', 'a.toml')
  expect(await init(folder.path, file)).toMatchObject({
    code: 1,
    err: `${file}: no such file or directory\n`,
  })
})
